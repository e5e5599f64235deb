//! Numbers without a unit that look like milliseconds: here they are seconds.

use quote::ToTokens;
use syn::{BinOp, Expr};

use crate::error::error_at;
use crate::message::messages;
use crate::quantity::{literal_int, unwrapped};
use crate::words::{has, snake_case};

messages! {
    milliseconds(arg, written, seconds, all) =
        "`{arg}` in a number alone is in seconds, and `{written}` looks like milliseconds: write \
         `\"{seconds}s\"` or `\"{all}s\"`";
    other_unit_per_call(arg, written, unit, instead) =
        "`{arg}` in a number alone is in seconds, and `{written}` looks like {unit}: write \
         `{instead}`, or `Duration::from_secs(..)` for seconds";
    rate_per_call(arg, written, unit, instead) =
        "`{arg}` in a number alone is per second, and `{written}` looks like one per {unit}: write \
         `{instead}`";
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

/// Units that a name can end in, how a message calls them, and the function that takes them.
const UNITS: &[(&str, &str, &str)] = &[
    ("ms millis milliseconds", "milliseconds", "from_millis"),
    ("us micros microseconds", "microseconds", "from_micros"),
    ("ns nanos nanoseconds", "nanoseconds", "from_nanos"),
    ("mins minutes", "minutes", "from_mins"),
    ("hrs hours", "hours", "from_hours"),
    ("days", "days", "from_hours"),
];

/// Reports what is only known at run time and has another unit by its name, or milliseconds by a
/// factor of 1000.
pub(crate) fn check_per_call(arg: &str, value: &Expr) -> syn::Result<()> {
    let value = unwrapped(value);
    let Some((_, unit, from)) = (match value {
        Expr::Binary(product) if matches!(product.op, BinOp::Mul(_)) => {
            UNITS.first().filter(|_| has_thousand(value))
        }
        value => name_of(value).and_then(|name| unit_at_the_end(&name)),
    }) else {
        return Ok(());
    };
    let instead = match value {
        Expr::MethodCall(call) if call.method.to_string().starts_with("as_") => {
            written(&call.receiver)
        }
        _ if *unit == "days" => format!("Duration::{from}(24 * {})", written(value)),
        _ => format!("Duration::{from}({})", written(value)),
    };
    Err(error_at(value, other_unit_per_call(arg, written(value), unit, instead)))
}

/// Reports a rate that is in permits per minute, hour or day by its name, and would be taken per second.
pub(crate) fn check_rate(arg: &str, value: &Expr) -> syn::Result<()> {
    let Some(name) = name_of(unwrapped(value)) else { return Ok(()) };
    let name = snake_case(&name);
    let is_in = |names: &[&str]| {
        names.iter().any(|known| {
            name.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
        })
    };
    let (unit, from) = if is_in(&["per_minute", "per_min", "rpm"]) {
        ("minute", "per_minute")
    } else if is_in(&["per_hour", "rph"]) {
        ("hour", "per_hour")
    } else if is_in(&["per_day", "rpd"]) {
        ("day", "per_day")
    } else {
        return Ok(());
    };
    let instead = format!("Rate::{from}({})", written(unwrapped(value)));
    Err(error_at(value, rate_per_call(arg, written(value), unit, instead)))
}

/// The name of a value: of a constant, a field, a method.
fn name_of(value: &Expr) -> Option<String> {
    match unwrapped(value) {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        Expr::Field(field) => Some(field.member.to_token_stream().to_string()),
        // `5.minutes()` and `5.std_minutes()` are durations of other crates.
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            let is_of_number = matches!(unwrapped(&call.receiver), Expr::Lit(_));
            let is_plain = name.contains('_') && !name.starts_with("std_") || name == "millis";
            (is_plain && !is_of_number).then_some(name)
        }
        Expr::Cast(cast) => name_of(&cast.expr),
        _ => None,
    }
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

/// The unit of `window_ms`, `WINDOW_MINUTES`, `timeoutMillis`.
fn unit_at_the_end(name: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let name = snake_case(name);
    let last = name.rsplit('_').next()?;
    UNITS.iter().find(|(words, ..)| has(words, last))
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
