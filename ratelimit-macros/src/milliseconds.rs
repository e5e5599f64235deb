//! Numbers without a unit that look like milliseconds: here they are seconds.

use quote::ToTokens;
use syn::{BinOp, Expr};

use crate::error::error_at;
use crate::message::messages;
use crate::quantity::{literal_int, unwrapped};
use crate::words::snake_case;

messages! {
    milliseconds(arg, written, seconds, all) =
        "`{arg}` in a number alone is in seconds, and `{written}` looks like milliseconds: write \
         `\"{seconds}s\"` or `\"{all}s\"`";
    milliseconds_per_call(arg, written, instead) =
        "`{arg}` in a number alone is in seconds, and `{written}` looks like milliseconds: write \
         `{instead}`, or `Duration::from_secs(..)` for seconds";
}

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

/// Reports a number of seconds that somebody meant as milliseconds.
pub(crate) fn check(arg: &str, value: &Expr, seconds: u64) -> syn::Result<()> {
    if !look_like_milliseconds(seconds) {
        return Ok(());
    }
    let written = written(value);
    Err(error_at(value, milliseconds(arg, written, seconds / 1_000, seconds)))
}

/// Thousands, but for those that are whole hours of a day (`18000`) or whole days (30 of them,
/// `2592000`). A thousand whole hours are hours in milliseconds.
const fn look_like_milliseconds(seconds: u64) -> bool {
    let is_hours = seconds.is_multiple_of(HOUR) && seconds <= DAY;
    let is_days = seconds.is_multiple_of(DAY) && !seconds.is_multiple_of(1_000 * HOUR);
    seconds >= 1_000 && seconds.is_multiple_of(1_000) && !is_hours && !is_days
}

/// Reports what is only known at run time and is in milliseconds by its name or by a factor of 1000.
pub(crate) fn check_per_call(arg: &str, value: &Expr) -> syn::Result<()> {
    let value = unwrapped(value);
    let is_meant = match value {
        Expr::Binary(product) if matches!(product.op, BinOp::Mul(_)) => has_thousand(value),
        Expr::Path(path) => {
            path.path.segments.last().is_some_and(|last| ends_in_ms(&last.ident.to_string()))
        }
        Expr::Field(field) => ends_in_ms(&field.member.to_token_stream().to_string()),
        Expr::MethodCall(call) => ends_in_ms(&call.method.to_string()),
        _ => false,
    };
    if !is_meant {
        return Ok(());
    }
    let instead = match value {
        Expr::MethodCall(call) if call.method == "as_millis" => written(&call.receiver),
        _ => format!("Duration::from_millis({})", written(value)),
    };
    Err(error_at(value, milliseconds_per_call(arg, written(value), instead)))
}

/// Whether a product has the factor 1000.
fn has_thousand(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Binary(product) if matches!(product.op, BinOp::Mul(_)) => {
            has_thousand(&product.left) || has_thousand(&product.right)
        }
        expr => literal_int(expr).is_some_and(|number| number.base10_digits() == "1000"),
    }
}

/// `window_ms`, `WINDOW_MS`, `timeoutMillis`.
fn ends_in_ms(name: &str) -> bool {
    let name = snake_case(name);
    let last = name.rsplit('_').next().unwrap_or_default();
    matches!(last, "ms" | "millis" | "milliseconds")
        && (name.contains('_') || name == "millis" || name == "ms")
}

/// An expression as it was written, nearly.
pub(crate) fn written(expr: &Expr) -> String {
    let text = expr.to_token_stream().to_string();
    let text = match text.strip_prefix("| ").and_then(|rest| rest.split_once(" |")) {
        Some((parameters, value)) => format!("|{parameters}|{value}"),
        None => text,
    };
    let text = text.replace(" . ", ".").replace(" :: ", "::").replace(" (", "(");
    text.replace("( ", "(").replace(" )", ")").replace(" ,", ",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_told_from_seconds() {
        for ms in [
            1_000,
            5_000,
            10_000,
            30_000,
            60_000,
            90_000,
            120_000,
            300_000,
            600_000,
            900_000,
            1_800_000,
            3_600_000,
            7_200_000,
            21_600_000,
            43_200_000,
            86_400_000,
            604_800_000,
            2_592_000_000,
        ] {
            assert!(look_like_milliseconds(ms), "{ms}");
        }
        for seconds in [
            0, 1, 60, 300, 600, 900, 999, 1_001, 1_500, 1_800, 3_600, 7_200, 10_800, 14_400,
            18_000, 21_600, 36_000, 43_200, 72_000, 86_400, 172_800, 432_000, 604_800, 864_000,
            1_296_000, 2_592_000, 7_776_000, 31_536_000,
        ] {
            assert!(!look_like_milliseconds(seconds), "{seconds}");
        }
    }
}
