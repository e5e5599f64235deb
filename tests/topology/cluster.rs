//! What holds on one server holds on a cluster, and keys are spread over it.

use futures_util::future::join_all;
use ratelimit_kit::{Check, Rate};
use test_support::{Cluster, Flavor, Link, unique};

use crate::support::ground::Ground;
use test_stage::algorithms::{rule, secs, sliding_counter, token_bucket};
use test_stage::everywhere::{foreign, persisted, shifted, shifted_node};
use test_stage::place::Place;
use test_stage::stage::{block_on, told};

/// Braces in what a user says neither break a call nor choose the node that decides it.
#[test]
fn b024_braces_in_user_input_on_cluster() {
    for flavor in Flavor::ALL {
        let ground = Ground::on(Cluster::shared(flavor));
        for algorithm in [sliding_counter(2, secs(60)), token_bucket(2, Rate::per_minute(2))] {
            let few = rule(algorithm);
            for id in ["}{", "{}", "{", "}", "a{b}c", "user}1", "{x}", "{{y}}", "{}z"] {
                let calls = [(); 3].map(|()| {
                    told(ground.limiter.check_blocking(&Check::new(&few, id))).is_admitted()
                });
                assert_eq!(calls, [true, true, false], "{id}");
            }
            let name = unique("many");
            let many = ratelimit_kit::Rule::named(name.clone(), algorithm);
            let ids: Vec<String> = (0..3_000).map(|number| format!("{{x}}:{number}")).collect();
            let checks: Vec<Check<'_>> = ids.iter().map(|id| Check::new(&many, id)).collect();
            let calls = block_on(join_all(checks.iter().map(|check| ground.limiter.check(check))));
            assert!(calls.into_iter().all(|call| told(call).is_admitted()));
            for master in ground.cluster.masters() {
                let keys: Vec<String> =
                    ground.cluster.nodes()[master].command(&["KEYS", &format!("*{name}:*")]);
                assert!(keys.len() >= 600, "{} of 3,000 keys are on one master", keys.len());
            }
        }
    }
}

#[test]
fn b045_a_state_key_without_expiry_heals_itself() {
    persisted(Place::cluster());
}

#[test]
fn b051_a_foreign_or_damaged_value_under_a_state_key() {
    foreign(Place::cluster());
}

#[test]
fn b053_nodes_with_different_clocks() {
    match Link::attach() {
        Some(link) => shifted_node(link),
        None => shifted("cluster::b053_nodes_with_different_clocks", Place::cluster()),
    }
}
