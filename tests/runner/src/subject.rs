//! What the vectors are run on.

use std::time::Duration;

use ratelimit_runtime::__private::algo::Answer;
use ratelimit_runtime::Algorithm;

/// Something that decides calls at given instants.
pub trait Subject {
    /// What it is, for the report.
    fn name(&self) -> String;

    /// The smallest step of its clock.
    fn tick(&self) -> Duration;

    /// Why it cannot be given a limiter of this kind, if it cannot. For what the format says may be
    /// skipped; a limiter that is wrongly refused must fail in [`start`](Self::start) instead.
    fn declines(&self, _algorithm: &Algorithm) -> Option<String> {
        None
    }

    /// Makes the limiter that the following calls are on, without a past.
    fn start(&mut self, id: &str, algorithm: Algorithm) -> Result<(), String>;

    /// Decides one call.
    fn hit(&mut self, key: &str, now: Duration, cost: u64) -> Result<Answer, String>;
}
