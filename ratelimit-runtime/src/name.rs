//! How long a name can be, and what becomes of a longer one.

use std::sync::Arc;

use crate::key::LimitKey;

/// How long a name can be, in bytes: it is in keys of Redis, labels, header fields and log lines.
pub(crate) const MAX_NAME: usize = 128;

/// The same name, if it is short enough and can be shown; else its head, and a hash of all of it, so that
/// two names stay two.
pub(crate) fn bounded(name: Arc<str>) -> Arc<str> {
    if name.len() <= MAX_NAME && !name.contains(char::is_control) {
        return name;
    }
    let hash = LimitKey::digest(&name);
    let room = MAX_NAME - "%~".len() - hash.len();
    let head = name.get(..name.floor_char_boundary(room)).unwrap_or_default();
    [&head.replace(char::is_control, "_"), "%~", &hash].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_and_those_that_cannot_be_shown_end_in_a_hash() {
        let kept = |name: &str| bounded(name.into());
        let long = "é".repeat(64);
        assert_eq!([&*kept("sms"), &*kept(&long)], ["sms", &long]);
        let (one, other) = (kept(&"x".repeat(129)), kept(&"x".repeat(10_000)));
        assert!(one != other && [&one, &other].iter().all(|name| name.len() == MAX_NAME));
        let escape = kept("a\u{1b}[31m\nb");
        assert!(escape.starts_with("a_[31m_b%~"), "{escape}");
    }
}
