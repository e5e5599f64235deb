//! The words of other limiters, with what to write here instead: one line for each, in snake case.
//! Whoever looks one up turns `refillRate` and `REFILL-RATE` into `refill_rate` first.
//!
//! Each line has the words, between blanks, what they stand for (which then counts as given), and what to write.
//! Without that, the message asks `did you mean ..?`.

use crate::symbol::Arg::{
    self, Algo, Capacity, Cost, Group, Headers, Key, Leak, Limit, Limiter, Mode, Name, OnError,
    OnLimited, Refill, Service, SubWindows, Wait, When, Window,
};

type Word<Meant> = (&'static str, Meant, &'static str);

/// Names of arguments.
const ARGS: &[Word<&[Arg]>] = &[
    // What is counted apart.
    (
        "limit_type key_type limit_by key_by by scope per_user per_ip dimension characteristics \
         descriptor descriptors discriminator",
        &[Key],
        "the `key` says what is counted apart: `key = \"@ip\"`, `key = \"user_id\"`",
    ),
    ("keys identifier limit_key key_expression spel", &[Key], ""),
    (
        "key_resolver key_generator key_func key_fn key_extractor resolver extractor",
        &[Key],
        "the `key` is the key language in quotes, or Rust without quotes: `key = key_of(request)`",
    ),
    ("prefix key_prefix", &[], "text in front is a part of the key: `key = \"'sms:' + phone\"`"),
    (
        "value",
        &[Key, Name],
        "did you mean `key`, which says what is counted apart, or `name`, which the rule is called?",
    ),
    (
        "zone limit_req limit_req_zone shared_zone",
        &[Key, Name],
        "the `key` says what is counted apart, as in `key = \"@ip\"`, and the `name` is the rule's",
    ),
    // Names.
    ("namespace app application tenant_service", &[Service], ""),
    ("id rule rule_name resource bucket bucket_name label title domain", &[Name], ""),
    // Algorithms.
    ("algorithm strategy limiter_type policy", &[Algo], ""),
    (
        "type kind",
        &[Algo],
        "did you mean `algo`? what is counted apart is the `key`: `key = \"@ip\"`",
    ),
    // How many.
    (
        "burst burst_capacity burst_size burst_limit max_burst max_burst_size bucket_size \
         bucket_capacity max_tokens capacity_tokens size initial_burst token_limit",
        &[Capacity],
        "",
    ),
    (
        "tokens token_count",
        &[Capacity, Cost],
        "did you mean `capacity`? what one call takes is its `cost`",
    ),
    (
        "max max_requests max_calls max_count limit_for_period limit_count quota count \
         requests calls times threshold total num_requests max_hits max_attempts \
         permit_limit \
         requests_per_unit requests_per_period allowed",
        &[Limit],
        "",
    ),
    ("points", &[Limit, Cost], "did you mean `limit`? what one call takes is its `cost`"),
    (
        "permits max_permits",
        &[Capacity, Limit],
        "did you mean `capacity` or `limit`? what one call takes is its `cost`",
    ),
    // How fast.
    ("rate", &[Refill, Leak], "did you mean `refill`? of a leaky bucket, it is `leak`"),
    (
        "refill_rate refill_tokens refill_amount replenish_rate replenish fill_rate rate_limit \
         refill_greedy refill_intervally refill_intervally_aligned tokens_per_fill steady_rate \
         tokens_per_period",
        &[Refill],
        "",
    ),
    (
        "rps qps tps per_second refill_per_second tokens_per_second permits_per_second \
         requests_per_second rate_per_second",
        &[Refill, Capacity],
        "did you mean `refill`? a number is how many a second, one in five seconds is `\"1/5s\"`, and \
         `capacity` is how many at once",
    ),
    (
        "per_minute rpm requests_per_minute calls_per_minute permits_per_minute tokens_per_minute \
         per_min",
        &[Refill, Limit, Window],
        "write `refill = \"{n}/min\"`, or `limit = {n}, window = \"1min\"`",
    ),
    (
        "per_hour requests_per_hour calls_per_hour permits_per_hour tokens_per_hour rph",
        &[Refill, Limit, Window],
        "write `refill = \"{n}/h\"`, or `limit = {n}, window = \"1h\"`",
    ),
    (
        "per_day requests_per_day calls_per_day permits_per_day tokens_per_day rpd",
        &[Refill, Limit, Window],
        "write `refill = \"{n}/d\"`, or `limit = {n}, window = \"1d\"`",
    ),
    ("leak_rate drain_rate drain outflow out_rate", &[Leak], ""),
    // In how long.
    (
        "period interval duration time_window limit_refresh_period refresh_period \
         window_size window_length ttl time every decay expires expiry fill_interval \
         limit_period replenishment_period refill_interval refill_period refill_duration refill_time rate_interval within",
        &[Window, Refill],
        "did you mean `window`? of a bucket, it is a part of `refill`: `refill = \"1/15s\"`",
    ),
    (
        "per",
        &[Window, Refill],
        "did you mean `window`? of a bucket, it is a part of `refill`: `refill = \"1/15s\"`; what is \
         counted apart is the `key`: `key = \"@ip\"`",
    ),
    (
        "window_seconds window_secs window_sec window_in_seconds window_size_seconds \
         period_seconds period_secs interval_seconds interval_secs duration_seconds seconds \
         secs",
        &[Window],
        "did you mean `window`? a number is in seconds",
    ),
    (
        "window_ms window_millis window_milliseconds interval_ms period_ms millis milliseconds \
         duration_ms",
        &[Window],
        "did you mean `window`? its unit stands in quotes: `window = \"250ms\"`",
    ),
    (
        "window_minutes window_mins minutes hours window_hours decay_minutes period_minutes \
         days",
        &[Window],
        "did you mean `window`? its unit stands in quotes: `window = \"5min\"`",
    ),
    (
        "unit time_unit interval_unit rate_unit rate_interval_unit refill_unit refill_duration_unit",
        &[],
        "a unit stands with its number, in quotes: `refill = \"300/min\"`, `window = \"1min\"`",
    ),
    (
        "sub_window segments segments_per_window slots sample_count precision buckets",
        &[SubWindows],
        "",
    ),
    (
        "align aligned calendar timezone time_zone tz reset_at cron resets",
        &[],
        "windows do not follow the calendar: `window = \"24h\"` begins with a first call",
    ),
    (
        "initial initial_tokens initial_capacity initial_permits start_full warm_up warmup \
         warmup_period warm_up_period",
        &[],
        "there is no initial amount: a bucket starts full",
    ),
    // A call.
    (
        "requested requested_tokens tokens_requested num_tokens num_permits permits_per_call \
         amount acquire acquire_count weight consume",
        &[Cost],
        "",
    ),
    ("condition predicate filter only_if if enabled_if", &[When], ""),
    (
        "skip skip_if skip_when unless exempt exempt_when exempt_if exclude whitelist allow_list bypass",
        &[When],
        "`when` says which calls are counted, so the opposite: `when = !is_exempt(user)`",
    ),
    (
        "shadow shadow_mode dry_run log_only report_only",
        &[Mode],
        "write `mode = shadow`, which refuses nobody",
    ),
    (
        "enabled enable disabled active on off",
        &[Mode],
        "a rule is on: `mode = off` switches it off",
    ),
    ("enforce enforced", &[Mode], "write `mode = enforce`, which is the default"),
    // What happens then.
    (
        "fail_open open allow_on_error open_on_error fault_tolerant failure_mode_allow",
        &[OnError],
        "write `on_error = open`; what is not to pass then is `on_error = closed`",
    ),
    (
        "fail_closed fail_close closed deny_on_error failure_mode_deny",
        &[OnError],
        "write `on_error = closed`; what is to pass then is `on_error = open`",
    ),
    ("on_failure failure_mode error_policy on_redis_error fail_strategy", &[OnError], ""),
    (
        "fallback on_refused on_reject on_rejected reject rejected handler on_exceeded \
         on_limit or_else error",
        &[OnLimited],
        "",
    ),
    (
        "fallback_method fallback_fn fallback_class block_handler block_handler_class \
         error_handler callback",
        &[OnLimited],
        "write `on_limited = |error| fallback(error)`",
    ),
    (
        "message error_message msg reason exception status status_code http_status code \
         error_code http_response_code http_status_code response response_code rejected_code \
         rate_limited_status body detail details deny_response throws raises raise_on_limit exception_class error_class",
        &[OnLimited],
        "a refusal is the function's own error, over HTTP a 429; something else is `on_limited = ..`",
    ),
    (
        "fields field header add_headers include_headers header_fields show_headers hide_headers",
        &[Headers],
        "did you mean `headers`? responses carry rate-limit headers: `headers = hidden` leaves them out",
    ),
    (
        "timeout max_wait timeout_duration max_wait_time acquire_timeout wait_timeout \
         max_delay blocking block max_queue_time queue_timeout max_queueing_time_ms",
        &[Wait],
        "",
    ),
    (
        "delay nodelay no_delay queue queue_limit queue_size queue_processing_order throttle_mode",
        &[Wait],
        "without `wait`, a call is refused at once; one that waits has \
         `algo = leaky_bucket, wait = \"2s\"`",
    ),
    (
        "mitigation_timeout block_duration block_for ban ban_time ban_duration penalty \
         penalty_time cooldown cool_down lockout",
        &[],
        "nobody is shut out for a time: a call passes again as soon as there is room",
    ),
    (
        "config configuration settings props properties options profile preset config_name",
        &[Capacity, Refill, Limit, Window, Algo],
        "the numbers stand here; a configuration replaces them by the rule's `name`",
    ),
    (
        "shared global distributed",
        &[],
        "one budget for all callers has no `key`, and instances share it by the Redis of the limiter",
    ),
    ("auto_replenishment", &[], "a bucket refills by itself: remove it"),
    ("hash_tag slot", &[Group], ""),
    (
        "store backend storage redis redis_url connection client pool provider",
        &[Limiter],
        "did you mean `limiter`? without it, the installed limiter decides, which knows its Redis",
    ),
    (
        "concurrency max_concurrent max_concurrent_calls max_in_flight bulkhead",
        &[Capacity, Refill, Limit, Window],
        "`#[rate_limit]` counts calls in time and not how many run at once",
    ),
    (
        "rules limits bandwidth bandwidths limit_rules",
        &[Capacity, Refill, Limit, Window, Algo],
        "each rule is a `#[rate_limit(..)]` of its own, one below the other",
    ),
];

/// Values of `algo`.
const ALGOS: &[Word<&str>] = &[
    ("gcra token tokens bucket token_bucket_algorithm", "token_bucket", ""),
    ("leaky leaking_bucket pacing", "leaky_bucket", ""),
    ("fixed window fixed_window_counter counter simple_window", "fixed_window", ""),
    ("sliding_window_log log sliding_window_exact", "sliding_log", ""),
    ("sliding_window_counter approximate_sliding_window", "sliding_counter", ""),
    (
        "sliding_window sliding rolling_window rolling",
        "",
        "did you mean `sliding_log`, which is exact, or `sliding_counter`, which is nearly so and cheaper?",
    ),
    (
        "concurrency concurrent bulkhead semaphore",
        "",
        "`#[rate_limit]` counts calls in time and not how many run at once",
    ),
];

/// Values of `mode`.
const MODES: &[Word<&str>] = &[
    ("dry_run log log_only monitor observe audit report report_only test", "shadow", ""),
    ("disabled disable none false never", "off", ""),
    ("enabled enable on true enforced strict block reject", "enforce", ""),
];

/// Values of `on_error`.
const ON_ERRORS: &[Word<&str>] = &[
    ("fail_open allow pass permit ignore continue open_on_error", "open", ""),
    ("fail_closed fail_close deny block reject refuse error throw", "closed", ""),
    ("fallback in_memory memory embedded fail_local degrade", "local", ""),
];

/// Values of `headers`.
const HEADERS: &[Word<&str>] = &[
    ("true on show yes all enabled", "shown", ""),
    ("false off hide no none disabled", "hidden", ""),
];

/// Units. They are looked up as written.
const UNITS: &[Word<&str>] = &[
    ("m M mins Min mi", "min", ""),
    ("S secs", "s", ""),
    ("H hr hrs", "h", ""),
    ("D", "d", ""),
    ("milli millis millisecond milliseconds MS", "ms", ""),
    ("micro micros microsecond microseconds", "us", ""),
    ("ns nanos nanosecond nanoseconds", "us", ""),
];

/// Units of several days, and how many. They are looked up as written.
const LONG_UNITS: &[(&str, u64)] = &[
    ("w W wk week weeks Week Weeks", 7),
    ("mo mon month months Month Months", 30),
    ("y Y yr year years Year Years", 365),
];

/// An argument of another name.
pub(crate) struct Foreign {
    /// What it stands for.
    pub(crate) args: &'static [Arg],
    /// What to write; nothing when naming `args` says it all.
    pub(crate) instead: &'static str,
}

/// What the argument `word` of another limiter is here.
pub(crate) fn argument(word: &str) -> Option<Foreign> {
    let (_, args, instead) = find(ARGS, &snake_case(word))?;
    Some(Foreign { args, instead })
}

/// What a value of another limiter is here: the value, or what to write.
pub(crate) fn value(arg: Arg, word: &str) -> Option<(&'static str, &'static str)> {
    let table = match arg {
        Algo => ALGOS,
        Mode => MODES,
        OnError => ON_ERRORS,
        Headers => HEADERS,
        _ => return None,
    };
    find(table, &snake_case(word)).map(|(_, meant, instead)| (*meant, *instead))
}

/// What a unit of another limiter is here: the unit, or what to write.
pub(crate) fn unit(word: &str) -> Option<(&'static str, &'static str)> {
    find(UNITS, word).map(|(_, meant, instead)| (*meant, *instead))
}

/// What to write for `times` of a unit that is longer than a day: `14d` for two weeks.
pub(crate) fn in_days(times: u64, word: &str) -> Option<(String, &'static str)> {
    let (_, days) = LONG_UNITS.iter().find(|(words, _)| has(words, word))?;
    let why = if *days == 7 {
        ""
    } else {
        "windows do not follow the calendar, and `d` is 24 hours from a first call: "
    };
    Some((format!("{}d", times.checked_mul(*days)?), why))
}

fn find<Meant>(table: &'static [Word<Meant>], word: &str) -> Option<&'static Word<Meant>> {
    table.iter().find(|(words, ..)| has(words, word))
}

/// Whether a word is in a list of words with blanks between them.
pub(crate) fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// `TokenBucket`, `TOKEN_BUCKET` and `token-bucket` as `token_bucket`.
pub(crate) fn snake_case(word: &str) -> String {
    let mut snake = String::new();
    let mut after_small = false;
    for c in word.chars() {
        if c.is_uppercase() && after_small {
            snake.push('_');
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
        if c == '-' || c == ' ' {
            snake.push('_');
        } else {
            snake.extend(c.to_lowercase());
        }
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol;

    fn words<Meant>(table: &[Word<Meant>]) -> Vec<&'static str> {
        table.iter().flat_map(|(words, ..)| words.split_whitespace()).collect()
    }

    #[test]
    fn no_word_is_ours_or_stands_there_twice() {
        for word in words(ARGS) {
            assert!(Arg::find(word).is_none(), "{word} is an argument");
            assert_eq!(words(ARGS).iter().filter(|other| **other == word).count(), 1, "{word}");
            assert_eq!(snake_case(word), word);
        }
        let ours: [(&[Word<&str>], Vec<&str>); 4] = [
            (ALGOS, symbol::Algo::names().collect()),
            (MODES, symbol::MODES.iter().map(|(word, _)| *word).collect()),
            (ON_ERRORS, symbol::ON_ERRORS.iter().map(|(word, _)| *word).collect()),
            (super::HEADERS, symbol::HEADERS.iter().map(|(word, _)| *word).collect()),
        ];
        for (table, ours) in ours {
            for (foreign, meant, instead) in table {
                assert!(foreign.split(' ').all(|word| !ours.contains(&word)), "{foreign}");
                assert!(ours.contains(meant) == instead.is_empty(), "{foreign}: {meant}");
            }
        }
    }

    #[test]
    fn a_word_without_a_text_stands_for_something() {
        for (words, args, instead) in ARGS {
            assert!(!args.is_empty() || !instead.is_empty(), "{words}");
        }
    }

    #[test]
    fn words_are_in_snake_case() {
        for word in ["TokenBucket", "tokenBucket", "TOKEN_BUCKET", "token-bucket", "Token Bucket"] {
            assert_eq!(snake_case(word), "token_bucket");
        }
        assert_eq!(snake_case("refillRate"), "refill_rate");
        assert_eq!(snake_case("QPS"), "qps");
    }
}
