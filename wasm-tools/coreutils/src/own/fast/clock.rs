//! `date` and `date +FORMAT` of now, with `-u`.

use std::ffi::OsString;
use std::os::wasi::ffi::OsStrExt;

use jiff::tz::TimeZone;

use super::super::clock;
use super::super::say;
use super::options;

/// Conversions that jiff and GNU write alike.
const ALIKE: &[u8] = b"YmdHMSFTjyIpaAbBeszZuRDNnt%";

/// `date` with `-u`, and one `+FORMAT` of plain conversions.
pub fn date(args: &[OsString]) -> Option<i32> {
    let (options, operands) = options(args, "u")?;
    let format = match operands[..] {
        [] => "%a %b %e %H:%M:%S %Z %Y",
        [format] => std::str::from_utf8(format.as_bytes().strip_prefix(b"+")?).ok()?,
        _ => return None,
    };
    let bytes = format.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            at += 1;
            if !ALIKE.contains(bytes.get(at)?) {
                return None;
            }
        }
        at += 1;
    }
    let zone = if options.is_empty() { clock::zone() } else { TimeZone::UTC };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?;
    let text = clock::format(i64::try_from(now.as_nanos()).ok()?, &zone, format);
    say(format_args!("{text}\n"));
    Some(0)
}
