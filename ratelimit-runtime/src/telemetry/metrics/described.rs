//! What the numbers mean, for those who read them.

use metrics::{KeyName, Recorder, SharedString, Unit};

/// How a number is kept.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

use Kind::{Counter, Gauge, Histogram};

const NUMBERS: &[(Kind, &str, Unit, &str)] = &[
    (
        Counter,
        "ratelimit_calls_total",
        Unit::Count,
        "Calls of limited functions and layers, by outcome: admitted, limited, unavailable (the store did not answer and a rule is closed), invalid.",
    ),
    (
        Counter,
        "ratelimit_checks_total",
        Unit::Count,
        "What each rule of a call said: admitted, limited, shadowed (a shadow rule would have refused), undecided (the store did not answer, and the rule is open or closed then).",
    ),
    (
        Counter,
        "ratelimit_degraded_calls_total",
        Unit::Count,
        "Calls that the store did not decide, by the policy that did and by cause.",
    ),
    (
        Counter,
        "ratelimit_degraded_total",
        Unit::Count,
        "Checks of rules that the store did not decide, by rule, policy and cause.",
    ),
    (
        Counter,
        "ratelimit_invalid_calls_total",
        Unit::Count,
        "Calls that were invalid, by kind of mistake.",
    ),
    (
        Counter,
        "ratelimit_store_errors_total",
        Unit::Count,
        "Questions that the store did not answer, by kind of error.",
    ),
    (
        Histogram,
        "ratelimit_store_seconds",
        Unit::Seconds,
        "Time from a question to the store's answer, or to its failure.",
    ),
    (Gauge, "ratelimit_in_flight", Unit::Count, "Questions to the store that are under way."),
    (Gauge, "ratelimit_connections", Unit::Count, "Servers that are connected."),
    (
        Gauge,
        "ratelimit_breakers_open",
        Unit::Count,
        "Servers that are not asked because they do not answer.",
    ),
    (
        Counter,
        "ratelimit_connection_attempts_total",
        Unit::Count,
        "Attempts to connect to a server.",
    ),
    (Gauge, "ratelimit_embedded_entries", Unit::Count, "Keys in embedded stores."),
    (Gauge, "ratelimit_embedded_max_entries", Unit::Count, "Keys that embedded stores can hold."),
    (
        Counter,
        "ratelimit_embedded_overflow_limited_total",
        Unit::Count,
        "New keys that were refused because there are too many overflow budgets.",
    ),
    (
        Gauge,
        "ratelimit_embedded_overflow_budgets",
        Unit::Count,
        "Rules whose new keys share one budget because an embedded store is full.",
    ),
    (
        Counter,
        "ratelimit_embedded_overflow_total",
        Unit::Count,
        "Checks that were decided in the overflow budget of a rule because the embedded store was full.",
    ),
    (
        Gauge,
        "ratelimit_limit",
        Unit::Count,
        "The capacity or limit of a rule, as written: permits that a key can have at once or in a window.",
    ),
    (
        Gauge,
        "ratelimit_limit_per_second",
        Unit::CountPerSecond,
        "The rate of a rule, as written: permits that a key has per second in the long run.",
    ),
];

/// Describes all numbers.
pub(super) fn describe(recorder: &dyn Recorder) {
    for &(kind, name, unit, help) in NUMBERS {
        let (name, unit) = (KeyName::from_const_str(name), Some(unit));
        let help = SharedString::const_str(help);
        match kind {
            Counter => recorder.describe_counter(name, unit, help),
            Gauge => recorder.describe_gauge(name, unit, help),
            Histogram => recorder.describe_histogram(name, unit, help),
        }
    }
}
