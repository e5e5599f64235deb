//! The `#[rate_limit]` attribute of `ratelimit-kit`. An implementation detail: use it through that
//! crate, whose documentation describes it.
//!
//! A pipeline with one file per station: `args` and `function` read tokens, `stack` joins several
//! attributes, `check` judges what they mean together, `expand`, `key` and `place` write code. Everything
//! but the entry point below works on `proc_macro2` and runs in unit tests.

mod address;
mod args;
mod arithmetic;
mod body;
mod check;
mod constants;
mod error;
mod expand;
mod flow;
mod foreign;
mod function;
mod handler;
mod key;
mod krate;
mod message;
mod milliseconds;
mod output;
mod place;
mod quantity;
mod scan;
mod show;
mod spelling;
mod stack;
mod symbol;
mod unused;
mod words;
mod written;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use quote::quote;

use crate::error::Errors;
use crate::function::Function;

// Documented where it is re-exported, in `ratelimit-kit`, because its examples need that crate.
#[allow(missing_docs)]
#[proc_macro_attribute]
pub fn rate_limit(args: TokenStream, item: TokenStream) -> TokenStream {
    let written = proc_macro::Span::call_site().source_text();
    let expanded = limited(written.as_deref(), args.into(), &item.into());
    if std::env::var_os("RATELIMIT_MACROS_DEBUG").is_some_and(|value| value == "1") {
        debug(&expanded);
        return show::remembered(expanded).into();
    }
    expanded.into()
}

// Documented where it is re-exported, as the attribute is.
#[allow(missing_docs)]
#[proc_macro]
pub fn key(input: TokenStream) -> TokenStream {
    key::expand_free(input.into()).into()
}

/// Prints an expansion, under the place of its attribute.
#[expect(clippy::print_stderr, reason = "it is asked for")]
fn debug(expanded: &proc_macro2::TokenStream) {
    let place = proc_macro::Span::call_site();
    eprintln!("// {}:{}\n{}", place.file(), place.line(), show::show(expanded.clone()));
}

/// The annotated function with its check; or with all errors, and otherwise as it was, so that
/// editors go on and no error follows from ours. `written` is the attribute in the source, if known.
fn limited(
    written: Option<&str>,
    args: proc_macro2::TokenStream,
    item: &proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    if function::is_let(item) {
        // Attributes of this kind cannot stand there, and rustc says so. Should it not, this does in the end.
        return quote! {
            let () = const { ::core::panic!("`#[rate_limit]` is for functions and methods") };
            #item
        };
    }
    let mut errors = Errors::new();
    let mut function = match Function::parse(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            let errors = errors.finish().err();
            return quote!(#errors #item);
        }
    };
    let stack = stack::absorb(written, args, &mut function, &mut errors);
    let limits = check::check(&stack, &function, &mut errors);
    match (errors.finish(), limits) {
        (Ok(()), Some(limits)) => expand::expand(function, &limits),
        (Ok(()), None) => quote!(#function),
        (Err(errors), _) => {
            let function = function.unlimited();
            quote!(#errors #function)
        }
    }
}
