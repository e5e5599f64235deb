//! Arguments that could never have an effect beside the others.

use syn::spanned::Spanned;

use crate::args::Args;
use crate::check::{Limits, Rule};
use crate::error::{Errors, error};
use crate::message::messages;
use crate::quantity::{Known, Number};
use crate::spelling::amount;
use crate::symbol::{Algo, Arg};

messages! {
    never_unavailable(on_error) =
        "`on_unavailable` is for rules that are `closed` without a store, and none here is: remove \
         it, or write `on_error = closed` instead of `on_error = {on_error}`";
    no_place_in_line(capacity, more) =
        "nobody can wait in a line with a `capacity` of {capacity}, which one call fills: write \
         `capacity = {more}` or more, or remove `wait`";
    line_too_slow(wait, turn) =
        "hardly a call would wait: turns are {turn} apart, and `wait` ends after {wait}: write \
         `wait = \"{turn}\"` or longer, or remove `wait`";
}

/// Turns can be so many times as far apart as the longest wait.
const SLOW: u64 = 100;

/// Reports what a function's first attribute asks for in vain.
pub(crate) fn check(args: &Args, limits: &Limits, errors: &mut Errors) {
    if let Some(given) = args.get(Arg::OnUnavailable) {
        let not_closed = |rule: &Rule| rule.on_error.filter(|word| *word != "Closed");
        let all: Option<Vec<&str>> = limits.rules.iter().map(not_closed).collect();
        if let Some(first) = all.and_then(|all| all.first().copied()) {
            errors.at(&given.name, never_unavailable(first.to_lowercase()));
        }
    }
    let Some((given, Number::Known(Known::Micros(wait)))) =
        args.get(Arg::Wait).zip(limits.wait.as_ref())
    else {
        return;
    };
    let mut lines = limits.rules.iter().filter(|rule| rule.algo == Algo::LeakyBucket);
    // Of several lines, one is enough to wait in.
    if let (Some(line), None) = (lines.next(), lines.next())
        && let Some(message) = vain_wait(line, *wait)
    {
        errors.push(error(given.value.span(), message));
    }
}

/// Why nobody waits in a line whose numbers are written out.
fn vain_wait(line: &Rule, wait: u64) -> Option<crate::message::Message> {
    let number = |arg: Arg| {
        line.numbers.iter().find(|(known, _)| *known == arg).and_then(|(_, number)| match number {
            Number::Known(known) => Some(*known),
            Number::PerCall(_) => None,
        })
    };
    let cost = match &line.cost {
        None => 1,
        Some(Number::Known(Known::Count(cost))) => *cost,
        Some(_) => return None,
    };
    if let Some(Known::Count(capacity)) = number(Arg::Capacity)
        && capacity == cost
    {
        return Some(no_place_in_line(capacity, capacity.saturating_add(cost)));
    }
    let Some(Known::Rate { permits, micros }) = number(Arg::Leak) else { return None };
    let turn = micros.saturating_mul(cost).checked_div(permits)?;
    (turn > wait.saturating_mul(SLOW)).then(|| line_too_slow(amount(wait), amount(turn)))
}
