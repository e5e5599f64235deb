//! Nodes that die, and replicas that take their place.

use std::time::Instant;

use ratelimit_kit::{Check, Rule};
use test_support::{Cluster, Flavor, Server};

use crate::support::calls::{Call, Caller, Told};
use crate::support::ground::{Ground, LONG, alone, until};
use test_stage::algorithms::{HOUR, Kind, ms, rule, secs};

const MANY: u64 = 100_000;

fn many(ground: &Ground<'_>, node: usize) -> (Rule, String) {
    let rule = rule(Kind::TokenBucket.per(MANY, HOUR));
    let key = ground.key_on(&rule, node);
    (rule, key)
}

/// A replica takes over in good order: calls go on, and no limit is forgotten.
#[test]
fn a_failover_in_good_order_is_hardly_seen() {
    let _alone = alone();
    for flavor in [Flavor::Redis8, Flavor::Valkey8] {
        let cluster = Cluster::start(flavor);
        let ground = Ground::with(&cluster, |builder| builder.deadline(secs(2)));
        let masters = cluster.masters();
        let (rule, key) = many(&ground, masters[0]);
        let caller = Caller::start(&ground.limiter, vec![(rule.clone(), key.clone())], None);
        cluster.promote(cluster.replicas_of(masters[0])[0]);
        let back = ms(200);
        let start = Instant::now();
        until(LONG, "time passes", || start.elapsed() > back);
        let calls = caller.stop();
        // A call that was under way when the node changed its mind may be lost, and not a series.
        assert!(calls.failures().len() <= 3, "{:?}", calls.failures());
        assert!(calls.slowest() < secs(2), "{:?}", calls.slowest());
        let left = ground.peek(&Check::new(&rule, &key)).remaining();
        assert!(left >= MANY - u64::try_from(calls.0.len()).unwrap());
        assert!(left <= MANY - calls.admitted(), "{left} left after {}", calls.admitted());
    }
}

/// A master is killed. Calls to the others do not notice; calls to its slots are told so at once,
/// and are served as soon as the replica has taken over.
#[test]
fn a_killed_master_costs_its_own_slots_only() {
    let _alone = alone();
    // By default a cluster says that it is down as a whole until the replica has taken over.
    let options = Server::builder(Flavor::Installed).option("cluster-require-full-coverage", "no");
    let mut cluster = Cluster::of(&options);
    let masters = cluster.masters();
    let ground = Ground::on(&cluster);
    let (lost, kept) = (many(&ground, masters[0]), many(&ground, masters[1]));
    let limiter = ground.limiter.clone();

    let on_others = Caller::start(&limiter, vec![kept.clone()], None);
    let on_lost = Caller::start(&limiter, vec![lost.clone()], None);
    cluster.node(masters[0]).kill();
    let killed = Instant::now();
    cluster.settle();
    let promoted = Instant::now();
    assert!(!cluster.masters().contains(&masters[0]));
    let check = Check::new(&lost.0, &lost.1);
    until(secs(3), "the replica serves", || {
        Call::make(&limiter, std::slice::from_ref(&check)).told == Told::Admitted
    });
    let served = promoted.elapsed();
    let (on_others, on_lost) = (on_others.stop(), on_lost.stop());

    assert!(on_others.failures().is_empty(), "{:?}", on_others.failures());
    assert!(on_others.slowest() < secs(1), "{:?}", on_others.slowest());
    assert!(!on_lost.failures().is_empty());
    for call in on_lost.failures() {
        assert!(matches!(call.told, Told::Failed(_)), "{call:?}");
        assert!(call.at >= killed - secs(1));
    }
    // The limiter's deadline is ten seconds.
    assert!(on_lost.slowest() < secs(1), "{:?}", on_lost.slowest());
    assert!(served < secs(2), "{served:?} after all nodes agreed");
}

/// Without one master and its replica the cluster is down. That is said, at once, and it is over
/// when it is over.
#[test]
fn a_cluster_that_is_down_is_used_again() {
    let _alone = alone();
    let mut cluster = Cluster::start(Flavor::Installed);
    let masters = cluster.masters();
    let replica = cluster.replicas_of(masters[0])[0];
    let ground = Ground::on(&cluster);
    let (rule, key) = many(&ground, masters[1]);
    let limiter = ground.limiter.clone();
    let check = [Check::new(&rule, &key)];
    assert_eq!(Call::make(&limiter, &check).told, Told::Admitted);
    cluster.node(replica).kill();
    cluster.node(masters[0]).kill();
    let mut slowest = ms(0);
    until(LONG, "the cluster is down", || {
        let call = Call::make(&limiter, &check);
        slowest = slowest.max(call.took);
        call.told.failed_with("CLUSTERDOWN")
    });
    assert!(slowest < secs(1), "{slowest:?}");
    cluster.node(masters[0]).start_again();
    until(LONG, "the cluster is used again", || {
        Call::make(&limiter, &check).told == Told::Admitted
    });
}

/// With half a cluster that goes on, calls to the lost slots are told so until they are back.
#[test]
fn half_a_cluster_serves_its_half() {
    let _alone = alone();
    let options = Server::builder(Flavor::Redis8).option("cluster-require-full-coverage", "no");
    let mut cluster = Cluster::of(&options);
    let masters = cluster.masters();
    let replica = cluster.replicas_of(masters[0])[0];
    let ground = Ground::on(&cluster);
    let (lost, kept) = (many(&ground, masters[0]), many(&ground, masters[1]));
    let limiter = ground.limiter.clone();
    let (lost, kept) = ([Check::new(&lost.0, &lost.1)], [Check::new(&kept.0, &kept.1)]);
    cluster.node(replica).kill();
    cluster.node(masters[0]).kill();
    let start = Instant::now();
    while start.elapsed() < secs(5) {
        let call = Call::make(&limiter, &kept);
        assert_eq!(call.told, Told::Admitted);
        assert!(call.took < secs(1), "{:?}", call.took);
        let call = Call::make(&limiter, &lost);
        assert!(matches!(call.told, Told::Failed(_)), "{call:?}");
        assert!(call.took < secs(1), "{:?}", call.took);
    }
    cluster.node(masters[0]).start_again();
    until(secs(5), "all slots are served", || Call::make(&limiter, &lost).told == Told::Admitted);
}

/// One node forgets its scripts under load, and no call fails.
#[test]
fn one_node_forgets_its_scripts() {
    for flavor in Flavor::ALL {
        let ground = Ground::on(Cluster::shared(flavor));
        let masters = ground.cluster.masters();
        for kind in Kind::ALL {
            let rules = [0, 1].map(|_| rule(kind.per(MANY, HOUR)));
            let keys = [0, 1].map(|n| ground.key_on(&rules[n], masters[n]));
            let [a, b] = [0, 1].map(|n| Check::new(&rules[n], &keys[n]));
            for call in 1..=3 {
                ground.cluster.nodes()[masters[0]].command::<()>(&["SCRIPT", "FLUSH"]);
                let (admitted, outcomes) = ground.told(&[a.clone(), b.clone()]);
                assert!(admitted);
                assert!(outcomes.iter().all(|o| o.remaining() == MANY - call), "{outcomes:?}");
            }
        }
    }
}
