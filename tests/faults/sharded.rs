//! One address in front of many slots: a node in cluster mode that has all of them, as services with a
//! proxy in front of a cluster behave.

use ratelimit_kit::{Check, Decision, Limiter, RateLimitError, Rule};
use test_support::{Flavor, Reply, Server, Stub, unique};

use crate::support::calls::{Told, block_on, call, on, window};
use crate::support::wait::{secs, until};

/// Two users who may not ask about the cluster; one may not even ask what the server is.
const USERS: [(&str, &str); 2] =
    [("app", "~* &* +@all -cluster"), ("quiet", "~* &* +@all -cluster -info")];

fn sharded(flavor: Flavor) -> Server {
    let mut builder = Server::builder(flavor).option("cluster-enabled", "yes");
    for (name, rules) in USERS {
        builder = builder.user(name, "pw", rules);
    }
    let server = builder.start();
    server.command::<()>(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    until(secs(10), "the cluster is well", || {
        server.command::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok")
    });
    server
}

/// Whether a list was admitted, and what remains of each; anything but the server fails.
fn told(limiter: &Limiter, checks: &[Check<'_>]) -> (bool, Vec<(bool, u64)>) {
    let decision: Decision = match limiter.check_all_blocking(checks) {
        Ok(decision) => decision,
        Err(RateLimitError::Limited(refusal)) => refusal.decision().clone(),
        Err(error) => panic!("{error}"),
    };
    assert_eq!(decision.degraded(), None, "{:?}", decision.cause());
    let outcomes = decision.outcomes().iter().map(|o| (o.is_admitted(), o.remaining())).collect();
    (decision.is_admitted(), outcomes)
}

fn limiter(server: &Server, user: &str, prefix: &str) -> Limiter {
    let limiter = on(server.url_of(user, "pw")).prefix(prefix).build().unwrap();
    block_on(limiter.ready()).unwrap();
    limiter
}

#[test]
fn b132_one_address_in_front_of_many_slots() {
    for flavor in Flavor::ALL {
        let server = sharded(flavor);
        for (user, _) in USERS {
            let limiter = limiter(&server, user, &unique("sharded"));
            let (a, b): (Rule, Rule) = (window(10), window(3));
            for call in 0..11 {
                let (admitted, _) = told(&limiter, &[Check::new(&a, "alone")]);
                assert_eq!(admitted, call < 10);
            }
            for call in 0..5 {
                let checks = [Check::new(&a, format!("user-{call}")), Check::new(&b, "ip")];
                let (admitted, left) = told(&limiter, &checks);
                if call < 3 {
                    assert!(admitted);
                    assert_eq!(left, [(true, 9), (true, 2 - call)], "{user}");
                } else {
                    assert!(!admitted);
                    assert_eq!(left, [(true, 10), (false, 0)], "{user}");
                }
                // It was given back.
                let peek = block_on(limiter.peek(&checks[0])).unwrap();
                let expected = if call < 3 { 9 } else { 10 };
                assert_eq!(peek.outcomes()[0].remaining(), expected);
            }
        }
    }
}

/// What a group means does not depend on who found out what, nor on which call came first.
#[test]
fn a_group_is_one_slot_for_every_instance_and_a_reset_finds_its_key() {
    let server = sharded(Flavor::Installed);
    for (user, _) in USERS {
        let prefix = unique("sharded");
        let (a, b): (Rule, Rule) = (window(10), window(10));
        let checks = [Check::new(&a, "x").with_group("t"), Check::new(&b, "y").with_group("t")];
        let grouped = |limiter: &Limiter, n: usize| told(limiter, &checks[..n]).1;
        // One check, before anybody has met a refusal for two.
        let first = limiter(&server, user, &prefix);
        assert_eq!(grouped(&first, 1), [(true, 9)]);
        let second = limiter(&server, user, &prefix);
        assert_eq!(grouped(&second, 2), [(true, 8), (true, 9)], "{user}");
        assert_eq!(grouped(&first, 2), [(true, 7), (true, 8)], "{user}");
        let mut keys: Vec<String> = server.command(&["KEYS", &format!("{prefix}*")]);
        keys.sort();
        assert_eq!(keys.len(), 2, "{keys:?}");
        assert!(keys.iter().all(|key| key.starts_with(&format!("{prefix}:{{t}}:"))), "{keys:?}");
        // By one that has not asked anything yet.
        block_on(limiter(&server, user, &prefix).reset(&checks[0])).unwrap();
        assert_eq!(grouped(&second, 2), [(true, 9), (true, 7)], "{user}");
    }
}

/// A node that has a part of the slots only is one of a cluster whose others can be found: it is not asked
/// twice, and its error says how all of them are reached.
#[test]
fn a_node_with_a_part_of_the_slots_names_the_way_to_all_of_them() {
    let node = Stub::start(|words| match words[0].as_slice() {
        b"EVALSHA" => Reply::error("MOVED 1 127.0.0.1:1"),
        _ => Reply::Usual,
    });
    let limiter = on(node.url()).build().unwrap();
    let says = "another node of this cluster has the key; redis+cluster:// reaches all of them";
    let of_ready = block_on(limiter.ready()).unwrap_err().to_string();
    assert!(of_ready.ends_with(says), "{of_ready}");
    let asked = node.calls("EVALSHA").len();
    let Told::Failed(of_call) = call(&limiter, &window(5), "key") else { panic!("decided") };
    assert!(of_call.to_string().ends_with(says), "{of_call}");
    assert_eq!(node.calls("EVALSHA").len(), asked + 1);
}

/// Texts name no way that leads nowhere.
#[test]
fn errors_do_not_send_people_in_a_circle() {
    let server = sharded(Flavor::Installed);
    let url = server.url_of("app", "pw").replace("redis://", "redis+cluster://");
    let error = block_on(on(url).build().unwrap().ready()).unwrap_err().to_string();
    assert!(error.contains("NOPERM"), "{error}");
    let alone = Server::shared(Flavor::Installed);
    let url = alone.url().replace("redis://", "redis+cluster://");
    let error = block_on(on(url).build().unwrap().ready()).unwrap_err().to_string();
    assert!(error.contains("reached by redis://"), "{error}");
    let hides = Stub::start(|words| match words[0].as_slice() {
        b"CLUSTER" => Reply::error("ERR unknown command 'CLUSTER'"),
        _ => Reply::Usual,
    });
    let url = hides.url().replace("redis://", "redis+cluster://");
    let error = block_on(on(url).build().unwrap().ready()).unwrap_err().to_string();
    assert!(error.contains("reached by redis://"), "{error}");
}
