//! Decimal numbers of any size with a fixed number of digits behind the point.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

/// Digits behind the point at most.
pub const MAX_SCALE: usize = 100_000;
/// Digits a number may have in all: what a power may not exceed.
const MAX_DIGITS: u64 = 5_000_000;

/// `value / 10^scale`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// All digits.
    pub value: BigInt,
    /// How many of them are behind the point.
    pub scale: usize,
}

/// 10^count.
pub fn power_of_ten(count: usize) -> BigInt {
    BigInt::from(10).pow(count as u32)
}

impl Number {
    /// A whole number.
    pub fn whole(value: i64) -> Self {
        Self { value: BigInt::from(value), scale: 0 }
    }

    /// A truth value.
    pub fn truth(condition: bool) -> Self {
        Self::whole(i64::from(condition))
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.value.sign() == Sign::NoSign
    }

    /// Reads digits in a base, with or without a point.
    pub fn parse(text: &str, base: u32) -> Self {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        // A single digit is itself in every base, as in bc; others are cut to the base's largest.
        let single = whole.len() + fraction.len() == 1;
        let digit = |c: char| {
            let value = c.to_digit(36).unwrap_or(0);
            if single { value } else { value.min(base - 1) }
        };
        if base == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            let digits = format!("{whole}{fraction}");
            let value = digits.parse().unwrap_or_default();
            return Self { value, scale: fraction.len() };
        }
        let mut value = BigInt::from(0);
        for c in whole.chars() {
            value = value * base + digit(c);
        }
        if fraction.is_empty() {
            return Self { value, scale: 0 };
        }
        let (mut above, mut below) = (BigInt::from(0), BigInt::from(1));
        for c in fraction.chars() {
            above = above * base + digit(c);
            below *= base;
        }
        let scale = fraction.len();
        let factor = power_of_ten(scale);
        Self { value: value * &factor + above * factor / below, scale }
    }

    /// The same number with more digits or, cut, with fewer.
    pub fn with_scale(&self, scale: usize) -> Self {
        let value = match scale.cmp(&self.scale) {
            Ordering::Equal => self.value.clone(),
            Ordering::Greater => &self.value * power_of_ten(scale - self.scale),
            Ordering::Less => &self.value / power_of_ten(self.scale - scale),
        };
        Self { value, scale }
    }

    fn aligned(&self, other: &Self) -> (BigInt, BigInt, usize) {
        let scale = self.scale.max(other.scale);
        (self.with_scale(scale).value, other.with_scale(scale).value, scale)
    }

    /// Sum.
    pub fn add(&self, other: &Self) -> Self {
        let (a, b, scale) = self.aligned(other);
        Self { value: a + b, scale }
    }

    /// Difference.
    pub fn sub(&self, other: &Self) -> Self {
        let (a, b, scale) = self.aligned(other);
        Self { value: a - b, scale }
    }

    /// Product, cut to bc's rule.
    pub fn mul(&self, other: &Self, scale: usize) -> Self {
        let full = Self { value: &self.value * &other.value, scale: self.scale + other.scale };
        full.with_scale(full.scale.min(scale.max(self.scale).max(other.scale)))
    }

    /// Quotient with `scale` digits; `None` for a division by zero.
    pub fn div(&self, other: &Self, scale: usize) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        // a / 10^s1 / (b / 10^s2) with `scale` digits.
        let numerator = &self.value * power_of_ten(scale + other.scale);
        let denominator = &other.value * power_of_ten(self.scale);
        Some(Self { value: numerator / denominator, scale })
    }

    /// Remainder: `a - a/b*b` with `scale` digits in the division.
    pub fn rem(&self, other: &Self, scale: usize) -> Option<Self> {
        let quotient = self.div(other, scale)?;
        let product = Self { value: quotient.value * &other.value, scale: quotient.scale + other.scale };
        let scale = (scale + other.scale).max(self.scale);
        Some(self.sub(&product.with_scale(scale)).with_scale(scale))
    }

    /// A whole power; `None` for a division by zero, `Err` when the result is too large.
    pub fn pow(&self, exponent: &Self, scale: usize) -> Result<Option<Self>, String> {
        let exponent = exponent.with_scale(0).value;
        let negative = exponent.sign() == Sign::Minus;
        let count: u64 = exponent.magnitude().try_into().map_err(|_| "exponent too large in raise".to_string())?;
        if self.value.bits().saturating_mul(count) / 3 > MAX_DIGITS || count > u64::from(u32::MAX) {
            if self.is_zero() || self.value.magnitude() == &num_bigint::BigUint::from(1u8) && self.scale == 0 {
                let odd = count & 1 == 1;
                return Ok(Some(if odd { self.clone() } else { Self::whole(i64::from(!self.is_zero())) }));
            }
            return Err("exponent too large in raise".into());
        }
        let full = Self { value: self.value.pow(count as u32), scale: self.scale.saturating_mul(count as usize) };
        if negative {
            return Ok(Self::whole(1).div(&full, scale));
        }
        Ok(Some(full.with_scale(full.scale.min(scale.max(self.scale)))))
    }

    /// Square root; `None` for a negative number.
    pub fn sqrt(&self, scale: usize) -> Option<Self> {
        if self.value.sign() == Sign::Minus {
            return None;
        }
        let scale = scale.max(self.scale);
        Some(Self { value: self.with_scale(2 * scale).value.sqrt(), scale })
    }

    /// Opposite.
    pub fn neg(&self) -> Self {
        Self { value: -&self.value, scale: self.scale }
    }

    /// Order.
    pub fn compare(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }

    /// The whole part, within a machine's numbers.
    pub fn to_i64(&self) -> i64 {
        let whole = self.with_scale(0).value;
        i64::try_from(&whole).unwrap_or(if whole.sign() == Sign::Minus { i64::MIN } else { i64::MAX })
    }

    /// How many digits it has, as `length` counts.
    pub fn length(&self) -> usize {
        let digits = self.value.magnitude().to_string().len();
        if self.is_zero() { self.scale.max(1) } else { digits.max(self.scale) }
    }

    /// The text in a base.
    pub fn show(&self, base: u32) -> String {
        let sign = if self.value.sign() == Sign::Minus { "-" } else { "" };
        if self.is_zero() {
            return "0".into();
        }
        if base == 10 {
            let digits = self.value.magnitude().to_string();
            if self.scale == 0 {
                return format!("{sign}{digits}");
            }
            let digits = format!("{digits:0>width$}", width = self.scale);
            let (whole, fraction) = digits.split_at(digits.len() - self.scale);
            return format!("{sign}{whole}.{fraction}");
        }
        let factor = power_of_ten(self.scale);
        let magnitude = BigInt::from(self.value.magnitude().clone());
        let (mut whole, mut rest) = (&magnitude / &factor, &magnitude % &factor);
        // Bases above 16 show each digit as a number of fixed width.
        let width = (base - 1).to_string().len();
        let digit = |value: u32| {
            if base <= 16 {
                char::from_digit(value, 16).unwrap_or('0').to_ascii_uppercase().to_string()
            } else {
                format!(" {value:0width$}")
            }
        };
        let mut digits = Vec::new();
        while whole.sign() == Sign::Plus {
            let value = u32::try_from(&whole % base).unwrap_or(0);
            digits.push(digit(value));
            whole /= base;
        }
        digits.reverse();
        let mut text = format!("{sign}{}", digits.concat());
        if self.scale > 0 {
            text.push('.');
            let mut reached = BigInt::from(1);
            while reached < factor {
                rest *= base;
                let value = u32::try_from(&rest / &factor).unwrap_or(0);
                let shown = digit(value);
                text.push_str(if base > 16 && reached == BigInt::from(1) { shown.trim_start() } else { &shown });
                rest %= &factor;
                reached *= base;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_scale() {
        let number = |text: &str| Number::parse(text, 10);
        assert_eq!(number("1").div(&number("3"), 5).map(|n| n.show(10)).as_deref(), Some(".33333"));
        assert_eq!(number("1.25").mul(&number("2.5"), 0).show(10), "3.12");
        assert_eq!(number("7.5").rem(&number("2"), 0).map(|n| n.show(10)).as_deref(), Some("1.5"));
        assert_eq!(number("2").sqrt(10).map(|n| n.show(10)).as_deref(), Some("1.4142135623"));
        assert_eq!(number("255").show(16), "FF");
        assert_eq!(Number::parse("FF", 16).show(10), "255");
        assert_eq!(Number::parse("101", 2).show(10), "5");
    }
}
