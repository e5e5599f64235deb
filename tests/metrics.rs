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

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use ratelimit_kit::{
    Algorithm, Check, Context, Limiter, Mode, OnError, Rate, RateLimitError, Rule, rate_limit,
};
use test_support::{Flavor, Link, Node, Reply, Server, Stub};

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
    let refused = numbers.sum("ratelimit_calls_total", "outcome=refused");
    for _ in 0..10 {
        let _ = limiter.check_all_blocking(&[Check::new(&burst, "k"), Check::new(&long, "k")]);
    }
    numbers.is("ratelimit_calls_total{outcome=admitted}", calls + 2.0);
    numbers.is("ratelimit_calls_total{outcome=refused}", refused + 8.0);
    for of in ["rule=burst", "rule=long"] {
        assert!((numbers.sum("ratelimit_checks_total", of) - 10.0).abs() < 0.5, "{of}");
    }
    // To look is no call.
    let context = Context::builder().build();
    let looked = context.clone().scope(async { limiter.peek(&Check::new(&long, "k")).await });
    assert!(pollster::block_on(looked).unwrap().allowed());
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
    numbers.is("ratelimit_mistakes_total{kind=negative_cost}", 1.0);
    numbers.is("ratelimit_mistakes_total{kind=config}", 3.0);

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
    numbers.is("ratelimit_mistakes_total{kind=config}", 1.0);
    numbers.is("ratelimit_calls_total{outcome=invalid}", 1.0);
    link.send("counted");
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
    numbers.is("ratelimit_checks_total{rule=one,outcome=refused}", 1.0);
    numbers.is("ratelimit_checks_total{rule=watched,outcome=admitted}", 1.0);
    numbers.is("ratelimit_checks_total{rule=watched,outcome=shadowed}", 1.0);
    numbers.is("ratelimit_mistakes_total{kind=empty_key}", 1.0);
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

    assert_eq!(numbers.undescribed, BTreeSet::new());
    let all = format!("{:?}", numbers.look());
    assert!(!all.contains("s3cret"), "{all}");
}
