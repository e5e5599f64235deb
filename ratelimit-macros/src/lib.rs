//! The `#[rate_limit]` attribute. Use it through the `ratelimit-kit` crate.

mod error;
mod function;
mod key;
mod message;

use proc_macro::TokenStream;

/// Limits how often a function may run.
#[proc_macro_attribute]
pub fn rate_limit(_args: TokenStream, item: TokenStream) -> TokenStream {
    item
}
