//! To look and to reset on a cluster, where rules lie apart.

use ratelimit_kit::{Check, LimitKey};
use test_support::{Cluster, Flavor, unique};

use crate::support::ground::Ground;
use test_stage::algorithms::{HOUR, Kind, rule};
use test_stage::stage::{block_on, only, told};

/// A look at rules in many slots charges none of them, and says what the call then gets.
#[test]
fn f41_a_peek_at_many_slots_charges_nothing() {
    for flavor in Flavor::ALL {
        let ground = Ground::on(Cluster::shared(flavor));
        let rules = Kind::ALL.map(|kind| rule(kind.per(5, HOUR)));
        let checks = rules.each_ref().map(|rule| Check::new(rule, "key").with_cost(2));
        for left in [5, 3, 1] {
            let looks = [(); 2].map(|()| block_on(ground.limiter.peek_all(&checks)).unwrap());
            for look in looks {
                assert_eq!(look.is_admitted(), left >= 2, "{look:?}");
                assert!(look.outcomes().iter().all(|outcome| outcome.remaining() == left));
                let waits = look.outcomes().iter().map(ratelimit_kit::Outcome::retry_after);
                assert!(
                    waits
                        .clone()
                        .all(|wait| wait.is_some_and(|wait| wait.is_zero()) == (left >= 2))
                );
            }
            let (admitted, _) = ground.told(&checks);
            assert_eq!(admitted, left >= 2);
        }
    }
}

/// A group is a part of what is limited, and so of what is reset.
#[test]
fn f43_a_reset_on_a_cluster_says_whether_there_was_anything() {
    let ground = Ground::on(Cluster::shared(Flavor::Installed));
    for kind in Kind::ALL {
        let rule = rule(kind.per(1, HOUR));
        let group = unique("group");
        let plain = ground.limiter.limit(&rule, "key");
        let grouped = plain.clone().with_group(&group);
        for (used, other) in [(&plain, &grouped), (&grouped, &plain)] {
            assert!(told(block_on(used.check())).is_admitted());
            assert!(!block_on(other.reset()).unwrap(), "{kind:?}");
            let look = block_on(used.peek()).unwrap();
            assert_eq!(only(look.outcomes()).remaining(), 0, "{kind:?}");
            assert!(block_on(used.reset()).unwrap() && !block_on(used.reset()).unwrap());
            assert!(block_on(used.check()).is_ok());
            assert!(block_on(used.reset()).unwrap(), "{kind:?}");
        }
        assert!(!block_on(ground.limiter.limit(&rule, LimitKey::whole_rule()).reset()).unwrap());
    }
}
