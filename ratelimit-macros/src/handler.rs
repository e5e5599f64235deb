//! `on_limited` and `on_unavailable`: what the function returns when its body does not run.

use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Expr, ExprLit, ExprPath, Ident, Lit, Type};

use crate::args::Given;
use crate::error::Errors;
use crate::foreign::not_a_handler;
use crate::function::{Function, Scope};
use crate::message::messages;
use crate::quantity::unwrapped;

messages! {
    nothing_returned(arg) =
        "the function does not return `()`: write a value of its type, as in `{arg} = Err(..)`";
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
    match unwrapped(&given.value) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. })
            if !returns_text(function) && syn::parse_str::<Ident>(&name.value()).is_ok() =>
        {
            errors.at(name, function_not_called(name.value(), arg.name()));
            None
        }
        Expr::Tuple(tuple) if tuple.elems.is_empty() && returns_generic(function) => {
            errors.at(tuple, nothing_returned(arg.name()));
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

/// Whether a value is the name of a function: it is in small letters, and no argument.
fn is_function(path: &ExprPath, scope: &Scope<'_>, function: &Function) -> bool {
    let Some(last) = path.path.segments.last() else { return false };
    let is_small = last.ident.unraw().to_string().starts_with(|c: char| c.is_lowercase());
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
