//! [`Degraded`]: who decided when the store did not answer.

/// Why a decision was not made by the limiter's store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Degraded {
    /// The embedded store decided, with this instance's share of the limits.
    Local,
    /// Nobody decided, and the call was admitted.
    Open,
}
