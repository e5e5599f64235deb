//! Several `#[rate_limit]` on one function are one check: the first absorbs the others.
//!
//! The first attribute receives the function with all later ones still on it, whatever stands in
//! between, and after every `cfg_attr` was decided.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Meta, Path};

use crate::args::Args;
use crate::error::Errors;
use crate::function::Function;
use crate::message::messages;
use crate::symbol::Arg;

messages! {
    per_function(arg) = "`{arg}` belongs to the function: write it on its first `#[rate_limit]`";
    two_names() =
        "this function is limited twice, under two names of the attribute: \
         write `#[rate_limit]` each time, so that its rules are decided together";
    two_paths(path) =
        "this function is limited by another `#[rate_limit]` already, which does not know this one: \
         write `crate = {path}` on the first";
    no_list() = "write the arguments in parentheses: `#[rate_limit(..)]`";
}

/// The name by which later attributes are known.
const ATTRIBUTE: &str = "rate_limit";
/// The crates from which the attribute comes, when it is written with a path.
const CRATES: &[&str] = &["ratelimit_kit", "ratelimit_macros"];
/// The first static of an expansion: a function that has it is limited already, under a name that
/// its first attribute could not know to be one of ours.
pub(crate) const MARKER: &str = "__RATE_LIMIT_RULE";

/// The arguments of every `#[rate_limit]` of `function`, which loses the later ones. `written` is the
/// first attribute in the source, if known.
pub(crate) fn absorb(
    written: Option<&str>,
    first: TokenStream,
    function: &mut Function,
    errors: &mut Errors,
) -> Vec<Args> {
    if function.body_mentions(MARKER) {
        let path = written.and_then(path_in).and_then(|path| path.strip_suffix("::rate_limit"));
        let message = path.map_or_else(two_names, two_paths);
        errors.at_span(Span::call_site(), message);
    }
    let names: Vec<String> =
        function.scope().names.iter().map(|name| name.ident.unraw().to_string()).collect();
    let first = Args::parse(first, Span::call_site(), &names, errors);
    let renamed = first.get(Arg::Crate).and_then(|given| last_segment(&given.value));
    let attributes = std::mem::take(&mut function.attrs);
    let (ours, others): (Vec<_>, Vec<_>) = attributes.into_iter().partition(|attr| {
        is_ours(attr.path(), renamed.as_deref())
            || written.is_some_and(|first| is_same(attr.path(), first))
    });
    function.attrs = others;

    if let Some(name) = written.and_then(name_in)
        && let Some(later) = ours
            .iter()
            .find(|attr| attr.path().segments.last().is_none_or(|last| last.ident != name))
    {
        errors.at(later.path(), two_names());
    }
    let mut stack = vec![first];
    for attribute in ours {
        let Some(later) = arguments(attribute, &names, errors) else { continue };
        for given in later.iter().filter(|given| given.arg.is_per_function()) {
            errors.at(&given.name, per_function(&given.name));
        }
        stack.push(later);
    }
    stack
}

fn arguments(attribute: Attribute, names: &[String], errors: &mut Errors) -> Option<Args> {
    let place = attribute.path().span();
    match attribute.meta {
        Meta::List(list) => Some(Args::parse(list.tokens, place, names, errors)),
        Meta::Path(_) => Some(Args::parse(TokenStream::new(), place, names, errors)),
        Meta::NameValue(pair) => {
            errors.at(pair, no_list());
            None
        }
    }
}

/// `rate_limit`, or `some::path::rate_limit` out of our own crate: others may have the same name.
fn is_ours(path: &Path, renamed: Option<&str>) -> bool {
    let mut segments = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    if segments.next().is_none_or(|last| last != ATTRIBUTE) {
        return false;
    }
    segments
        .next()
        .is_none_or(|parent| CRATES.contains(&parent.as_str()) || renamed == Some(parent.as_str()))
}

/// Whether a path is that of the first attribute in the source: then it means the same macro, whatever it is
/// called there.
fn is_same(path: &Path, first: &str) -> bool {
    first.trim_start().starts_with("#[") && path_in(first).is_some_and(|first| first == text(path))
}

fn text(path: &Path) -> String {
    path.to_token_stream().to_string().replace(char::is_whitespace, "")
}

/// The name under which the attribute stands in the source, as in `#[a::name(..)]`, or in
/// `name(..)` inside a `cfg_attr`. `None` for anything else: another macro may have written it.
fn name_in(written: &str) -> Option<&str> {
    path_in(written)?.rsplit("::").next()
}

/// The path in front of that name, and the name.
fn path_in(written: &str) -> Option<&str> {
    let path = written.trim_start().trim_start_matches("#[").trim_start();
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))?;
    let (path, rest) = path.split_at_checked(end)?;
    let is_name = |name: &str| !name.is_empty() && name != "cfg_attr";
    let is_attribute = rest.trim_start().starts_with(['(', ']']);
    (is_attribute && path.rsplit("::").next().is_some_and(is_name)).then_some(path)
}

fn last_segment(path: &Expr) -> Option<String> {
    match path {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(path: &str, renamed: Option<&str>) -> bool {
        is_ours(&syn::parse_str(path).unwrap(), renamed)
    }

    #[test]
    fn the_name_in_the_source() {
        assert_eq!(name_in("#[rate_limit(key = \"a\")]"), Some("rate_limit"));
        assert_eq!(name_in("#[rl]"), Some("rl"));
        assert_eq!(name_in("#[ ::ratelimit_kit::rate_limit (a = 1)]"), Some("rate_limit"));
        assert_eq!(name_in("rl(capacity = 1)"), Some("rl"));
        for other in
            ["", "struct S;", "#[cfg_attr(a, rl(b))]", "fn f()", "#[derive(A)] x", "phone", "#[]"]
        {
            assert!(name_in(other).is_none_or(|name| name == "derive"), "{other}");
        }
    }

    #[test]
    fn the_same_path_is_the_same_attribute() {
        let is_same = |path: &str, first: &str| is_same(&syn::parse_str(path).unwrap(), first);
        assert!(is_same("rl::rate_limit", "#[rl::rate_limit(capacity = 1)]"));
        assert!(is_same(":: a :: rl", "#[ ::a::rl (b)]"));
        assert!(!is_same("rate_limit", "#[rl::rate_limit(capacity = 1)]"));
        assert!(!is_same("rl", "rl(capacity = 1)"), "another macro may have written it");
    }

    #[test]
    fn the_attribute_is_known_by_its_name_and_its_crate() {
        assert!(is("rate_limit", None));
        assert!(is("ratelimit_kit::rate_limit", None));
        assert!(is("::ratelimit_kit::rate_limit", None));
        assert!(is("kit::rate_limit", Some("kit")));
        assert!(!is("kit::rate_limit", None));
        assert!(!is("rocket_governor::rate_limit", None));
        assert!(!is("instrument", None));
    }
}
