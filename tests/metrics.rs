//! The numbers, as a recorder gets them. A process has one recorder, so this is a binary of its own,
//! with one test in it; another one has a process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use ratelimit_kit::{
    Algorithm, Check, Limiter, Mode, OnError, Rate, RateLimitError, RateLimitLayer, RequestContext,
    Rule, rate_limit,
};
use test_support::{Flavor, Link, Log, Node, Reply, Server, Stub};
use tower::ServiceExt as _;

const HOUR: Duration = Duration::from_hours(1);

/// All numbers so far: `name{label=value,..}` and the value, or of a histogram how many it has.
/// Each look adds what is new since the one before.
struct Numbers {
    snapshotter: Snapshotter,
    seen: BTreeMap<String, f64>,
    /// What has no unit or no description.
    undescribed: BTreeSet<String>,
}

impl Numbers {
    fn install() -> Self {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        recorder.install().unwrap();
        Self { snapshotter, seen: BTreeMap::new(), undescribed: BTreeSet::new() }
    }

    fn look(&mut self) -> &BTreeMap<String, f64> {
        for (key, unit, description, value) in self.snapshotter.snapshot().into_vec() {
            let key = key.key();
            if unit.is_none() || description.is_none_or(|text| text.is_empty()) {
                self.undescribed.insert(key.name().to_owned());
            }
            let labels: Vec<String> =
                key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
            let name = format!("{}{{{}}}", key.name(), labels.join(","));
            let before = self.seen.entry(name).or_default();
            match value {
                // A look takes away what it shows.
                DebugValue::Counter(value) => *before += f64::from(u32::try_from(value).unwrap()),
                DebugValue::Gauge(value) => *before += *value,
                DebugValue::Histogram(values) => {
                    assert!(values.iter().all(|seconds| (0.0..10.0).contains(&**seconds)));
                    *before += f64::from(u32::try_from(values.len()).unwrap());
                }
            }
        }
        &self.seen
    }

    /// The sum of all that have a name and a label.
    fn sum(&mut self, name: &str, label: &str) -> f64 {
        let has = |of: &str| {
            of.split_once('{').is_some_and(|(of, labels)| {
                of == name && labels.trim_end_matches('}').split(',').any(|of| of == label)
            })
        };
        self.look().iter().filter(|(of, _)| has(of)).map(|(_, value)| value).sum()
    }

    /// All values of a label, whatever has it.
    fn values(&mut self, label: &str) -> BTreeSet<String> {
        let labels = self.look().keys().flat_map(|name| name.split(['{', ',', '}']));
        let values = labels.filter_map(|of| of.strip_prefix(label)?.strip_prefix('='));
        values.map(str::to_owned).collect()
    }

    #[track_caller]
    fn is(&mut self, name: &str, value: f64) {
        let seen = self.look();
        let is = seen.get(name).copied().unwrap_or_default();
        assert!((is - value).abs() < 0.5, "{name} is {is}, not {value}, in {seen:#?}");
    }

    /// For what another thread tells.
    #[track_caller]
    fn becomes(&mut self, name: &str, value: f64) {
        let end = Instant::now() + Duration::from_secs(20);
        while Instant::now() < end {
            let is = self.look().get(name).copied().unwrap_or_default();
            if (is - value).abs() < 0.5 {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.is(name, value);
    }
}

fn rule(name: &str, limit: u64) -> Rule {
    Rule::named(Arc::<str>::from(name), Algorithm::FixedWindow { limit, window: HOUR })
}

#[rate_limit(name = "negative-cost", algo = fixed_window, limit = 9, window = 60, cost = negative(limiter), limiter = limiter)]
fn negative_cost(limiter: &Limiter) -> Result<(), RateLimitError> {
    Ok(())
}

fn negative(_: &Limiter) -> i64 {
    -1
}

#[rate_limit(name = "negative-limit", algo = fixed_window, limit = negative(limiter), window = 60, limiter = limiter)]
fn negative_limit(limiter: &Limiter) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "clash", algo = fixed_window, limit = 9, window = 60, limiter = limiter)]
fn clash_one(limiter: &Limiter) -> Result<(), RateLimitError> {
    Ok(())
}

#[rate_limit(name = "clash", algo = fixed_window, limit = 8, window = 60, limiter = limiter)]
fn clash_other(limiter: &Limiter) -> Result<(), RateLimitError> {
    Ok(())
}

fn calls_rules_and_limits(numbers: &mut Numbers) {
    // Calls and rules are counted apart, and both add up.
    let limiter = Limiter::builder().build().unwrap();
    let (burst, long) = (rule("burst", 2), rule("long", 5));
    let calls = numbers.sum("ratelimit_calls_total", "outcome=admitted");
    let refused = numbers.sum("ratelimit_calls_total", "outcome=limited");
    for _ in 0..10 {
        let _ = limiter.check_all_blocking(&[Check::new(&burst, "k"), Check::new(&long, "k")]);
    }
    numbers.is("ratelimit_calls_total{outcome=admitted}", calls + 2.0);
    numbers.is("ratelimit_calls_total{outcome=limited}", refused + 8.0);
    for of in ["rule=burst", "rule=long"] {
        assert!((numbers.sum("ratelimit_checks_total", of) - 10.0).abs() < 0.5, "{of}");
    }
    // To look is no call.
    let context = RequestContext::builder().build();
    let looked = context.clone().scope(async { limiter.peek(&Check::new(&long, "k")).await });
    assert!(pollster::block_on(looked).unwrap().is_admitted());
    numbers.is("ratelimit_calls_total{outcome=admitted}", calls + 2.0);
    assert!((numbers.sum("ratelimit_checks_total", "rule=long") - 10.0).abs() < 0.5);

    // All that is wrong with calls is counted.
    let invalid = numbers.sum("ratelimit_calls_total", "outcome=invalid");
    assert!(negative_cost(&limiter).is_err() && negative_limit(&limiter).is_err());
    assert!(clash_one(&limiter).is_ok() && clash_other(&limiter).is_err());
    let impossible =
        Rule::new("impossible", Algorithm::FixedWindow { limit: 1, window: Duration::ZERO });
    assert!(limiter.check_blocking(&Check::new(&impossible, "k")).is_err());
    numbers.is("ratelimit_calls_total{outcome=invalid}", invalid + 4.0);
    numbers.is("ratelimit_invalid_calls_total{kind=negative_cost}", 1.0);
    numbers.is("ratelimit_invalid_calls_total{kind=config}", 3.0);

    // Limits are gauges, and those of single calls are not.
    numbers.is("ratelimit_limit{rule=burst}", 2.0);
    numbers.is("ratelimit_limit{rule=long}", 5.0);
    numbers.is("ratelimit_limit{rule=early}", 3.0);
    assert!(!numbers.look().contains_key("ratelimit_limit{rule=negative-limit}"));
    let bucket =
        Rule::new("bucket", Algorithm::TokenBucket { capacity: 10, refill: Rate::per_minute(300) });
    assert!(limiter.check_blocking(&Check::new(&bucket, "k")).is_ok());
    numbers.is("ratelimit_limit{rule=bucket}", 10.0);
    numbers.is("ratelimit_limit_per_second{rule=bucket}", 5.0);
}

/// What a layer leaves out is not counted.
fn b143(numbers: &mut Numbers) {
    let layer = RateLimitLayer::new().limiter(Limiter::builder().build().unwrap());
    let rule = Rule::new("b143", Algorithm::FixedWindow { limit: 5, window: HOUR });
    let layer = layer.limit(rule, |_| "all".into()).skip_paths(["/health"]);
    let app = Router::new().fallback(async || "served").layer(layer);
    let get = |path: &str, times: u8| {
        for _ in 0..times {
            let request = Request::get(path).body(Body::empty()).unwrap();
            pollster::block_on(app.clone().oneshot(request)).unwrap();
        }
    };
    let name = "ratelimit_checks_total";
    get("/health", 20);
    assert!(numbers.sum(name, "rule=b143") < 0.5);
    get("/", 8);
    get("/%68ealth", 20);
    assert!((numbers.sum(name, "rule=b143") - 8.0).abs() < 0.5);
}

/// Neither what a server says nor names that come and go are labels.
fn b104(numbers: &mut Numbers) {
    let said = Arc::new(AtomicUsize::new(0));
    let stub = Stub::start(move |words| match words[0].as_slice() {
        b"EVALSHA" | b"EVAL" => {
            Reply::error(&format!("ERR{} no", said.fetch_add(1, Ordering::Relaxed)))
        }
        _ => Reply::Usual,
    });
    let limiter = Limiter::builder().redis(stub.url()).on_error(OnError::Open).build().unwrap();
    assert!(limiter.ready_blocking().is_err());
    let open = rule("open", 100);
    for _ in 0..1_000 {
        assert!(limiter.check_blocking(&Check::new(&open, "k")).is_ok());
    }
    let kinds: BTreeSet<_> =
        ["kind", "cause"].into_iter().flat_map(|label| numbers.values(label)).collect();
    assert!(kinds.len() <= 16 && kinds.iter().all(|kind| !kind.contains("ERR")), "{kinds:?}");

    let names = |numbers: &mut Numbers| numbers.values("rule");
    let before = names(numbers);
    let limiter = Limiter::builder().build().unwrap();
    let mut alive = VecDeque::new();
    for n in 0..1_000 {
        if alive.len() == 10 {
            alive.pop_front();
        }
        let name = format!("run {}", n * 7_919);
        alive.push_back(rule(&name, 5));
        for rule in &alive {
            let _ = limiter.check_blocking(&Check::new(rule, "k"));
        }
    }
    let new: BTreeSet<_> = names(numbers).difference(&before).cloned().collect();
    assert!(new.len() <= 11 && new.contains("other"), "{new:?}");
    assert!(numbers.sum("ratelimit_checks_total", "rule=other") > 9_000.0);
}

#[rate_limit(name = "not-set-up", algo = fixed_window, limit = 9, window = 60)]
fn not_set_up() -> Result<(), RateLimitError> {
    Ok(())
}

#[test]
fn a_call_is_counted_when_no_limiter_can_be_set_up() {
    let Some(mut link) = Link::attach() else {
        let mut node = Node::builder("a_call_is_counted_when_no_limiter_can_be_set_up")
            .env("RATELIMIT_REDIS_URL", "no URL")
            .start();
        assert_eq!(node.recv(), "counted");
        return;
    };
    let mut numbers = Numbers::install();
    assert!(not_set_up().is_err());
    numbers.is("ratelimit_invalid_calls_total{kind=config}", 1.0);
    numbers.is("ratelimit_calls_total{outcome=invalid}", 1.0);
    link.send("counted");
}

/// Calls of two rules by so many phones and a tenth as many addresses: admitted and refused ones, some
/// without a store, and some with an empty key. How many there were.
fn calls_of_many(keys: u32) -> u32 {
    let (phones, addresses) = (rule("phones", 1), rule("addresses", 2));
    let embedded = Limiter::builder().build().unwrap();
    // Nobody listens there.
    let alone = Limiter::builder().redis("redis://127.0.0.1:1").build().unwrap();
    let mut calls = 0;
    let mut call = |limiter: &Limiter, rule: &Rule, key: &str| {
        calls += 1;
        limiter.check_blocking(&Check::new(rule, key)).is_ok()
    };
    for n in 0..keys {
        let (phone, address) =
            (format!("s3cret{n}"), format!("203.0.{}.{}", n / 10 % 256, n / 2_560));
        assert!(call(&embedded, &phones, &phone) && !call(&embedded, &phones, &phone));
        call(&embedded, &addresses, &address);
        call(&alone, &phones, &phone);
        assert!(!call(&embedded, &addresses, ""));
    }
    calls
}

#[test]
fn b103_no_user_data_in_metric_labels() {
    let Some(mut link) = Link::attach() else {
        assert_eq!(Node::start("b103_no_user_data_in_metric_labels").recv(), "as it should be");
        return;
    };
    let mut numbers = Numbers::install();
    let mut calls = calls_of_many(10);
    let few: BTreeSet<String> = numbers.look().keys().cloned().collect();
    calls += calls_of_many(10_000);
    let many: BTreeSet<String> = numbers.look().keys().cloned().collect();
    assert_eq!(few, many);
    assert!(many.len() <= 100, "{many:#?}");

    let all = ["admitted", "limited", "unavailable", "invalid"];
    let sum: f64 = all
        .map(|of| numbers.sum("ratelimit_calls_total", &format!("outcome={of}")))
        .into_iter()
        .sum();
    assert!((sum - f64::from(calls)).abs() < 0.5, "{sum} calls of {calls}");
    labels_are_rules_and_short_lists(&mut numbers, &["phones", "addresses"]);
    link.send("as it should be");
}

/// Whatever has happened: what is no rule is a word of a short list, which somebody has written.
fn labels_are_rules_and_short_lists(numbers: &mut Numbers, rules: &[&str]) {
    let mut lists = BTreeMap::<String, BTreeSet<String>>::new();
    for name in numbers.look().keys() {
        let labels = name.split_once('{').unwrap().1.trim_end_matches('}');
        for (label, value) in labels.split(',').filter_map(|label| label.split_once('=')) {
            lists.entry(label.to_owned()).or_default().insert(value.to_owned());
        }
    }
    let known = lists.remove("rule").unwrap_or_default();
    assert!(known.iter().all(|rule| rules.contains(&rule.as_str())), "{known:?}");
    for (label, values) in lists {
        let is_word = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(is_word(&label) && values.len() <= 16, "{label}: {values:?}");
        assert!(values.iter().all(|value| is_word(value)), "{label}: {values:?}");
    }
}

/// Whatever happens to a call, its key is in no line of the log, down to the last level, and in no label.
#[test]
fn no_key_is_ever_in_a_log_or_a_metric_label() {
    const TEST: &str = "no_key_is_ever_in_a_log_or_a_metric_label";
    let Some(mut link) = Link::attach() else {
        assert_eq!(Node::start(TEST).recv(), "as it should be");
        return;
    };
    let log = Log::start();
    let mut numbers = Numbers::install();
    let rules = [OnError::Local, OnError::Open, OnError::Closed]
        .map(|policy| rule("secretive", 2).with_on_error(policy));
    let shadow = rule("secretive-shadow", 1).with_mode(Mode::Shadow);
    let use_all = |limiter: &Limiter| {
        for key in ["s3cret", "s3cret:13800000000", "s3cret-\u{1b}[31m\n"] {
            for rule in rules.iter().chain([&shadow]) {
                let check = Check::new(rule, key);
                for _ in 0..4 {
                    let _ = limiter.check_blocking(&check);
                }
                let _ = limiter.check_blocking(&Check::new(rule, key).with_cost(1_000));
                let _ = limiter.check_all_blocking(&[check.clone(), Check::new(&shadow, key)]);
                let _ = pollster::block_on(limiter.peek(&check));
                let _ = pollster::block_on(limiter.reset(&check));
                let _ = limiter.check_blocking(&check);
            }
        }
    };

    // In process, with room for all and without.
    use_all(&Limiter::builder().build().unwrap());
    use_all(&Limiter::builder().max_keys(2).build().unwrap());
    // On Redis, whose state somebody else has written over, and which goes away.
    let mut server = Server::start(Flavor::Installed);
    let limiter = Limiter::builder().redis(server.url()).build().unwrap();
    limiter.ready_blocking().unwrap();
    use_all(&limiter);
    let keys: Vec<String> = server.command(&["KEYS", "*s3cret*"]);
    assert!(!keys.is_empty());
    for key in &keys {
        let _: () = server.command(&["SET", key, "no state of ours"]);
    }
    use_all(&limiter);
    let _: () = server.command(&["SCRIPT", "FLUSH"]);
    use_all(&limiter);
    server.kill();
    use_all(&limiter);
    // On a server that answers nonsense.
    let stub = Stub::start(|words| match words[0].as_slice() {
        b"EVALSHA" | b"EVAL" => Reply::bulk("nonsense"),
        _ => Reply::Usual,
    });
    let limiter = Limiter::builder().redis(stub.url()).build().unwrap();
    let _ = limiter.ready_blocking();
    use_all(&limiter);
    drop(limiter);

    let text = log.text();
    // The log and the labels are about these calls, and name the rule.
    assert!(text.contains("secretive"), "{text}");
    assert!(numbers.sum("ratelimit_checks_total", "rule=secretive") > 100.0);
    for secret in ["s3cret", "13800000000", "[31m"] {
        let lines: Vec<&str> = text.lines().filter(|line| line.contains(secret)).collect();
        assert!(lines.is_empty(), "{lines:#?}");
        let labels: Vec<_> = numbers.look().keys().filter(|key| key.contains(secret)).collect();
        assert!(labels.is_empty(), "{labels:?}");
    }
    link.send("as it should be");
}

/// Half as long as the spec has it. The deadline is one that no machine misses: who leaves does so on his
/// own.
#[test]
fn b128_callers_who_leave_are_no_errors_of_the_store() {
    const TEST: &str = "b128_callers_who_leave_are_no_errors_of_the_store";
    let Some(mut link) = Link::attach() else {
        assert_eq!(Node::start(TEST).recv(), "as it should be");
        return;
    };
    let mut numbers = Numbers::install();
    let server = Server::start(Flavor::Installed);
    let proxy = test_support::Proxy::to(server.port());
    proxy.replies().delay(Duration::from_millis(3));
    let limiter = Limiter::builder().redis(proxy.url()).on_error(OnError::Closed);
    let limiter = limiter.deadline(Duration::from_secs(30)).build().unwrap();
    limiter.ready_blocking().unwrap();
    let rule = Arc::new(rule("hurried", 1_000_000));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
    let end = Instant::now() + Duration::from_secs(4);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (limiter, rule) = (limiter.clone(), rule.clone());
            runtime.spawn(async move {
                let mut left = 0;
                while Instant::now() < end {
                    let check = Check::new(&rule, "s3cret");
                    let patience = Duration::from_millis(1);
                    left += u32::from(
                        tokio::time::timeout(patience, limiter.check(&check)).await.is_err(),
                    );
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                left
            })
        })
        .collect();
    while Instant::now() < end {
        assert!(limiter.check_blocking(&Check::new(&rule, "patient")).is_ok());
        thread::sleep(Duration::from_millis(50));
    }
    let left: u32 = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).sum();
    assert!(left > 100, "{left} callers have left");
    let of_errors = |name: &&String| {
        name.starts_with("ratelimit_store_errors_total") || name.starts_with("ratelimit_degraded")
    };
    let seen = numbers.look();
    let errors: Vec<_> = seen.keys().filter(of_errors).filter(|name| seen[*name] > 0.5).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(proxy.connections().len(), 1);
    link.send("as it should be");
}

#[test]
fn a_recorder_sees_what_limiters_do() {
    // There before the recorder is.
    let early = Limiter::builder().max_keys(7).build().unwrap();
    let early_rule = rule("early", 3);
    assert!(early.check_blocking(&Check::new(&early_rule, "s3cret")).is_ok());
    let mut numbers = Numbers::install();

    // In process.
    let limiter = Limiter::builder().max_keys(2).build().unwrap();
    let (one, watched) = (rule("one", 1), rule("watched", 1).with_mode(Mode::Shadow));
    let hit = |rule: &Rule, key: &str| limiter.check_blocking(&Check::new(rule, key));
    assert!(hit(&one, "s3cret").is_ok() && hit(&one, "s3cret").is_err());
    assert!(hit(&watched, "s3cret").is_ok() && hit(&watched, "s3cret").is_ok());
    assert!(hit(&one, "").is_err());
    numbers.is("ratelimit_checks_total{rule=one,outcome=admitted}", 1.0);
    numbers.is("ratelimit_checks_total{rule=one,outcome=limited}", 1.0);
    numbers.is("ratelimit_checks_total{rule=watched,outcome=admitted}", 1.0);
    numbers.is("ratelimit_checks_total{rule=watched,outcome=shadowed}", 1.0);
    numbers.is("ratelimit_invalid_calls_total{kind=empty_key}", 1.0);
    numbers.is("ratelimit_embedded_entries{}", 3.0);
    numbers.is("ratelimit_embedded_max_entries{}", 9.0);
    assert!(hit(&one, "other").is_ok());
    numbers.is("ratelimit_embedded_overflow_total{rule=one}", 1.0);
    numbers.is("ratelimit_embedded_overflow_budgets{}", 1.0);
    drop(limiter);
    numbers.is("ratelimit_embedded_entries{}", 1.0);

    numbers.is("ratelimit_embedded_overflow_budgets{}", 0.0);
    drop(early);
    numbers.is("ratelimit_embedded_max_entries{}", 0.0);

    calls_rules_and_limits(&mut numbers);

    // In Redis, which goes away and comes back.
    let mut server = Server::start(Flavor::Installed);
    let limiter = Limiter::builder().redis(server.url()).build().unwrap();
    let shared = rule("shared", 100);
    let closed = rule("closed", 100).with_on_error(OnError::Closed);
    let open = rule("open", 100).with_on_error(OnError::Open);
    let hit = |rule: &Rule| limiter.check_blocking(&Check::new(rule, "s3cret"));
    while hit(&shared).unwrap().degraded().is_some() {}
    numbers.becomes("ratelimit_connections{}", 1.0);
    numbers.becomes("ratelimit_breakers_open{}", 0.0);
    numbers.is("ratelimit_in_flight{}", 0.0);
    assert!(numbers.look()["ratelimit_store_seconds{}"] > 0.5);

    server.kill();
    numbers.becomes("ratelimit_connections{}", 0.0);
    numbers.becomes("ratelimit_breakers_open{}", 1.0);
    let before = numbers.look().clone();
    let so_far = |name: &str| before.get(name).copied().unwrap_or_default();
    let [local, unavailable, unasked, errors] = [
        "ratelimit_degraded_total{rule=shared,policy=local,cause=connection}",
        "ratelimit_degraded_total{rule=closed,policy=closed,cause=connection}",
        "ratelimit_degraded_total{rule=open,policy=open,cause=connection}",
        "ratelimit_store_errors_total{kind=connection}",
    ];
    let calls = ["local", "closed", "open"].map(|policy| {
        format!("ratelimit_degraded_calls_total{{policy={policy},cause=connection}}")
    });
    let both = [Check::new(&open, "s3cret"), Check::new(&shared, "s3cret")];
    assert!(hit(&shared).is_ok() && hit(&closed).is_err() && hit(&open).is_ok());
    for call in &calls {
        numbers.is(call, so_far(call) + 1.0);
    }
    for of in ["admitted", "unavailable"] {
        let name = format!("ratelimit_calls_total{{outcome={of}}}");
        numbers.is(&name, so_far(&name) + if of == "admitted" { 2.0 } else { 1.0 });
    }
    let undecided = [
        "ratelimit_checks_total{rule=closed,outcome=undecided}",
        "ratelimit_checks_total{rule=open,outcome=undecided}",
    ];
    for of in undecided {
        numbers.is(of, so_far(of) + 1.0);
    }
    numbers.is(local, so_far(local) + 1.0);
    numbers.is(unavailable, so_far(unavailable) + 1.0);
    numbers.is(unasked, so_far(unasked) + 1.0);
    numbers.is(errors, so_far(errors) + 3.0);
    // Two rules are one call.
    assert!(limiter.check_all_blocking(&both).is_ok());
    numbers.is(local, so_far(local) + 2.0);
    numbers.is(&calls[0], so_far(&calls[0]) + 2.0);

    server.start_again();
    numbers.becomes("ratelimit_connections{}", 1.0);
    numbers.becomes("ratelimit_breakers_open{}", 0.0);
    assert!(numbers.look()["ratelimit_connection_attempts_total{}"] > 1.5);
    assert_eq!(hit(&shared).unwrap().degraded(), None);
    drop(limiter);
    numbers.becomes("ratelimit_connections{}", 0.0);

    b104(&mut numbers);
    b143(&mut numbers);

    assert_eq!(numbers.undescribed, BTreeSet::new());
    let all = format!("{:?}", numbers.look());
    assert!(!all.contains("s3cret"), "{all}");
}
