//! [`LimitEvent`]: a call that a rule did not simply admit.

use std::time::Duration;

use crate::degraded::Degraded;
use crate::key::LimitKey;

/// A call that a rule did not simply admit, for a hook:
/// [`LimiterBuilder::on_event`](crate::LimiterBuilder::on_event). Each rule of a call that has
/// something to say gives an event of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LimitEvent<'a> {
    /// What happened.
    pub kind: LimitEventKind,
    /// The rule's name.
    pub rule: &'a str,
    /// The key, [as it is stored](LimitKey::as_str): escaped, shortened if it is long, and of `hash(..)`
    /// the hash. It may name a person. `Debug` shows its length only.
    pub key: &'a LimitKey,
    /// The capacity or limit in force.
    pub limit: u64,
    /// How many permits the call would have taken.
    pub cost: u64,
    /// How long to wait before the same call is admitted if nothing else happens, in whole
    /// milliseconds. `None`: no wait will do, or it is not known.
    pub retry_after: Option<Duration>,
    /// Set when the store did not answer, and who decided then. Of
    /// [`Unavailable`](LimitEventKind::Unavailable) and [`Invalid`](LimitEventKind::Invalid) nobody
    /// did.
    pub degraded: Option<Degraded>,
}

/// What happened to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitEventKind {
    /// The rule refused it.
    Limited,
    /// The rule is in [shadow mode](crate::Mode::Shadow), and would have refused it.
    Shadowed,
    /// No store answered, and [`open`](crate::OnError::Open) let it pass.
    Open,
    /// No store answered, and the rule is [`closed`](crate::OnError::Closed) then.
    Unavailable,
    /// The call itself is wrong, and [its caller](crate::InvalidCall::is_client_error) is to blame: an empty
    /// key, a cost that is negative or too large.
    Invalid,
}
