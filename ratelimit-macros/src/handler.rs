//! `on_limited` and `on_unavailable`: what the function returns when its body does not run.

use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, ExprLit, ExprPath, Ident, Lit, Type};

use crate::args::{Given, last_word};
use crate::error::Errors;
use crate::foreign::not_a_handler;
use crate::function::{Function, Scope};
use crate::message::{Message, messages};
use crate::milliseconds::written;
use crate::output::{self, ResponseTrait};
use crate::quantity::{rust_in_quotes, unwrapped};
use crate::symbol::{Arg, ON_ERRORS, meant_by};

messages! {
    nothing_returned(what, arg, instead) =
        "the function does not return `{what}`: write a value of its type, as in `{arg} = {instead}`";
    word_of_on_error(arg, word) =
        "`{arg}` is what the function returns: what holds without a store is `on_error = {word}`";
    value_of_on_error(value) =
        "`on_error` takes one of `local`, `open` and `closed`: what the function returns then is \
         `on_unavailable = {value}`";
    status_missing(what, instead) =
        "`{what}` is a response of status 200, which does not say that the call was refused: write \
         `{instead}`";
    function_not_called(name, arg) =
        "`{name}` is a function here: call it with what it takes, such as the error, \
         `{arg} = |error| {name}(error)`";
}

/// What is returned instead of the body's value: it may do whatever the body may.
pub(crate) fn read(
    given: &Given,
    scope: &Scope<'_>,
    function: &Function,
    errors: &mut Errors,
) -> Option<Expr> {
    let arg = given.arg;
    if let Some(message) = word_of_mode(given, scope).or_else(|| without_status(given, function)) {
        errors.at(&given.value, message);
        return None;
    }
    match unwrapped(&given.value) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. })
            if !returns_text(function) && syn::parse_str::<Ident>(&name.value()).is_ok() =>
        {
            errors.at(name, function_not_called(name.value(), arg.name()));
            None
        }
        Expr::Lit(ExprLit { lit: Lit::Str(code), .. })
            if !returns_text(function) && is_code(&code.value()) =>
        {
            errors.at(code, rust_in_quotes(arg.name(), code.value().trim()));
            None
        }
        Expr::Lit(_) if result(function).is_some() => {
            let message = nothing_returned(
                written(&given.value),
                arg.name(),
                result(function).unwrap_or_default(),
            );
            errors.at(&given.value, message);
            None
        }
        Expr::Tuple(tuple) if tuple.elems.is_empty() && returns_generic(function) => {
            let instead = result(function).unwrap_or("Err(..)");
            errors.at(tuple, nothing_returned("()", arg.name(), instead));
            None
        }
        Expr::Path(path) if is_function(path, scope, function) => {
            let name = path.to_token_stream().to_string().replace(' ', "");
            errors.at(path, function_not_called(name, arg.name()));
            None
        }
        Expr::Closure(closure) if closure.inputs.len() != 1 => {
            let (begin, end) = (&closure.inputs_begin, &closure.inputs_end);
            let parameters = &closure.inputs;
            errors.at(quote!(#begin #parameters #end), not_a_handler(arg.name()));
            None
        }
        _ => Some(given.value.clone()),
    }
}

/// `on_unavailable = open`: a word of another argument.
fn word_of_mode(given: &Given, scope: &Scope<'_>) -> Option<Message> {
    let word = match unwrapped(&given.value) {
        Expr::Path(path) => path.path.get_ident()?.to_string(),
        Expr::Lit(ExprLit { lit: Lit::Str(word), .. }) => word.value(),
        _ => return None,
    };
    let is_word = matches!(
        &*word,
        "open" | "closed" | "local" | "fail_open" | "fail_closed" | "allow" | "deny"
    );
    let meant = meant_by(Arg::OnError, &word, ON_ERRORS.iter().map(|(word, _)| *word))?;
    (is_word && !scope.binds(&word)).then(|| word_of_on_error(given.arg.name(), meant))
}

/// What to say about an `on_error` that is a value of the function.
pub(crate) fn is_no_word(value: &Expr) -> Option<Message> {
    let value = unwrapped(value);
    let is_value = match value {
        Expr::Closure(_) | Expr::Macro(_) | Expr::Return(_) => true,
        Expr::Call(call) => {
            !call.args.is_empty() || last_word(value).is_none_or(|word| is_small(&word))
        }
        _ => false,
    };
    is_value.then(|| value_of_on_error(written(value)))
}

fn is_small(word: &str) -> bool {
    word.starts_with(char::is_lowercase)
}

/// A text or JSON where the framework makes a response of it, which then says 200.
fn without_status(given: &Given, function: &Function) -> Option<Message> {
    let returned = output::response_trait(function.returned()?)?;
    let value = unwrapped(&given.value);
    let is_body = match value {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => true,
        Expr::Macro(call) => call.mac.path.is_ident("format"),
        Expr::Call(call) => match unwrapped(&call.func) {
            Expr::Path(path) => {
                path.path.segments.last().is_some_and(|it| it.ident == "Json" || it.ident == "Html")
            }
            _ => false,
        },
        _ => false,
    };
    let body = written(value);
    let instead = if returned == ResponseTrait::Responder {
        format!("HttpResponse::TooManyRequests().body({body})")
    } else {
        let status = match given.arg {
            Arg::OnUnavailable => "SERVICE_UNAVAILABLE",
            _ => "TOO_MANY_REQUESTS",
        };
        format!("(StatusCode::{status}, {body})")
    };
    is_body.then(|| status_missing(body, instead))
}

/// Whether a text is Rust that gives a value.
fn is_code(text: &str) -> bool {
    matches!(
        syn::parse_str::<Expr>(text),
        Ok(Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Macro(_)
            | Expr::Closure(_)
            | Expr::Struct(_))
    ) || syn::parse_str(text).is_ok_and(|path: ExprPath| path.path.segments.len() > 1)
}

/// How a value of the function begins that is no success, where it returns a `Result` or an `Option`.
fn result(function: &Function) -> Option<&'static str> {
    match function.returned() {
        Some(Type::Path(path)) => match &*path.path.segments.last()?.ident.to_string() {
            "Result" => Some("Err(..)"),
            "Option" => Some("None"),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value is the name of a function: it is in small letters, and no argument.
fn is_function(path: &ExprPath, scope: &Scope<'_>, function: &Function) -> bool {
    let Some(last) = path.path.segments.last() else { return false };
    let is_small = is_small(&last.ident.unraw().to_string());
    let is_bound =
        path.path.get_ident().is_some_and(|name| name == "self" || scope.binds(&name.to_string()));
    let may_be_returned = matches!(function.returned(), Some(Type::FnPtr(_) | Type::ImplTrait(_)));
    is_small && !is_bound && !may_be_returned
}

/// Whether the function returns `Result<..>` or the like, which no alias of `()` is.
fn returns_generic(function: &Function) -> bool {
    match function.returned() {
        Some(Type::Path(path)) => {
            path.path.segments.last().is_some_and(|last| !last.arguments.is_none())
        }
        _ => false,
    }
}

/// Whether the function returns text, for which a literal can stand.
fn returns_text(function: &Function) -> bool {
    match function.returned() {
        Some(Type::Reference(_) | Type::ImplTrait(_)) => true,
        Some(Type::Path(path)) => {
            let last = path.path.segments.last();
            last.is_none_or(|last| last.ident != "Result" && last.ident != "Option")
        }
        _ => false,
    }
}
