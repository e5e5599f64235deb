//! Numbers with their units: `5`, `"300/min"`, `"1/15s"`, `"250ms"`, `"1h"`.
//!
//! A quantity that is written out is known and checked at compile time; any other expression is read
//! at every call. There are no fractions: `"1/2s"` says exactly what `0.5` only approaches.

use std::fmt;

use quote::ToTokens;
use syn::{Expr, Lit, LitFloat, LitInt, LitStr, Member, UnOp};

use crate::arithmetic::{self, gcd};
use crate::constants;
use crate::error::{error, error_at};
use crate::message::{Message, messages};
use crate::milliseconds;
use crate::scan::{Digits, MICROS_PER_SECOND, Scan, in_units, unit, unit_missing};
use crate::spelling;
use crate::words;

messages! {
    slash_missing(many, one) =
        "a `/` is missing here: write `{many}`, or `{one}` for one permit in that time";
    zero(arg) = "`{arg}` is 0, and must be at least 1";
    zero_duration(arg) = "`{arg}` is 0, and must be at least 1 microsecond";
    zero_period(arg) = "the period of `{arg}` is 0, and must be at least 1 microsecond";
    negative(arg) = "`{arg}` cannot be negative";
    too_large(arg) = "`{arg}` can be 9007199254740991 (2^53 - 1) at most";
    too_large_log() =
        "`limit` can be 1000000 at most for `sliding_log`, which remembers every call; \
         `sliding_counter` takes more";
    too_many_parts() = "`sub_windows` can be 1 to 100";
    too_long(arg) = "`{arg}` can be 142 years (2^52 microseconds) at most";
    fraction(instead) = "there are no fractions here: write `{instead}`";
    fraction_of_count(arg, instead) = "`{arg}` is a whole number: write {instead}";
    leading_zero(written, number) =
        "`{written}` is {number} in Rust, and octal in other languages: write `{number}`";
    spelled(written, instead) = "`{written}` is written `\"{instead}\"` here";
    without_limit(arg, written) =
        "`{written}` is more than a `{arg}` can be: where there is no limit, leave the attribute \
         out, or write `mode = off`";
    rate_as_count(arg, count, other) =
        "`{arg}` is a number alone: write `{arg} = {count}, {other}`";
    rust_in_quotes(arg, value) =
        "`{arg}` takes Rust, without quotes around it: write `{arg} = {value}`";
    closure(arg) = "`{arg}` takes a value and no closure: write what it returns";
    text_for_rust(arg) = "`{arg}` takes Rust over the function's arguments, and no text";
    no_placeholders(arg, value) =
        "`{value}` is text here: a number from a configuration is Rust without quotes, as in \
         `{arg} = settings().{arg}`, or an override by the rule's name";
    quoted_count(arg, number) = "`{arg}` takes a number without quotes: write `{number}`";
    not_a_count(arg) = "`{arg}` takes a whole number, or an expression that gives one";
    not_a_rate(arg) =
        "`{arg}` takes a rate: `5` is per second, or write one like `\"300/min\"`, `\"10/h\"` or \
         `\"1/15s\"`";
    not_a_duration(arg) =
        "`{arg}` takes a duration: `60` is seconds, or write one like `\"250ms\"` or `\"1h\"`";
    quotes_missing(quantity) = "a number with a unit needs quotes: write `\"{quantity}\"`";
    no_such_unit(unit, instead) = "unknown unit `{unit}`: {instead}, in quotes";
    no_suffix(suffix, number) = "a number cannot end in `{suffix}`: write `{number}`";
}

/// What rustc knows behind an integer. A macro is given any suffix, and `base10_parse` drops it.
const INTEGER_TYPES: &[&str] =
    &["", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];

/// 2^53 - 1: the largest number that Lua scripts count with.
pub(crate) const MAX_COUNT: u64 = (1 << 53) - 1;
/// 2^52 microseconds: the longest window and period.
const MAX_MICROS: u64 = 1 << 52;
/// A sliding log remembers every call of a window.
pub(crate) const MAX_LOG: u64 = 1_000_000;
/// A sliding counter has at most so many parts.
const MAX_PARTS: u64 = 100;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Permits: 1 to 2^53 - 1.
    Count,
    /// Permits per time: 1 to 2^53 - 1 in 1 µs to 2^52 µs.
    Rate,
    /// 1 µs to 2^52 µs.
    Duration,
    /// Sub-windows: 1 to 100.
    Parts,
}

/// A number as written in an attribute.
pub(crate) enum Number {
    /// Written out, and checked.
    Known(Known),
    /// An expression that is evaluated at every call.
    PerCall(Expr),
}

impl Number {
    /// How many, where that can be read from what is written.
    pub(crate) fn count(&self) -> Option<u64> {
        match self {
            Self::Known(Known::Count(count)) => Some(*count),
            Self::Known(_) => None,
            Self::PerCall(expr) => arithmetic::whole(expr),
        }
    }
}

/// A number that is known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Permits or parts.
    Count(u64),
    /// Permits in a period of so many microseconds.
    Rate { permits: u64, micros: u64 },
    /// So many microseconds.
    Micros(u64),
}

/// As in the default name of a rule, and so never to be changed: `20`, `5/s`, `1/15s`, `250ms`.
impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Rate { permits, micros } => match in_units(micros) {
                (1, unit) => write!(f, "{permits}/{unit}"),
                (times, unit) => write!(f, "{permits}/{times}{unit}"),
            },
            Self::Micros(micros) => {
                let (times, unit) = in_units(micros);
                write!(f, "{times}{unit}")
            }
        }
    }
}

/// Reads the value of the argument `arg` as a quantity. `is_bound` tells the function's arguments
/// from the names of units, in `5 / s`.
pub(crate) fn read(
    arg: &str,
    quantity: Quantity,
    value: &Expr,
    is_bound: &dyn Fn(&str) -> bool,
) -> syn::Result<Number> {
    let known = match unwrapped(value) {
        Expr::Lit(literal) => match (&literal.lit, quantity) {
            (Lit::Int(number), _) => read_int(arg, quantity, number)?,
            (Lit::Float(number), _) => return Err(read_float(arg, quantity, number)),
            (Lit::Str(text), _) => read_text(arg, quantity, text, is_bound)?,
            (other, _) => return Err(error_at(other, expected(arg, quantity))),
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) && is_number(&unary.expr) => {
            return Err(error_at(value, negative(arg)));
        }
        _ => {
            no_constant(arg, quantity, value, is_bound)?;
            if let (Quantity::Rate, Some(instead)) = (quantity, rate_of_nginx(value)) {
                return Err(error_at(value, spelled(milliseconds::written(value), instead)));
            }
            if let Some(quoted) = needs_quotes(quantity, value, is_bound) {
                return Err(error_at(value, quotes_missing(quoted)));
            }
            if let Some(quoted) = unit_of_others(quantity, value, is_bound) {
                return Err(error_at(value, quotes_missing(quoted)));
            }
            if let Expr::Closure(_) = unwrapped(value) {
                return Err(error_at(value, closure(arg)));
            }
            arithmetic::check(arg, quantity, value)?;
            in_range(arg, quantity, value)?;
            if quantity == Quantity::Rate {
                milliseconds::check_rate(arg, value)?;
            }
            if quantity == Quantity::Duration {
                match arithmetic::whole(value) {
                    Some(seconds) => milliseconds::check(arg, value, seconds)?,
                    None => milliseconds::check_per_call(arg, value)?,
                }
            }
            return Ok(Number::PerCall(value.clone()));
        }
    };
    Ok(Number::Known(known))
}

/// Reads `cost`: any whole number, 0 included, which only looks.
pub(crate) fn read_cost(value: &Expr, is_bound: &dyn Fn(&str) -> bool) -> syn::Result<Number> {
    let arg = "cost";
    match unwrapped(value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if count_of(arg, number)? == 0 => Ok(Number::Known(Known::Count(0))),
            _ => read(arg, Quantity::Count, value, is_bound),
        },
        _ => read(arg, Quantity::Count, value, is_bound),
    }
}

/// Reports arithmetic whose result is more than can be counted.
fn in_range(arg: &str, quantity: Quantity, value: &Expr) -> syn::Result<()> {
    let Some(result) = arithmetic::whole(value) else { return Ok(()) };
    let message = match quantity {
        Quantity::Count | Quantity::Rate if result > MAX_COUNT => too_large(arg),
        Quantity::Parts if !(1..=MAX_PARTS).contains(&result) => too_many_parts(),
        Quantity::Duration if micros(result, MICROS_PER_SECOND).is_none() => too_long(arg),
        _ => return Ok(()),
    };
    Err(error_at(value, message))
}

/// A quantity in quotes.
fn read_text(
    arg: &str,
    quantity: Quantity,
    text: &LitStr,
    is_bound: &dyn Fn(&str) -> bool,
) -> syn::Result<Known> {
    let value = text.value();
    if ["${", "#{", "{{"].iter().any(|open| value.trim_start().starts_with(open)) {
        return Err(error_at(text, no_placeholders(arg, value.trim())));
    }
    if !value.trim_start().starts_with(|c: char| c.is_ascii_digit()) && computes(&value, is_bound) {
        return Err(error_at(text, rust_in_quotes(arg, value.trim())));
    }
    if spelling::is_unlimited(&value) {
        return Err(error_at(text, without_limit(arg, value.trim())));
    }
    match quantity {
        Quantity::Rate => read_rate(arg, text),
        Quantity::Duration => read_duration(arg, text),
        Quantity::Count | Quantity::Parts => Err(error_at(text, text_as_count(arg, text))),
    }
}

/// What is wrong with a text where a number stands.
fn text_as_count(arg: &str, text: &LitStr) -> Message {
    let value = text.value();
    let number: String = value.split_whitespace().collect::<String>().replace('_', "");
    if number.parse::<u64>().is_ok() {
        return quoted_count(arg, number);
    }
    let count = number.split_once('/').filter(|(count, _)| count.parse::<u64>().is_ok());
    match (count, arg) {
        (Some((count, time)), "limit") => {
            let one = if time.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
            rate_as_count(arg, count, format!("window = \"{one}{time}\""))
        }
        (Some((count, _)), "capacity") => {
            rate_as_count(arg, count, format!("refill = \"{number}\""))
        }
        _ => count_as_others_write_it(arg, &value),
    }
}

/// `1000 requests` and `5 per minute`, where a number stands.
fn count_as_others_write_it(arg: &str, value: &str) -> Message {
    if let Some(count) = spelling::count(value) {
        return quoted_count(arg, count);
    }
    match (spelling::rate(value), arg) {
        (Some(rate), "capacity") => {
            let count = rate.split('/').next().unwrap_or_default();
            rate_as_count(arg, count, format!("refill = \"{rate}\""))
        }
        (Some(rate), "limit") => {
            let (count, time) = rate.split_once('/').unwrap_or_default();
            let one = if time.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
            rate_as_count(arg, count, format!("window = \"{one}{time}\""))
        }
        _ => not_a_count(arg),
    }
}

/// Whether a text where a number stands has a time as well.
pub(crate) fn has_time(text: &str) -> bool {
    text.contains('/') || spelling::rate(text).is_some()
}

/// Reports what other languages have for a time or for no limit.
fn no_constant(
    arg: &str,
    quantity: Quantity,
    value: &Expr,
    is_bound: &dyn Fn(&str) -> bool,
) -> syn::Result<()> {
    if quantity != Quantity::Duration {
        return if constants::is_without_limit(value, is_bound) {
            Err(error_at(value, without_limit(arg, milliseconds::written(value))))
        } else {
            Ok(())
        };
    }
    if let Some(instead) = constants::duration(value, is_bound) {
        return Err(error_at(value, spelled(milliseconds::written(value), instead)));
    }
    if let Expr::Path(path) = unwrapped(value)
        && let Some(name) = path.path.get_ident().map(ToString::to_string)
        && name.starts_with('P')
        && name.contains(|c: char| c.is_ascii_digit())
        && !is_bound(&name)
        && let Some(instead) = spelling::duration(&name)
    {
        return Err(error_at(value, spelled(name, instead)));
    }
    if constants::is_zero_duration(value) {
        return Err(error_at(value, zero_duration(arg)));
    }
    if constants::is_longest_duration(value) || constants::is_without_limit(value, is_bound) {
        return Err(error_at(value, too_long(arg)));
    }
    Ok(())
}

/// What to say about a text where an expression stands.
pub(crate) fn rust_expected(arg: &str, text: &LitStr, is_bound: &dyn Fn(&str) -> bool) -> Message {
    let value = text.value();
    match syn::parse_str::<Expr>(&value) {
        Ok(Expr::Path(_)) if is_bound(&value) => rust_in_quotes(arg, value.trim()),
        Ok(Expr::Lit(literal)) if matches!(literal.lit, Lit::Bool(_)) => {
            rust_in_quotes(arg, value.trim())
        }
        Ok(Expr::Path(_) | Expr::Lit(_)) | Err(_) => text_for_rust(arg),
        Ok(_) => rust_in_quotes(arg, value.trim()),
    }
}

/// Whether a text is Rust that computes something: a call, a field, an argument.
fn computes(text: &str, is_bound: &dyn Fn(&str) -> bool) -> bool {
    fn any(expr: &Expr, is_bound: &dyn Fn(&str) -> bool) -> bool {
        match expr {
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Field(_) | Expr::Macro(_) => true,
            Expr::Path(path) => {
                path.path.segments.len() > 1
                    || path.path.get_ident().is_some_and(|name| is_bound(&name.to_string()))
            }
            Expr::Paren(inner) => any(&inner.expr, is_bound),
            Expr::Cast(inner) => any(&inner.expr, is_bound),
            Expr::Binary(inner) => any(&inner.left, is_bound) || any(&inner.right, is_bound),
            _ => false,
        }
    }
    syn::parse_str(text).is_ok_and(|expr| any(&expr, is_bound))
}

/// Without parentheses, and without the invisible group around a `macro_rules!` fragment.
pub(crate) fn unwrapped(mut expr: &Expr) -> &Expr {
    loop {
        expr = match expr {
            Expr::Paren(inner) => &inner.expr,
            Expr::Group(inner) => &inner.expr,
            _ => return expr,
        }
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(unwrapped(expr), Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_)))
}

fn expected(arg: &str, quantity: Quantity) -> Message {
    match quantity {
        Quantity::Count | Quantity::Parts => not_a_count(arg),
        Quantity::Rate => not_a_rate(arg),
        Quantity::Duration => not_a_duration(arg),
    }
}

fn read_int(arg: &str, quantity: Quantity, number: &LitInt) -> syn::Result<Known> {
    let fail = |message| Err(error_at(number, message));
    if !INTEGER_TYPES.contains(&number.suffix()) {
        return fail(suffixed(arg, quantity, number));
    }
    let count = count_of(arg, number)?;
    match quantity {
        Quantity::Count | Quantity::Rate if count == 0 => fail(zero(arg)),
        Quantity::Duration if count == 0 => fail(zero_duration(arg)),
        Quantity::Parts if !(1..=MAX_PARTS).contains(&count) => fail(too_many_parts()),
        Quantity::Count | Quantity::Parts => Ok(Known::Count(count)),
        Quantity::Rate => Ok(Known::Rate { permits: count, micros: MICROS_PER_SECOND }),
        Quantity::Duration => match micros(count, MICROS_PER_SECOND) {
            Some(micros) => {
                let value =
                    Expr::Lit(syn::ExprLit { attrs: Vec::new(), lit: Lit::Int(number.clone()) });
                milliseconds::check(arg, &value, count)?;
                Ok(Known::Micros(micros))
            }
            None => fail(too_long(arg)),
        },
    }
}

/// What is wrong with `60s`, `1m` and `5k`, each one token to rustc: a number with a suffix.
fn suffixed(arg: &str, quantity: Quantity, number: &LitInt) -> Message {
    let (digits, suffix) = (number.base10_digits(), number.suffix());
    if quantity == Quantity::Count || quantity == Quantity::Parts {
        let zeros = match suffix {
            "k" | "K" => "000",
            "M" => "000000",
            _ => "",
        };
        return no_suffix(suffix, format!("{digits}{zeros}"));
    }
    match unit_meant_by(suffix) {
        Ok(unit) if quantity == Quantity::Rate => quotes_missing(format!("{digits}/{unit}")),
        Ok(unit) => quotes_missing(format!("{digits}{unit}")),
        Err(()) => {
            let times = if quantity == Quantity::Rate { 1 } else { digits.parse().unwrap_or(1) };
            match words::in_days(times, suffix) {
                Some((days, why)) if quantity == Quantity::Rate => {
                    no_such_unit(suffix, format!("{why}write `{digits}/{days}`"))
                }
                Some((days, why)) => no_such_unit(suffix, format!("{why}write `{days}`")),
                None => expected(arg, quantity),
            }
        }
    }
}

/// The unit that a suffix is or is called elsewhere.
fn unit_meant_by(suffix: &str) -> Result<&str, ()> {
    if unit(suffix).is_some() {
        return Ok(suffix);
    }
    words::unit(suffix).map(|(unit, _)| unit).ok_or(())
}

/// The value of an integer literal of any integer type.
fn count_of(arg: &str, number: &LitInt) -> syn::Result<u64> {
    if !INTEGER_TYPES.contains(&number.suffix()) {
        return Err(error_at(number, suffixed(arg, Quantity::Count, number)));
    }
    // Only digits can fail to fit.
    let count = number.base10_parse::<u64>().map_err(|_| error_at(number, too_large(arg)))?;
    if count > MAX_COUNT {
        return Err(error_at(number, too_large(arg)));
    }
    no_leading_zero(number)?;
    Ok(count)
}

/// Reports `010`, which is 8 where other languages read it, and 10 in Rust.
pub(crate) fn no_leading_zero(number: &LitInt) -> syn::Result<()> {
    let written = number.to_string();
    let digits = written.trim_start_matches(['0', '_']);
    if !written.starts_with('0') || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    Err(error_at(number, leading_zero(&written, number.base10_digits().trim_start_matches('0'))))
}

fn read_float(arg: &str, quantity: Quantity, number: &LitFloat) -> syn::Error {
    let exact = decimal(number.base10_digits());
    let message = match (quantity, exact) {
        (Quantity::Rate, Some((permits, seconds))) => fraction(rate_text(permits, seconds)),
        (Quantity::Duration, Some((over, under))) => match fraction_of_second(over, under) {
            Some(text) => fraction(text),
            None => not_a_duration(arg),
        },
        (Quantity::Rate | Quantity::Duration, None) => expected(arg, quantity),
        (Quantity::Count | Quantity::Parts, Some((whole, 1))) => {
            fraction_of_count(arg, format!("`{whole}`"))
        }
        (Quantity::Count | Quantity::Parts, Some((over, under))) => {
            let below = over / under;
            fraction_of_count(arg, format!("`{below}` or `{}`", below.saturating_add(1)))
        }
        (Quantity::Count | Quantity::Parts, None) => not_a_count(arg),
    };
    error_at(number, message)
}

/// `0.5` a second as `"1/2s"`.
pub(crate) fn rate_text(permits: u64, seconds: u64) -> String {
    if seconds == 1 { format!("\"{permits}/s\"") } else { format!("\"{permits}/{seconds}s\"") }
}

/// `1.5` seconds as `"1500ms"`.
pub(crate) fn fraction_of_second(over: u64, under: u64) -> Option<String> {
    let in_units = |per_second: u64, unit: &str| {
        let all = over.checked_mul(per_second)?;
        (all.checked_rem(under)? == 0).then(|| format!("\"{}{unit}\"", all / under))
    };
    in_units(1, "s").or_else(|| in_units(1_000, "ms")).or_else(|| in_units(1_000_000, "us"))
}

/// A decimal number as a fraction in lowest terms.
pub(crate) fn decimal(digits: &str) -> Option<(u64, u64)> {
    if let Some((digits, zeros)) = digits.split_once(['e', 'E']) {
        let (over, under) = decimal(digits)?;
        let power = 10_u64.checked_pow(zeros.trim_start_matches('+').parse().ok()?)?;
        let divisor = gcd(power, under);
        return Some((over.checked_mul(power / divisor)?, under / divisor));
    }
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let part = part.trim_end_matches('0');
    let under = 10_u64.checked_pow(u32::try_from(part.len()).ok()?)?;
    let part = if part.is_empty() { 0 } else { part.parse::<u64>().ok()? };
    let over = whole.parse::<u64>().ok()?.checked_mul(under)?.checked_add(part)?;
    let divisor = gcd(over, under);
    Some((over / divisor, under / divisor))
}

/// `300/min` and `5/s` without quotes are divisions to rustc. Returns the text to put in quotes.
fn needs_quotes(
    quantity: Quantity,
    value: &Expr,
    is_bound: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let Expr::Binary(division) = unwrapped(value) else { return None };
    if !matches!(division.op, syn::BinOp::Div(_)) || quantity != Quantity::Rate {
        return None;
    }
    let permits = literal_int(&division.left)?;
    let period = match unwrapped(&division.right) {
        Expr::Path(path) => path.path.get_ident()?.to_string(),
        right => {
            let number = literal_int(right)?;
            let times = number.base10_digits();
            match unit_meant_by(number.suffix()) {
                Ok(unit) => format!("{times}{unit}"),
                Err(()) => return None,
            }
        }
    };
    let is_unit = unit(period.trim_start_matches(|c: char| c.is_ascii_digit())).is_some();
    (is_unit && !is_bound(&period)).then(|| format!("{}/{period}", permits.base10_digits()))
}

/// `10r/m` without quotes, which is a division of a number with a suffix to rustc.
fn rate_of_nginx(value: &Expr) -> Option<String> {
    let Expr::Binary(division) = unwrapped(value) else { return None };
    let is_rate = literal_int(&division.left)?.suffix() == "r";
    let text = value.to_token_stream().to_string().replace(' ', "");
    spelling::rate(&text).filter(|_| is_rate)
}

/// What to write for `limit = 5 / 60` and `limit = 5 / min`, where no window is given.
pub(crate) fn count_with_time(
    arg: &str,
    value: &Expr,
    is_bound: &dyn Fn(&str) -> bool,
) -> Option<Message> {
    let Expr::Binary(division) = unwrapped(value) else { return None };
    let time = match (needs_quotes(Quantity::Rate, value, is_bound), division.op) {
        (Some(rate), _) => rate.split_once('/')?.1.to_owned(),
        (None, syn::BinOp::Div(_)) if arithmetic::whole(value).is_none() => {
            format!("{}s", arithmetic::whole(&division.right)?)
        }
        _ => return None,
    };
    let one = if time.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
    let count = literal_int(&division.left)?.base10_digits();
    Some(rate_as_count(arg, count, format!("window = \"{one}{time}\"")))
}

/// `minute`, `time.Minute`, `TimeUnit::MINUTES`, `5 * time.Minute`: as a text.
fn unit_of_others(
    quantity: Quantity,
    value: &Expr,
    is_bound: &dyn Fn(&str) -> bool,
) -> Option<String> {
    if quantity != Quantity::Duration {
        return None;
    }
    let (times, word) = match unwrapped(value) {
        Expr::Binary(product) if matches!(product.op, syn::BinOp::Mul(_)) => {
            match (literal_int(&product.left), literal_int(&product.right)) {
                (Some(times), None) => (times.base10_parse::<u64>().ok()?, &*product.right),
                (None, Some(times)) => (times.base10_parse::<u64>().ok()?, &*product.left),
                _ => return None,
            }
        }
        value => (1, value),
    };
    let name = match unwrapped(word) {
        Expr::Path(path) => path.path.segments.last()?.ident.to_string(),
        Expr::Field(field) => match (&field.member, unwrapped(&field.base)) {
            (Member::Named(name), Expr::Path(base)) if base.path.get_ident()? != "self" => {
                let is_argument = is_bound(&base.path.get_ident()?.to_string());
                (!is_argument).then(|| name.to_string())?
            }
            _ => return None,
        },
        _ => return None,
    };
    let micros = unit(&name.to_lowercase()).filter(|_| name.len() > 1 && !is_bound(&name))?;
    let (count, unit) = in_units(micros);
    Some(format!("{}{unit}", times.checked_mul(count)?))
}

pub(crate) fn literal_int(expr: &Expr) -> Option<&LitInt> {
    match unwrapped(expr) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// `"300/min"`, `"10/h"`, `"1/15s"`.
fn read_rate(arg: &str, text: &LitStr) -> syn::Result<Known> {
    let value = text.value();
    let no_rate = || match spelling::rate(&value) {
        Some(instead) => error_at(text, spelled(value.trim(), instead)),
        None => error(text.span(), not_a_rate(arg)),
    };
    let mut scan = Scan::new(text, &value);
    let permits = scan.number()?.ok_or_else(no_rate)?;
    if !scan.slash() {
        // `"5"` or `"5s"`.
        let rest = scan.rest();
        let known_unit = unit(rest.trim()).map(|_| rest.trim());
        if !rest.trim().is_empty() && known_unit.is_none() {
            return Err(no_rate());
        }
        // Who means a period must not get half a million a second for `"500ms"`.
        let permits_in = |unit| format!("\"{}/{unit}\"", permits.value);
        let instead = match known_unit {
            Some(unit) => slash_missing(permits_in(unit), format!("\"1/{}{unit}\"", permits.value)),
            None => unit_missing(permits_in("s")),
        };
        return Err(error(text.span(), instead));
    }
    let every = scan.number()?;
    if scan.rest().trim_start().starts_with('P') && spelling::rate(&value).is_some() {
        return Err(no_rate());
    }
    let unit = scan.unit(|| format!("\"{}/{}s\"", permits.value, every_text(every.as_ref())))?;
    if scan.rest().trim_start().starts_with('/') {
        return Err(error(text.span(), not_a_rate(arg)));
    }
    scan.end()?;
    if permits.value == 0 {
        return Err(scan.error(permits.at, &zero(arg)));
    }
    if permits.value > MAX_COUNT {
        return Err(scan.error(permits.at, &too_large(arg)));
    }
    let times = every.as_ref().map_or(1, |every| every.value);
    let at = every.map_or_else(|| unit.at.clone(), |every| every.at);
    if times == 0 {
        return Err(scan.error(at, &zero_period(arg)));
    }
    match micros(times, unit.micros) {
        Some(micros) => Ok(Known::Rate { permits: permits.value, micros }),
        None => Err(scan.error(at, &too_long(arg))),
    }
}

fn every_text(every: Option<&Digits>) -> String {
    every.map_or_else(String::new, |every| every.value.to_string())
}

/// `"250ms"`, `"1h"`.
fn read_duration(arg: &str, text: &LitStr) -> syn::Result<Known> {
    let value = text.value();
    let mut scan = Scan::new(text, &value);
    let times = scan.number()?.ok_or_else(|| match spelling::duration(&value) {
        Some(instead) => error_at(text, spelled(value.trim(), instead)),
        None => error(text.span(), not_a_duration(arg)),
    })?;
    let rest = scan.rest().trim_start();
    if let Some(instead) = spelling::clock(&value) {
        return Err(error_at(text, spelled(value.trim(), instead)));
    }
    if scan.slash() || rest.starts_with(|c: char| !c.is_alphabetic()) {
        return Err(error(text.span(), not_a_duration(arg)));
    }
    let unit = scan.unit(|| format!("\"{}s\"", times.value))?;
    scan.end()?;
    if times.value == 0 {
        return Err(scan.error(times.at, &zero_duration(arg)));
    }
    match micros(times.value, unit.micros) {
        Some(micros) => Ok(Known::Micros(micros)),
        None => Err(scan.error(times.at, &too_long(arg))),
    }
}

/// `times` of a unit; `None` when that is too long.
fn micros(times: u64, unit: u64) -> Option<u64> {
    times.checked_mul(unit).filter(|micros| *micros <= MAX_MICROS)
}
