//! Numbers, durations and rates as people write them elsewhere: each gives one error, or means what it says.

use super::habits::{SEND, compile, hold};

/// Each of these, behind what stands before it.
fn hold_behind(before: &str, cases: &[(&str, &str)]) {
    let cases: Vec<(String, &str)> =
        cases.iter().map(|(value, says)| (format!("{before}{value}"), *says)).collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(all, says)| (all.as_str(), *says)).collect();
    hold(SEND, &cases);
}

#[test]
fn a_power_is_written_out() {
    hold_behind(
        "refill = 5, capacity = ",
        &[
            ("10^3", "`10 ^ 3` is no power, and `^` means something else in Rust: write `1000`"),
            ("10 ** 3", "`**` means something else in Rust: write `1000`"),
            ("(2^10)", "write `1024`"),
            ("5 * (10^3)", "write `1000`"),
            ("BASE^2", "write `BASE.pow(2)`"),
            ("010", "`010` is 10 in Rust, and octal in other languages: write `10`"),
            ("0_10", "write `10`"),
            ("010 * 60", "write `10`"),
            ("10 - 20", "`capacity` cannot be negative"),
        ],
    );
    compile(
        SEND,
        &[
            "capacity = 1 << 10, refill = 5",
            "capacity = 10_u64.pow(3), refill = 5",
            "capacity = 0x10, refill = 1_000",
            "capacity = MASK ^ OTHER, refill = 5",
            "capacity = 20 - 10, refill = 5",
        ],
    );
}

#[test]
fn milliseconds_are_not_taken_for_seconds() {
    hold_behind(
        "algo = fixed_window, limit = 5, window = ",
        &[
            ("60000", "`60000` looks like milliseconds: write `\"60s\"` or `\"60000s\"`"),
            ("60_000", "write `\"60s\"` or `\"60000s\"`"),
            ("1000", "write `\"1s\"` or `\"1000s\"`"),
            ("15*60*1000", "write `\"900s\"` or `\"900000s\"`"),
            ("86400000", "write `\"86400s\"` or `\"86400000s\"`"),
            ("minutes * 60 * 1000", "write `Duration::from_millis(minutes * 60 * 1000)`"),
            ("WINDOW_MS", "write `Duration::from_millis(WINDOW_MS)`"),
            ("user.window_ms", "write `Duration::from_millis(user.window_ms)`"),
            ("user.window.as_millis()", "write `user.window`, or `Duration::from_secs(..)`"),
        ],
    );
    hold_behind(
        "algo = leaky_bucket, capacity = 5, leak = 1, wait = ",
        &[("5000", "write `\"5s\"` or `\"5000s\"`")],
    );
    for honest in [
        "1800",
        "3600",
        "7200",
        "18000",
        "86400",
        "604800",
        "24 * 60 * 60",
        "30 * 24 * 60 * 60",
        "2592000",
        "\"60000s\"",
        "\"60000ms\"",
        "1001",
        "WINDOW",
        "user.items",
        "60 * times",
        "Duration::from_millis(60000)",
        "Duration::from_millis(window_ms)",
    ] {
        compile(SEND, &[&format!("algo = fixed_window, limit = 5, window = {honest}")]);
    }
}

#[test]
fn a_rate_that_is_divided_at_run_time_keeps_its_rest() {
    hold_behind(
        "capacity = 5, refill = ",
        &[
            ("user.limit / 60", "write a `Rate`, as in `refill = Rate::new(user.limit, Duration::"),
            ("(PER_HOUR / 3600)", "= Rate::new(PER_HOUR, Duration::from_secs(3600))`"),
        ],
    );
    compile(
        SEND,
        &[
            "capacity = 5, refill = (user.limit / 60).max(1)",
            "capacity = 5, refill = Rate::new(user.limit, Duration::from_secs(60))",
            "capacity = user.limit / 60, refill = 5",
            "capacity = 5, refill = 120 / 60",
        ],
    );
}

#[test]
fn arguments_that_could_never_have_an_effect() {
    hold(
        SEND,
        &[
            (
                "algo = leaky_bucket, capacity = 1, leak = 5, wait = \"1s\"",
                "nobody can wait in a line with a `capacity` of 1, which one call fills: write `capacity = 2`",
            ),
            (
                "algo = leaky_bucket, capacity = 4, cost = 4, leak = 5, wait = \"1s\"",
                "which one call fills: write `capacity = 8`",
            ),
            (
                "algo = leaky_bucket, capacity = 5, leak = \"1/h\", wait = \"1s\"",
                "turns are 1h apart, and `wait` ends after 1s: write `wait = \"1h\"` or longer",
            ),
            (
                "capacity = 5, refill = 1, on_error = open, on_unavailable = Err(error)",
                "write `on_error = closed` instead of `on_error = open`",
            ),
            (
                "capacity = 5, refill = 1, on_error = local, on_unavailable = Err(error)",
                "write `on_error = closed` instead of `on_error = local`",
            ),
        ],
    );
    compile(
        SEND,
        &[
            "algo = leaky_bucket, capacity = 2, leak = 5, wait = \"1s\"",
            "algo = leaky_bucket, capacity = 5, leak = \"1/min\", wait = \"10s\"",
            "algo = leaky_bucket, capacity = user.burst, leak = 5, wait = \"1s\"",
            "algo = leaky_bucket, capacity = 1, leak = 5",
            "capacity = 5, refill = 1, on_error = closed, on_unavailable = Err(error)",
            "capacity = 5, refill = 1, on_unavailable = Err(error)",
        ],
    );
}

#[test]
fn rates_of_other_limiters() {
    hold_behind(
        "capacity = 5, refill = ",
        &[
            ("\"5r/s\"", "`5r/s` is written `\"5/s\"` here"),
            ("\"5rpm\"", "`\"5/min\"`"),
            ("\"5 per minute\"", "`\"5/min\"`"),
            ("\"1,000 requests per hour\"", "`\"1000/h\"`"),
            ("\"10 in 60s\"", "`\"10/min\"`"),
            ("\"every 15s\"", "`\"1/15s\"`"),
            ("\"throttle:60,1\"", "`\"60/min\"`"),
            ("\"PT1M\"", "`\"1/min\"`"),
            ("\"15s\"", "`\"1/15s\"` for one permit in that time"),
            ("\"500ms\"", "`\"1/500ms\"` for one permit in that time"),
            ("\"5/PT1M\"", "`\"5/min\"`"),
            ("1e3", "write `\"1000/s\"`"),
            ("rate.Inf", "`rate.Inf` is more than a `refill` can be"),
            ("\"5/m\"", "did you mean `min`?"),
        ],
    );
    compile(
        SEND,
        &["capacity = 5, refill = \"5/minute\"", "capacity = 5, refill = \" 5 / 15 s \""],
    );
}

#[test]
fn durations_of_other_languages() {
    hold_behind(
        "algo = fixed_window, limit = 5, window = ",
        &[
            ("\"PT1M\"", "`PT1M` is written `\"1min\"` here"),
            ("\"minute\"", "`\"1min\"`"),
            ("\"per hour\"", "`\"1h\"`"),
            ("\"every 5 minutes\"", "`\"5min\"`"),
            ("Duration.ofMinutes(1)", "`Duration.ofMinutes(1)` is written `\"1min\"` here"),
            ("Duration::minutes(5)", "`\"5min\"`"),
            ("TimeSpan.FromSeconds(30)", "`\"30s\"`"),
            ("timedelta(hours=2)", "`\"2h\"`"),
            ("1.minute", "`\"1min\"`"),
            ("Duration::ZERO", "`window` is 0"),
            ("Duration::from_secs(0)", "`window` is 0"),
            ("Duration::MAX", "142 years"),
            ("u64::MAX", "142 years"),
            ("TimeUnit.MINUTES", "write `\"1min\"`"),
        ],
    );
    for honest in [
        "Duration::from_secs(60)",
        "Duration::from_mins(1)",
        "1.minutes()",
        "Self::WINDOW",
        "\"1minute\"",
    ] {
        compile(SEND, &[&format!("algo = fixed_window, limit = 5, window = {honest}")]);
    }
}

#[test]
fn counts_of_other_languages() {
    hold_behind(
        "refill = 5, capacity = ",
        &[
            ("5.0", "`capacity` is a whole number: write `5`"),
            ("2.5", "`capacity` is a whole number: write `2` or `3`"),
            ("1e3", "write `1000`"),
            ("\"1000 requests\"", "takes a number without quotes: write `1000`"),
            ("\"1k\"", "write `1000`"),
            ("u64::MAX", "leave the attribute out, or write `mode = off`"),
            ("Integer.MAX_VALUE", "`mode = off`"),
            ("Infinity", "`mode = off`"),
            ("unlimited", "`mode = off`"),
            ("\"unlimited\"", "`mode = off`"),
        ],
    );
    hold(
        SEND,
        &[
            ("capacity = \"5 per minute\"", "write `capacity = 5, refill = \"5/min\"`"),
            ("algo = fixed_window, limit = \"5rpm\"", "write `limit = 5, window = \"1min\"`"),
        ],
    );
    compile(
        "fn send(unlimited: u64) -> Result<(), Error> { Ok(()) }",
        &[
            "capacity = unlimited, refill = 5",
            "capacity = UNLIMITED, refill = 5",
            "capacity = Plan::MAX, refill = 5",
            "capacity = u32::MAX, refill = 5",
        ],
    );
}

#[test]
fn what_the_function_returns_is_no_word() {
    hold_behind(
        "capacity = 5, refill = 1, ",
        &[
            ("on_unavailable = open", "what holds without a store is `on_error = open`"),
            ("on_unavailable = \"fail_closed\"", "`on_error = closed`"),
            ("on_limited = closed", "what holds without a store is `on_error = closed`"),
            ("on_error = fallback(phone)", "`on_unavailable = fallback(phone)`"),
            ("on_error = |error| Err(error)", "`on_unavailable = |error| Err(error)`"),
            ("on_limited = \"fallback(phone)\"", "write `on_limited = fallback(phone)`"),
            ("on_limited = \"slow down\"", "as in `on_limited = Err(..)`"),
            ("on_limited = 429", "does not return `429`"),
        ],
    );
    hold(
        "async fn page() -> impl IntoResponse { \"page\" }",
        &[
            (
                "capacity = 5, refill = 1, on_limited = \"slow down\"",
                "write `(StatusCode::TOO_MANY_REQUESTS, \"slow down\")`",
            ),
            (
                "capacity = 5, refill = 1, on_unavailable = Json(body)",
                "write `(StatusCode::SERVICE_UNAVAILABLE, Json(body))`",
            ),
        ],
    );
    hold(
        "async fn page() -> impl Responder { \"page\" }",
        &[(
            "capacity = 5, refill = 1, on_limited = \"slow down\"",
            "write `HttpResponse::TooManyRequests().body(\"slow down\")`",
        )],
    );
    compile(
        "async fn page() -> impl IntoResponse { \"page\" }",
        &["capacity = 5, refill = 1, on_limited = (StatusCode::TOO_MANY_REQUESTS, \"slow down\")"],
    );
    compile(
        "fn page() -> String { page }",
        &["capacity = 5, refill = 1, on_limited = \"slow down\""],
    );
    compile(
        "fn page(open: u8) -> u8 { page }",
        &[
            "capacity = 5, refill = 1, on_limited = open",
            "capacity = 5, refill = 1, on_limited = 0",
        ],
    );
}

#[test]
fn names_of_other_limiters() {
    hold_behind(
        "capacity = 5, refill = 1, ",
        &[
            ("per = \"ip\"", "`key = \"@ip\"`"),
            ("type = \"ip\"", "`key = \"@ip\"`"),
            ("zone = \"one:10m\"", "the `key` says what is counted apart"),
            ("nodelay", "without `wait`, a call is refused at once"),
            ("delay = 5", "`algo = leaky_bucket, wait = \"2s\"`"),
            ("config = \"sms\"", "by the rule's `name`"),
            ("mitigationTimeout = 60", "nobody is shut out for a time"),
            ("characteristics = [ip]", "`key = \"@ip\"`"),
            ("fail_open = false", "`on_error = closed`"),
        ],
    );
    hold(
        SEND,
        &[
            ("algo = fixed_window, limitForPeriod = 5, window = 60", "did you mean `limit`?"),
            ("algo = fixed_window, limit = 5, limitRefreshPeriod = 60", "did you mean `window`?"),
            ("algo = fixed_window, limit = 5, decayMinutes = 1", "its unit stands in quotes"),
            ("capacity = 5, refillGreedy = 1", "did you mean `refill`?"),
            ("burstLimit = 5, refill = 1", "did you mean `capacity`?"),
        ],
    );
}

/// `window = "2 weeks"` was answered by `7d`, `1y` by `30d`, `"2h15min"` by `"90min"`.
#[test]
fn what_a_message_says_to_write_is_what_was_meant() {
    hold_behind(
        "algo = fixed_window, limit = 5, window = ",
        &[
            ("2w", "write `14d`, in quotes"),
            ("3months", "write `90d`, in quotes"),
            ("\"2 weeks\"", "write `14d`"),
            ("\"2 years\"", "write `730d`"),
            ("\"1.5h\"", "write `\"90min\"`"),
            ("\"2h15min\"", "write `\"135min\"`"),
            ("\"2h 15min 30s\"", "write `\"8130s\"`"),
            ("\"1h30\"", "write `\"90min\"`"),
            ("\"1h5x\"", "write `\"90min\"` for 1h30min"),
            ("\"01:30:00\"", "is written `\"90min\"` here"),
            ("PT1M", "`PT1M` is written `\"1min\"` here"),
        ],
    );
    hold_behind(
        "capacity = 5, refill = ",
        &[
            ("\"300/month\"", "write `30d`"),
            ("300w", "write `300/7d`, in quotes"),
            ("\"0.5/s\"", "write `\"1/2s\"`"),
            ("\"2.5/10min\"", "write `\"5/20min\"`"),
            ("\"5/1h30min\"", "write `\"5/90min\"`"),
            ("10r/m", "is written `\"10/min\"` here"),
        ],
    );
    hold(
        SEND,
        &[
            ("per_hour = 100", "write `refill = \"100/h\"`, or `limit = 100, window = \"1h\"`"),
            ("algo = fixed_window, rate = \"100/h\"", "write `limit = 100, window = \"1h\"`"),
            ("\"100/week\"", "write `capacity = 100, refill = \"100/7d\"`"),
            ("capacity = 5, refill = 10, window = 15", "as in `refill = \"10/15s\"`"),
            ("capacity = 5, refill = \"5/min\", window = 60", "as in `refill = \"5/min\"`"),
            (
                "capacity = 5, refill = user.rate, window = 60",
                "as in `refill = Rate::new(user.rate, Duration::from_micros(60000000))`",
            ),
            ("algo = fixed_window, limit = 5 / 60", "write `limit = 5, window = \"60s\"`"),
            ("algo = fixed_window, limit = 5/min", "write `limit = 5, window = \"1min\"`"),
            ("fixed_window, 5, 60", "write `algo = fixed_window, limit = 5, window = 60`"),
            ("FixedWindow(5, 60)", "write `algo = fixed_window, limit = 5, window = 60`"),
            (
                "fixed_window(limit = 5, window = 60)",
                "write `algo = fixed_window, limit = 5, window = 60`",
            ),
            ("permitLimit = 5, window = 60", "did you mean `limit`?"),
            ("TokenLimit = 5, refill = 60", "did you mean `capacity`?"),
        ],
    );
}

/// `window = user.window_minutes` was in seconds, and `refill = user.per_minute` per second.
#[test]
fn a_name_says_another_unit() {
    hold_behind(
        "algo = fixed_window, limit = 5, window = ",
        &[
            ("user.window_minutes", "looks like minutes: write `Duration::from_mins("),
            ("WINDOW_HOURS", "looks like hours: write `Duration::from_hours(WINDOW_HOURS)`"),
            ("user.days", "looks like days: write `Duration::from_hours(24 * user.days)`"),
            ("user.window_ms as u64", "looks like milliseconds"),
            ("user.window.as_micros()", "looks like microseconds: write `user.window`"),
        ],
    );
    hold_behind(
        "capacity = 5, refill = ",
        &[
            ("user.per_minute", "one per minute: write `Rate::per_minute(user.per_minute)`"),
            ("RPM", "write `Rate::per_minute(RPM)`"),
            ("user.requests_per_hour as u64", "write `Rate::per_hour("),
        ],
    );
    compile(
        SEND,
        &[
            "capacity = 5, refill = { user.per_minute }",
            "algo = fixed_window, limit = 5, window = { user.window_hours }",
            "algo = fixed_window, limit = 5, window = user.window_minutes * 60",
            "algo = fixed_window, limit = 5, window = WINDOW_HOURS * 3600",
            "algo = fixed_window, limit = 5, window = Duration::from_mins(user.window_minutes)",
            "algo = fixed_window, limit = 5, window = 5.std_minutes()",
            "algo = fixed_window, limit = 5, window = user.bonus",
            "capacity = 5, refill = user.per_second",
            "capacity = 5, refill = Rate::per_minute(user.per_minute)",
            "capacity = 20, refill = (user.per_minute + 59) / 60",
            "capacity = 20, refill = user.rate",
        ],
    );
}

/// An argument of that type is what it is, whatever it is called.
#[test]
fn a_declared_type_counts_more_than_a_name() {
    let function = "fn send(hours: Duration, timeout_ms: std::time::Duration, rpm: Rate, n_ms: u64) \
                    -> Result<(), Error> { Ok(()) }";
    compile(
        function,
        &[
            "algo = fixed_window, limit = 5, window = hours",
            "algo = fixed_window, limit = 5, window = timeout_ms",
            "capacity = 5, refill = rpm",
        ],
    );
    hold(
        function,
        &[
            ("algo = fixed_window, limit = 5, window = n_ms", "looks like milliseconds"),
            ("capacity = 5, refill = n_ms / 60", "drops its rest"),
        ],
    );
}

/// `cost = 2 * 11` of a capacity of 20 was refused at every call.
#[test]
fn written_arithmetic_has_the_limits_of_a_number() {
    hold(
        SEND,
        &[
            ("capacity = 20, refill = 5, cost = 2 * 11", "a cost of 22 is more than"),
            ("capacity = 2 * 10, refill = 5, cost = 21", "a cost of 21 is more than"),
            (
                "algo = sliding_counter, limit = 5, window = 60, sub_windows = 20 * 10",
                "`sub_windows` can be 1 to 100",
            ),
            ("algo = sliding_log, limit = 2 * 1_000_000, window = 60", "1000000 at most"),
        ],
    );
    compile(
        SEND,
        &[
            "capacity = 2 * 10, refill = 5, cost = 2 * 10",
            "algo = sliding_counter, limit = 5, window = 60, sub_windows = 60 / 10",
        ],
    );
}
