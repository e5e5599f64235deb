//! The pauses between attempts at what has failed.

use std::time::Duration;

/// They grow from the first of these to the second.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(500);

/// Pauses that grow. Each is a little shorter by chance, so that instances that have lost one server
/// together do not all come back together.
pub(super) struct Pauses {
    next: Duration,
}

impl Pauses {
    pub(super) const fn new() -> Self {
        Self { next: SHORTEST }
    }

    /// It worked: the next one is short again.
    pub(super) const fn reset(&mut self) {
        self.next = SHORTEST;
    }

    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.next.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.next = (self.next * 2).min(LONGEST);
    }
}
