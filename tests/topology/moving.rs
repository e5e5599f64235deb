//! Slots that move while calls go on.

use ratelimit_kit::{Check, Rule};
use test_support::{Cluster, Flavor, unique};

use crate::support::calls::{Call, Caller};
use crate::support::ground::{Ground, alone, until};
use test_stage::algorithms::{HOUR, Kind, rule, secs};

/// More than any test uses.
const MANY: u64 = 100_000;

/// A master that does not have the slot.
fn another(cluster: &Cluster, slot: u16) -> usize {
    let owner = cluster.owner(slot);
    cluster.masters().into_iter().find(|node| *node != owner).unwrap()
}

/// Calls follow their key wherever it is: not moved yet, moved, new, and at home elsewhere.
#[test]
fn a_call_follows_its_key() {
    let _alone = alone();
    for flavor in Flavor::ALL {
        let cluster = Cluster::start(flavor);
        let ground = Ground::on(&cluster);
        let rules = Kind::ALL.map(|kind| rule(kind.per(5, HOUR)));
        let group = unique("group");
        let check = |rule| Check::new(rule, "key").with_group(&group);
        let left = |expected: u64, when: &str| {
            for rule in &rules {
                let (admitted, outcomes) = ground.told(&[check(rule)]);
                assert!(admitted);
                assert_eq!(outcomes[0].remaining(), expected, "{when}: {rule:?}");
            }
        };
        left(4, "at home");
        let slot = cluster.slot(&format!("{{{group}}}"));
        let (from, to) = (cluster.owner(slot), another(&cluster, slot));
        let resharding = cluster.reshard(slot, to);
        left(3, "nothing has moved");
        assert_eq!(resharding.move_keys(2), 2);
        left(2, "some keys have moved");
        // A new key is made where the slot goes, and a script that is not there is uploaded.
        cluster.nodes()[to].command::<()>(&["SCRIPT", "FLUSH"]);
        let new = rule(Kind::FixedWindow.per(MANY, HOUR));
        assert_eq!(ground.told(&[check(&new)]).1[0].remaining(), MANY - 1);
        while resharding.move_keys(10) > 0 {}
        left(1, "all keys have moved");
        resharding.finish();
        left(0, "the slot has moved");
        assert_eq!(ground.told(&[check(&new)]).1[0].remaining(), MANY - 2);
        // The map is known: nothing is sent to where the slot was.
        let moved = || {
            let errors: String = cluster.nodes()[from].command(&["INFO", "errorstats"]);
            errors.lines().find(|line| line.starts_with("errorstat_MOVED")).map(str::to_owned)
        };
        until(secs(5), "calls go to the new owner at once", || {
            let before = moved();
            (0..3).for_each(|_| drop(ground.told(&[check(&new)])));
            moved() == before
        });
    }
}

/// Rules of a group whose keys are on both sides are decided as soon as they are together; until
/// then nobody can, and nothing is charged.
#[test]
fn a_group_on_both_sides_waits_for_its_slot() {
    let _alone = alone();
    let cluster = Cluster::start(Flavor::Installed);
    let ground = Ground::on(&cluster);
    let rules = Kind::ALL.map(|kind| rule(kind.per(MANY, HOUR)));
    let group = unique("group");
    let checks = rules.each_ref().map(|rule| Check::new(rule, "key").with_group(&group));
    assert!(ground.told(&checks).0);
    let slot = cluster.slot(&format!("{{{group}}}"));
    let resharding = cluster.reshard(slot, another(&cluster, slot));
    assert_eq!(resharding.move_keys(2), 2);
    let call = Call::make(&ground.limiter, &checks);
    assert!(call.told.failed_with("TRYAGAIN"), "{call:?}");
    assert!(call.took < secs(1), "{:?}", call.took);
    // Each of them alone can be decided.
    for check in &checks {
        assert_eq!(ground.peek(check).remaining(), MANY - 1);
    }

    let pairs = rules.iter().map(|rule| (rule.clone(), "key".to_owned())).collect();
    let caller = Caller::start(&ground.limiter, pairs, Some(group.clone()));
    resharding.finish();
    until(secs(5), "the group is decided where it is now", || ground.told(&checks).0);
    let calls = caller.stop();
    for call in calls.failures() {
        assert!(call.told.failed_with("TRYAGAIN"), "{call:?}");
    }
    let charged = calls.admitted() + 2;
    for check in &checks {
        assert_eq!(ground.peek(check).remaining(), MANY - charged);
    }
}

/// Slots go to and fro under load, and every call is admitted and charged once.
#[test]
fn resharding_under_load_loses_and_doubles_nothing() {
    const SLOTS: usize = 6;
    const ROUNDS: usize = 10;
    let _alone = alone();
    let cluster = Cluster::start(Flavor::Installed);
    let ground = Ground::on(&cluster);
    let rules: Vec<Rule> =
        Kind::ALL.into_iter().cycle().take(SLOTS).map(|kind| rule(kind.per(MANY, HOUR))).collect();
    let callers: Vec<Caller> = rules
        .iter()
        .map(|rule| {
            let alone = vec![(rule.clone(), "key".to_owned())];
            Caller::start(&ground.limiter, alone, None)
        })
        .collect();
    // All in one call as well, each in another slot.
    let together: Vec<_> = rules.iter().map(|rule| (rule.clone(), "key".to_owned())).collect();
    let together = Caller::start(&ground.limiter, together, None);
    for _ in 0..ROUNDS {
        for rule in &rules {
            let slot = ground.slot(rule, "key");
            cluster.reshard(slot, another(&cluster, slot)).finish();
        }
    }
    let together = together.stop();
    assert!(together.failures().is_empty(), "{:?}", together.failures());
    assert!(together.0.len() > 20, "{}", together.0.len());
    for (caller, rule) in callers.into_iter().zip(&rules) {
        let calls = caller.stop();
        assert!(calls.failures().is_empty(), "{:?}", calls.failures());
        assert!(calls.slowest() < secs(2), "{:?}", calls.slowest());
        let charged = calls.admitted() + together.admitted();
        assert_eq!(ground.peek(&Check::new(rule, "key")).remaining(), MANY - charged, "{rule:?}");
    }
}
