//! What becomes of keys for which there is no place. How full a store gets when ever new keys come is
//! in `tests/semantics/churn.rs`.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::clock::ManualClock;
use crate::decision::{Outcome, RateLimitError};
use crate::limiter::Limiter;
use crate::rule::{Algorithm, Mode, Rate, Rule};
use crate::telemetry::lines;

const DAY: Duration = Duration::from_hours(24);

/// A limiter over a store that can be looked into, and its clock.
struct Stage {
    limiter: Limiter,
    store: Arc<Embedded>,
    clock: ManualClock,
}

/// A store that somebody else holds as well.
#[derive(Debug)]
struct Held(Arc<Embedded>);

impl Store for Held {
    fn decide_now(&self, checks: &[Check<'_>]) -> Option<Result<Answers, StoreError>> {
        self.0.decide_now(checks)
    }
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        self.0.decide(checks)
    }
    fn peek<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        self.0.peek(checks)
    }
    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.0.reset(check)
    }
}

impl Stage {
    fn new(max_keys: usize) -> Self {
        let clock = ManualClock::new();
        clock.set(DAY * 20_000);
        let store =
            Embedded::new().with_max_keys(max_keys).with_clock(Clock::Manual(clock.clone()));
        let store = Arc::new(store);
        let limiter = Limiter::builder().store(Held(store.clone())).build().unwrap();
        Self { limiter, store, clock }
    }

    fn outcome(&self, check: &Check<'_>) -> Outcome {
        let [outcome] = self.outcomes(std::slice::from_ref(check)).try_into().unwrap();
        outcome
    }

    fn outcomes(&self, checks: &[Check<'_>]) -> Vec<Outcome> {
        let decision = match self.limiter.check_all_blocking(checks) {
            Ok(decision) => decision,
            Err(RateLimitError::Limited(refusal)) => refusal.decision().clone(),
            Err(other) => panic!("{other}"),
        };
        decision.outcomes().to_vec()
    }

    fn admits(&self, rule: &Rule, key: impl std::fmt::Display) -> bool {
        self.outcome(&Check::new(rule, format!("{key}"))).is_admitted()
    }

    /// How many of as many calls are admitted.
    fn hits(&self, rule: &Rule, key: &str, calls: usize) -> usize {
        (0..calls).filter(|_| self.admits(rule, key)).count()
    }

    fn reset(&self, rule: &Rule, key: &str) {
        pollster::block_on(self.limiter.reset(&Check::new(rule, key))).unwrap();
    }

    fn pass(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }
}

fn windows(name: &str, limit: u64, window: Duration) -> Rule {
    Rule::named(name, Algorithm::FixedWindow { limit, window })
}

/// Rules of which a key has 5 at once, and is in its initial state after 5 s.
fn fives() -> [Rule; 6] {
    let (limit, window) = (5, Duration::from_secs(5));
    let rate = Rate::per_second(1);
    [
        Algorithm::TokenBucket { capacity: limit, refill: rate },
        Algorithm::LeakyBucket { capacity: limit, leak: rate },
        Algorithm::FixedWindow { limit, window },
        Algorithm::SlidingLog { limit, window },
        Algorithm::SlidingCounter { limit, window, sub_windows: 1 },
        Algorithm::SlidingCounter { limit, window, sub_windows: 10 },
    ]
    .map(|algorithm| Rule::named(format!("{algorithm:?}"), algorithm))
}

/// One address sends as many devices as the store has keys; others log in after that.
#[test]
fn keys_of_one_rule_do_not_take_the_places_of_all_others() {
    for mode in [Mode::Enforce, Mode::Shadow] {
        let stage = Stage::new(100_000);
        let search = windows("search", 1_000, DAY).with_mode(mode);
        let login = windows("login", 5, DAY);
        for device in 0..100_000 {
            stage.admits(&search, device);
        }
        assert_eq!(stage.store.len(), 75_000);
        let refused = (0..200).filter(|address| !stage.admits(&login, address)).count();
        assert_eq!(refused, 0, "{mode:?}");
        // Each with a budget of its own.
        assert_eq!((stage.hits(&login, "0", 9), stage.hits(&login, "199", 9)), (4, 4));
    }
}

/// The same when many rules are flooded, one after the other.
#[test]
fn however_many_rules_are_flooded_the_next_one_has_places() {
    for floods in [8, 10] {
        let stage = Stage::new(100_000);
        for rule in 0..floods {
            let rule = windows(&format!("search {rule}"), 1_000, DAY);
            // Until it has no place for some time.
            let mut device = 0;
            let mut held = stage.store.len();
            while device % 1_000 > 0 || device == 0 || stage.store.len() > held {
                held = if device % 1_000 == 0 { stage.store.len() } else { held };
                stage.admits(&rule, device);
                device += 1;
            }
        }
        let login = windows("login", 5, DAY);
        let refused = (0..200).filter(|address| !stage.admits(&login, address)).count();
        assert_eq!(refused, 0, "after {floods}");
        assert_eq!((stage.hits(&login, "0", 9), stage.hits(&login, "199", 9)), (4, 4));
        assert!(stage.store.len() <= 100_000);
    }
}

/// The same where both rules are decided in one call, as those of a layer and of a handler are.
#[test]
fn lists_leave_places_to_other_rules_too() {
    let stage = Stage::new(1_000);
    let (search, all) = (windows("search", 1_000, DAY), windows("all", 1_000_000, DAY));
    for device in 0..2_000 {
        let checks = [Check::new(&all, "one"), Check::new(&search, device)];
        stage.outcomes(&checks);
    }
    let login = windows("login", 5, DAY);
    let refused = (0..100).filter(|address| !stage.admits(&login, address)).count();
    assert_eq!((refused, stage.store.len()), (0, 1 + 750 + 100));
    assert!(stage.admits(&all, "one"));
}

#[test]
fn a_rule_without_places_is_logged_once_a_minute() {
    let stage = Stage::new(8);
    let search = windows("search", 5, DAY);
    let lines = lines::during(|| {
        for device in 0..100 {
            stage.admits(&search, device);
        }
        stage.pass(60_000);
        stage.admits(&search, "other");
    });
    let lines: Vec<_> = lines.iter().filter(|line| line.contains("has no place")).collect();
    let [first, second] = &*lines else { panic!("{lines:?}") };
    for field in ["WARN", "rule=\"search\"", "rule_keys=6", "keys=6", "max_keys=8", "overflowed=1 "]
    {
        assert!(first.contains(field), "{field}: {first}");
    }
    assert!(second.contains("overflowed=94 "), "{second}");
}

/// Calls without a place look for one that has fallen free, and stay cheap.
#[test]
fn a_full_store_is_swept_once_a_second_at_most() {
    const SECONDS: u32 = 5;
    let stage = Stage::new(1_000);
    let rule = windows("search", 1_000, Duration::from_secs(1));
    let long = windows("long", 1_000, DAY);
    for key in 0..1_000 {
        stage.admits(&long, key);
    }
    for call in 0..SECONDS * 1_000 {
        // All of its keys are gone after a second, and new ones come with each call.
        stage.admits(&rule, call);
        stage.pass(1);
    }
    let sweeps: u32 = stage.store.shards.iter().map(|shard| shard.lock().sweeps).sum();
    let most = (SECONDS + 1) * u32::try_from(stage.store.shards.len()).unwrap();
    assert!(stage.store.overflowed() > 1_000, "{}", stage.store.overflowed());
    assert!((1..=most).contains(&sweeps), "{sweeps} sweeps of all shards, at most {most}");
}

/// A key takes all that the overflow budget has; then a place falls free.
#[test]
fn what_overflowed_is_not_handed_out_again() {
    for rule in fives() {
        let stage = Stage::new(1);
        let holder = windows("holder", 1, DAY);
        assert!(stage.admits(&holder, "key"));
        assert_eq!(stage.hits(&rule, "x", 9), 5, "{rule:?}");
        stage.reset(&holder, "key");
        let wait = stage.outcome(&Check::new(&rule, "x"));
        assert!(!wait.is_admitted(), "{rule:?}");
        assert_eq!(stage.hits(&rule, "x", 9), 0, "{rule:?}");
        // Who was not charged there has a budget of his own at once.
        assert_eq!(stage.hits(&rule, "y", 9), 5, "{rule:?}");
        stage.reset(&rule, "y");
        // And the key has what it would have, had it had a place from the beginning.
        let wait = wait.retry_after().unwrap();
        stage.pass(u64::try_from(wait.as_millis()).unwrap() - 1);
        assert!(!stage.admits(&rule, "x"), "{rule:?}");
        stage.pass(1);
        assert!(stage.admits(&rule, "x"), "{rule:?}");
        assert_eq!(stage.store.len(), 1);
    }
}

#[test]
fn what_overflowed_is_not_handed_out_again_in_lists() {
    for rule in fives() {
        let stage = Stage::new(2);
        let (holder, open) = (windows("holder", 1, DAY), windows("open", 1_000, DAY));
        let hits = || {
            let checks = [Check::new(&open, "key"), Check::new(&rule, "x")];
            (0..9)
                .filter(|_| {
                    stage.outcomes(&checks).iter().all(crate::decision::Outcome::is_admitted)
                })
                .count()
        };
        assert!(stage.admits(&holder, "key") && stage.admits(&open, "key"));
        assert_eq!(hits(), 5, "{rule:?}");
        stage.reset(&holder, "key");
        assert_eq!((hits(), stage.store.len()), (0, 1), "{rule:?}");
        stage.pass(10_000);
        assert_eq!(hits(), 5, "{rule:?}");
    }
}

/// Two keys of one rule in one call: a transfer between two accounts that have no place.
#[test]
fn keys_of_a_list_that_share_a_budget_do_not_take_it_twice() {
    for rule in fives() {
        let stage = Stage::new(1);
        assert!(stage.admits(&windows("holder", 1, DAY), "key"));
        let transfer = [Check::new(&rule, "from"), Check::new(&rule, "to")];
        let run = || stage.outcomes(&transfer).iter().all(crate::decision::Outcome::is_admitted);
        assert_eq!((0..9).filter(|_| run()).count(), 2, "{rule:?}");
        let outcomes = stage.outcomes(&transfer);
        assert_eq!((outcomes[0].is_admitted(), outcomes[1].is_admitted()), (true, false));
        assert!(outcomes[1].retry_after() > Some(Duration::ZERO), "{outcomes:?}");
        assert_eq!(stage.hits(&rule, "from", 9), 1, "{rule:?}");
    }
}

/// As in two groups of a Cluster that does not answer.
#[test]
fn a_key_that_comes_twice_in_a_list_has_one_budget() {
    for rule in fives() {
        let stage = Stage::new(100);
        let admits = |cost| {
            let checks = [(); 2].map(|()| Check::new(&rule, "a").with_cost(cost));
            let answers = stage.store.decide_now(&checks).unwrap().unwrap();
            answers.iter().all(|answer| answer.admitted)
        };
        assert_eq!([3, 2, 1].map(admits), [false, true, false], "{}", rule.name());
    }
}

#[test]
fn a_key_that_overflowed_can_be_reset() {
    for rule in fives() {
        let stage = Stage::new(2);
        let holder = windows("holder", 1, DAY);
        assert!(stage.admits(&holder, "one") && stage.admits(&holder, "two"));
        assert_eq!(stage.hits(&rule, "x", 9), 5);
        // Without a place nothing can be forgotten: others have used the budget too.
        stage.reset(&rule, "x");
        assert_eq!(stage.hits(&rule, "x", 9), 0, "{rule:?}");
        stage.reset(&holder, "one");
        stage.reset(&rule, "x");
        assert_eq!(stage.hits(&rule, "x", 9), 5, "{rule:?}");
        assert_eq!(stage.hits(&rule, "y", 9), 0, "{rule:?}");
    }
}

/// Rules without end, as names that are made at run time make them: some have places, some share an
/// overflow budget among their keys, and the keys of all others are refused.
#[test]
fn overflow_budgets_are_bounded() {
    let stage = Stage::new(100);
    let admitted: Vec<usize> = (0..5_000)
        .filter(|name| stage.admits(&windows(&format!("rule {name}"), 5, DAY), "key"))
        .collect();
    assert_eq!(admitted.len(), 100 + 1_024);
    assert_eq!(stage.store.overflow.lock().len(), 1_024);
    assert_eq!(stage.store.overflowed(), 5_000 - 100);
    // As if a budget had just been used up.
    let rule = windows("one more", 5, DAY);
    let outcome = stage.outcome(&Check::new(&rule, "key"));
    assert_eq!((outcome.is_admitted(), outcome.retry_after()), (false, Some(DAY)));
    for rule in fives() {
        let outcome = stage.outcome(&Check::new(&rule, "key"));
        assert!(
            !outcome.is_admitted() && outcome.retry_after() > Some(Duration::ZERO),
            "{outcome:?}"
        );
        assert!(stage.outcome(&Check::new(&rule, "key").with_cost(0)).is_admitted());
    }
    // When their windows are over, they go.
    stage.clock.advance(DAY + Duration::from_mins(3));
    for _ in 0..10 {
        assert!(stage.admits(&rule, "key"));
        stage.reset(&rule, "key");
        stage.pass(3_000);
    }
    assert_eq!((stage.store.overflow.lock().len(), stage.store.len()), (0, 0));
}

/// Names at random, in a store that is always nearly full: what each key is admitted never exceeds its
/// limit in a window, wherever it is counted.
#[test]
fn no_key_gets_more_than_its_limit_whatever_place_it_has() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let stage = Stage::new(4);
        let rules = [3, 4].map(|limit| windows(&format!("limit {limit}"), limit, DAY));
        let mut admitted = std::collections::HashMap::new();
        for _ in 0..2_000 {
            let (rule, key) = (random.choice(&rules).unwrap(), random.u32(0..12).to_string());
            let holder = windows("holder", 1, DAY);
            match random.u8(0..20) {
                // Frees a place, and is no budget of a key of the others.
                0 => stage.reset(&holder, &key),
                1 => _ = stage.admits(&holder, &key),
                _ if stage.admits(rule, &key) => {
                    *admitted.entry((rule.name().to_owned(), key)).or_insert(0_u64) += 1;
                }
                _ => {}
            }
        }
        for ((rule, key), count) in admitted {
            let limit =
                rules.iter().find(|r| r.name() == rule).unwrap().algorithm().unwrap().limit();
            assert!(count <= limit, "{key} of {rule}: {count}");
        }
    }
}

/// A flood that never pauses, with an invented key in each call: the overflow budget is never unused.
#[test]
fn keys_never_seen_before_do_not_begin_used_up_however_long_a_flood_lasts() {
    let (limit, window) = (1_000, Duration::from_secs(10));
    let rate = Rate::per_second(100);
    for algorithm in [
        Algorithm::TokenBucket { capacity: limit, refill: rate },
        Algorithm::LeakyBucket { capacity: limit, leak: rate },
        Algorithm::SlidingLog { limit, window },
        Algorithm::SlidingCounter { limit, window, sub_windows: 10 },
    ] {
        let rule = Rule::named(format!("{algorithm:?}"), algorithm);
        let holder = windows("holder", 1, DAY);
        let stage = Stage::new(1);
        assert!(stage.admits(&holder, "key"));
        while stage.admits(&rule, "first") {}
        let lists = [Check::new(&holder, "key").with_cost(0), Check::new(&rule, "")];
        let mut charged = Vec::new();
        for invented in 0..10_000 {
            // Alone, and in lists.
            let is_charged = if invented % 2 == 0 {
                stage.admits(&rule, invented)
            } else {
                let [holder, _] = &lists;
                let checks = [holder.clone(), Check::new(&rule, invented.to_string())];
                stage.outcomes(&checks).iter().all(Outcome::is_admitted)
            };
            charged.extend(is_charged.then_some(invented));
            stage.pass(10);
        }
        assert!(charged.len() > 8_000, "{} of {rule:?}", charged.len());
        // What is left is used up, and then a place falls free.
        while stage.admits(&rule, "last") {}
        stage.reset(&holder, "key");
        let left = |key: String| stage.outcome(&Check::new(&rule, key).with_cost(0)).remaining();
        let begin_used_up = (0..1_000).filter(|n| left(format!("honest {n}")) < limit).count();
        assert!(begin_used_up < 20, "{begin_used_up} of 1,000 by {rule:?}");
        // Who was charged a moment ago has what is left there.
        for key in charged.iter().rev().take(300) {
            assert_eq!(left(key.to_string()), 0, "{key} by {rule:?}");
        }
    }
}

/// The same as above over many windows: a log is exact in any span of one.
#[test]
fn no_key_gets_more_than_its_limit_in_any_window() {
    const WINDOW_MS: u64 = 1_000;
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (stage, mut now) = (Stage::new(4), 0);
        let limit = 3;
        let window = Duration::from_millis(WINDOW_MS);
        let rule = Rule::named("log", Algorithm::SlidingLog { limit, window });
        let holder = windows("holder", 1, DAY);
        let mut admitted = std::collections::HashMap::<String, Vec<u64>>::new();
        for _ in 0..5_000 {
            let key = random.u32(0..12).to_string();
            match random.u8(0..20) {
                0 => stage.reset(&holder, &key),
                1 => _ = stage.admits(&holder, &key),
                2..5 => {
                    let ms = random.u64(0..300);
                    stage.pass(ms);
                    now += ms;
                }
                _ if stage.admits(&rule, &key) => admitted.entry(key).or_default().push(now),
                _ => {}
            }
        }
        for (key, times) in admitted {
            for span in times.windows(4) {
                let [first, .., last] = span else { panic!() };
                assert!(last - first >= WINDOW_MS, "{key}: {span:?}, seed {seed}");
            }
        }
    }
}
