//! Values that other languages have for a time or for no limit: `Duration.ofMinutes(1)`,
//! `timedelta(minutes=1)`, `Infinity`, `u64::MAX`.

use syn::{Expr, ExprPath, Member};

use crate::quantity::{literal_int, unwrapped};
use crate::spelling::{amount, is_unlimited, micros_of};
use crate::words::snake_case;

/// Integers whose largest value is more than a limit can be.
const LARGE: &[&str] = &["u64", "u128", "usize", "i64", "i128", "isize", "f32", "f64"];

/// Whether a value stands for no limit. An argument of the function may have any name.
pub(crate) fn is_without_limit(value: &Expr, is_bound: &dyn Fn(&str) -> bool) -> bool {
    match unwrapped(value) {
        Expr::Path(path) => match words(path).as_slice() {
            [word] => {
                // `MAX` and `UNLIMITED` may be constants of the crate.
                let is_constant = !word.chars().any(char::is_lowercase);
                word != "max" && !is_constant && is_unlimited(word) && !is_bound(word)
            }
            [.., of, word] => {
                LARGE.contains(&of.as_str()) && ["MAX", "INFINITY"].contains(&word.as_str())
            }
            [] => false,
        },
        Expr::Field(field) => {
            let Member::Named(name) = &field.member else { return false };
            let name = name.to_string();
            let Expr::Path(base) = unwrapped(&field.base) else { return false };
            let of = base.path.get_ident().map(ToString::to_string).unwrap_or_default();
            let of_others = matches!(
                &*of,
                "Integer"
                    | "Long"
                    | "Number"
                    | "Double"
                    | "math"
                    | "Math"
                    | "rate"
                    | "float"
                    | "sys"
            );
            of_others
                && !is_bound(&of)
                && (is_unlimited(&name) || name.starts_with("MAX") || name.starts_with("Max"))
        }
        _ => false,
    }
}

/// `Duration.ofMinutes(5)`, `Duration::minutes(5)`, `timedelta(minutes=5)` and `5.minutes` as `5min`.
pub(crate) fn duration(value: &Expr, is_bound: &dyn Fn(&str) -> bool) -> Option<String> {
    let (times, unit) = match unwrapped(value) {
        Expr::MethodCall(call) => {
            let of = match unwrapped(&call.receiver) {
                Expr::Path(base) => base.path.get_ident()?.to_string(),
                _ => return None,
            };
            let is_type = of.starts_with(char::is_uppercase) && !is_bound(&of);
            (call.args.len() == 1 && is_type).then_some(())?;
            (call.args.first()?, call.method.to_string())
        }
        Expr::Call(call) => {
            let Expr::Path(path) = unwrapped(&call.func) else { return None };
            let first = call.args.first().filter(|_| call.args.len() == 1)?;
            match (unwrapped(first), words(path).as_slice()) {
                // No argument of a Rust function is an assignment.
                (Expr::Assign(named), _) => match unwrapped(&named.left) {
                    Expr::Path(name) => (&*named.right, name.path.get_ident()?.to_string()),
                    _ => return None,
                },
                (_, [.., of, method])
                    if matches!(of.as_str(), "Duration" | "TimeDelta" | "TimeSpan") =>
                {
                    (first, method.clone())
                }
                _ => return None,
            }
        }
        Expr::Field(field) => match (&field.member, unwrapped(&field.base)) {
            (Member::Named(name), base) if literal_int(base).is_some() => (base, name.to_string()),
            _ => return None,
        },
        _ => return None,
    };
    let unit = snake_case(&unit);
    // `Duration::from_secs` is ours.
    let unit = unit.strip_prefix("of_").unwrap_or(&unit);
    let unit = match unit.strip_prefix("from_") {
        Some("minutes" | "seconds" | "milliseconds" | "hours" | "days" | "microseconds") => {
            unit.trim_start_matches("from_")
        }
        Some(_) => return None,
        None => unit,
    };
    let times = literal_int(times)?.base10_parse::<u64>().ok().filter(|times| *times > 0)?;
    micros_of(unit)?.checked_mul(times).map(amount)
}

/// Whether a value is a `Duration` of nothing: `Duration::ZERO`, `Duration::from_secs(0)`.
pub(crate) fn is_zero_duration(value: &Expr) -> bool {
    let of_duration = |path: &ExprPath, says: &dyn Fn(&str) -> bool| match words(path).as_slice() {
        [.., of, word] => of == "Duration" && says(word),
        _ => false,
    };
    match unwrapped(value) {
        Expr::Path(path) => of_duration(path, &|word| word == "ZERO"),
        Expr::Call(call) => {
            let zero = |arg: &Expr| {
                literal_int(arg)
                    .is_some_and(|number| number.base10_parse::<u64>().is_ok_and(|n| n == 0))
            };
            let all_zero = !call.args.is_empty() && call.args.iter().all(zero);
            matches!(unwrapped(&call.func), Expr::Path(path)
                if all_zero && of_duration(path, &|word| word == "new" || word.starts_with("from_")))
        }
        _ => false,
    }
}

/// Whether a value is the longest `Duration`.
pub(crate) fn is_longest_duration(value: &Expr) -> bool {
    matches!(unwrapped(value), Expr::Path(path)
        if matches!(words(path).as_slice(), [.., of, word] if of == "Duration" && word == "MAX"))
}

fn words(path: &ExprPath) -> Vec<String> {
    path.path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}
