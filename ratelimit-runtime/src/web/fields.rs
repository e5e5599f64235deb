//! The header fields that tell a client how much is left.

use std::fmt::Write as _;

use http::HeaderName;
use sfv::{ItemSerializer, KeyRef, StringRef};

use crate::context::Told;
use crate::key::LimitKey;
use crate::rule::{Algorithm, MAX_NAME};

/// Which fields a response carries. They describe the rules of the call by their written names;
/// those without one are `default`, because paths of the code are nobody's business.
///
/// A structured field holds visible ASCII. Other bytes of a name are written as `%XX`, and so is a `%` that would look
/// like that: two names stay two. A rule that somebody has called `default` is `%64efault`. Of a name that takes more
/// than 128 bytes so, the head is shown, and a hash.
///
/// Drafts 6 and 11 both have a `RateLimit-Policy`: whoever asks for both gets that of the later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateLimitHeaders {
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

/// What the fields tell of a rule on every call.
#[derive(Debug)]
pub(crate) struct FieldItem {
    /// A string of a structured field.
    pub(crate) name: String,
    /// The name and the numbers: an entry of a list.
    policy: String,
    window_s: u64,
}

impl FieldItem {
    /// Of a rule with this name, if it may be shown, and with this limit in force.
    pub(crate) fn new(name: Option<&str>, limit: u64, algorithm: Algorithm) -> Self {
        let shown = name.map(shown);
        let name = shown.as_deref().and_then(|name| StringRef::from_str(name).ok());
        let name = name.unwrap_or(StringRef::constant(NAMELESS));
        let (mut written, mut policy) = (String::new(), String::new());
        let window_s = window_s(algorithm);
        let _ = ItemSerializer::with_buffer(&mut written).bare_item(name);
        let _ = ItemSerializer::with_buffer(&mut policy)
            .bare_item(name)
            .parameter(KeyRef::constant("q"), number(limit))
            .parameter(KeyRef::constant("w"), number(window_s));
        Self { name: written, policy, window_s }
    }
}

/// What all rules without a written name are called.
const NAMELESS: &str = "default";

/// A name in visible ASCII. Two names never become one: what is escaped is no other name's own text.
fn shown(name: &str) -> String {
    if name == NAMELESS {
        return "%64efault".to_owned();
    }
    let mut written = String::with_capacity(name.len());
    let mut rest = name.as_bytes();
    // How much fits in front of a hash.
    let (mut head, room) = (0, MAX_NAME - "%~".len() - 32);
    while let [byte, behind @ ..] = rest {
        let looks_escaped = *byte == b'%'
            && matches!(behind, [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit());
        if matches!(byte, b' '..=b'~') && !looks_escaped {
            written.push(char::from(*byte));
        } else {
            let _ = write!(written, "%{byte:02X}");
        }
        if written.len() <= room {
            head = written.len();
        }
        rest = behind;
    }
    if written.len() > MAX_NAME {
        written.truncate(head);
        written.push_str("%~");
        written.push_str(&LimitKey::digest(name));
    }
    written
}

static POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
static DRAFT_11: HeaderName = HeaderName::from_static("ratelimit");
static DRAFT_6: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];
static X: [HeaderName; 3] = [
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

impl RateLimitHeaders {
    /// Hands out the names and values for what was told about a request: of each name once.
    pub(crate) fn write(self, told: &[Told], mut put: impl FnMut(&'static HeaderName, &str)) {
        let Some(least) = least(told) else { return };
        let fitting;
        let told = if told.len() > FEW {
            fitting = self::fitting(told);
            &*fitting
        } else {
            told
        };
        match self {
            Self::Draft11 => {
                put(&POLICY, &list(told, |list, told| list.push_str(&told.item.policy)));
                put(&DRAFT_11, &list(told, write_left));
            }
            Self::Draft6 => {
                put_numbers(&DRAFT_6, least, MAX_INTEGER, &mut put);
                let policy = |list: &mut String, told: &Told| {
                    let [limit, window_s] =
                        [told.limit, told.item.window_s].map(|number| number.min(MAX_INTEGER));
                    let _ = write!(list, "{limit};w={window_s}");
                };
                put(&POLICY, &list(told, policy));
            }
            // Nobody has said how long these may be.
            Self::XRateLimit => put_numbers(&X, least, u64::MAX, put),
        }
    }
}

/// So many entries fit, whatever their names are.
const FEW: usize = 12;
/// Proxies take a few thousand bytes of header fields in all.
const MAX_LIST: usize = 4_096;

/// Those that fit into a field: of too many the ones that stop the client first, in the order in which they came.
fn fitting(told: &[Told]) -> Vec<Told> {
    let mut order: Vec<usize> = (0..told.len()).collect();
    order.sort_by_key(|n| told.get(*n).map(Told::rank));
    let mut room = MAX_LIST;
    order.retain(|n| {
        let length = told
            .get(*n)
            .map_or(0, |told| told.item.policy.len().max(told.item.name.len() + 40) + 2);
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    order.sort_unstable();
    order.into_iter().filter_map(|n| told.get(n).cloned()).collect()
}

/// The limit, what is left, and in how many seconds there is more; nothing larger than `max`.
fn put_numbers(
    names: &'static [HeaderName; 3],
    told: &Told,
    max: u64,
    mut put: impl FnMut(&'static HeaderName, &str),
) {
    let numbers = [Some(told.limit), Some(told.remaining), told.reset_s()];
    for (name, number) in names.iter().zip(numbers) {
        if let Some(number) = number {
            put(name, itoa::Buffer::new().format(number.min(max)));
        }
    }
}

/// A list with one entry for each rule.
fn list(told: &[Told], write: impl Fn(&mut String, &Told)) -> String {
    // Room for most lists, so that they do not grow word by word.
    let mut list = String::with_capacity(64 * told.len());
    for told in told {
        if !list.is_empty() {
            list.push_str(", ");
        }
        write(&mut list, told);
    }
    list
}

/// What is left, and when there is more. This changes with each call, and is no more than digits behind
/// the name.
fn write_left(list: &mut String, told: &Told) {
    list.push_str(&told.item.name);
    let mut parameter = |name: &str, value: u64| {
        list.push_str(name);
        list.push_str(itoa::Buffer::new().format(value.min(MAX_INTEGER)));
    };
    parameter(";r=", told.remaining);
    if let Some(reset) = told.reset_s() {
        parameter(";t=", reset);
    }
}

/// Structured fields have integers of 15 digits at most.
const MAX_INTEGER: u64 = 999_999_999_999_999;

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
