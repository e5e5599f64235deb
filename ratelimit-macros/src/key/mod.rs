//! The key language, and keys that are written in Rust.
//!
//! `lexer` and `parser` read a key, `resolve` looks its names up in the function, `lower` writes the
//! Rust. All places in between are bytes of the literal's value.

mod ast;
mod differs;
mod foreign;
mod free;
mod identity;
mod lexer;
mod lower;
mod parser;
pub(crate) mod placeholder;
mod resolve;
mod rust;
mod rust_text;
#[cfg(test)]
mod tests;
mod token;
mod translate;

use std::ops::Range;

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::error::Errors;
use crate::function::Scope;
use crate::message::Message;
use crate::symbol::nearest;
use crate::words::snake_case;
pub(crate) use free::expand as expand_free;
use lower::Target;

/// The messages of the files in here.
#[cfg(test)]
pub(crate) const MESSAGES: [(&str, &[(&str, &str)]); 6] = [
    ("key/free", free::ALL),
    ("key/lexer", lexer::ALL),
    ("key/parser", parser::ALL),
    ("key/resolve", resolve::ALL),
    ("key/rust", rust::ALL),
    ("key/rust_text", rust_text::ALL),
];

/// What a request has: the names after `@`.
pub(crate) const CONTEXT: [&str; 8] =
    ["ip", "path", "route", "method", "user", "tenant", "device", "header"];

/// A mistake in a key, and its place in bytes of the literal's value.
#[derive(Debug)]
struct Problem {
    at: Range<usize>,
    message: Message,
}

fn problem(at: Range<usize>, message: Message) -> Problem {
    Problem { at, message }
}

/// Compiles a key in the key language to an expression of type `LimitKey`. `arg` is `key` or `group`.
///
/// `secret` is an expression of type `Option<&[u8]>`, the limiter's secret; it is in the output only
/// when the key uses `hash(..)`.
pub(crate) fn compile(
    arg: &str,
    literal: &syn::LitStr,
    scope: &Scope<'_>,
    krate: &syn::Path,
    secret: &TokenStream,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let at = Span::call_site().located_at(literal.span());
    match compile_source(&literal.value(), scope, &Target { arg, krate, secret, at }) {
        Ok(tokens) => Some(tokens),
        Err(problems) => {
            for Problem { at, message } in problems {
                errors.in_key(literal, at, &message);
            }
            None
        }
    }
}

fn compile_source(
    source: &str,
    scope: &Scope<'_>,
    target: &Target<'_>,
) -> Result<TokenStream, Vec<Problem>> {
    let key =
        parser::parse(source, &|name| is_name(name, scope)).map_err(|problem| {
            match meant(source, scope) {
                Some(key) => vec![with_key(problem, &key)],
                None => vec![problem],
            }
        })?;
    let key = resolve::resolve(target.arg, source, &key, scope)?;
    Ok(target.key(&key))
}

/// Says in place of an example what to write.
fn with_key(problem: Problem, key: &str) -> Problem {
    let message = problem.message.to_string();
    if message.trim_end_matches('?').ends_with(&format!("`{key}`")) {
        return problem;
    }
    Problem { message: parser::foreign_key(foreign::with_key(&message, key)), at: problem.at }
}

/// The key that `source` is in another language.
fn meant(source: &str, scope: &Scope<'_>) -> Option<String> {
    let arguments: Vec<String> =
        scope.names.iter().map(|name| name.ident.unraw().to_string()).collect();
    let names = placeholder::Names { arguments: &arguments, context: &CONTEXT };
    translate::candidates(source, &names).into_iter().find(|key| is_key(key, scope))
}

/// The argument that `name` is another spelling or a slip of: `userId`, `user` of `user_id`, `phnoe`.
fn near<'a>(name: &str, arguments: &'a [String]) -> Option<&'a str> {
    let snake = snake_case(name);
    let names = arguments.iter().map(String::as_str);
    let same = names.clone().find(|known| snake_case(known) == snake);
    let of_it = || names.clone().find(|known| is_id_of(known, &snake));
    let slip = || nearest(&snake, names.clone()).filter(|_| snake.len() > 2);
    same.or_else(of_it).or_else(slip)
}

/// Whether an argument `known` is the id of what `name` is: `user_id` of `user`.
fn is_id_of(known: &str, name: &str) -> bool {
    snake_case(known).strip_suffix("_id") == Some(name)
}

fn is_name(name: &str, scope: &Scope<'_>) -> bool {
    scope.names.iter().any(|known| known.ident.unraw() == name)
}

/// Whether this is a key that differs from call to call.
fn is_key(source: &str, scope: &Scope<'_>) -> bool {
    let key = parser::parse(source, &|name| is_name(name, scope));
    key.is_ok_and(|key| resolve::differs(source, &key, scope))
}

/// Compiles a key that is written in Rust: one value, or `[a, b]` for several parts. `arg` is `key`
/// or `group`.
pub(crate) fn compile_rust(
    arg: &str,
    expr: &syn::Expr,
    scope: &Scope<'_>,
    krate: &syn::Path,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let mut chain = quote!(#krate::__private::KeyBuilder::new());
    for (n, part) in rust::parts(arg, expr, scope, errors)?.into_iter().enumerate() {
        if n > 0 {
            chain.extend(quote!(.part()));
        }
        // Type errors belong at the part, and lints about what is around it to nobody.
        let span = Span::call_site().located_at(part.span());
        chain.extend(quote_spanned!(span=> .value(&(#part))));
    }
    Some(quote!(#chain.finish()))
}
