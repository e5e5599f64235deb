//! State without expiry.

use std::thread;

use ratelimit_kit::Check;
use redis::cmd;

use super::Kept;
use crate::algorithms::{Kind, ms, rule, secs};
use crate::place::Place;
use crate::real_time::{Late, Schedule, on_schedule_at};
use crate::stage::told;

/// A key that was made to stay for ever lets calls in again as if it had not been, and then
/// expires again.
pub(crate) fn persisted(place: Place<'_>) {
    thread::scope(|scope| {
        for kind in Kind::ALL {
            scope.spawn(move || on_schedule_at(place, |redis| of_kind(redis, place, kind)));
        }
    });
}

fn of_kind(redis: &mut Schedule, place: Place<'_>, kind: Kind) -> Result<(), Late> {
    let mut state = Kept::at(place, &redis.prefix);
    let rule = rule(kind.recovering(2, secs(1)));
    redis.watch.stay_clear_of_multiples_of(secs(1), ms(200));
    redis.begin_with(|limiter| {
        let calls =
            [(); 3].map(|()| told(limiter.check_blocking(&Check::new(&rule, "key"))).allowed());
        assert_eq!(calls, [true, true, false], "{kind:?}");
    })?;
    redis.begin_with(|_| {
        let keys = state.keys();
        assert!(!keys.is_empty());
        for key in &keys {
            assert_eq!(state.ask::<u8>(cmd("PERSIST").arg(key)), 1, "{kind:?}");
        }
    })?;

    let mut first = None;
    for t in (100..=3_000).step_by(100) {
        redis.at(t);
        if redis.admits(&rule, 1)? == 1 {
            first.get_or_insert(t);
            for key in state.keys() {
                assert!(state.pttl(&key) > 0, "{kind:?} at {t}: {key}");
            }
        }
    }
    let latest = if kind == Kind::SlidingCounter { 2_100 } else { 1_100 };
    assert!(first.is_some_and(|first| first <= latest), "{kind:?}: first at {first:?}");
    Ok(())
}
