//! Keys that are written in Rust: one value, or `[a, b]` for several parts.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit};

use super::{CONTEXT, foreign};
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
        "this key names no argument, no `self`, and calls nothing, so all callers would share one \
         budget: name what differs, as in `key = {example}`, or leave `key` out";
    constant_group(example) =
        "this group names no argument, no `self`, and calls nothing, so every call would be in one \
         slot: name what differs, as in `group = {example}`; one slot for all is a text, \
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
        _ if differs(key.to_token_stream(), scope) => return Some(parts),
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
        if CONTEXT.contains(&name.as_str()) || foreign::name(&name, None).is_some() {
            let instead = "what a request has stands in quotes, as in `key = \"@ip\"`";
            return no_argument(name, instead);
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

/// Whether tokens can have another value at another call: they name an argument, `self` or what
/// is generic, or call something.
fn differs(tokens: TokenStream, scope: &Scope<'_>) -> bool {
    // A macro of the standard library that only makes text of what stands in it.
    const MAKE_TEXT: &[&str] = &[
        "concat",
        "env",
        "file",
        "format",
        "format_args",
        "include_str",
        "line",
        "module_path",
        "option_env",
        "stringify",
    ];
    const KEYWORDS: &[&str] =
        &["if", "match", "in", "return", "as", "else", "unsafe", "mut", "ref", "while"];
    let is_argument = |word: &str| scope.names.iter().any(|name| name.ident.unraw() == word);
    // What stands before a token: a name, the `!` behind a macro's, the end of something.
    let mut may_be_called = false;
    let mut name = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                name = ident.unraw().to_string();
                let is_generic =
                    name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase());
                if is_argument(&name) || name == "self" || name == "Self" || is_generic {
                    return true;
                }
                may_be_called = !KEYWORDS.contains(&name.as_str());
            }
            TokenTree::Punct(punct) => {
                let is_macro = punct.as_char() == '!' && may_be_called;
                may_be_called =
                    is_macro && !MAKE_TEXT.contains(&name.as_str()) || punct.as_char() == '>';
            }
            TokenTree::Literal(literal) => {
                // `format!("{phone}")`
                let text = literal.to_string();
                let mut names =
                    text.split('{').skip(1).filter_map(|rest| rest.split(['}', ':']).next());
                if names.any(|name| is_argument(name.trim())) {
                    return true;
                }
                may_be_called = false;
            }
            TokenTree::Group(group) => {
                let is_call = may_be_called && group.delimiter() == Delimiter::Parenthesis;
                if is_call || differs(group.stream(), scope) {
                    return true;
                }
                may_be_called = true;
            }
        }
    }
    false
}

/// The text literal that `"text" + value` begins with. Rust has no such `+`, and other languages do.
fn joined(expr: &Expr) -> Option<&Expr> {
    let Expr::Binary(ExprBinary { left, op: BinOp::Add(_), .. }) = expr else { return None };
    match &**left {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => Some(left),
        left => joined(left),
    }
}
