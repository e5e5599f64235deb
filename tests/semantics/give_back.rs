//! What the script `refund` leaves behind: as if the call had not been charged, or less.

mod budget;
mod model;
mod twin;

use std::thread;
use std::time::Duration;

use fastrand::Rng;
use ratelimit_kit::{Algorithm, Rate};
use ratelimit_runtime::__private::algo::Timestamp;
use redis::cmd;
use test_support::{Flavor, Server};

use self::budget::{Budget, Desk};
use self::model::Model;
use self::twin::Twin;
use crate::agreement::random;
use crate::agreement::reference::answer;
use test_stage::algorithms::{Kind, fixed_window, secs, sliding_log};
use test_stage::everywhere::{damaged, foreign_values};
use test_stage::machine;
use test_stage::stage::ORIGIN;

const SECOND: Timestamp = 1_000_000;

/// Random steps of each kind on each server.
const STEPS: usize = 4_000;

fn origin() -> Timestamp {
    ORIGIN.as_micros().try_into().unwrap()
}

fn micros(span: Duration) -> Timestamp {
    span.as_micros().try_into().unwrap()
}

/// Any span up to one of these.
fn up_to(rng: &mut Rng, spans: &[Timestamp]) -> Timestamp {
    let most = *rng.choice(spans).unwrap();
    rng.i64(0..=most)
}

/// Every kind on every server, all at once.
fn everywhere(test: impl Fn(&Desk, Kind) + Sync) {
    for flavor in Flavor::ALL {
        let server = Server::shared(flavor);
        thread::scope(|scope| {
            for kind in Kind::ALL {
                let test = &test;
                scope.spawn(move || test(&Desk::on(server), kind));
            }
        });
    }
}

/// Both are told the same: what is left, how long to wait, and when all is there.
fn assert_alike(a: &Budget<'_>, b: &Budget<'_>, now: Timestamp) {
    let left = answer(&a.peek(now));
    assert_eq!(left, answer(&b.peek(now)), "{:?} at {now}", a.plan);
    if left.remaining == left.limit {
        return;
    }
    let [a_told, b_told] = [a, b].map(|budget| answer(&budget.check(now, left.remaining + 1)));
    assert!(!a_told.admitted);
    assert_eq!(a_told, b_told, "{:?} at {now}", a.plan);
}

/// Nothing lay between the charge and the give-back: then there is no difference at all, now and
/// later.
#[test]
fn as_if_it_had_not_been_charged() {
    everywhere(|desk, kind| {
        let mut rng = Rng::with_seed(3);
        let (mut given, last_of_all) = (0, micros(random::LAST - 2 * random::LONGEST));
        for _ in 0..60 {
            let algorithm = random::algorithm(&mut rng, kind);
            let span = micros(random::recovery(algorithm));
            let (real, twin) = (desk.open(algorithm), desk.open(algorithm));
            let mut now = origin() + rng.i64(0..SECOND);
            for _ in 0..rng.usize(2..12) {
                now = (now + up_to(&mut rng, &[0, span / 4, span])).min(last_of_all);
                let cost = random::cost(&mut rng, algorithm.limit());
                let cost = cost.min(twin.peek(now).remaining());
                if cost > 0 && rng.bool() {
                    assert_eq!(real.charge(now, cost), Some(now));
                    let later = now + up_to(&mut rng, &[0, span / 4]);
                    assert!(real.give_back(later, now, cost), "{algorithm:?}");
                    given += 1;
                } else if cost > 0 {
                    assert_eq!(real.charge(now, cost), Some(now));
                    assert_eq!(twin.charge(now, cost), Some(now));
                }
                assert_alike(&real, &twin, now);
            }
            assert_alike(&real, &twin, now + rng.i64(0..=span));
        }
        assert!(given > 60, "{given}");
    });
}

/// Whatever calls, give-backs and steps of the clock there are: never more than if what was given
/// back had not been charged. (Clocks that are gone are another matter: see below.)
#[test]
fn never_more_than_if_it_had_not_been_charged() {
    let _loud = machine::loud();
    everywhere(|desk, kind| {
        let mut rng = Rng::with_seed(7);
        let (mut steps, mut tried, mut given) = (0, 0, 0);
        while steps < STEPS {
            let algorithm = random::algorithm(&mut rng, kind);
            let span = micros(random::recovery(algorithm));
            let budget = desk.open(algorithm);
            let mut model = Model::new(budget.plan);
            let mut now = origin() + rng.i64(0..SECOND);
            let (mut latest, mut charged) = (now, Vec::new());
            let mut history = Vec::new();
            for _ in 0..rng.usize(10..60) {
                steps += 1;
                now = match rng.u8(..20) {
                    0..8 => now,
                    8..14 => now + rng.i64(0..=span / 16),
                    14..17 => now + rng.i64(0..=span / 3),
                    17 => now + rng.i64(0..=span * 3),
                    _ => latest - rng.i64(0..=span / 3),
                }
                .clamp(SECOND, micros(random::LAST));
                latest = latest.max(now);
                if rng.u8(..10) < 6 || charged.is_empty() {
                    let cost = match random::cost(&mut rng, algorithm.limit()) {
                        0 => 1,
                        cost => cost.min(algorithm.limit() + 1),
                    };
                    let at = budget.charge(now, cost);
                    history.push(format!("{now}: {cost} charged at {at:?}"));
                    if let Some(at) = at {
                        model.charge(at, cost);
                        charged.push((at, cost));
                    }
                } else {
                    let (at, cost) = charged.swap_remove(rng.usize(..charged.len()));
                    let before = budget.peek(now).remaining();
                    let back = budget.give_back(now, at, cost);
                    history.push(format!("{now}: {cost} of {at} given back: {back}"));
                    model.give_back(at, cost);
                    tried += 1;
                    given += usize::from(back);
                    let after = budget.peek(now).remaining();
                    // What a clock that is behind sees may become older with the charge.
                    assert!(
                        after >= before || now < latest,
                        "{algorithm:?}: {before}, {after}: {history:#?}"
                    );
                    assert!(back || after == before, "{algorithm:?}: {history:#?}");
                }
                let (left, most) = (budget.peek(now).remaining(), model.remaining(now));
                assert!(
                    left <= most,
                    "{left} instead of {most} at {now}: {algorithm:?} {history:#?}"
                );
            }
        }
        // What is never given back cannot be too much.
        assert!(given > tried / 4 && tried > STEPS / 8, "{kind:?}: {given} of {tried}");
    });
}

/// Whatever calls, refunds and steps of the clock there are: the script and the arithmetic of the
/// embedded store do the same, to the microsecond.
#[test]
fn both_stores_refund_alike() {
    let _loud = machine::loud();
    everywhere(|desk, kind| {
        let mut rng = Rng::with_seed(13);
        let (mut steps, mut made) = (0, 0);
        while steps < STEPS / 2 {
            let algorithm = random::algorithm(&mut rng, kind);
            let span = micros(random::recovery(algorithm));
            let budget = desk.open(algorithm);
            let mut twin = Twin::new(budget.plan);
            let mut now = origin() + rng.i64(0..SECOND);
            let (mut latest, mut charged) = (now, Vec::new());
            let mut history = Vec::new();
            for _ in 0..rng.usize(10..60) {
                steps += 1;
                now = match rng.u8(..20) {
                    0..8 => now,
                    8..14 => now + rng.i64(0..=span / 16),
                    14..16 => now + rng.i64(0..=span / 3),
                    16 => now + rng.i64(0..=span * 3),
                    17 => latest - rng.i64(0..=span * 4),
                    _ => latest - rng.i64(0..=span / 3),
                }
                .clamp(SECOND, micros(random::LAST));
                latest = latest.max(now);
                if rng.u8(..10) < 6 || charged.is_empty() {
                    let cost = random::cost(&mut rng, algorithm.limit()).max(1);
                    let cost = cost.min(algorithm.limit() + 1);
                    let at = budget.charge(now, cost);
                    history.push(format!("{now}: {cost} charged at {at:?}"));
                    assert_eq!(twin.charge(now, cost), at, "{algorithm:?}: {history:#?}");
                    charged.extend(at.map(|at| (at, cost)));
                } else {
                    let (at, cost) = charged.swap_remove(rng.usize(..charged.len()));
                    let queued_for = kind == Kind::LeakyBucket && rng.bool();
                    // Some of them come too late.
                    let until = queued_for.then(|| at.max(now + rng.i64(-span / 8..=span / 3)));
                    let back = if let Some(until) = until {
                        budget.leave(now, at, cost, until)
                    } else {
                        budget.give_back(now, at, cost)
                    };
                    history.push(format!("{now}: {cost} of {at} refunded, {until:?}: {back}"));
                    let other = twin.refund(now, at, cost, until);
                    assert_eq!(other, back, "{algorithm:?}: {history:#?}");
                    made += usize::from(back);
                }
                let looked = [answer(&budget.peek(now)), twin.peek(now)];
                assert_eq!(looked[0], looked[1], "{algorithm:?} at {now}: {history:#?}");
            }
        }
        assert!(made > STEPS / 40, "{kind:?}: {made}");
    });
}

/// The rest of what a charge took, as far as it can still be missing: a bucket that would have been
/// full in between would have lost what came in.
#[test]
fn a_bucket_keeps_what_has_come_back_by_itself() {
    for kind in [Kind::TokenBucket, Kind::LeakyBucket] {
        let desk = Desk::on(Server::shared(Flavor::Installed));
        let budget = desk.open(kind.recovering(10, secs(10)));
        let now = origin();
        let at = budget.charge(now, 5).unwrap();
        let second = budget.charge(now + 2 * SECOND, 7).unwrap();
        assert_eq!(budget.peek(now + 2 * SECOND).remaining(), 0);
        // Without the first, the bucket had been full when the second came.
        assert!(budget.give_back(now + 3 * SECOND, at, 5));
        assert_eq!(budget.peek(now + 2 * SECOND).remaining(), 3);
        assert!(budget.give_back(now + 3 * SECOND, second, 7));
        assert_eq!(budget.peek(now + 2 * SECOND).remaining(), 10);
    }
}

/// What a window that is over took does not come back to the next one.
#[test]
fn a_window_that_has_turned_over_keeps_its_charges() {
    everywhere(|desk, kind| {
        let budget = desk.open(kind.recovering(10, secs(10)));
        let now = origin();
        let at = budget.charge(now, 10).unwrap();
        let later = now + 20 * SECOND;
        assert_eq!(budget.charge(later, 4), Some(later), "{kind:?}");
        assert!(!budget.give_back(later, at, 10), "{kind:?}");
        assert_eq!(budget.peek(later).remaining(), 6, "{kind:?}");
    });
}

/// A fixed window is opened by a charge that stands.
#[test]
fn a_window_without_charges_is_closed() {
    for flavor in Flavor::ALL {
        let desk = Desk::on(Server::shared(flavor));
        let budget = desk.open(fixed_window(10, secs(10)));
        let now = origin();
        let at = budget.charge(now, 4).unwrap();
        assert!(budget.give_back(now, at, 4));
        assert_eq!(budget.peek(now).reset_after(), secs(0));
        assert_eq!(budget.charge(now + 9 * SECOND, 4), Some(now + 9 * SECOND));
        assert_eq!(budget.peek(now + 9 * SECOND).reset_after(), secs(10));
        // Another one is in it when the first is given back: it ends when it would have ended.
        let other = now + 11 * SECOND;
        assert_eq!(budget.charge(other, 3), Some(other));
        assert!(budget.give_back(other, now + 9 * SECOND, 4));
        assert_eq!(budget.peek(other).remaining(), 7);
        assert_eq!(budget.peek(other).reset_after(), secs(8));
        assert!(budget.give_back(other, other, 3));
        assert_eq!(budget.peek(other).remaining(), 10);
        // Nothing is in it any more, and nothing is given back twice.
        assert!(!budget.give_back(other, other, 3));
    }
}

/// Whichever sub-windows are used: those that a give-back leaves unused are as if they never were.
#[test]
fn a_counter_has_no_unused_sub_windows_in_front() {
    for flavor in Flavor::ALL {
        let desk = Desk::on(Server::shared(flavor));
        let counter = Algorithm::SlidingCounter { limit: 100, window: secs(4), sub_windows: 4 };
        for used in 0..32 {
            let (real, twin) = (desk.open(counter), desk.open(counter));
            for second in (0..5).filter(|second| used >> second & 1 == 1) {
                let at = origin() + second * SECOND + SECOND / 3;
                for budget in [&real, &twin] {
                    budget.charge(at, 7 + second.unsigned_abs()).unwrap();
                }
            }
            let now = origin() + 4 * SECOND + SECOND / 2;
            let at = real.charge(now, 20).unwrap();
            assert!(real.give_back(now, at, 20));
            for t in 0..12 {
                assert_alike(&real, &twin, now + t * SECOND / 2);
            }
        }
    }
}

/// An entry is taken out wherever it is, if not too much is behind it.
#[test]
fn a_log_is_rewritten_behind_an_entry() {
    for flavor in Flavor::ALL {
        let desk = Desk::on(Server::shared(flavor));
        for (behind, back) in [(0, true), (1, true), (99, true), (100, true), (101, false)] {
            let algorithm = sliding_log(10_000, secs(10));
            let (real, twin) = (desk.open(algorithm), desk.open(algorithm));
            let now = origin();
            for budget in [&real, &twin] {
                budget.charge(now, 5).unwrap();
            }
            let at = real.charge(now + 1, 7).unwrap();
            // At one instant there are several, of other costs.
            for i in 0..behind {
                for budget in [&real, &twin] {
                    let cost = u64::try_from(i % 7 + 1).unwrap();
                    budget.charge(now + 1 + i / 2 * SECOND / 10, cost).unwrap();
                }
            }
            let now = now + 6 * SECOND;
            assert_eq!(real.give_back(now, at, 7), back, "{behind}");
            if back {
                for t in 0..110 {
                    assert_alike(&real, &twin, now + t * SECOND / 10);
                }
            }
        }
    }
}

/// A clock that is gone took its charges with it, as far as anybody can tell.
#[test]
fn nothing_is_given_back_across_clocks() {
    everywhere(|desk, kind| {
        let budget = desk.open(kind.recovering(10, secs(10)));
        let now = origin();
        let at_first = budget.charge(now, 4).unwrap();
        let earlier = now - 100 * SECOND;
        assert!(!budget.give_back(earlier, at_first, 4), "{kind:?}: nobody has seen it yet");
        assert_eq!(budget.charge(earlier, 1), Some(earlier));
        let left = budget.peek(earlier).remaining();
        assert!(!budget.give_back(earlier, at_first, 4), "{kind:?}: it was moved");
        assert_eq!(budget.peek(earlier).remaining(), left);
        // A clock that is only behind is not gone, and the entries of a log moved all at once.
        let at = budget.charge(earlier, 3).unwrap();
        assert!(budget.give_back(earlier - SECOND, at, 3), "{kind:?}");
        assert_eq!(budget.peek(earlier).remaining(), left, "{kind:?}");
        // Nearly where it was, and still not there.
        let before = now - SECOND;
        assert_eq!(budget.charge(before, 9), Some(before));
        assert!(!budget.give_back(before, at_first, 4), "{kind:?}: it was moved");
    });
}

/// Clocks may jump as they like: no error, an expiry, and no more than there is.
#[test]
fn clocks_may_jump() {
    everywhere(|desk, kind| {
        let mut rng = Rng::with_seed(11);
        for _ in 0..20 {
            let algorithm = random::algorithm(&mut rng, kind);
            let span = micros(random::recovery(algorithm));
            let budget = desk.open(algorithm);
            let mut charged = Vec::new();
            for _ in 0..40 {
                let jump = rng.i64(-span * 4..=span * 4);
                let now = (origin() + rng.choice([0, jump]).unwrap()).max(0);
                let cost = rng.u64(1..=algorithm.limit());
                if let Some(at) = budget.charge(now, cost) {
                    charged.push((at, cost));
                }
                if rng.bool() && !charged.is_empty() {
                    let (at, cost) = charged.swap_remove(rng.usize(..charged.len()));
                    budget.give_back(now, at, cost);
                }
                assert!(budget.peek(now).remaining() <= algorithm.limit());
            }
        }
    });
}

/// What expires goes on to expire when it did, and what does not expire does so afterwards.
#[test]
fn a_key_keeps_an_expiry() {
    everywhere(|desk, kind| {
        let budget = desk.open(kind.recovering(10, secs(10)));
        let now = origin();
        let at: Vec<_> = (0..3).map(|_| budget.charge(now, 2).unwrap()).collect();
        let when = |budget: &Budget<'_>| budget.ask::<i64>(cmd("PEXPIRETIME").arg(&budget.key));
        let before = when(&budget);
        assert!(budget.give_back(now, at[0], 2));
        assert!((when(&budget) - before).abs() <= 1, "{kind:?}");
        assert!(budget.ask::<bool>(cmd("PERSIST").arg(&budget.key)));
        assert!(budget.give_back(now, at[1], 2));
        // What the state needs, and the minute for a caller's clock.
        let pttl = budget.pttl();
        assert!((69_000..=80_100).contains(&pttl), "{kind:?}: {pttl}");
        assert!(budget.give_back(now, at[2], 2));
        assert_eq!(budget.peek(now).remaining(), 10);
    });
}

/// Whatever stands where a state should be, it is not touched, or stays within the limit.
#[test]
fn b051_a_foreign_or_damaged_value_under_a_state_key() {
    everywhere(|desk, kind| {
        let budget = desk.open(kind.recovering(5, secs(60)));
        let now = origin();
        let at = budget.charge(now, 1).unwrap();
        budget.charge(now, 2).unwrap();
        budget.charge(now + SECOND, 1).unwrap();
        let (put, own): (_, Vec<Vec<u8>>) = match kind {
            Kind::SlidingLog => {
                ("RPUSH", budget.ask(cmd("LRANGE").arg(&budget.key).arg(0).arg(-1)))
            }
            _ => ("SET", vec![budget.ask(cmd("GET").arg(&budget.key))]),
        };
        for foreign in foreign_values().chain(damaged(put, &own)) {
            budget.ask::<u8>(cmd("DEL").arg(&budget.key));
            budget.ask::<redis::Value>(&foreign.put(&budget.key));
            let dump = || budget.ask::<Vec<u8>>(cmd("DUMP").arg(&budget.key));
            let before = dump();
            if budget.give_back_anyhow(now + SECOND, at, 1) {
                assert!(matches!(budget.pttl(), -2 | 1..), "{kind:?}");
            } else {
                assert_eq!(dump(), before, "{kind:?}");
            }
            assert!(budget.peek(now + SECOND).remaining() <= 5);
        }
    });
}

/// Rules whose numbers have changed in between keep the charge.
#[test]
fn other_numbers_keep_the_charge() {
    let desk = Desk::on(Server::shared(Flavor::Installed));
    let numbers = |kind: Kind, span| match kind {
        Kind::TokenBucket => Algorithm::TokenBucket { capacity: 10, refill: Rate::new(1, span) },
        Kind::LeakyBucket => Algorithm::LeakyBucket { capacity: 10, leak: Rate::new(1, span) },
        kind => kind.recovering(10, span),
    };
    for kind in [Kind::TokenBucket, Kind::LeakyBucket, Kind::SlidingCounter] {
        let (old, mut new) = (desk.open(numbers(kind, secs(7))), desk.open(numbers(kind, secs(3))));
        new.key.clone_from(&old.key);
        let at = old.charge(origin(), 4).unwrap();
        new.charge(origin(), 1).unwrap();
        assert!(!old.give_back(origin(), at, 4), "{kind:?}");
        assert_eq!(old.peek(origin()).remaining(), 5, "{kind:?}");
    }
}
