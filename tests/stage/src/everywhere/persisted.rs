//! State without expiry.

use std::thread;

use ratelimit_kit::Check;
use redis::cmd;
use test_support::unique;

use super::Kept;
use crate::algorithms::{Kind, ms, rule, secs};
use crate::place::Place;
use crate::real_time::Watch;
use crate::stage::{block_on, told};

/// How often it is begun anew: a key lives for a second, and a busy machine may take longer than that to
/// look at it.
const ATTEMPTS: usize = 50;

/// A key that was made to stay for ever lets calls in again as if it had not been, and then
/// expires again.
pub fn persisted(place: Place<'_>) {
    thread::scope(|scope| {
        for kind in Kind::ALL {
            scope.spawn(move || {
                let heals = (0..ATTEMPTS).any(|_| heals(place, kind));
                assert!(heals, "{kind:?}: never looked at in time, in {ATTEMPTS} attempts");
            });
        }
    });
}

/// Whether it was seen; not if what lives for a second may have ended before it was looked at. Later on
/// it does not matter when exactly calls come: the server's clock says what each has to be told.
fn heals(place: Place<'_>, kind: Kind) -> bool {
    let prefix = unique("it");
    let limiter = place.limiter().prefix(&prefix).build().unwrap();
    block_on(limiter.ready()).unwrap();
    let mut watch = Watch::of(place.servers()[0]);
    let mut state = Kept::at(place, &prefix);
    let rule = rule(kind.recovering(2, secs(1)));
    let check = Check::new(&rule, "key");
    let admitted = || told(limiter.check_blocking(&check)).is_admitted();

    watch.stay_clear_of_multiples_of(secs(1), ms(400));
    let began = watch.now();
    let calls = [(); 3].map(|()| admitted());
    // Half of it is back after half a second.
    if watch.now() - began > ms(300) {
        return false;
    }
    assert_eq!(calls, [true, true, false], "{kind:?}");
    let keys = state.keys();
    let persisted: Vec<u8> = keys.iter().map(|key| state.ask(cmd("PERSIST").arg(key))).collect();
    if watch.now() - began > ms(900) {
        return false;
    }
    assert!(!keys.is_empty() && persisted.iter().all(|done| *done == 1), "{kind:?}");

    let persisted = watch.now();
    let latest = persisted + if kind == Kind::SlidingCounter { ms(2_100) } else { ms(1_100) };
    let mut first = None;
    while watch.now() < persisted + secs(3) || first.is_none() {
        let next = watch.now() + ms(100);
        let before = watch.now();
        if admitted() {
            first.get_or_insert(before);
            for key in state.keys() {
                // Where it took long to look, the key may have ended since.
                assert_ne!(state.pttl(&key), -1, "{kind:?}: {key}");
            }
        } else {
            assert!(first.is_some() || before <= latest, "{kind:?}: refused at {before:?}");
        }
        watch.wait_until(next);
    }
    true
}
