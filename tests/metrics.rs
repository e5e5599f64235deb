//! The numbers, as a recorder gets them. A process has one recorder, so this is a binary of its own,
//! with one test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is a failed test")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use ratelimit_kit::{Algorithm, Check, Limiter, Mode, OnError, Rule};
use test_support::{Flavor, Server};

const HOUR: Duration = Duration::from_hours(1);

/// All numbers so far: `name{label=value,..}` and the value, or of a histogram how many it has.
/// Each look adds what is new since the one before.
struct Numbers {
    snapshotter: Snapshotter,
    seen: BTreeMap<String, f64>,
}

impl Numbers {
    fn look(&mut self) -> &BTreeMap<String, f64> {
        for (key, _, _, value) in self.snapshotter.snapshot().into_vec() {
            let key = key.key();
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

#[test]
fn a_recorder_sees_what_limiters_do() {
    let recorder = DebuggingRecorder::new();
    let mut numbers = Numbers { snapshotter: recorder.snapshotter(), seen: BTreeMap::new() };
    recorder.install().unwrap();

    // In process.
    let limiter = Limiter::builder().max_keys(2).build().unwrap();
    let (one, watched) = (rule("one", 1), rule("watched", 1).mode(Mode::Shadow));
    let hit = |rule: &Rule, key: &str| limiter.check_blocking(&Check::new(rule, key));
    assert!(hit(&one, "s3cret").is_ok() && hit(&one, "s3cret").is_err());
    assert!(hit(&watched, "s3cret").is_ok() && hit(&watched, "s3cret").is_ok());
    assert!(hit(&one, "").is_err());
    numbers.is("ratelimit_checks_total{rule=one,outcome=admitted}", 1.0);
    numbers.is("ratelimit_checks_total{rule=one,outcome=refused}", 1.0);
    numbers.is("ratelimit_checks_total{rule=watched,outcome=admitted}", 1.0);
    numbers.is("ratelimit_checks_total{rule=watched,outcome=shadowed}", 1.0);
    numbers.is("ratelimit_mistakes_total{kind=empty_key}", 1.0);
    numbers.is("ratelimit_embedded_entries{}", 2.0);
    assert!(hit(&one, "other").is_ok());
    numbers.is("ratelimit_embedded_overflow_total{rule=one}", 1.0);
    drop(limiter);
    numbers.is("ratelimit_embedded_entries{}", 0.0);

    // In Redis, which goes away and comes back.
    let mut server = Server::start(Flavor::Installed);
    let limiter = Limiter::builder().redis(server.url()).build().unwrap();
    let shared = rule("shared", 100);
    let closed = rule("closed", 100).on_error(OnError::Closed);
    let open = rule("open", 100).on_error(OnError::Open);
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
    assert!(hit(&shared).is_ok() && hit(&closed).is_err() && hit(&open).is_ok());
    numbers.is(local, so_far(local) + 1.0);
    numbers.is(unavailable, so_far(unavailable) + 1.0);
    numbers.is(unasked, so_far(unasked) + 1.0);
    numbers.is(errors, so_far(errors) + 3.0);

    server.start_again();
    numbers.becomes("ratelimit_connections{}", 1.0);
    numbers.becomes("ratelimit_breakers_open{}", 0.0);
    assert!(numbers.look()["ratelimit_connection_attempts_total{}"] > 1.5);
    assert_eq!(hit(&shared).unwrap().degraded(), None);
    drop(limiter);
    numbers.becomes("ratelimit_connections{}", 0.0);
    let all = format!("{:?}", numbers.look());
    assert!(!all.contains("s3cret"), "{all}");
}
