//! The words of the attribute, each written once: arguments, algorithms, and what else may stand for
//! a value. Whatever lists them or suggests one reads these tables.

use crate::quantity::Quantity;
use crate::words::{self, snake_case};

/// An argument of `#[rate_limit]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arg {
    Key,
    Name,
    Service,
    Algo,
    Capacity,
    Refill,
    Leak,
    Limit,
    Window,
    SubWindows,
    Cost,
    When,
    Mode,
    OnError,
    Headers,
    OnLimited,
    OnUnavailable,
    Wait,
    Priority,
    Group,
    Limiter,
    Decision,
    Crate,
}

/// What an argument belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Rule,
    Function,
}

/// In the order of the documentation, which is the order in which they are listed.
const ARGS: &[(Arg, &str, Level)] = &[
    (Arg::Key, "key", Level::Rule),
    (Arg::Name, "name", Level::Rule),
    (Arg::Service, "service", Level::Rule),
    (Arg::Algo, "algo", Level::Rule),
    (Arg::Capacity, "capacity", Level::Rule),
    (Arg::Refill, "refill", Level::Rule),
    (Arg::Leak, "leak", Level::Rule),
    (Arg::Limit, "limit", Level::Rule),
    (Arg::Window, "window", Level::Rule),
    (Arg::SubWindows, "sub_windows", Level::Rule),
    (Arg::Cost, "cost", Level::Rule),
    (Arg::When, "when", Level::Rule),
    (Arg::Mode, "mode", Level::Rule),
    (Arg::OnError, "on_error", Level::Rule),
    (Arg::Headers, "headers", Level::Rule),
    (Arg::OnLimited, "on_limited", Level::Function),
    (Arg::OnUnavailable, "on_unavailable", Level::Function),
    (Arg::Wait, "wait", Level::Function),
    (Arg::Priority, "priority", Level::Function),
    (Arg::Group, "group", Level::Function),
    (Arg::Limiter, "limiter", Level::Function),
    (Arg::Decision, "decision", Level::Function),
    (Arg::Crate, "crate", Level::Function),
];

impl Arg {
    /// The argument of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        ARGS.iter().find(|(_, known, _)| *known == name).map(|(arg, _, _)| *arg)
    }

    /// Its name in the attribute.
    pub(crate) fn name(self) -> &'static str {
        ARGS.iter().find(|(arg, _, _)| *arg == self).map_or("", |(_, name, _)| name)
    }

    /// Whether it stands on the first attribute of a function only.
    pub(crate) fn is_per_function(self) -> bool {
        ARGS.iter().any(|(arg, _, level)| *arg == self && *level == Level::Function)
    }

    /// The argument that `word` is a slip of the finger away from.
    pub(crate) fn near(word: &str) -> Option<Self> {
        nearest(&snake_case(word), Self::names()).and_then(Self::find)
    }

    /// All names, in the order of the documentation.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        ARGS.iter().map(|(_, name, _)| *name)
    }

    /// Those of them that can be written: `priority` is only reserved.
    pub(crate) fn usable() -> impl Iterator<Item = &'static str> + Clone {
        Self::names().filter(|name| *name != Self::Priority.name())
    }

    /// What kind of number it takes, if it is one of an algorithm's numbers.
    pub(crate) const fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Capacity | Self::Limit => Some(Quantity::Count),
            Self::SubWindows => Some(Quantity::Parts),
            Self::Refill | Self::Leak => Some(Quantity::Rate),
            Self::Window => Some(Quantity::Duration),
            _ => None,
        }
    }
}

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algo {
    TokenBucket,
    LeakyBucket,
    FixedWindow,
    SlidingLog,
    SlidingCounter,
}

const ALGOS: &[(Algo, &str, &str)] = &[
    (Algo::TokenBucket, "token_bucket", "TokenBucket"),
    (Algo::LeakyBucket, "leaky_bucket", "LeakyBucket"),
    (Algo::FixedWindow, "fixed_window", "FixedWindow"),
    (Algo::SlidingLog, "sliding_log", "SlidingLog"),
    (Algo::SlidingCounter, "sliding_counter", "SlidingCounter"),
];

impl Algo {
    /// The algorithm of this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        ALGOS.iter().find(|(_, known, _)| *known == name).map(|(algo, _, _)| *algo)
    }

    /// Its name in the attribute.
    pub(crate) fn name(self) -> &'static str {
        ALGOS.iter().find(|(algo, _, _)| *algo == self).map_or("", |(_, name, _)| name)
    }

    /// Its variant of the runtime's `Algorithm`.
    pub(crate) fn variant(self) -> &'static str {
        ALGOS.iter().find(|(algo, _, _)| *algo == self).map_or("", |(_, _, variant)| variant)
    }

    /// All names.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        ALGOS.iter().map(|(_, name, _)| *name)
    }

    /// The numbers that must be given.
    pub(crate) const fn needs(self) -> &'static [Arg] {
        match self {
            Self::TokenBucket => &[Arg::Capacity, Arg::Refill],
            Self::LeakyBucket => &[Arg::Capacity, Arg::Leak],
            Self::FixedWindow | Self::SlidingLog | Self::SlidingCounter => {
                &[Arg::Limit, Arg::Window]
            }
        }
    }

    /// All numbers that it has, in the order in which they are written out.
    pub(crate) const fn takes(self) -> &'static [Arg] {
        match self {
            Self::SlidingCounter => &[Arg::Limit, Arg::Window, Arg::SubWindows],
            _ => self.needs(),
        }
    }

    /// The algorithms that have this number.
    pub(crate) fn taking(arg: Arg) -> impl Iterator<Item = &'static str> + Clone {
        let takes = move |algo: &Self| algo.takes().contains(&arg);
        ALGOS.iter().filter(move |(algo, _, _)| takes(algo)).map(|(_, name, _)| *name)
    }
}

/// The values of `mode`, with the runtime's variants.
pub(crate) const MODES: &[(&str, &str)] =
    &[("enforce", "Enforce"), ("shadow", "Shadow"), ("off", "Off")];

/// The values of `on_error`, with the runtime's variants.
pub(crate) const ON_ERRORS: &[(&str, &str)] =
    &[("local", "Local"), ("open", "Open"), ("closed", "Closed")];

/// The values of `headers`: whether rate-limit headers report a rule.
pub(crate) const HEADERS: &[(&str, &str)] = &[("shown", "shown"), ("hidden", "hidden")];

/// The candidate that is one slip of the finger away from `word`, or two in a long word.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let reach = if word.chars().count() < 8 { 1 } else { 2 };
    candidates
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= reach)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` and `c`, for messages.
pub(crate) fn listed<'a>(words: impl Iterator<Item = &'a str>, last: &str) -> String {
    let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match (words.pop(), words.is_empty()) {
        (None, _) => String::new(),
        (Some(only), true) => only,
        (Some(end), false) => format!("{} {last} {end}", words.join(", ")),
    }
}

/// Edits between two words: insertions, deletions, replacements and swapped neighbours.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut previous = None;
    for (i, ca) in a.chars().enumerate() {
        let mut row = vec![i + 1];
        let mut left = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let at = |cells: &[usize], j: usize| cells.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut cell =
                (left + 1).min(at(&above, j + 1) + 1).min(at(&above, j) + usize::from(ca != *cb));
            let swapped = j > 0 && previous == Some(*cb) && b.get(j - 1) == Some(&ca);
            if swapped {
                cell = cell.min(at(&before, j - 1) + 1);
            }
            row.push(cell);
            left = cell;
        }
        before = std::mem::replace(&mut above, row);
        previous = Some(ca);
    }
    above.last().copied().unwrap_or(0)
}

/// One of `candidates` that may have been meant by the value `word` of an argument.
pub(crate) fn meant_by(
    arg: Arg,
    word: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let foreign = words::value(arg, word).map(|(meant, _)| meant).filter(|meant| !meant.is_empty());
    foreign.or_else(|| nearest(&snake_case(word), candidates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_and_algorithm_is_found_by_its_name() {
        for (arg, name, _) in ARGS {
            assert_eq!(Arg::find(name), Some(*arg));
            assert_eq!(arg.name(), *name);
        }
        for (algo, name, _) in ALGOS {
            assert_eq!(Algo::find(name), Some(*algo));
            assert_eq!(algo.name(), *name);
        }
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(distance("capacity", "capacity"), 0);
        assert_eq!(distance("capcity", "capacity"), 1);
        assert_eq!(distance("cpaacity", "capacity"), 1);
        assert_eq!(distance("capacitie", "capacity"), 2);
        assert_eq!(distance("", "key"), 3);
        assert_eq!(distance("key", ""), 3);
    }

    #[test]
    fn slips_are_recognised() {
        assert_eq!(Arg::near("capcity"), Some(Arg::Capacity));
        assert_eq!(Arg::near("kye"), Some(Arg::Key));
        assert_eq!(Arg::near("Capacity"), Some(Arg::Capacity));
        assert_eq!(Arg::near("subWindows"), Some(Arg::SubWindows));
        assert_eq!(Arg::near("colour"), None);
        let algo = |word| meant_by(Arg::Algo, word, Algo::names());
        assert_eq!(algo("TokenBucket"), Some("token_bucket"));
        assert_eq!(algo("FIXED_WINDOW"), Some("fixed_window"));
        assert_eq!(algo("tokenbucket"), Some("token_bucket"));
        assert_eq!(algo("gcra"), Some("token_bucket"));
        assert_eq!(algo("magic"), None);
    }

    #[test]
    fn words_are_listed() {
        assert_eq!(listed([].into_iter(), "and"), "");
        assert_eq!(listed(["a"].into_iter(), "and"), "`a`");
        assert_eq!(listed(["a", "b", "c"].into_iter(), "or"), "`a`, `b` or `c`");
    }
}
