//! The embedded store beside `governor`, in one interleaved run.
//!
//! `cargo bench -p benches --bench embedded` prints the tables of `docs/performance.md`.

#![allow(clippy::print_stdout, reason = "prints its tables")]

mod rounds;

use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::middleware::NoOpMiddleware;
use governor::{Quota, RateLimiter};
use ratelimit_kit::store::{Embedded, Store};
use ratelimit_kit::{Algorithm, Check, Limiter, Rate, Rule};

use self::rounds::{Case, table};

const KEYS: usize = 100_000;
const WINDOW: Duration = Duration::from_mins(1);
/// So much that no call of a run is refused.
const PLENTY: u64 = 1_000_000_000;

/// So slow that no key recovers and is forgotten during a run: governor forgets none either.
const SLOW: Rate = Rate::per_second(1);

static TOKEN: Rule =
    Rule::new("token_bucket", Algorithm::TokenBucket { capacity: PLENTY, refill: SLOW });
static LEAKY: Rule =
    Rule::new("leaky_bucket", Algorithm::LeakyBucket { capacity: PLENTY, leak: SLOW });
static FIXED: Rule =
    Rule::new("fixed_window", Algorithm::FixedWindow { limit: PLENTY, window: WINDOW });
static COUNTER: Rule = Rule::new(
    "sliding_counter",
    Algorithm::SlidingCounter { limit: PLENTY, window: WINDOW, sub_windows: 1 },
);
static LOG: Rule = Rule::new("sliding_log", Algorithm::SlidingLog { limit: 20, window: WINDOW });
static NEVER: Rule = Rule::new(
    "refused",
    Algorithm::TokenBucket { capacity: 1, refill: Rate::new(1, Duration::from_hours(24)) },
);

fn main() {
    let keys: Vec<String> = (0..KEYS).map(|i| format!("user-{:012}", i * 7_919)).collect();
    let quota = |burst| Quota::per_second(nonzero(1_000_000)).allow_burst(nonzero(burst));
    let governor = RateLimiter::<String, _, _, NoOpMiddleware>::dashmap(quota(1_000_000_000));
    let never = RateLimiter::<String, _, _, NoOpMiddleware>::dashmap(
        Quota::with_period(Duration::from_hours(24)).unwrap_or_else(|| quota(1)),
    );
    // One for each rule, so that all of its keys have places, and no table is larger than another.
    let stores: [Embedded; 6] = std::array::from_fn(|_| Embedded::new());
    let [token, leaky, fixed, counter, log, refused] = &stores;
    let limiter = Limiter::builder().build().ok();

    let ask_governor = |key: &String| drop(black_box(governor.check_key(key)));
    let ask_store = |store, rule| {
        let (store, rule): (&Embedded, &'static Rule) = (store, rule);
        move |key: &String| drop(black_box(store.decide_now(&[Check::new(rule, key.as_str())])))
    };
    let ask_limiter = |key: &String| {
        let limiter = limiter.as_ref();
        let check = Check::new(&TOKEN, key.as_str());
        drop(black_box(limiter.map(|limiter| limiter.check_blocking(&check))));
    };
    let hot = || 0;
    let random = || fastrand::usize(..KEYS);

    for threads in [1, 2] {
        table(
            &format!("One hot key, {threads} thread(s)"),
            threads,
            &[
                Case::new("governor, keyed", &keys, hot, &ask_governor),
                Case::new("store, token bucket", &keys, hot, &ask_store(token, &TOKEN)),
                Case::new("limiter, token bucket", &keys, hot, &ask_limiter),
            ],
        );
        table(
            &format!("{KEYS} random keys, {threads} thread(s)"),
            threads,
            &[
                Case::new("governor, keyed", &keys, random, &ask_governor),
                Case::new("store, token bucket", &keys, random, &ask_store(token, &TOKEN)),
                Case::new("limiter, token bucket", &keys, random, &ask_limiter),
                Case::new("store, leaky bucket", &keys, random, &ask_store(leaky, &LEAKY)),
                Case::new("store, fixed window", &keys, random, &ask_store(fixed, &FIXED)),
                Case::new("store, sliding counter", &keys, random, &ask_store(counter, &COUNTER)),
                Case::new("store, sliding log of 20", &keys, random, &ask_store(log, &LOG)),
            ],
        );
    }
    table(
        "One hot key, refused, 1 thread",
        1,
        &[
            Case::new("governor, keyed", &keys, hot, &|key: &String| {
                drop(black_box(never.check_key(key)));
            }),
            Case::new("store, token bucket", &keys, hot, &ask_store(refused, &NEVER)),
        ],
    );
}

fn nonzero(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}
