//! Rules of one call that lie together.

use std::collections::BTreeSet;

use ratelimit_kit::{Check, Rule};
use test_support::{Cluster, Flavor, unique};

use crate::support::ground::Ground;
use crate::support::monitor::Monitor;
use test_stage::algorithms::{HOUR, Kind, rule};
use test_stage::stage::{on, told};

fn rules() -> [Rule; 5] {
    Kind::ALL.map(|kind| rule(kind.per(5, HOUR)))
}

/// A group puts all rules of a call into one slot, and one script decides them.
#[test]
fn a_group_is_one_script_call() {
    for flavor in Flavor::ALL {
        let ground = Ground::on(Cluster::shared(flavor));
        let rules = rules();
        let group = unique("group {of} one");
        let checks = rules.each_ref().map(|rule| Check::new(rule, "key").with_group(&group));
        let masters = ground.cluster.masters();
        // The script is there, and is not counted.
        assert!(ground.told(&checks).0);
        let monitors: Vec<Monitor<'_>> =
            masters.iter().map(|node| Monitor::start(&ground.cluster.nodes()[*node])).collect();
        let (admitted, outcomes) = ground.told(&checks);
        let word = rules[0].name();
        let calls: Vec<String> =
            monitors.into_iter().flat_map(|monitor| monitor.stop(word)).collect();
        assert!(admitted);
        assert!(outcomes.iter().all(|outcome| outcome.remaining() == 3), "{outcomes:?}");
        assert_eq!(calls.len(), 1, "{calls:?}");
        assert!(calls[0].contains("\"EVALSHA\""), "{calls:?}");
    }
}

/// Without one they are decided where they lie.
#[test]
fn without_a_group_rules_lie_apart() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    let rules = [(); 20].map(|()| rule(Kind::TokenBucket.per(5, HOUR)));
    let checks = rules.each_ref().map(|rule| Check::new(rule, "key"));
    let slots: BTreeSet<u16> = rules.iter().map(|rule| ground.slot(rule, "key")).collect();
    assert!(slots.len() > 10, "{slots:?}");
    let (admitted, outcomes) = ground.told(&checks);
    assert!(admitted);
    assert!(outcomes.iter().all(|outcome| outcome.remaining() == 4), "{outcomes:?}");
}

/// A list of a group is decided as on one server: nothing is charged and given back.
#[test]
fn a_refusal_of_a_group_charges_nothing() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    let [first, .., last] = rules();
    let group = unique("group");
    let [first, last] = [&first, &last].map(|rule| Check::new(rule, "key").with_group(&group));
    assert!(ground.told(&[last.clone().with_cost(5)]).0);
    let (admitted, outcomes) = ground.told(&[first.clone(), last]);
    assert!(!admitted);
    let told: Vec<_> = outcomes.iter().map(|o| (o.is_admitted(), o.remaining())).collect();
    assert_eq!(told, [(true, 5), (false, 0)]);
    assert_eq!(ground.peek(&first).remaining(), 5);
}

/// Services that share a cluster share no budgets, and no name of one puts its keys into one slot.
#[test]
fn b161_services_on_a_cluster() {
    let cluster = Cluster::shared(Flavor::Installed);
    let prefix = unique("services");
    let of = |service: &str| on(cluster.url()).prefix(&*prefix).service(service).build().unwrap();
    let window = |limit| Rule::new("login", Kind::FixedWindow.per(limit, HOUR));
    let calls = |service: &str, limit: u64, calls: usize| {
        let (limiter, rule) = (of(service), window(limit));
        let check = Check::new(&rule, "alice").with_group("people");
        let outcomes = (0..calls).map(|_| told(limiter.check_blocking(&check)));
        outcomes.map(|outcome| (outcome.is_admitted(), outcome.remaining())).collect::<Vec<_>>()
    };
    assert_eq!(calls("mail", 1_000, 5).last(), Some(&(true, 995)));
    assert_eq!(calls("shop", 3, 4), [(true, 2), (true, 1), (true, 0), (false, 0)]);
    assert_eq!(calls("shop", 3, 1), [(false, 0)]);
    assert_eq!(calls("", 1_000, 1), [(true, 999)]);

    let (limiter, rule) = (of("{x}"), window(5));
    for key in 0..300 {
        let check = Check::new(&rule, key.to_string());
        assert!(told(limiter.check_blocking(&check)).is_admitted());
    }
    for master in cluster.masters() {
        let pattern = format!("{prefix}:%7Bx%7D:login:*");
        let keys: Vec<String> = cluster.nodes()[master].command(&["KEYS", &pattern]);
        assert!(!keys.is_empty(), "node {master} has none of 300");
    }
}
