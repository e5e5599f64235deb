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
    let (mut generic, mut self_type) = (0_usize, false);
    for c in path.chars() {
        match c {
            '<' if generic == 0 && !self_type && (name.is_empty() || name.ends_with("::")) => {
                self_type = true;
            }
            '<' => generic += 1,
            '>' if generic > 0 => generic -= 1,
            '>' if self_type => self_type = false,
            _ if generic > 0 => {}
            _ => name.push(c),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::function_name;

    #[test]
    fn names_come_from_paths() {
        for (inner, name) in [
            ("app::send::f", "app::send"),
            ("app::send::{{closure}}::f", "app::send"),
            ("app::Type<_>::send::f", "app::Type::send"),
            ("<app::Type<u8> as app::Trait<app::X>>::send::f", "app::Type as app::Trait::send"),
            ("app::a::b::<impl app::Type<u8>>::send::f", "app::a::b::app::Type::send"),
        ] {
            assert_eq!(function_name(inner), name);
        }
    }
}
