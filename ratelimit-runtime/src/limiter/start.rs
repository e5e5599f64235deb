//! What the log says of a limiter that was made.

use super::environment::{MODE, REDIS_URL, SERVICE};
use crate::rule::Mode;

/// Who chose the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChosenBy {
    /// The code; with a URL in the environment that is not used.
    Code {
        leaves_aside: bool,
    },
    Environment,
    Nobody,
}

/// How a limiter was made.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) chosen_by: ChosenBy,
    /// Where it decides.
    pub(super) decides: &'static str,
    /// Whether it shares a Redis with services that it cannot be told apart from.
    pub(super) lacks_service: bool,
    pub(super) mode: Mode,
}

impl Start {
    /// Says it: one line for the store, and one for each thing that may surprise.
    pub(super) fn log(&self) {
        let decides = self.decides;
        match self.chosen_by {
            ChosenBy::Environment => {
                tracing::info!("rate limits are decided {decides}, as {REDIS_URL} says");
            }
            ChosenBy::Code { leaves_aside: false } => {
                tracing::info!("rate limits are decided {decides}, as the code says");
            }
            ChosenBy::Code { leaves_aside: true } => tracing::warn!(
                "rate limits are decided {decides}, as the code says: {REDIS_URL} is set and not used"
            ),
            ChosenBy::Nobody => tracing::warn!(
                "no rate limit store is set up: limits hold for this process only (set {REDIS_URL} to share them)"
            ),
        }
        if self.lacks_service {
            tracing::warn!(
                "rate limits have no service name: another service on this Redis with a rule of the same name \
                 uses up the same budgets (set {SERVICE}, or `service` in code)"
            );
        }
        if self.mode != Mode::Enforce {
            tracing::warn!(mode = ?self.mode, "{MODE} is set: rate limits are not enforced");
        }
    }
}
