//! The functions of `bc -l`: e, l, s, c, a and j.

use num_bigint::{BigInt, Sign};

use super::number::{Number, power_of_ten};

/// Numbers with a fixed point, `digits` behind it.
struct Fixed {
    one: BigInt,
    digits: usize,
}

impl Fixed {
    fn new(digits: usize) -> Self {
        Self { one: power_of_ten(digits), digits }
    }

    fn of(&self, number: &Number) -> BigInt {
        number.with_scale(self.digits).value
    }

    fn mul(&self, a: &BigInt, b: &BigInt) -> BigInt {
        a * b / &self.one
    }

    fn div(&self, a: &BigInt, b: &BigInt) -> BigInt {
        a * &self.one / b
    }

    fn result(&self, value: BigInt, scale: usize) -> Number {
        Number { value, scale: self.digits }.with_scale(scale)
    }

    /// Machin's formula.
    fn pi(&self) -> BigInt {
        let inverse_arctangent = |of: u32| {
            let mut term = &self.one / of;
            let mut sum = term.clone();
            let mut count = 1u32;
            while term.sign() != Sign::NoSign {
                term = -term / (of * of);
                count += 2;
                sum += &term / count;
            }
            sum
        };
        inverse_arctangent(5) * 16 - inverse_arctangent(239) * 4
    }
}

/// Digits before the point.
fn whole_digits(number: &Number) -> usize {
    number.value.magnitude().to_string().len().saturating_sub(number.scale)
}

/// e^x
pub fn exponential(x: &Number, scale: usize) -> Option<Number> {
    // Larger ones have more digits than any use.
    let whole = x.to_i64();
    if whole > 100_000 {
        return None;
    }
    let grown = (whole.max(0) as f64 * 0.4343) as usize;
    let fixed = Fixed::new(scale + grown + 15);
    let mut value = fixed.of(x);
    let mut halvings = 0;
    while value.magnitude() > (&fixed.one / 100u32).magnitude() {
        value /= 2;
        halvings += 1;
    }
    // Squaring loses a digit for about three halvings.
    let fixed = Fixed::new(fixed.digits + halvings / 3 + 5);
    let mut value = fixed.of(x);
    value >>= halvings;
    let mut term = fixed.one.clone();
    let mut sum = fixed.one.clone();
    let mut count = 1u32;
    while term.sign() != Sign::NoSign {
        term = fixed.mul(&term, &value) / count;
        sum += &term;
        count += 1;
    }
    for _ in 0..halvings {
        sum = fixed.mul(&sum, &sum);
    }
    Some(fixed.result(sum, scale))
}

/// The natural logarithm; bc's own answer for what has none.
pub fn logarithm(x: &Number, scale: usize) -> Number {
    if x.value.sign() != Sign::Plus {
        // 1 - 10^scale, as bc's library has it.
        return Number { value: (BigInt::from(1) - power_of_ten(scale)) * power_of_ten(scale), scale };
    }
    let fixed = Fixed::new(scale + whole_digits(x) + 20);
    let mut value = fixed.of(x);
    if value.sign() != Sign::Plus {
        return logarithm(&x.with_scale(x.scale), scale + x.scale).with_scale(scale);
    }
    let mut roots = 0;
    let near = &fixed.one / 20u32;
    while (&value - &fixed.one).magnitude() > near.magnitude() {
        value = (&value * &fixed.one).sqrt();
        roots += 1;
    }
    let ratio = fixed.div(&(&value - &fixed.one), &(&value + &fixed.one));
    let square = fixed.mul(&ratio, &ratio);
    let mut term = ratio.clone();
    let mut sum = ratio;
    let mut count = 1u32;
    while term.sign() != Sign::NoSign {
        term = fixed.mul(&term, &square);
        count += 2;
        sum += &term / count;
    }
    fixed.result((sum * 2u32) << roots, scale)
}

/// Sine, or cosine.
pub fn sine(x: &Number, scale: usize, cosine: bool) -> Number {
    let fixed = Fixed::new(scale + whole_digits(x) + 15);
    let turn = fixed.pi() * 2;
    let value = fixed.of(x) % &turn;
    let square = fixed.mul(&value, &value);
    let (mut term, mut count) = if cosine { (fixed.one.clone(), 0u32) } else { (value, 1u32) };
    let mut sum = term.clone();
    while term.sign() != Sign::NoSign {
        term = -fixed.mul(&term, &square) / ((count + 1) * (count + 2));
        count += 2;
        sum += &term;
    }
    fixed.result(sum, scale)
}

/// Arctangent.
pub fn arctangent(x: &Number, scale: usize) -> Number {
    let fixed = Fixed::new(scale + whole_digits(x) + 15);
    let mut value = fixed.of(x);
    let negative = value.sign() == Sign::Minus;
    if negative {
        value = -value;
    }
    let inverted = value > fixed.one;
    if inverted {
        value = fixed.div(&fixed.one, &value);
    }
    // atan(x) = 2 atan(x / (1 + sqrt(1 + x^2)))
    let mut halvings = 0;
    while value > &fixed.one / 20u32 {
        let root = ((&fixed.one + fixed.mul(&value, &value)) * &fixed.one).sqrt();
        value = fixed.div(&value, &(&fixed.one + root));
        halvings += 1;
    }
    let square = fixed.mul(&value, &value);
    let mut term = value.clone();
    let mut sum = value;
    let mut count = 1u32;
    while term.sign() != Sign::NoSign {
        term = -fixed.mul(&term, &square);
        count += 2;
        sum += &term / count;
    }
    sum <<= halvings;
    if inverted {
        sum = fixed.pi() / 2 - sum;
    }
    fixed.result(if negative { -sum } else { sum }, scale)
}

/// The Bessel function of a whole order.
pub fn bessel(order: &Number, x: &Number, scale: usize) -> Number {
    let order = order.to_i64().clamp(-10_000, 10_000);
    let positive = order.unsigned_abs() as u32;
    let grown = (x.to_i64().unsigned_abs() as f64 * 0.4343) as usize;
    let fixed = Fixed::new(scale + grown.min(100_000) + 20);
    let half = fixed.of(x) / 2;
    let square = fixed.mul(&half, &half);
    let mut term = fixed.one.clone();
    for factor in 1..=positive {
        term = fixed.mul(&term, &half) / factor;
    }
    let mut sum = term.clone();
    let mut count = 1u32;
    while term.sign() != Sign::NoSign {
        term = -fixed.mul(&term, &square) / (count * (positive + count));
        sum += &term;
        count += 1;
    }
    if order < 0 && order % 2 != 0 {
        sum = -sum;
    }
    fixed.result(sum, scale)
}
