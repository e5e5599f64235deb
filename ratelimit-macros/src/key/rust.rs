//! Keys that are written in Rust: one value, or `[a, b]` for several parts.

use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit};

use crate::error::Errors;
use crate::message::messages;

messages! {
    joined_text() =
        "this is Rust, in which texts are not joined by `+`: one pair of quotes around all of it \
         makes it a key, as in `\"'sms:' + phone\"`";
    empty_array() = "the list is empty: `[a, b]` has one part for each entry";
}

/// The parts of a key, as written.
pub(super) fn parts<'e>(key: &'e Expr, errors: &mut Errors) -> Option<Vec<&'e Expr>> {
    let parts = match key {
        Expr::Array(array) => array.elems.iter().collect(),
        key => vec![key],
    };
    if let Some(text) = parts.iter().find_map(|part| joined(part)) {
        errors.at(text, joined_text());
        return None;
    }
    if parts.is_empty() {
        errors.at(key, empty_array());
        return None;
    }
    Some(parts)
}

/// The text literal that `"text" + value` begins with. Rust has no such `+`, and other languages do.
fn joined(expr: &Expr) -> Option<&Expr> {
    let Expr::Binary(ExprBinary { left, op: BinOp::Add(_), .. }) = expr else { return None };
    match &**left {
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => Some(left),
        left => joined(left),
    }
}
