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

/// A name and a value.
pub(crate) type Field = (&'static str, String);

impl Fields {
    /// The fields for what was told about a request: of each name once.
    pub(crate) fn write(self, told: &[Told]) -> Vec<Field> {
        let Some(least) = least(told) else { return Vec::new() };
        let (limit, remaining, reset) = (least.limit, least.remaining, least.reset_s());
        match self {
            Self::Draft11 => draft_11(told),
            Self::Draft6 => {
                let mut policies = String::new();
                for told in told {
                    let comma = if policies.is_empty() { "" } else { ", " };
                    let _ =
                        write!(policies, "{comma}{};w={}", told.limit, window_s(told.algorithm));
                }
                let reset = reset.map(|reset| ("ratelimit-reset", reset.to_string()));
                let mut fields = vec![
                    ("ratelimit-limit", limit.to_string()),
                    ("ratelimit-remaining", remaining.to_string()),
                    ("ratelimit-policy", policies),
                ];
                fields.extend(reset);
                fields
            }
            Self::XRateLimit => {
                let reset = reset.map(|reset| ("x-ratelimit-reset", reset.to_string()));
                let mut fields = vec![
                    ("x-ratelimit-limit", limit.to_string()),
                    ("x-ratelimit-remaining", remaining.to_string()),
                ];
                fields.extend(reset);
                fields
            }
        }
    }
}

fn draft_11(told: &[Told]) -> Vec<Field> {
    // Room for most lists, so that they do not grow word by word.
    let text = || String::with_capacity(64 * told.len());
    let (mut policies_text, mut limits_text) = (text(), text());
    let mut policies = ListSerializer::with_buffer(&mut policies_text);
    let mut limits = ListSerializer::with_buffer(&mut limits_text);
    for told in told {
        let name = StringRef::from_str(told.shown_name()).unwrap_or(StringRef::constant("default"));
        let _ = policies
            .bare_item(name)
            .parameter(KeyRef::constant("q"), number(told.limit))
            .parameter(KeyRef::constant("w"), number(window_s(told.algorithm)));
        let limit = limits.bare_item(name).parameter(KeyRef::constant("r"), number(told.remaining));
        if let Some(reset) = told.reset_s() {
            let _ = limit.parameter(KeyRef::constant("t"), number(reset));
        }
    }
    vec![("ratelimit-policy", policies_text), ("ratelimit", limits_text)]
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
