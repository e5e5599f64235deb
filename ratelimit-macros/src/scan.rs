//! The text of a quantity, from left to right: digits, a slash, a unit.

use std::ops::Range;

use syn::LitStr;

use crate::error::{error, key_error};
use crate::message::{Message, messages};
use crate::spelling;
use crate::symbol::{listed, nearest};
use crate::words;

messages! {
    unit_missing(instead) = "a unit is missing here: write `{instead}`";
    unknown_unit(unit, units) = "unknown unit `{unit}`: there are {units}";
    unknown_unit_like(unit, near, units) =
        "unknown unit `{unit}`, did you mean `{near}`? there are {units}";
    unknown_unit_instead(unit, instead) = "unknown unit `{unit}`: {instead}";
    negative_quantity() = "a rate or a duration cannot be negative";
    fraction_in_text() = "there are no fractions here: write a smaller unit, like `\"1500ms\"` for \
         1.5s, or a longer period, like `\"1/2s\"` for half a permit a second";
    number_too_large() = "the number is too large";
    fraction_written(instead) = "there are no fractions here: write `\"{instead}\"`";
    one_unit() = "one number and one unit are enough: write `\"90min\"` for 1h30min";
    one_unit_written(instead) = "one number and one unit are enough: write `\"{instead}\"`";
}

pub(crate) const MICROS_PER_SECOND: u64 = 1_000_000;

/// The units, each with its microseconds. The first name of a length is the one that is listed.
const UNITS: &[(&str, u64)] = &[
    ("us", 1),
    ("ms", 1_000),
    ("s", MICROS_PER_SECOND),
    ("min", 60 * MICROS_PER_SECOND),
    ("h", 3_600 * MICROS_PER_SECOND),
    ("d", 86_400 * MICROS_PER_SECOND),
];

/// Other spellings of the units.
const SPELLINGS: &[(&str, &str)] = &[
    ("µs", "us"),
    ("μs", "us"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
];

/// In the longest unit that leaves no rest.
pub(crate) fn in_units(micros: u64) -> (u64, &'static str) {
    let fits = |(_, unit): &&(&str, u64)| micros > 0 && micros.is_multiple_of(*unit);
    UNITS.iter().rev().find(fits).map_or((micros, "us"), |(name, unit)| (micros / unit, *name))
}

/// The microseconds of a unit.
pub(crate) fn unit(name: &str) -> Option<u64> {
    let spelled = SPELLINGS.iter().find(|(other, _)| *other == name);
    let name = spelled.map_or(name, |(_, name)| name);
    UNITS.iter().find(|(known, _)| *known == name).map(|(_, micros)| *micros)
}

/// Digits in a quantity, and where they stand in its text.
#[derive(Clone)]
pub(crate) struct Digits {
    pub(crate) value: u64,
    pub(crate) at: Range<usize>,
}

/// A unit in a quantity, and where it stands in its text.
pub(crate) struct Unit {
    pub(crate) micros: u64,
    pub(crate) at: Range<usize>,
}

/// Reads a quantity from left to right.
pub(crate) struct Scan<'a> {
    literal: &'a LitStr,
    text: &'a str,
    pos: usize,
}

impl<'a> Scan<'a> {
    pub(crate) const fn new(literal: &'a LitStr, text: &'a str) -> Self {
        Self { literal, text, pos: 0 }
    }

    pub(crate) fn error(&self, at: Range<usize>, message: &Message) -> syn::Error {
        key_error(self.literal, at, message)
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    pub(crate) fn blanks(&mut self) {
        self.take(char::is_whitespace);
    }

    pub(crate) fn take(&mut self, matches: impl Fn(char) -> bool) -> Range<usize> {
        let start = self.pos;
        let rest = self.rest();
        self.pos += rest.find(|c| !matches(c)).unwrap_or(rest.len());
        start..self.pos
    }

    pub(crate) fn slash(&mut self) -> bool {
        self.blanks();
        let found = self.rest().starts_with('/');
        self.pos += usize::from(found);
        found
    }

    /// A whole number, if there is one.
    pub(crate) fn number(&mut self) -> syn::Result<Option<Digits>> {
        self.blanks();
        if self.rest().starts_with('-') {
            return Err(self.error(self.pos..self.pos + 1, &negative_quantity()));
        }
        let at = self.take(|c| c.is_ascii_digit() || c == '_');
        if at.is_empty() {
            return Ok(None);
        }
        if self.rest().starts_with('.') {
            let _ = self.take(|c| c.is_ascii_digit() || c == '.');
            let message =
                spelling::exact(self.text).map_or_else(fraction_in_text, fraction_written);
            return Err(self.error(at.start..self.pos, &message));
        }
        let digits = self.text.get(at.clone()).unwrap_or_default().replace('_', "");
        match digits.parse() {
            Ok(value) => Ok(Some(Digits { value, at })),
            Err(_) => Err(self.error(at, &number_too_large())),
        }
    }

    /// A unit; `instead` is what to write when there is none.
    pub(crate) fn unit(&mut self, instead: impl Fn() -> String) -> syn::Result<Unit> {
        self.blanks();
        let at = self.take(char::is_alphabetic);
        let name = self.text.get(at.clone()).unwrap_or_default();
        if name.is_empty() {
            return Err(error(self.literal.span(), unit_missing(instead())));
        }
        unit(name).map(|micros| Unit { micros, at: at.clone() }).ok_or_else(|| {
            let names = || UNITS.iter().map(|(name, _)| *name);
            let lower = name.to_lowercase();
            let near = if unit(&lower).is_some() {
                Some(lower.as_str())
            } else {
                let spellings = SPELLINGS.iter().map(|(name, _)| *name);
                nearest(&lower, names().chain(spellings)).filter(|_| lower.len() > 2)
            };
            let before = self.text.get(..at.start).unwrap_or_default().trim_end();
            let digits = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            let times = before.get(digits.len()..).unwrap_or_default().replace('_', "");
            let message = match (words::unit(name), near) {
                _ if let Some((days, why)) = words::in_days(times.parse().unwrap_or(1), name) => {
                    unknown_unit_instead(name, format!("{why}write `{days}`"))
                }
                (Some((near, _)), _) | (None, Some(near)) => {
                    unknown_unit_like(name, near, listed(names(), "and"))
                }
                (None, None) => unknown_unit(name, listed(names(), "and")),
            };
            self.error(at, &message)
        })
    }

    /// Nothing may follow.
    pub(crate) fn end(&mut self) -> syn::Result<()> {
        self.blanks();
        if self.rest().is_empty() {
            return Ok(());
        }
        let message = spelling::exact(self.text).map_or_else(one_unit, one_unit_written);
        Err(self.error(self.pos..self.text.len(), &message))
    }
}
