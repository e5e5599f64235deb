//! [`HeaderItem`]: a rule as rate-limit headers show it.

use std::fmt::Write as _;

use sfv::{ItemSerializer, KeyRef, StringRef};

use super::Algorithm;
use super::algorithm::Pace;
use crate::key::LimitKey;
use crate::name::MAX_NAME;

/// What rate-limit headers say of a rule on every call.
#[derive(Debug)]
pub(crate) struct HeaderItem {
    /// A string of a structured field.
    pub(crate) name: String,
    /// The name and the numbers: an entry of a list.
    pub(crate) policy: String,
    pub(crate) window_s: u64,
}

impl HeaderItem {
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

/// Structured fields have integers of 15 digits at most.
pub(crate) const MAX_INTEGER: u64 = 999_999_999_999_999;

fn number(number: u64) -> sfv::Integer {
    sfv::Integer::try_from(number).unwrap_or(sfv::Integer::MAX)
}

/// In how many seconds as many permits come as there are, rounded up.
fn window_s(algorithm: Algorithm) -> u64 {
    let micros = match algorithm.pace() {
        Pace::Rate(rate) => (u128::from(algorithm.limit()) * rate.period().as_micros())
            .div_ceil(rate.permits().max(1).into()),
        Pace::Window(window) => window.as_micros(),
    };
    u64::try_from(micros.div_ceil(1_000_000)).unwrap_or(u64::MAX).max(1)
}
