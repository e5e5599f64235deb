//! The header fields that tell a client how much is left.

use std::fmt::Write as _;

use sfv::{KeyRef, ListSerializer, StringRef};

use crate::context::Told;
use crate::rule::Algorithm;

/// Which fields a response carries. They describe the rules of the call by their written names;
/// those without one are `default`, because paths of the code are nobody's business.
///
/// Drafts 6 and 11 both have a `RateLimit-Policy`: whoever asks for both gets that of the later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fields {
    /// `RateLimit` and `RateLimit-Policy` as in draft 11 of the IETF's httpapi group: lists of
    /// structured fields, one entry for each rule.
    Draft11,
    /// `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset` and `RateLimit-Policy` of draft 6,
    /// for the rule with the least left.
    Draft6,
    /// `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, in seconds from now, for
    /// the rule with the least left.
    XRateLimit,
}

impl Fields {
    /// Hands out the names and values for what was told about a request: of each name once.
    pub(crate) fn write(self, told: &[Told], mut put: impl FnMut(&'static str, &str)) {
        let Some(least) = least(told) else { return };
        let (limit, remaining, reset) = (least.limit, least.remaining, least.reset_s());
        let mut put_number =
            |name, number: u64| put(name, itoa::Buffer::new().format(number));
        match self {
            Self::Draft11 => draft_11(told, put),
            Self::Draft6 => {
                put_number("ratelimit-limit", limit);
                put_number("ratelimit-remaining", remaining);
                if let Some(reset) = reset {
                    put_number("ratelimit-reset", reset);
                }
                put("ratelimit-policy", &draft_6_policies(told));
            }
            Self::XRateLimit => {
                put_number("x-ratelimit-limit", limit);
                put_number("x-ratelimit-remaining", remaining);
                if let Some(reset) = reset {
                    put_number("x-ratelimit-reset", reset);
                }
            }
        }
    }
}

fn draft_6_policies(told: &[Told]) -> String {
    let mut policies = String::new();
    for told in told {
        let comma = if policies.is_empty() { "" } else { ", " };
        let _ = write!(policies, "{comma}{};w={}", told.limit, window_s(told.algorithm));
    }
    policies
}

fn draft_11(told: &[Told], mut put: impl FnMut(&'static str, &str)) {
    // Room for most lists, so that they do not grow word by word.
    let mut text = String::with_capacity(64 * told.len());
    let mut policies = ListSerializer::with_buffer(&mut text);
    for told in told {
        let _ = policies
            .bare_item(name(told))
            .parameter(KeyRef::constant("q"), number(told.limit))
            .parameter(KeyRef::constant("w"), number(window_s(told.algorithm)));
    }
    put("ratelimit-policy", &text);
    text.clear();
    let mut limits = ListSerializer::with_buffer(&mut text);
    for told in told {
        let limit =
            limits.bare_item(name(told)).parameter(KeyRef::constant("r"), number(told.remaining));
        if let Some(reset) = told.reset_s() {
            let _ = limit.parameter(KeyRef::constant("t"), number(reset));
        }
    }
    put("ratelimit", &text);
}

fn name(told: &Told) -> &StringRef {
    StringRef::from_str(told.shown_name()).unwrap_or(StringRef::constant("default"))
}

/// Structured fields have integers of 15 digits at most.
fn number(number: u64) -> sfv::Integer {
    sfv::Integer::try_from(number).unwrap_or(sfv::Integer::MAX)
}

/// The rule that stops the client first.
fn least(told: &[Told]) -> Option<&Told> {
    told.iter().min_by_key(|told| told.rank())
}

/// In how many seconds as many permits come as there are, rounded up.
fn window_s(algorithm: Algorithm) -> u64 {
    let micros = match algorithm {
        Algorithm::TokenBucket { capacity, refill: rate }
        | Algorithm::LeakyBucket { capacity, leak: rate } => (u128::from(capacity)
            * rate.period().as_micros())
        .div_ceil(rate.permits().max(1).into()),
        Algorithm::FixedWindow { window, .. }
        | Algorithm::SlidingLog { window, .. }
        | Algorithm::SlidingCounter { window, .. } => window.as_micros(),
    };
    u64::try_from(micros.div_ceil(1_000_000)).unwrap_or(u64::MAX).max(1)
}
