//! When a request is made again.

use std::time::Duration;

/// How failures that may pass are met: too many requests, failures of the server, no connection, and a connection that
/// was lost before anything of the answer was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retries {
    /// How often a request is made again. Default 4.
    pub max: u32,
    /// How long it is waited before the first retry, then twice as long each time, less up to a half by chance, so that
    /// clients that failed together do not come back together. Default 500 ms.
    pub first_delay: Duration,
    /// The longest wait, also when the server wants another with `Retry-After`: one that wants more is not asked again.
    /// Default 60 s.
    pub max_delay: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { max: 4, first_delay: Duration::from_millis(500), max_delay: Duration::from_secs(60) }
    }
}

impl Retries {
    /// No retries.
    pub fn none() -> Self {
        Self { max: 0, ..Self::default() }
    }

    /// How long to wait before the retry with this number, from 1; `None` when there is none.
    pub(super) fn delay(&self, retry: u32, wanted: Option<Duration>) -> Option<Duration> {
        if retry > self.max {
            return None;
        }
        if let Some(wanted) = wanted {
            return (wanted <= self.max_delay).then_some(wanted);
        }
        let factor = 2u32.saturating_pow(retry - 1);
        let longest = self.first_delay.saturating_mul(factor).min(self.max_delay);
        // Without random numbers the longest wait is as good.
        let chance = getrandom::u32().map_or(0.0, |number| f64::from(number) / f64::from(u32::MAX));
        Some(longest.mul_f64(1.0 - chance / 2.0))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn delays() {
        let seconds = Duration::from_secs;
        let retries = Retries { max: 40, first_delay: seconds(1), max_delay: seconds(10) };
        for (retry, longest) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (40, 10)] {
            for _ in 0..20 {
                let delay = retries.delay(retry, None).unwrap();
                assert!(delay <= seconds(longest) && delay >= seconds(longest) / 2, "{retry}: {delay:?}");
            }
        }
        assert_eq!(retries.delay(41, None), None);
        assert_eq!(retries.delay(1, Some(seconds(10))), Some(seconds(10)));
        assert_eq!(retries.delay(1, Some(Duration::ZERO)), Some(Duration::ZERO));
        assert_eq!(retries.delay(1, Some(seconds(11))), None);
        assert_eq!(Retries::none().delay(1, None), None);
    }
}
