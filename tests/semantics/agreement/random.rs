//! Rules, costs and changes at random, with many that are near an edge.

use std::time::Duration;

use fastrand::Rng;
use ratelimit_kit::{Algorithm, Rate};
use ratelimit_runtime::__private::algo::{MAX_COUNT, MAX_LOG};

use test_stage::algorithms::{Kind, secs};

/// The last instant of all calls: a bit less than the 2^53 µs to which scripts can count.
pub(crate) const LAST: Duration = secs(8_000_000_000);

/// The longest span that a clock is moved at once.
pub(crate) const LONGEST: Duration = secs(10 * 365 * 86_400);

/// How much of a rule a call may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The limit of a window. This moves no instant at which a key is as good as new.
    Limit,
    /// All but the unit in which a bucket counts.
    WithinTheUnit,
    /// All.
    Any,
}

pub(crate) fn algorithm(rng: &mut Rng, kind: Kind) -> Algorithm {
    match kind {
        Kind::TokenBucket => Algorithm::TokenBucket { capacity: count(rng), refill: rate(rng) },
        Kind::LeakyBucket => Algorithm::LeakyBucket { capacity: count(rng), leak: rate(rng) },
        Kind::FixedWindow => Algorithm::FixedWindow { limit: count(rng), window: span(rng) },
        Kind::SlidingLog => {
            Algorithm::SlidingLog { limit: count(rng).min(MAX_LOG), window: span(rng) }
        }
        Kind::SlidingCounter => Algorithm::SlidingCounter {
            limit: count(rng),
            window: span(rng),
            sub_windows: parts(rng),
        },
    }
}

/// The time after which a key is as good as new, if that is not too long.
pub(crate) fn recovery(algorithm: Algorithm) -> Duration {
    let micros = match algorithm {
        Algorithm::TokenBucket { capacity, refill: rate }
        | Algorithm::LeakyBucket { capacity, leak: rate } => {
            rate.period().as_micros() * u128::from(capacity) / u128::from(rate.permits())
        }
        Algorithm::FixedWindow { window, .. } | Algorithm::SlidingLog { window, .. } => {
            window.as_micros()
        }
        Algorithm::SlidingCounter { window, sub_windows, .. } => {
            window.as_micros() * u128::from(sub_windows + 1) / u128::from(sub_windows)
        }
        other => panic!("what is {other:?}?"),
    };
    u64::try_from(micros).map_or(LONGEST, Duration::from_micros).min(LONGEST)
}

/// The same algorithm with other numbers.
pub(crate) fn changed(rng: &mut Rng, algorithm: Algorithm, change: Change) -> Algorithm {
    let limit = match rng.u8(..8) {
        0 => 0,
        1..4 => algorithm.limit(),
        4 => algorithm.limit().saturating_mul(2).min(MAX_LOG),
        _ => rng.u64(..=algorithm.limit()),
    };
    let new_rate = |rng: &mut Rng, old: Rate| match change {
        Change::Any => rate(rng),
        Change::Limit => old,
        Change::WithinTheUnit => {
            let new = Rate::new(old.permits() * rng.choice([1, 3, 7, 11]).unwrap(), old.period());
            if same_unit(old, new) { new } else { old }
        }
    };
    let new_span = |rng: &mut Rng, old: Duration| match (change, rng.u8(..4)) {
        (Change::Limit, _) | (_, 2..) => old,
        (_, 0) => span(rng),
        (_, 1) => old * 2,
    };
    match algorithm {
        Algorithm::TokenBucket { .. } | Algorithm::LeakyBucket { .. }
            if change == Change::Limit =>
        {
            algorithm
        }
        Algorithm::TokenBucket { refill, .. } => {
            Algorithm::TokenBucket { capacity: limit, refill: new_rate(rng, refill) }
        }
        Algorithm::LeakyBucket { leak, .. } => {
            Algorithm::LeakyBucket { capacity: limit, leak: new_rate(rng, leak) }
        }
        Algorithm::FixedWindow { window, .. } => {
            Algorithm::FixedWindow { limit, window: new_span(rng, window) }
        }
        Algorithm::SlidingLog { window, .. } => {
            Algorithm::SlidingLog { limit, window: new_span(rng, window) }
        }
        Algorithm::SlidingCounter { window, sub_windows, .. } => Algorithm::SlidingCounter {
            limit,
            window: new_span(rng, window),
            sub_windows: match change {
                Change::WithinTheUnit if rng.bool() => parts(rng),
                _ => sub_windows,
            },
        },
        other => panic!("what is {other:?}?"),
    }
}

/// Mostly little, sometimes nothing, all, or more than there ever is.
pub(crate) fn cost(rng: &mut Rng, limit: u64) -> u64 {
    match rng.u8(..16) {
        0 | 1 => 0,
        2..10 => rng.u64(1..=3),
        10..14 => rng.u64(..=limit),
        14 => limit,
        _ => rng.choice([limit + 1, u64::MAX]).unwrap(),
    }
}

/// Small counts, larger ones, and the largest.
fn count(rng: &mut Rng) -> u64 {
    match rng.u8(..10) {
        0..6 => rng.u64(1..20),
        6..9 => rng.u64(1..5_000),
        _ => rng.choice([1_000_000_000_000_000, MAX_COUNT - 1, MAX_COUNT]).unwrap(),
    }
}

/// From one a day to ten million a second.
fn rate(rng: &mut Rng) -> Rate {
    let permits = match rng.u8(..10) {
        0..6 => rng.u64(1..10),
        6..9 => rng.u64(1..10_000),
        _ => 10_000_000,
    };
    Rate::new(permits, span(rng))
}

/// Round times, and any.
fn span(rng: &mut Rng) -> Duration {
    let round = [1, 1_000, 1_000_000, 7_000_000, 60_000_000, 3_600_000_000, 86_400_000_000];
    let micros = if rng.bool() { rng.choice(round).unwrap() } else { rng.u64(1..5_000_000) };
    Duration::from_micros(micros)
}

fn parts(rng: &mut Rng) -> u32 {
    match rng.u8(..4) {
        0 => 1,
        1 => 10,
        _ => rng.u32(1..=100),
    }
}

/// Whether a bucket of both rates counts in the same unit, in microseconds and in nanoseconds.
fn same_unit(a: Rate, b: Rate) -> bool {
    let unit = |rate: Rate, ticks: u128| ticks / gcd(u128::from(rate.permits()), ticks);
    [a.period().as_micros(), a.period().as_nanos()]
        .into_iter()
        .zip([b.period().as_micros(), b.period().as_nanos()])
        .all(|(ticks_a, ticks_b)| unit(a, ticks_a) == unit(b, ticks_b))
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
