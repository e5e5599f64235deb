//! The key language, and keys that are written in Rust.

use proc_macro2::TokenStream;

use crate::error::Errors;
use crate::function::Scope;

/// Compiles a key in the key language to an expression of type `__private::Key`.
pub(crate) fn compile(
    literal: &syn::LitStr,
    scope: &Scope<'_>,
    krate: &syn::Path,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let _ = (scope, errors);
    Some(quote::quote!(#krate::__private::KeyBuilder::new().part(&#literal).build()))
}

/// Compiles a key that is written in Rust: one value, or `[a, b]` for several parts.
pub(crate) fn compile_rust(
    expr: &syn::Expr,
    krate: &syn::Path,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let _ = errors;
    Some(quote::quote!(#krate::__private::KeyBuilder::new().part(&(#expr)).build()))
}
