//! The check as Rust.
//!
//! ```text
//! // Input
//! #[rate_limit(key = "phone", name = "sms", capacity = 20, refill = 5)]
//! async fn send(phone: &str) -> Result<(), Error> { body }
//!
//! // Output, with `k` for `::ratelimit_kit`
//! async fn send(phone: &str) -> Result<(), Error> {
//!     if let ::core::result::Result::Err(limited) = {
//!         static __RATE_LIMIT_RULE: k::Rule = k::Rule::new(
//!             "sms",
//!             k::Algorithm::TokenBucket { capacity: 20, refill: k::Rate::per_second(5) },
//!         );
//!         let mut call = k::__private::Call::new();
//!         call.check(&__RATE_LIMIT_RULE, k::__private::KeyBuilder::new().value(&phone).finish());
//!         call.run()
//!     }
//!     .await
//!     {
//!         return k::__private::reject(limited);
//!     }
//!     body
//! }
//! ```
//!
//! Paths are absolute, and locals have mixed-site hygiene, so that nothing of the user's can be in the
//! way. The call owns all that it needs: nothing is borrowed across the `.await`, and the future stays
//! `Send` exactly if it was. `place` says where the statement goes.

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprMacro, Path};

use crate::check::{Limits, Rule};
use crate::function::Function;
use crate::krate;
use crate::place;
use crate::quantity::{Known, Number, unwrapped};
use crate::stack::MARKER;
use crate::symbol::Arg;

/// The nested function whose type name tells the path of the annotated one.
const PATH: &str = "__rate_limit_path";

/// The function with its check.
pub(crate) fn expand(function: Function, limits: &Limits) -> TokenStream {
    // Nothing has to be held beside the body's value when no other answer is ever returned.
    let never_answers = |handler: &Expr| match unwrapped(handler) {
        Expr::Macro(expr) => diverges(expr),
        Expr::Return(_) => true,
        _ => false,
    };
    let is_hidden = function.hides_response() && !limits.on_limited.iter().any(never_answers);
    let rules = rules(limits);
    // What builds a future has them in front, where they are more than nothing before an `async` block:
    // clippy would want an `async fn`.
    let (in_front, inside) =
        if function.built_future().is_some() { (Some(&rules), None) } else { (None, Some(&rules)) };
    let check = check(&function, limits, inside, is_hidden);
    let check = if function.renames_self() { rename_self(check) } else { check };
    place::checked(function, in_front, &check, limits, is_hidden)
}

/// `static ..: Rule = ..;`, and what their names are made of.
fn rules(limits: &Limits) -> TokenStream {
    let krate = &limits.krate;
    let unnamed = limits.rules.iter().filter(|rule| rule.name.is_none()).count();
    let path = (unnamed > 0).then(path_function);
    let statics = limits.rules.iter().enumerate().map(|(index, rule)| {
        let name = rule_static(index);
        let value = rule_value(krate, rule, unnamed > 1);
        quote!(static #name: #krate::Rule = #value;)
    });
    quote!(#path #(#statics)*)
}

/// The statement that keeps the body from running when a limit says so.
fn check(
    function: &Function,
    limits: &Limits,
    rules: Option<&TokenStream>,
    is_hidden: bool,
) -> TokenStream {
    let decision = decision(function, limits, rules);
    let answer = answer(function, limits, is_hidden);
    let limited = local("limited");
    if let Some(name) = &limits.decision {
        let decided = local("decided");
        return quote! {
            let #name = match #decision {
                ::core::result::Result::Ok(#decided) => #decided,
                ::core::result::Result::Err(#limited) => { #answer }
            };
        };
    }
    quote! {
        if let ::core::result::Result::Err(#limited) = #decision {
            #answer
        }
    }
}

/// `{ static ..; let mut call = ..; call.check(..); call.run() }.await`
fn decision(function: &Function, limits: &Limits, rules: Option<&TokenStream>) -> TokenStream {
    let krate = &limits.krate;
    let call = local("call");
    let checks = limits.rules.iter().enumerate();
    let checks = checks.map(|(index, rule)| rule_check(krate, &call, &rule_static(index), rule));
    let limiter = limits.limiter.as_ref().map(|limiter| {
        // With the place of the expression, where rustc shows what is wrong with its type.
        let (at, _) = ends(limiter);
        let borrow = quote_spanned!(at=> &);
        quote!(#call.on(#borrow #limiter);)
    });
    let group = limits.group.as_ref().map(|group| quote!(#call.group(#group);));
    let wait = limits.wait.as_ref().map(|wait| {
        let wait = match wait {
            Number::Known(known) => known_number(krate, *known),
            Number::PerCall(expr) => quote!(#expr),
        };
        quote!(#call.wait(#wait);)
    });
    let run = match (function.is_async(), &limits.decision) {
        (true, None) => quote!(run()),
        (false, None) => quote!(run_blocking()),
        (true, Some(_)) => quote!(decide()),
        (false, Some(_)) => quote!(decide_blocking()),
    };
    let dot_await = function.is_async().then(|| quote!(.await));
    quote! {
        {
            #rules
            let mut #call = #krate::__private::Call::new();
            #limiter
            #group
            #wait
            #(#checks)*
            #call.#run
        }
        #dot_await
    }
}

/// `fn f() -> &'static str { type_name_of_val(&f) }`, whose type name is the path of the function
/// around it, with the type of a method.
fn path_function() -> TokenStream {
    let path = Ident::new(PATH, Span::mixed_site());
    quote! {
        fn #path() -> &'static ::core::primitive::str {
            ::core::any::type_name_of_val(&#path)
        }
    }
}

fn rule_static(index: usize) -> Ident {
    let name = if index == 0 { MARKER.to_owned() } else { format!("{MARKER}_{}", index + 1) };
    Ident::new(&name, Span::mixed_site())
}

/// `Rule::new("sms", Algorithm::TokenBucket { .. }).with_mode(Mode::Shadow)`. With `several` rules that
/// have no name, each gets its numbers appended, so that their order does not matter.
fn rule_value(krate: &Path, rule: &Rule, several: bool) -> TokenStream {
    let variant = Ident::new(rule.algo.variant(), Span::mixed_site());
    let numbers = rule.numbers.iter().map(|(arg, number)| {
        let field = field(*arg);
        let value = match number {
            Number::Known(known) => known_number(krate, *known),
            Number::PerCall(_) => per_call_number(krate, *arg),
        };
        quote!(#field: #value)
    });
    let sub_windows = needs_sub_windows(rule).then(|| quote!(sub_windows: 1));
    let numbers = numbers.chain(sub_windows);
    let algorithm = quote!(#krate::Algorithm::#variant { #(#numbers),* });
    let rule_type = quote!(#krate::Rule);
    let named = if let Some(name) = &rule.name {
        quote!(#rule_type::new(#name, #algorithm))
    } else {
        let path = Ident::new(PATH, Span::mixed_site());
        let suffix = if several { format!("#{}", rule.numbers_text()) } else { String::new() };
        quote!(#krate::__private::unnamed_rule(#path, #suffix, #algorithm))
    };
    let mode = rule.mode.map(|mode| {
        let mode = Ident::new(mode, Span::mixed_site());
        quote!(.with_mode(#krate::Mode::#mode))
    });
    let on_error = rule.on_error.map(|on_error| {
        let on_error = Ident::new(on_error, Span::mixed_site());
        quote!(.with_on_error(#krate::OnError::#on_error))
    });
    let service = rule.service.as_ref().map(|service| quote!(.with_service(#service)));
    let headers = rule.hides_headers.then(|| quote!(.hide_headers()));
    quote!(#named #service #mode #on_error #headers)
}

fn needs_sub_windows(rule: &Rule) -> bool {
    rule.algo.takes().contains(&Arg::SubWindows)
        && !rule.numbers.iter().any(|(arg, _)| *arg == Arg::SubWindows)
}

/// The statement that adds one rule to the call.
fn rule_check(krate: &Path, call: &Ident, name: &Ident, rule: &Rule) -> TokenStream {
    let key = rule.key.clone().unwrap_or_else(|| quote!(#krate::LimitKey::whole_rule()));
    let check = quote!(#call.check(&#name, #key));
    let cost = rule.cost.as_ref().map(|cost| match cost {
        Number::Known(Known::Count(cost)) => {
            // With its type: a large one is no `i32`, which rustc takes any number to be.
            let cost = Literal::u64_suffixed(*cost);
            quote!(.cost(#cost))
        }
        Number::Known(_) => TokenStream::new(),
        Number::PerCall(expr) => quote!(.cost(#expr)),
    });
    let numbers = rule.numbers.iter().map(|(arg, number)| match number {
        Number::Known(_) => TokenStream::new(),
        Number::PerCall(expr) => {
            let field = field(*arg);
            quote!(.#field(#expr))
        }
    });
    let check = quote!(#check #cost #(#numbers)*;);
    match &rule.when {
        None => check,
        Some(when) => {
            // Named, because a struct literal cannot stand in a condition.
            let applies = local("applies");
            quote! {
                let #applies: ::core::primitive::bool = #when;
                if #applies { #check }
            }
        }
    }
}

/// The limiter's secret, as a key sees it.
pub(crate) fn secret() -> TokenStream {
    let call = local("call");
    quote!(#call.secret())
}

/// What the function returns when its body does not run.
fn answer(function: &Function, limits: &Limits, is_hidden: bool) -> TokenStream {
    let krate = &limits.krate;
    let limited = local("limited");
    let unavailable = limits.on_unavailable.as_ref().map(|handler| {
        let handled = handled(limits, handler, is_hidden);
        quote! {
            if ::core::matches!(#limited, #krate::RateLimitError::Unavailable(_)) {
                #handled
            }
        }
    });
    let otherwise = limits.on_limited.as_ref().map(|handler| handled(limits, handler, is_hidden));
    let otherwise = otherwise.unwrap_or_else(|| {
        if is_hidden {
            // Two names, because without another answer nothing tells rustc that answer's type.
            let variant = if limits.on_unavailable.is_some() { "Limited" } else { "limited" };
            let variant = Ident::new(variant, Span::mixed_site());
            return quote!(return #krate::__private::OrLimited::#variant(#limited););
        }
        // At the return type, which must change if it cannot say that a call was limited.
        let reject = match function.returned() {
            Some(ty) => call_at(limits, "reject", &quote!(#limited), ty),
            None => call_at(limits, "reject", &quote!(#limited), &function.sig.ident),
        };
        quote!(return #reject;)
    });
    quote!(#unavailable #otherwise)
}

/// An expression as written, or a closure that takes the error.
fn handled(limits: &Limits, handler: &Expr, is_hidden: bool) -> TokenStream {
    let limited = local("limited");
    let value = match unwrapped(handler) {
        // Through a function, which tells rustc the type of the closure's argument.
        Expr::Closure(_) => call_at(limits, "answer", &quote!(#limited, #handler), handler),
        _ => handler.to_token_stream(),
    };
    match unwrapped(handler) {
        // A `return` after it would be unreachable, which rustc warns about. This compiles only
        // if it does diverge.
        Expr::Macro(expr) if diverges(expr) => quote!(match #handler {}),
        // It says itself what a `return` in front of it would.
        Expr::Return(_) => quote!(#handler;),
        _ if is_hidden => {
            let krate = &limits.krate;
            quote!(return #krate::__private::OrLimited::Answered(#value);)
        }
        // As people write it: clippy finds the `()` of a `return ();` unneeded.
        Expr::Tuple(tuple) if tuple.elems.is_empty() => quote!(return;),
        _ => quote!(return #value;),
    }
}

/// Whether a macro is one that never comes back, by its name. `bail!`, of every crate that has one,
/// leaves the function with an error.
fn diverges(expr: &ExprMacro) -> bool {
    const NEVER_RETURN: &[&str] = &["bail", "panic", "todo", "unimplemented", "unreachable"];
    let name = expr.mac.path.segments.last().map(|segment| segment.ident.to_string());
    name.is_some_and(|name| NEVER_RETURN.contains(&name.as_str()))
}

/// A call of a function of the runtime, with the place of something that the user wrote: where
/// rustc shows what is wrong with it. For that it must begin and end there.
fn call_at(
    limits: &Limits,
    function: &str,
    arguments: &TokenStream,
    place: impl ToTokens,
) -> TokenStream {
    let krate = &limits.krate;
    if limits.krate_is_written {
        // With the places of that path alone: if it is wrong, it is so in one place only.
        let function = Ident::new(function, Span::mixed_site());
        return quote!(#krate::__private::#function(#arguments));
    }
    let (first, last) = ends(place);
    let function = Ident::new(function, last);
    let call = quote_spanned!(last=> __private::#function(#arguments));
    let krate = krate::at(first, krate);
    quote_spanned!(first=> #krate::#call)
}

/// The places of the first and of the last token. Stable Rust has no span over both; but what
/// begins at the one and ends at the other is shown as a whole.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut tokens = tokens.into_token_stream().into_iter();
    let first = tokens.next().map_or_else(Span::call_site, |token| token.span());
    let last = tokens.last().map_or(first, |token| token.span());
    (first, last)
}

/// A number that is written out, the way a person would write it.
fn known_number(krate: &Path, known: Known) -> TokenStream {
    match known {
        Known::Count(count) => {
            let count = Literal::u64_unsuffixed(count);
            quote!(#count)
        }
        Known::Rate { permits, micros } => {
            let permits = Literal::u64_unsuffixed(permits);
            let rate = quote!(#krate::Rate);
            match micros {
                1_000_000 => quote!(#rate::per_second(#permits)),
                60_000_000 => quote!(#rate::per_minute(#permits)),
                3_600_000_000 => quote!(#rate::per_hour(#permits)),
                86_400_000_000 => quote!(#rate::per_day(#permits)),
                _ => {
                    let period = duration(micros);
                    quote!(#rate::new(#permits, #period))
                }
            }
        }
        Known::Micros(micros) => duration(micros),
    }
}

fn duration(micros: u64) -> TokenStream {
    let (constructor, amount) = if micros.is_multiple_of(1_000_000) {
        ("from_secs", micros / 1_000_000)
    } else if micros.is_multiple_of(1_000) {
        ("from_millis", micros / 1_000)
    } else {
        ("from_micros", micros)
    };
    let constructor = Ident::new(constructor, Span::mixed_site());
    let amount = Literal::u64_unsuffixed(amount);
    quote!(::core::time::Duration::#constructor(#amount))
}

/// What stands in a rule for a number that every call brings along.
fn per_call_number(krate: &Path, arg: Arg) -> TokenStream {
    match arg {
        Arg::Refill | Arg::Leak => quote!(#krate::__private::PER_CALL_RATE),
        Arg::Window => quote!(#krate::__private::PER_CALL_WINDOW),
        Arg::SubWindows => quote!(1),
        _ => quote!(#krate::__private::PER_CALL),
    }
}

fn field(arg: Arg) -> Ident {
    Ident::new(arg.name(), Span::mixed_site())
}

/// A local that no name of the user's can meet.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// `self` as `__self`, its name inside of what `#[async_trait]` makes of a function. Token by token,
/// because macros can hold it too; `self::path` is something else.
fn rename_self(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut renamed = Vec::new();
    while let Some(token) = tokens.next() {
        renamed.push(match token {
            TokenTree::Ident(ident) if ident == "self" => {
                let is_path = matches!(tokens.peek(),
                    Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                if is_path { ident.into() } else { Ident::new("__self", ident.span()).into() }
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), rename_self(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            other => other,
        });
    }
    renamed.into_iter().collect()
}
