//! Waits that are reported to clients, one a little longer than the other.

use std::time::Duration;

/// By how much the waits of one request are longer. The same for all that is said about it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spread {
    /// At most so many.
    percent: u8,
    /// How much of that, of `u32::MAX` and one more.
    part: u32,
}

impl Spread {
    /// At most so many percent, chosen anew.
    pub(crate) fn choose(percent: u8) -> Self {
        Self { percent, part: fastrand::u32(..) }
    }

    /// In whole seconds, rounded up. Clients that wait for so long come at whole seconds: so it is whole seconds that
    /// are added, each as often as the other.
    pub(crate) fn seconds(self, wait: Duration) -> u64 {
        let exact = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
        if self.percent == 0 {
            return exact;
        }
        let most = wait.as_micros() * u128::from(self.percent) / 100 + 1_000_000;
        let more = ((most * u128::from(self.part)) >> 32) / 1_000_000;
        exact.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
    }

    /// Where more than whole seconds can be said.
    #[cfg(feature = "tonic")]
    pub(crate) fn exactly(self, wait: Duration) -> Duration {
        let most = wait.as_micros() * u128::from(self.percent) / 100;
        let more = (most * u128::from(self.part)) >> 32;
        wait.saturating_add(Duration::from_micros(u64::try_from(more).unwrap_or(u64::MAX)))
    }

    /// Whether there is any.
    pub(crate) fn is_on(self) -> bool {
        self.percent > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;

    #[test]
    fn b156_a_wait_is_never_told_too_short() {
        for (percent, part, wait_ms, seconds) in [
            (0, ALL, 10_000, 10),
            (0, ALL, 9_001, 10),
            (20, 0, 10_000, 10),
            (20, ALL / 3, 10_000, 10),
            (20, ALL / 3 + 2, 10_000, 11),
            (20, ALL, 10_000, 12),
            (20, ALL, 1, 2),
            (20, ALL / 2, 1, 1),
            (20, ALL, 4_000, 5),
            (20, ALL, 5_000, 6),
            (100, ALL, 1_500, 4),
        ] {
            let told = Spread { percent, part }.seconds(Duration::from_millis(wait_ms));
            assert_eq!(told, seconds, "{percent} {part} {wait_ms}");
            let (least, most) = (wait_ms.div_ceil(1_000), wait_ms / 1_000 + 1);
            assert!((least..=most + most * u64::from(percent) / 100 + 1).contains(&told));
        }
        assert_eq!(Spread { percent: 100, part: ALL }.seconds(Duration::MAX), u64::MAX);
    }

    #[cfg(feature = "tonic")]
    #[test]
    fn b156_and_not_too_long() {
        let wait = Duration::from_secs(10);
        let told = |percent, part| Spread { percent, part }.exactly(wait);
        assert_eq!([told(0, ALL), told(20, 0)], [wait; 2]);
        assert_eq!(told(20, 1 << 31), Duration::from_secs(11));
        assert!(told(20, ALL) < Duration::from_secs(12));
        assert_eq!(Spread { percent: 100, part: ALL }.exactly(Duration::MAX), Duration::MAX);
    }
}
