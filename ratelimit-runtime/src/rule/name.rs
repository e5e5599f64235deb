//! What rules are called.

use std::sync::Arc;

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
