//! What the embedded store forgets: nothing that still matters. What Redis may forget is in
//! `tests/faults/eviction.rs`.

use ratelimit_kit::{Check, Clock, Limiter, ManualClock};
use test_stage::algorithms::{HOUR, Kind, rule};
use test_stage::stage::{ORIGIN, told};

/// A store that is full evicts no key that was called and is not as before: that would refill its quota.
#[test]
fn the_embedded_store_never_evicts_a_live_key() {
    const LIVE: u64 = 50;
    for kind in Kind::ALL {
        let clock = ManualClock::new();
        clock.set(ORIGIN);
        let limiter = Limiter::builder().max_keys(100).clock(Clock::Manual(clock.clone()));
        let limiter = limiter.build().unwrap();
        let (flooded, other) = (rule(kind.per(1, HOUR)), rule(kind.per(1, HOUR)));
        let admitted =
            |rule, key: u64| told(limiter.check_blocking(&Check::new(rule, key))).is_admitted();

        assert!((0..LIVE).all(|key| admitted(&flooded, key)), "{kind:?}");
        let strangers = (LIVE..10_000).filter(|key| admitted(&flooded, *key)).count();
        // Those that found a place, and one budget for all others.
        assert!(strangers < 100, "{kind:?}: {strangers}");
        assert!((0..LIVE).all(|key| !admitted(&flooded, key)), "{kind:?}: a live key was evicted");
        assert!(admitted(&other, 0), "{kind:?}: the flood of one rule took the places of another");

        // What is as before is no longer live. Two hours: a sliding counter remembers the window before.
        clock.set(ORIGIN + 2 * HOUR);
        assert!((0..LIVE).all(|key| admitted(&flooded, key)), "{kind:?}");
    }
}
