//! Lines of the log that would otherwise come with every call.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

const MINUTE: Duration = Duration::from_mins(1);

/// Lets one thing be said once a minute.
#[derive(Debug)]
pub(crate) struct OnceAMinute(Mutex<Option<Instant>>);

impl OnceAMinute {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Whether a minute has passed since this was last `true`.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let mut last = self.0.lock();
        let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= MINUTE);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_lies_between_two_lines() {
        let lines = OnceAMinute::new();
        let start = Instant::now();
        let at = |secs| lines.is_due(start + Duration::from_secs(secs));
        let due = [0, 1, 59, 60, 61, 119, 120, 1_000].map(at);
        assert_eq!(due, [true, false, false, true, false, false, true, true]);
    }
}
