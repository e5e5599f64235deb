//! Rules of one call that lie in different slots: taken in order, and given back on a refusal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratelimit_kit::{
    Algorithm, Check, LimitKey, Limiter, Mode, Outcome, Rate, RateLimitError, Rule, rate_limit,
};
use test_support::{Cluster, Flavor};
use tokio::task::JoinSet;

use crate::support::ground::{Ground, LONG, told_all, until};
use test_stage::algorithms::{HOUR, Kind, rule, token_bucket};

/// Whether each would have let the call pass, and what is left of it.
fn summary(outcomes: &[Outcome]) -> Vec<(bool, u64)> {
    outcomes.iter().map(|outcome| (outcome.is_admitted(), outcome.remaining())).collect()
}

/// A rule that refuses, and its check.
fn used_up(ground: &Ground<'_>, node: usize) -> (Rule, String) {
    let rule = rule(token_bucket(1, Rate::per_hour(1)));
    let key = ground.key_on(&rule, node);
    assert!(ground.told(&[Check::new(&rule, &key)]).0);
    (rule, key)
}

/// Whichever of three rules in three nodes refuses, the others are left as if there had been no
/// call, and all three are reported.
#[test]
fn a_refusal_leaves_nothing_charged() {
    for flavor in Flavor::ALL {
        let ground = Ground::on(Cluster::shared(flavor));
        let masters = ground.cluster.masters();
        for kind in Kind::ALL {
            for place in 0..3 {
                let (refusing, refusing_key) = used_up(&ground, masters[place]);
                let others = [(); 2].map(|()| rule(kind.per(5, HOUR)));
                let nodes = [masters[(place + 1) % 3], masters[(place + 2) % 3]];
                let keys = [0, 1].map(|n| ground.key_on(&others[n], nodes[n]));
                let [a, b] = [0, 1].map(|n| Check::new(&others[n], &keys[n]).with_cost(2));
                let mut checks = vec![a.clone(), b.clone()];
                assert!(ground.told(&checks).0, "{kind:?}");
                let before = [&a, &b].map(|check| ground.peek(check));

                checks.insert(place, Check::new(&refusing, &refusing_key));
                for _ in 0..3 {
                    let (admitted, outcomes) = ground.told(&checks);
                    assert!(!admitted, "{kind:?}");
                    let mut expected = vec![(true, 3), (true, 3)];
                    expected.insert(place, (false, 0));
                    assert_eq!(summary(&outcomes), expected, "{kind:?} refused at {place}");
                    assert!(outcomes[place].retry_after().unwrap() > HOUR - HOUR / 60);
                    let names: Vec<&str> = outcomes.iter().map(Outcome::rule).collect();
                    let asked: Vec<&str> = checks.iter().map(|check| check.rule().name()).collect();
                    assert_eq!(names, asked);
                }
                let after = [&a, &b].map(|check| ground.peek(check));
                for (before, after) in before.iter().zip(&after) {
                    assert_eq!(after.remaining(), before.remaining());
                    // Time has passed, and nothing else has happened.
                    assert!(after.reset_after() <= before.reset_after(), "{kind:?}: {after:?}");
                }
            }
        }
    }
}

/// What was never used before is as good as new after a refusal.
#[test]
fn a_fresh_key_stays_fresh() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    let masters = ground.cluster.masters();
    let (refusing, refusing_key) = used_up(&ground, masters[1]);
    for kind in Kind::ALL {
        let fresh = rule(kind.per(5, HOUR));
        let key = ground.key_on(&fresh, masters[0]);
        let fresh = Check::new(&fresh, &key);
        let (admitted, outcomes) =
            ground.told(&[fresh.clone(), Check::new(&refusing, &refusing_key)]);
        assert!(!admitted);
        assert_eq!((outcomes[0].remaining(), outcomes[0].reset_after()), (5, Duration::ZERO));
        let peek = ground.peek(&fresh);
        assert_eq!((peek.remaining(), peek.reset_after()), (5, Duration::ZERO), "{kind:?}");
    }
}

/// The check of the refused call that was not sent is judged by its own cost.
#[test]
fn a_rule_that_was_not_asked_is_reported_as_if_it_had_been() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    let masters = ground.cluster.masters();
    let (refusing, refusing_key) = used_up(&ground, masters[0]);
    for kind in Kind::ALL {
        let later = rule(kind.per(5, HOUR));
        let key = ground.key_on(&later, masters[1]);
        let later = Check::new(&later, &key);
        assert!(ground.told(&[later.clone().with_cost(3)]).0);
        for (cost, allowed) in [(2, true), (3, false)] {
            let checks = [Check::new(&refusing, &refusing_key), later.clone().with_cost(cost)];
            let (admitted, outcomes) = ground.told(&checks);
            assert!(!admitted);
            assert_eq!(summary(&outcomes), [(false, 0), (allowed, 2)], "{kind:?}, cost {cost}");
            let waits = outcomes[1].retry_after() != Some(Duration::ZERO);
            assert_eq!(waits, !allowed, "{kind:?}: {:?}", outcomes[1]);
        }
    }
}

/// Rules that only watch refuse nothing, are charged with the others, and given back with them.
#[test]
fn shadows_are_charged_with_what_is_enforced() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    let masters = ground.cluster.masters();
    let (refusing, refusing_key) = used_up(&ground, masters[1]);
    for kind in Kind::ALL {
        let watched = rule(kind.per(2, HOUR)).with_mode(Mode::Shadow);
        let watched_key = ground.key_on(&watched, masters[0]);
        let watched = Check::new(&watched, &watched_key);
        let enforced = rule(kind.per(5, HOUR));
        let enforced_key = ground.key_on(&enforced, masters[2]);
        let enforced = Check::new(&enforced, &enforced_key);

        // In front of a refusal, and behind one.
        let refused = Check::new(&refusing, &refusing_key);
        for checks in [[watched.clone(), refused.clone()], [refused, watched.clone()]] {
            assert!(!ground.told(&checks).0);
            assert_eq!(ground.peek(&watched).remaining(), 2, "{kind:?}");
        }
        let both = [watched.clone(), enforced.clone()];
        let told = [(); 3].map(|()| {
            let (admitted, outcomes) = ground.told(&both);
            assert!(admitted, "a shadow refused");
            summary(&outcomes)
        });
        let used_up = vec![(false, 0), (true, 2)];
        assert_eq!(told, [vec![(true, 1), (true, 4)], vec![(true, 0), (true, 3)], used_up]);
        assert_eq!(ground.peek(&watched).remaining(), 0, "{kind:?}");
    }
}

/// However many ask at once, neither of two rules admits more than its limit, and when all is
/// quiet the admitted calls are charged and no others.
#[test]
fn a_race_for_two_slots_admits_no_more_than_either_limit() {
    const TASKS: usize = 32;
    const CALLS: usize = 8;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let cluster = Cluster::shared(Flavor::Installed);
    let ground = Ground::on(cluster);
    let masters = cluster.masters();
    for kind in Kind::ALL {
        let rules = [(); 2].map(|()| rule(kind.per(30, HOUR)));
        let keys = [0, 1].map(|n| ground.key_on(&rules[n], masters[n]));
        let shared = Arc::new((rules, keys));
        let admitted = runtime.block_on(async {
            let mut tasks = JoinSet::new();
            for task in 0..TASKS {
                let (shared, limiter) = (Arc::clone(&shared), ground.limiter.clone());
                tasks.spawn(async move {
                    let (rules, keys) = &*shared;
                    let mut checks = [0, 1].map(|n| Check::new(&rules[n], &keys[n]));
                    // From both ends.
                    if task % 2 == 1 {
                        checks.reverse();
                    }
                    let mut admitted = 0;
                    for _ in 0..CALLS {
                        admitted += u64::from(told_all(limiter.check_all(&checks).await).0);
                    }
                    admitted
                });
            }
            tasks.join_all().await.into_iter().sum::<u64>()
        });
        let (rules, keys) = &*shared;
        let checks = [0, 1].map(|n| Check::new(&rules[n], &keys[n]));
        assert!((1..=30).contains(&admitted), "{kind:?}: {admitted}");
        // What a bucket gained while it was charged may not be given back: less than a permit here,
        // which comes back in an hour.
        let bucket = matches!(kind, Kind::TokenBucket | Kind::LeakyBucket);
        let most = 30 - admitted;
        let expected = most.saturating_sub(u64::from(bucket))..=most;
        let left = checks.each_ref().map(|check| ground.peek(check).remaining());
        assert!(
            left.iter().all(|left| expected.contains(left)),
            "{kind:?}: {expected:?}, {left:?}"
        );
        // What was refused in the rush is there for those who come later.
        let later = (0..60).filter(|_| ground.told(&checks).0).count();
        assert!(expected.contains(&u64::try_from(later).unwrap()), "{kind:?}: {later} came later");
    }
}

/// How many honest callers a shared budget refuses, with 20 permits of which 3 are used, while 64
/// callers who have used up their own budget go on. The shared rule comes first in the list.
///
/// `None` if what the first of the noisy have charged is not all given back while they go on: on a busy
/// machine that may fail, and it says nothing of what comes later. Where they hold the budget down it is
/// never all there.
fn refused_beside_the_noisy(
    ground: &Ground<'_>,
    shared_key: &LimitKey,
    honest: &Rule,
) -> Option<usize> {
    const NOISY: usize = 64;
    const HONEST: usize = 15;
    let all = rule(Kind::FixedWindow.per(20, HOUR));
    for _ in 0..3 {
        let noisy = [Check::new(&all, shared_key), Check::new(honest, "noisy")];
        assert!(ground.told(&noisy).0);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let rules = Arc::new((all, honest.clone(), shared_key.clone()));
    let (done, calls) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..NOISY {
            let (rules, limiter) = (Arc::clone(&rules), ground.limiter.clone());
            let (done, calls) = (Arc::clone(&done), Arc::clone(&calls));
            tasks.spawn(async move {
                let (all, tenant, shared) = &*rules;
                let checks = [Check::new(all, shared), Check::new(tenant, "noisy")];
                while !done.load(Ordering::Relaxed) {
                    let (admitted, _) = told_all(limiter.check_all(&checks).await);
                    assert!(!admitted, "the budget of the noisy one is used up");
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Until all of them are at it.
        let mut refused = 0;
        while calls.load(Ordering::Relaxed) < 4 * NOISY {
            tokio::task::yield_now().await;
        }
        let (all, tenant, shared) = &*rules;
        // What they did before anybody knew who refuses is undone, all of it and for good.
        let (mut in_a_row, waited) = (0, Instant::now());
        while in_a_row < 50 && waited.elapsed() < Duration::from_secs(3) {
            let peek = ground.limiter.peek(&Check::new(all, shared)).await.unwrap();
            in_a_row = if peek.outcomes()[0].remaining() == 17 { in_a_row + 1 } else { 0 };
        }
        for number in 0..HONEST {
            let checks = [Check::new(all, shared), Check::new(tenant, format!("honest-{number}"))];
            let (admitted, outcomes) = told_all(ground.limiter.check_all(&checks).await);
            // Always in the order of the checks.
            assert_eq!([outcomes[0].rule(), outcomes[1].rule()], [all.name(), tenant.name()]);
            refused += usize::from(!admitted);
            // The others have their turn.
            let before = calls.load(Ordering::Relaxed);
            while calls.load(Ordering::Relaxed) < before + NOISY {
                tokio::task::yield_now().await;
            }
        }
        done.store(true, Ordering::Relaxed);
        tasks.join_all().await;
        (in_a_row >= 50).then_some(refused)
    })
}

/// Whoever goes on after their own budget is used up must not hold down one that others share.
#[test]
fn refused_callers_do_not_hold_down_a_budget_that_all_share() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    // A rule without a key, and one that has a key, and many callers with it.
    for shared in [LimitKey::whole_rule(), LimitKey::from("everybody")] {
        let tenant = || rule(Kind::FixedWindow.per(3, HOUR));
        let refused = (0..10).find_map(|_| refused_beside_the_noisy(&ground, &shared, &tenant()));
        assert_eq!(refused, Some(0), "None: it was held down in each of ten attempts");
    }
}

#[rate_limit(name = "left-line", algo = leaky_bucket, capacity = 20, leak = "1/min", wait = "1h", limiter = limiter)]
#[rate_limit(name = "left-window", key = "user", algo = fixed_window, limit = 9, window = "1h")]
async fn visit(limiter: Limiter, user: u32) -> Result<(), RateLimitError> {
    let _ = user;
    Ok(())
}

/// Who leaves the line gives way in all slots.
#[test]
fn who_leaves_is_refunded_in_every_slot() {
    let line =
        Rule::new("left-line", Algorithm::LeakyBucket { capacity: 20, leak: Rate::per_minute(1) });
    let window = Rule::new("left-window", Algorithm::FixedWindow { limit: 9, window: HOUR });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for flavor in Flavor::ALL {
        let ground = Ground::on(Cluster::shared(flavor));
        // In another slot than the line, whose key is the rule.
        let of_line = ground.slot(&line, LimitKey::whole_rule().as_str());
        let user = (0..1_000).find(|user: &u32| ground.slot(&window, &user.to_string()) != of_line);
        let user = user.unwrap();
        let left = || {
            let whole = ground.peek(&Check::new(&line, LimitKey::whole_rule())).remaining();
            (whole, ground.peek(&Check::new(&window, user)).remaining())
        };
        runtime.block_on(visit(ground.limiter.clone(), user)).unwrap();
        assert_eq!(left(), (19, 8));
        let waits = runtime.block_on(async {
            tokio::time::timeout(Duration::from_millis(300), visit(ground.limiter.clone(), user))
                .await
        });
        assert!(waits.is_err(), "{waits:?}");
        until(LONG, "both are refunded", || left() == (19, 8));
    }
}
