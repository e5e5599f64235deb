//! Keys that are written in Rust: one value, or `[a, b]` for several parts.

use syn::Expr;

use crate::error::Errors;
use crate::message::messages;

messages! {
    empty_array() = "the list is empty: `[a, b]` has one part for each entry";
}

/// The parts of a key, as written.
pub(super) fn parts<'e>(key: &'e Expr, errors: &mut Errors) -> Option<Vec<&'e Expr>> {
    let parts = match key {
        Expr::Array(array) => array.elems.iter().collect(),
        key => vec![key],
    };
    if parts.is_empty() {
        errors.at(key, empty_array());
        return None;
    }
    Some(parts)
}
