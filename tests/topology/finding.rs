//! How the nodes of a cluster are found, and who has which slots.

use std::net::TcpListener;
use std::time::Instant;

use ratelimit_kit::{Check, StoreError};
use test_support::{Cluster, Flavor, Server};

use crate::support::calls::{Call, Told};
use crate::support::ground::{Ground, alone, told_all, until};
use test_stage::algorithms::{HOUR, Kind, rule, secs};
use test_stage::stage::{block_on, on};

/// One node that answers is enough to find them all, whatever the others that are named do.
#[test]
fn the_first_node_that_answers_tells_of_all() {
    let cluster = Cluster::shared(Flavor::Installed);
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let hole = hole.local_addr().unwrap();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let node = cluster.nodes()[5].port();
    let url = format!("redis+cluster://{nobody},{hole},{hole},127.0.0.1:{node}");
    let start = Instant::now();
    let limiter = on(url).connect_timeout(secs(5)).build().unwrap();
    block_on(limiter.ready()).unwrap();
    assert!(start.elapsed() < secs(2), "{:?}", start.elapsed());
    for _ in 0..20 {
        let rule = rule(Kind::FixedWindow.per(5, HOUR));
        assert!(told_all(limiter.check_all_blocking(&[Check::new(&rule, "key")])).0);
    }
}

/// While no node answers, one call after the other does not wait for that.
#[test]
fn a_cluster_that_is_not_there_is_not_waited_for() {
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis+cluster://{}", hole.local_addr().unwrap());
    let limiter = on(url).connect_timeout(secs(3)).build().unwrap();
    let rule = rule(Kind::FixedWindow.per(5, HOUR));
    let start = Instant::now();
    for _ in 0..5 {
        let call = Call::make(&limiter, &[Check::new(&rule, "key")]);
        assert!(matches!(call.told, Told::Failed(StoreError::Connection { .. })), "{call:?}");
    }
    assert!(start.elapsed() < secs(1), "{:?}", start.elapsed());
    let error = block_on(limiter.ready()).unwrap_err();
    assert!(error.to_string().contains("timed out"), "{error}");
}

/// A server that is alone, and a node that is taken for one, are told apart.
#[test]
fn the_wrong_kind_of_address_is_named() {
    for flavor in Flavor::ALL {
        let port = Server::shared(flavor).port();
        let limiter = on(format!("redis+cluster://127.0.0.1:{port}")).build().unwrap();
        let error = block_on(limiter.ready()).unwrap_err().to_string();
        assert!(error.contains(&port.to_string()) && error.contains("redis://"), "{error}");

        let ground = Ground::on(Cluster::shared(flavor));
        let node = ground.cluster.masters()[0];
        let rule = rule(Kind::FixedWindow.per(5, HOUR));
        let limiter = on(ground.cluster.nodes()[node].url()).build().unwrap();
        let errors: Vec<Told> = (0..20)
            .map(|n| Call::make(&limiter, &[Check::new(&rule, n.to_string())]).told)
            .filter(|told| *told != Told::Admitted)
            .collect();
        let Some(Told::Failed(error)) = errors.first() else { panic!("{errors:?}") };
        assert!(error.to_string().contains("redis+cluster://"), "{error}");
    }
}

/// Nodes need not know their own address: it is the one at which they were reached.
#[test]
fn nodes_that_do_not_know_their_host() {
    let _alone = alone();
    let options = Server::builder(Flavor::Redis8)
        .option("cluster-preferred-endpoint-type", "unknown-endpoint");
    let cluster = Cluster::of(&options);
    let ground = Ground::on(&cluster);
    let masters = cluster.masters();
    for master in &masters {
        let rule = rule(Kind::FixedWindow.per(5, HOUR));
        let key = ground.key_on(&rule, *master);
        let check = [Check::new(&rule, &key)];
        assert!(ground.told(&check).0);
        // Sent on, by MOVED and by ASK.
        let slot = ground.slot(&rule, &key);
        let to = masters.iter().copied().find(|node| node != master).unwrap();
        let resharding = cluster.reshard(slot, to);
        while resharding.move_keys(1) > 0 {}
        assert!(ground.told(&check).0);
        resharding.finish();
        assert_eq!(ground.told(&check).1[0].remaining(), 2);
    }
}

/// Nodes that send calls to and fro are left alone soon; a slot that nobody has is looked for, and
/// found when somebody has it.
#[test]
fn nodes_that_do_not_agree() {
    let _alone = alone();
    let options = Server::builder(Flavor::Installed).option("cluster-require-full-coverage", "no");
    let cluster = Cluster::of(&options);
    let ground = Ground::on(&cluster);
    let rule = rule(Kind::FixedWindow.per(5, HOUR));
    let (slot, check) = (ground.slot(&rule, "key").to_string(), [Check::new(&rule, "key")]);
    let masters = cluster.masters();
    let owner = cluster.owner(ground.slot(&rule, "key"));
    let other = masters.into_iter().find(|node| *node != owner).unwrap();
    let [owner, other] = [owner, other].map(|node| &cluster.nodes()[node]);
    let [owner_id, other_id] =
        [owner, other].map(|node| node.command::<String>(&["CLUSTER", "MYID"]));

    let failing = |limiter, when: &str| {
        let call = Call::make(limiter, &check);
        assert!(matches!(call.told, Told::Failed(StoreError::Server { .. })), "{when}: {call:?}");
        assert!(call.took < secs(1), "{when}: {call:?}");
    };
    // Each of the two says that it is the other.
    owner.command::<()>(&["CLUSTER", "SETSLOT", &slot, "NODE", &other_id]);
    failing(&ground.limiter, "to and fro");
    owner.command::<()>(&["CLUSTER", "SETSLOT", &slot, "NODE", &owner_id]);
    until(secs(3), "they agree", || Call::make(&ground.limiter, &check).told == Told::Admitted);

    // Whoever hears of it from the owner takes it up again, so the owner comes first.
    let forget = |node: &Server| node.try_command::<()>(&["CLUSTER", "DELSLOTS", &slot]).is_ok();
    assert!(forget(owner));
    until(secs(5), "nobody has it", || {
        // All of them, each time.
        cluster.nodes().iter().filter(|node| forget(node)).count() == 0
    });
    let new = on(cluster.url()).prefix(&ground.prefix).build().unwrap();
    block_on(new.ready()).unwrap();
    for limiter in [&ground.limiter, &new] {
        failing(limiter, "nobody has it");
    }
    owner.command::<()>(&["CLUSTER", "ADDSLOTS", &slot]);
    for limiter in [&ground.limiter, &new] {
        until(secs(3), "it is found", || Call::make(limiter, &check).told == Told::Admitted);
    }
}

/// Every master has all scripts before the first call, and a replica that was promoted too.
#[test]
fn masters_have_the_scripts_before_a_call() {
    let scripts_on = |server: &Server| {
        let mut words = vec!["SCRIPT", "EXISTS"];
        words.extend(ratelimit_lua::ALL.iter().map(|script| script.sha1));
        server.command::<Vec<bool>>(&words).into_iter().filter(|exists| *exists).count()
    };
    let all = ratelimit_lua::ALL.len();
    let _alone = alone();
    let cluster = Cluster::start(Flavor::Installed);
    let ground = Ground::on(&cluster);
    let masters = cluster.masters();
    for master in &masters {
        assert_eq!(scripts_on(&cluster.nodes()[*master]), all);
    }
    let replica = cluster.replicas_of(masters[0])[0];
    let rule = rule(Kind::FixedWindow.per(50, HOUR));
    let key = ground.key_on(&rule, masters[0]);
    cluster.promote(replica);
    until(secs(10), "the replica decides", || {
        let before = cluster.nodes()[replica].calls("evalsha");
        let call = Call::make(&ground.limiter, &[Check::new(&rule, &key)]);
        call.told == Told::Admitted && cluster.nodes()[replica].calls("evalsha") > before
    });
    assert_eq!(scripts_on(&cluster.nodes()[replica]), all);
}
