//! A cluster comes up, is disturbed, and comes to rest again.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use redis::cluster::{ClusterClient, ClusterConnection};
use test_support::{Cluster, Flavor, Server, unique};

fn connect(cluster: &Cluster) -> ClusterConnection {
    ClusterClient::new(cluster.urls()).unwrap().get_connection().unwrap()
}

fn set(connection: &mut ClusterConnection, key: &str, value: u32) {
    redis::cmd("SET").arg(key).arg(value).exec(connection).unwrap();
}

fn get(connection: &mut ClusterConnection, key: &str) -> Option<u32> {
    redis::cmd("GET").arg(key).query(connection).unwrap()
}

/// What a client is told who goes on to no other node.
fn told(node: &Server, words: &[&str]) -> String {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(*word);
    }
    let result = command.query::<redis::Value>(&mut node.connect());
    result.map_or_else(|e| e.code().unwrap_or_default().to_owned(), |_| "OK".to_owned())
}

#[test]
fn keys_are_spread_over_three_masters_with_a_replica_each() {
    for flavor in Flavor::ALL {
        let cluster = Cluster::shared(flavor);
        assert_eq!(cluster.masters().len(), 3);
        let mut connection = connect(cluster);
        let stem = unique("spread");
        for number in 0..60 {
            let key = format!("{stem}-{number}");
            set(&mut connection, &key, number);
            assert_eq!(get(&mut connection, &key), Some(number));
        }
        for master in cluster.masters() {
            assert!(cluster.nodes()[master].command::<usize>(&["DBSIZE"]) >= 5);
            let replicas = cluster.replicas_of(master);
            assert_eq!(replicas.len(), 1);
            assert_eq!(cluster.nodes()[replicas[0]].info("role"), "slave");
        }
    }
}

#[test]
fn the_owner_of_a_key_has_it() {
    let cluster = Cluster::shared(Flavor::Installed);
    let key = unique("owned");
    let owner = cluster.owner(cluster.slot(&key));
    for master in cluster.masters() {
        let answer = told(&cluster.nodes()[master], &["SET", &key, "1"]);
        assert_eq!(answer, if master == owner { "OK" } else { "MOVED" });
    }
}

#[test]
fn a_slot_moves_in_steps() {
    for flavor in Flavor::ALL {
        let cluster = Cluster::start(flavor);
        let slot = cluster.slot("{tag}");
        let from = cluster.owner(slot);
        let to = cluster.masters().into_iter().find(|node| *node != from).unwrap();
        let mut connection = connect(&cluster);
        for number in 0..10 {
            set(&mut connection, &format!("{{tag}}{number}"), number);
        }

        let resharding = cluster.reshard(slot, to);
        assert_eq!((resharding.from(), resharding.to()), (from, to));
        let old = &cluster.nodes()[from];
        assert_eq!(told(old, &["GET", "{tag}new"]), "ASK");
        assert_eq!(resharding.move_keys(4), 4);
        let in_slot = |node: usize| {
            let slot = slot.to_string();
            cluster.nodes()[node].command::<usize>(&["CLUSTER", "COUNTKEYSINSLOT", &slot])
        };
        assert_eq!((in_slot(from), in_slot(to)), (6, 4));
        let everything: Vec<String> = (0..10).map(|number| format!("{{tag}}{number}")).collect();
        let mut words = vec!["MGET"];
        words.extend(everything.iter().map(String::as_str));
        assert_eq!(told(old, &words), "TRYAGAIN");
        for number in 0..10 {
            assert_eq!(get(&mut connection, &format!("{{tag}}{number}")), Some(number));
        }

        resharding.finish();
        assert_eq!((in_slot(from), in_slot(to)), (0, 10));
        assert_eq!(told(old, &["GET", "{tag}1"]), "MOVED");
        assert_eq!(cluster.owner(slot), to);
        for number in 0..10 {
            assert_eq!(get(&mut connection, &format!("{{tag}}{number}")), Some(number));
        }
    }
}

// A test of its own for each: they wait most of the time, and can do so together.

#[test]
fn replicas_of_the_installed_redis_take_over() {
    replicas_take_over_in_good_order_and_without(Flavor::Installed);
}

#[test]
fn replicas_of_redis_8_take_over() {
    replicas_take_over_in_good_order_and_without(Flavor::Redis8);
}

#[test]
fn replicas_of_valkey_8_take_over() {
    replicas_take_over_in_good_order_and_without(Flavor::Valkey8);
}

fn replicas_take_over_in_good_order_and_without(flavor: Flavor) {
    let mut cluster = Cluster::start(flavor);
    let slot = cluster.slot("key");
    let master = cluster.owner(slot);
    let replica = cluster.replicas_of(master)[0];
    set(&mut connect(&cluster), "key", 1);

    cluster.promote(replica);
    assert_eq!(cluster.owner(slot), replica);
    assert_eq!(cluster.replicas_of(replica), [master]);
    assert_eq!(get(&mut connect(&cluster), "key"), Some(1));

    cluster.node(replica).kill();
    cluster.settle();
    assert_eq!(cluster.owner(slot), master);
    assert_eq!(get(&mut connect(&cluster), "key"), Some(1));

    cluster.node(replica).start_again();
    cluster.settle();
    assert_eq!(cluster.replicas_of(master), [replica]);
}

#[test]
fn the_replica_of_a_frozen_master_takes_over() {
    let cluster = Cluster::start(Flavor::Installed);
    let master = cluster.masters()[0];
    let replica = cluster.replicas_of(master)[0];
    cluster.nodes()[master].freeze();
    cluster.settle();
    assert!(cluster.masters().contains(&replica));
    cluster.nodes()[master].thaw();
    cluster.settle();
    assert_eq!(cluster.replicas_of(replica), [master]);
}

#[test]
fn nodes_can_have_a_login() {
    let cluster = Cluster::of(&Server::builder(Flavor::Redis8).login("app", "w0rd"));
    let mut connection = connect(&cluster);
    set(&mut connection, "{tag}key", 1);
    let slot = cluster.slot("{tag}key");
    let to = cluster.masters().into_iter().find(|node| *node != cluster.owner(slot)).unwrap();
    cluster.reshard(slot, to).finish();
    cluster.promote(cluster.replicas_of(to)[0]);
    assert_eq!(get(&mut connect(&cluster), "{tag}key"), Some(1));
}

#[test]
fn nodes_have_the_options_that_they_are_given() {
    let cluster = Cluster::of(&Server::builder(Flavor::Valkey8).option("maxmemory", "50mb"));
    for node in cluster.nodes() {
        assert_eq!(node.info("maxmemory"), (50 << 20).to_string());
    }
}
