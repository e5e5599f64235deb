//! The words of the attribute, each written once: arguments, algorithms, and what else may stand for
//! a value. Whatever lists them or suggests one reads these tables.

use crate::quantity::Quantity;

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
    Fields,
    OnLimited,
    OnUnavailable,
    Wait,
    Priority,
    Group,
    Limiter,
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
    (Arg::Fields, "fields", Level::Rule),
    (Arg::OnLimited, "on_limited", Level::Function),
    (Arg::OnUnavailable, "on_unavailable", Level::Function),
    (Arg::Wait, "wait", Level::Function),
    (Arg::Priority, "priority", Level::Function),
    (Arg::Group, "group", Level::Function),
    (Arg::Limiter, "limiter", Level::Function),
    (Arg::Crate, "crate", Level::Function),
];

/// What the arguments are called elsewhere.
const FOREIGN_ARGS: &[(&str, Arg)] = &[
    ("namespace", Arg::Service),
    ("app", Arg::Service),
    ("algorithm", Arg::Algo),
    ("strategy", Arg::Algo),
    ("burst", Arg::Capacity),
    ("tokens", Arg::Capacity),
    ("rate", Arg::Refill),
    ("refill_rate", Arg::Refill),
    ("leak_rate", Arg::Leak),
    ("max", Arg::Limit),
    ("max_requests", Arg::Limit),
    ("period", Arg::Window),
    ("per", Arg::Window),
    ("interval", Arg::Window),
    ("weight", Arg::Cost),
    ("permits", Arg::Cost),
    ("condition", Arg::When),
    ("fallback", Arg::OnLimited),
    ("on_refused", Arg::OnLimited),
    ("reject", Arg::OnLimited),
    ("timeout", Arg::Wait),
    ("max_wait", Arg::Wait),
    ("store", Arg::Limiter),
    ("headers", Arg::Fields),
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

    /// The argument that somebody may have meant by `word`.
    pub(crate) fn meant_by(word: &str) -> Option<&'static str> {
        let word = word.to_ascii_lowercase();
        let foreign = FOREIGN_ARGS.iter().find(|(known, _)| *known == word);
        foreign.map(|(_, arg)| arg.name()).or_else(|| nearest(&word, Self::names()))
    }

    /// All names, in the order of the documentation.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        ARGS.iter().map(|(_, name, _)| *name)
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

/// What the algorithms are called elsewhere.
const FOREIGN_ALGOS: &[(&str, Algo)] = &[
    ("gcra", Algo::TokenBucket),
    ("token", Algo::TokenBucket),
    ("tokens", Algo::TokenBucket),
    ("leaky", Algo::LeakyBucket),
    ("fixed", Algo::FixedWindow),
    ("fixed_window_counter", Algo::FixedWindow),
    ("sliding_window_log", Algo::SlidingLog),
    ("sliding_window", Algo::SlidingCounter),
    ("sliding_window_counter", Algo::SlidingCounter),
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

    /// The algorithm that somebody may have meant by `word`.
    pub(crate) fn meant_by(word: &str) -> Option<&'static str> {
        let word = snake_case(word);
        if Self::find(&word).is_some() {
            return nearest(&word, Self::names());
        }
        let foreign = FOREIGN_ALGOS.iter().find(|(known, _)| *known == word);
        foreign.map(|(_, algo)| algo.name()).or_else(|| nearest(&word, Self::names()))
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

/// The values of `fields`: whether a rule's header fields are shown.
pub(crate) const FIELDS: &[(&str, &str)] = &[("shown", "shown"), ("hidden", "hidden")];

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

/// `TokenBucket` and `token-bucket` as `token_bucket`.
fn snake_case(word: &str) -> String {
    let mut snake = String::new();
    for (index, c) in word.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.push(if c == '-' || c == ' ' { '_' } else { c.to_ascii_lowercase() });
    }
    snake
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
    fn foreign_words_are_none_of_ours() {
        assert!(FOREIGN_ARGS.iter().all(|(word, _)| Arg::find(word).is_none()));
        assert!(FOREIGN_ALGOS.iter().all(|(word, _)| Algo::find(word).is_none()));
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
        assert_eq!(Arg::meant_by("capcity"), Some("capacity"));
        assert_eq!(Arg::meant_by("kye"), Some("key"));
        assert_eq!(Arg::meant_by("fallback"), Some("on_limited"));
        assert_eq!(Arg::meant_by("Capacity"), Some("capacity"));
        assert_eq!(Arg::meant_by("colour"), None);
        assert_eq!(Algo::meant_by("TokenBucket"), Some("token_bucket"));
        assert_eq!(Algo::meant_by("token-bucket"), Some("token_bucket"));
        assert_eq!(Algo::meant_by("tokenbucket"), Some("token_bucket"));
        assert_eq!(Algo::meant_by("gcra"), Some("token_bucket"));
        assert_eq!(Algo::meant_by("magic"), None);
    }

    #[test]
    fn words_are_listed() {
        assert_eq!(listed([].into_iter(), "and"), "");
        assert_eq!(listed(["a"].into_iter(), "and"), "`a`");
        assert_eq!(listed(["a", "b", "c"].into_iter(), "or"), "`a`, `b` or `c`");
    }
}
