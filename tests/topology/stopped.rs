//! A node that is stopped in its tracks, and calls that are given up between two slots.

use std::task::{Context, Waker};
use std::thread;
use std::time::Instant;

use ratelimit_kit::{Check, OnError, Rule, StoreError};
use test_support::{Cluster, Flavor};

use crate::support::calls::{Call, Told};
use crate::support::ground::{Ground, alone, until};
use test_stage::algorithms::{HOUR, Kind, ms, rule, secs};

const LIMIT: u64 = 50;

fn rules() -> [Rule; 5] {
    Kind::ALL.map(|kind| rule(kind.per(LIMIT, HOUR)))
}

/// What was taken in one slot is given back when the other does not answer in time, or when the
/// caller does not wait for it; and what the other took is at most what it was asked for.
#[test]
fn a_call_that_is_given_up_between_two_slots_leaves_nothing() {
    let _alone = alone();
    let cluster = Cluster::start(Flavor::Installed);
    let ground = Ground::with(&cluster, |builder| builder.deadline(ms(200)));
    let masters = cluster.masters();
    let (first, second) = (rules(), rules());
    let on = |rules: &[Rule; 5], node| -> Vec<String> {
        rules.iter().map(|rule| ground.key_on(rule, node)).collect()
    };
    let (first_keys, second_keys) = (on(&first, masters[0]), on(&second, masters[1]));
    let pairs: Vec<[Check<'_>; 2]> = (0..5)
        .map(|n| [Check::new(&first[n], &first_keys[n]), Check::new(&second[n], &second_keys[n])])
        .collect();
    // The scripts are there.
    for pair in &pairs {
        assert!(ground.told(pair).0);
    }

    let (mut sent, mut given_up) = (0, 0);
    for dropped in [false, true] {
        cluster.nodes()[masters[1]].freeze();
        let frozen = Instant::now();
        for pair in &pairs {
            sent += 1;
            if dropped {
                let mut call = Box::pin(ground.limiter.check_all(pair));
                let mut context = Context::from_waker(Waker::noop());
                let mut pending = || call.as_mut().poll(&mut context).is_pending();
                let start = Instant::now();
                // Until the first slot is charged and the answer has arrived, or, later on, until
                // it is known that the second one does not answer.
                while pending() && start.elapsed() < ms(100) {
                    thread::sleep(ms(5));
                }
                given_up += u64::from(ground.peek(&pair[0]).remaining() == LIMIT - 2);
                drop(call);
            } else {
                let told = Call::make(&ground.limiter, pair).told;
                assert!(matches!(told, Told::Failed(_)), "{told:?}");
            }
            until(secs(1), "the first slot is as it was", || {
                ground.peek(&pair[0]).remaining() == LIMIT - 1
            });
        }
        assert!(frozen.elapsed() < secs(2), "the others have given it up by now");
        cluster.nodes()[masters[1]].thaw();
        cluster.settle();
        until(secs(5), "the node is used again", || {
            Call::make(&ground.limiter, &[pairs[0][1].clone().with_cost(0)]).told == Told::Admitted
        });
    }
    assert!(given_up >= 1);
    for pair in &pairs {
        let used = LIMIT - ground.peek(&pair[1]).remaining();
        assert!((1..=1 + sent).contains(&used), "{used}");
    }
}

/// Calls to the other nodes do not wait for one that does not answer, and calls to that one wait a
/// few times, and then no more.
#[test]
fn a_stopped_node_slows_nobody_else() {
    let _alone = alone();
    let cluster = Cluster::start(Flavor::Redis8);
    let patient = Ground::with(&cluster, |builder| builder.deadline(secs(5)));
    let brisk = Ground::with(&cluster, |builder| builder.deadline(ms(50)));
    let masters = cluster.masters();
    let [stopped, other, ..] = rules();
    let key = brisk.key_on(&stopped, masters[0]);
    let stopped = [Check::new(&stopped, &key)];
    let key = patient.key_on(&other, masters[1]);
    let other = [Check::new(&other, &key).with_cost(0)];
    brisk.told(&stopped);
    patient.told(&other);
    // The second of three rules refuses, and both others are looked at then: one of them is on the
    // stopped node.
    let firm = Ground::with(&cluster, |builder| builder.deadline(ms(600)).on_error(OnError::Open));
    let three = [(); 3].map(|()| rule(Kind::FixedWindow.per(LIMIT, HOUR)));
    let places = [masters[1], masters[2], masters[0]];
    let keys = [0, 1, 2].map(|n| firm.key_on(&three[n], places[n]));
    let refused = [0, 1, 2].map(|n| Check::new(&three[n], &keys[n]));
    assert!(firm.told(&[refused[0].clone(), refused[1].clone().with_cost(LIMIT)]).0);

    cluster.nodes()[masters[0]].freeze();
    // A refusal stands, whatever cannot be found out about the other rules of the call.
    let [given_back, refusing, unknown] = refused;
    let told = [(true, LIMIT - 1), (false, 0), (true, LIMIT)];
    for (checks, expected) in [
        ([given_back.clone(), refusing.clone(), unknown.clone()], told),
        ([refusing, unknown, given_back], [told[1], told[2], told[0]]),
    ] {
        let start = Instant::now();
        let (admitted, outcomes) = firm.told(&checks);
        assert!(!admitted);
        assert!(start.elapsed() < ms(600), "{:?}", start.elapsed());
        let told: Vec<_> = outcomes.iter().map(|o| (o.is_admitted(), o.remaining())).collect();
        assert_eq!(told, expected);
    }
    let (mut deadlines, mut at_once) = (0, 0);
    let start = Instant::now();
    while start.elapsed() < ms(800) {
        let call = Call::make(&brisk.limiter, &stopped);
        match call.told {
            Told::Failed(StoreError::Deadline { .. }) => deadlines += 1,
            Told::Failed(_) => at_once += 1,
            other => panic!("{other:?}"),
        }
        assert!(call.took < ms(50) + ms(200), "{:?}", call.took);
        let call = Call::make(&patient.limiter, &other);
        assert_eq!(call.told, Told::Admitted);
        assert!(call.took < ms(500), "{:?}", call.took);
    }
    assert!(deadlines <= 6, "{deadlines} calls have waited");
    assert!(at_once > deadlines, "{at_once} calls did not wait");
    // The others give it up, its replica takes over, and is found.
    cluster.settle();
    until(secs(3), "the replica serves", || {
        Call::make(&brisk.limiter, &stopped).told == Told::Admitted
    });
    cluster.nodes()[masters[0]].thaw();
    cluster.settle();
    assert!(matches!(Call::make(&patient.limiter, &other).told, Told::Admitted));
}
