//! Delays between attempts at something that has failed.

use std::time::Duration;

/// Delays that double up to a limit. Each is a little shorter by chance, so that instances that have
/// lost one server together do not all come back together.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    shortest: Duration,
    longest: Duration,
    jitter: f64,
}

impl Backoff {
    /// `jitter` is how much of a delay is left to chance: 0.5 makes one of 100 ms take 50 to 100 ms.
    pub(super) const fn new(shortest: Duration, longest: Duration, jitter: f64) -> Self {
        Self { next: shortest, shortest, longest, jitter }
    }

    /// Between attempts to connect, and to read a slot map.
    pub(super) const fn connecting() -> Self {
        Self::new(Duration::from_millis(50), Duration::from_millis(500), 0.5)
    }

    /// Something has worked: the next delay is the shortest one again.
    pub(super) const fn reset(&mut self) {
        self.next = self.shortest;
    }

    /// How long to wait this time.
    pub(super) fn next_delay(&mut self) -> Duration {
        let delay = self.next.mul_f64(1.0 - self.jitter + self.jitter * fastrand::f64());
        self.next = (self.next * 2).min(self.longest);
        delay
    }

    /// Waits for that long.
    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.next_delay()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_and_start_over() {
        let [shortest, longest] = [100, 450].map(Duration::from_millis);
        let mut backoff = Backoff::new(shortest, longest, 0.25);
        for _ in 0..2 {
            for ms in [100, 200, 400, 450, 450] {
                let delay = backoff.next_delay().as_millis();
                assert!((ms * 3 / 4..=ms).contains(&delay), "{delay} ms in place of {ms}");
            }
            backoff.reset();
        }
    }
}
