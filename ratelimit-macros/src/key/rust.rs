//! Keys that are written in Rust: one value, or `[a, b]` for several parts.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit};

use super::{CONTEXT, differs, foreign};
use crate::error::Errors;
use crate::function::Scope;
use crate::message::messages;
use crate::symbol::nearest;
use crate::words::snake_case;

messages! {
    joined_text() =
        "this is Rust, in which texts are not joined by `+`: one pair of quotes around all of it \
         makes it a key, as in `\"'sms:' + phone\"`";
    empty_array() = "the list is empty: `[a, b]` has one part for each entry";
    tuple() = "several parts are written as a list: `[a, b]`";
    closure() = "a key is a value and no closure: write what it returns, as in `key = user.id`";
    constant_key(example) =
        "this key names no argument, no `self` and no function of yours, so all callers would share \
         one budget: name what differs, as in `key = {example}`, or leave `key` out";
    constant_group(example) =
        "this group names no argument, no `self` and no function of yours, so every call would be in \
         one slot: name what differs, as in `group = {example}`; one slot for all is a text, \
         `group = \"'all'\"`";
    no_argument(name, instead) = "`{name}` is no argument of the function: {instead}";
}

/// The parts of a key, as written. `arg` is `key` or `group`.
pub(super) fn parts<'e>(
    arg: &str,
    key: &'e Expr,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> Option<Vec<&'e Expr>> {
    let parts = match key {
        Expr::Array(array) => array.elems.iter().collect(),
        key => vec![key],
    };
    if let Some(text) = parts.iter().find_map(|part| joined(part)) {
        errors.at(text, joined_text());
        return None;
    }
    match key {
        _ if parts.is_empty() => errors.at(key, empty_array()),
        Expr::Tuple(_) => errors.at(key, tuple()),
        Expr::Closure(_) => errors.at(key, closure()),
        _ if differs::differs(key.to_token_stream(), scope) => return Some(parts),
        _ => errors.at(key, constant(arg, key, scope)),
    }
    None
}

/// What to say about a key that is the same for all calls.
fn constant(arg: &str, key: &Expr, scope: &Scope<'_>) -> crate::message::Message {
    let arguments: Vec<String> =
        scope.names.iter().map(|name| name.ident.unraw().to_string()).collect();
    let name = match key {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    if let Some(name) = name.filter(|name| name.starts_with(char::is_lowercase)) {
        let near = nearest(&snake_case(&name), arguments.iter().map(String::as_str));
        if let Some(near) = near {
            return no_argument(name, format!("did you mean `{near}`?"));
        }
        if CONTEXT.contains(&name.as_str()) {
            let default = if ["user", "tenant", "device", "header"].contains(&name.as_str()) {
                " ?: 'none'"
            } else {
                ""
            };
            return no_argument(&name, format!("did you mean `{arg} = \"@{name}{default}\"`?"));
        }
        if let Some(instead) = foreign::name(&name, None) {
            return no_argument(
                name,
                instead.replace("mean `@", &format!("mean `{arg} = \"@")).replace("`?", "\"`?"),
            );
        }
        let instead = format!(
            "arguments: {}; a function is called, `{arg} = {name}(..)`, and text is written \
             `{arg} = \"'{name}'\"`",
            if arguments.is_empty() {
                "none".to_owned()
            } else {
                crate::symbol::listed(arguments.iter().map(String::as_str), "and")
            }
        );
        return no_argument(name, instead);
    }
    let argument = arguments.first().map_or("phone", String::as_str);
    let example = match key {
        Expr::Path(path) => {
            format!("[{}, {argument}]", path.to_token_stream().to_string().replace(' ', ""))
        }
        _ => argument.to_owned(),
    };
    if arg == "group" { constant_group(argument) } else { constant_key(example) }
}

/// The text literal of `"text" + value` and of `value + "text"`. Rust has no such `+`, and other languages do. What
/// begins with a call, `value.to_owned() + "text"`, is Rust.
fn joined(expr: &Expr) -> Option<&Expr> {
    let (mut first, mut text) = (expr, None);
    while let Expr::Binary(ExprBinary { left, op: BinOp::Add(_), right, .. }) = first {
        if is_text(right) {
            text = Some(&**right);
        }
        first = left;
        if is_text(first) {
            return Some(first);
        }
    }
    text.filter(|_| matches!(first, Expr::Path(_) | Expr::Field(_) | Expr::Reference(_)))
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}
