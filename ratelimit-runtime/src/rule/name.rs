//! What rules are called.

use std::sync::Arc;

use crate::key::LimitKey;

/// The name of a rule, cheap to clone.
#[derive(Clone, Debug)]
pub(crate) enum RuleName {
    Static(&'static str),
    Shared(Arc<str>),
}

impl std::ops::Deref for RuleName {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Static(name) => name,
            Self::Shared(name) => name,
        }
    }
}

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

/// The path of a function from the type name of an item within it: without that item, closures,
/// generic arguments and the wrapper around methods of another module's type.
pub(super) fn function_name(inner: &str) -> String {
    let path = inner.rsplit_once("::").map_or(inner, |(path, _)| path);
    let path = path.replace("::{{closure}}", "").replace("<impl ", "<");
    let mut name = String::with_capacity(path.len());
    // `<Type as Trait>` stands at the front or behind `::`; everything else in `<>` is generic.
    let (mut generic, mut self_type) = (0_usize, None);
    for c in path.chars() {
        match (c, self_type) {
            ('<', None) if generic == 0 && (name.is_empty() || name.ends_with("::")) => {
                self_type = Some(name.len());
            }
            ('<', _) => generic += 1,
            ('>', _) if generic > 0 => generic -= 1,
            ('>', Some(start)) => {
                // A type alone needs no brackets to stand in a path.
                if name.get(start..).is_some_and(|text| text.contains(" as ")) {
                    name.insert(start, '<');
                    name.push('>');
                }
                self_type = None;
            }
            _ if generic > 0 => {}
            _ => name.push(c),
        }
    }
    name
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

    #[test]
    fn names_come_from_paths() {
        for (inner, name) in [
            ("app::send::f", "app::send"),
            ("app::send::{{closure}}::f", "app::send"),
            ("app::Type<_>::send::f", "app::Type::send"),
            ("<app::Type<u8> as app::Trait<app::X>>::send::f", "<app::Type as app::Trait>::send"),
            ("app::a::b::<impl app::Type<u8>>::send::f", "app::a::b::app::Type::send"),
        ] {
            assert_eq!(function_name(inner), name);
        }
    }
}
