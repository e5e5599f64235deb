//! The properties of section 5 of `tests/vectors/README.md`, for random calls on every algorithm.
//!
//! Clocks step back as well as on, costs are 0, small, or larger than the limit, and rates are from
//! one a day to ten million a second.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use ratelimit_runtime::__private::algo::{
    Answer, Arithmetic, FixedWindow, Flow, LeakyBucket, Resolution, SlidingCounter, SlidingLog,
    Timestamp, TokenBucket, hit,
};

const RESOLUTION: Resolution = Resolution::Micros;
const MS: i64 = 1_000;
/// Far from zero, as real clocks are.
const START: i64 = 1_790_000_000_000_000;

/// A limiter of one key.
#[derive(Clone)]
struct Cell<A: Arithmetic> {
    algorithm: A,
    state: Option<A::State>,
}

impl<A: Arithmetic> Cell<A> {
    fn new(algorithm: A) -> Self {
        Self { algorithm, state: None }
    }

    fn hit(&mut self, now: Timestamp, cost: u64) -> Answer {
        hit(&self.algorithm, &mut self.state, now, cost)
    }
}

/// A call: how much later than the one before (or earlier), and its cost.
#[derive(Clone, Copy, Debug)]
struct Call {
    step_us: i64,
    cost: u64,
}

fn calls(span_us: i64, limit: u64) -> impl Strategy<Value = Vec<Call>> {
    let step = prop_oneof![
        4 => Just(0),
        6 => 0..=span_us / 4,
        2 => 0..=span_us * 3,
        1 => -span_us / 3..=0,
        1 => -span_us * 4..=0,
    ];
    let cost = prop_oneof![2 => Just(0), 8 => 1..=3_u64, 3 => 1..=limit, 1 => Just(limit + 1)];
    vec((step, cost).prop_map(|(step_us, cost)| Call { step_us, cost }), 1..60)
}

/// The same calls on a clock that only goes on.
fn onward(calls: Vec<Call>) -> Vec<Call> {
    calls.into_iter().map(|call| Call { step_us: call.step_us.abs(), ..call }).collect()
}

/// A capacity and a rate, and calls that make sense for them.
fn with_flow() -> impl Strategy<Value = (Flow, Vec<Call>)> {
    const PERIODS: [u64; 5] = [1, 1_000_000, 7_000_000, 60_000_000, 86_400_000_000];
    let period = prop_oneof![4 => proptest::sample::select(&PERIODS[..]), 1 => 1..5_000_000_u64];
    let capacity = prop_oneof![1..20_u64, 1..5_000_u64];
    let permits = prop_oneof![1..10_u64, 1..10_000_u64];
    (capacity, permits, period).prop_flat_map(|(capacity, permits, period)| {
        let span = u128::from(capacity) * u128::from(period) / u128::from(permits);
        let calls = calls(i64::try_from(span).unwrap().max(10), capacity);
        (Just(Flow::new(capacity, permits, period, RESOLUTION)), calls)
    })
}

/// A limit, a window and a number of sub-windows, and calls that make sense for them.
fn with_window() -> impl Strategy<Value = ((u64, u64, u32), Vec<Call>)> {
    let window = prop_oneof![Just(1_000_000), Just(60_000_000), 10..3_000_000_u64];
    let parts = prop_oneof![Just(1), Just(10), 1..=100_u32];
    (prop_oneof![1..12_u64, 1..500_u64], window, parts).prop_flat_map(|numbers| {
        let (limit, window, _) = numbers;
        (Just(numbers), calls(i64::try_from(window).unwrap(), limit))
    })
}

/// Tests a property of each algorithm. `$calls` may change the calls first.
macro_rules! for_each_algorithm {
    ($property:ident, $calls:expr) => {
        mod $property {
            use super::*;
            proptest! {
                #[test]
                fn token_bucket((flow, calls) in with_flow()) {
                    super::$property(TokenBucket(flow), &$calls(calls))?;
                }
                #[test]
                fn leaky_bucket((flow, calls) in with_flow()) {
                    super::$property(LeakyBucket { flow, longest: None }, &$calls(calls))?;
                }
                #[test]
                fn fixed_window(((limit, window, _), calls) in with_window()) {
                    super::$property(FixedWindow::new(limit, window, RESOLUTION), &$calls(calls))?;
                }
                #[test]
                fn sliding_log(((limit, window, _), calls) in with_window()) {
                    super::$property(SlidingLog::new(limit, window, RESOLUTION), &$calls(calls))?;
                }
                #[test]
                fn sliding_counter(((limit, window, parts), calls) in with_window()) {
                    let counter = SlidingCounter::new(limit, window, parts, RESOLUTION);
                    super::$property(counter, &$calls(calls))?;
                }
            }
        }
    };
}

/// A peek sees a clock that is gone, and answers for the state as moved to the new clock, but moves
/// nothing. What a later look finds then is not what the peek spoke of, so these are left out.
const SEE_PEEKS: TestCaseResult = Ok(());

/// Looks at the limiter after every call.
fn after_each<A: Arithmetic>(
    algorithm: A,
    calls: &[Call],
    mut look: impl FnMut(&Cell<A>, Timestamp, u64, Answer) -> TestCaseResult,
) -> TestCaseResult {
    let (mut cell, mut now) = (Cell::new(algorithm), START);
    for call in calls {
        now += call.step_us;
        let answer = cell.hit(now, call.cost);
        look(&cell, now, call.cost, answer)?;
    }
    Ok(())
}

/// 2. Waiting as told leads to admission; one millisecond less does not.
fn waits_are_exact<A: Arithmetic<State: Clone> + Clone>(
    algorithm: A,
    calls: &[Call],
) -> TestCaseResult {
    after_each(algorithm, calls, |cell, now, cost, answer| {
        match answer.retry_after_ms {
            Some(0) => prop_assert!(answer.admitted),
            None => prop_assert!(cost > answer.limit),
            Some(ms) => {
                let ms = i64::try_from(ms).unwrap();
                prop_assert!(cell.clone().hit(now + ms * MS, cost).admitted);
                prop_assert!(!cell.clone().hit(now + (ms - 1) * MS, cost).admitted);
            }
        }
        Ok(())
    })
}
for_each_algorithm!(waits_are_exact, std::convert::identity);

/// 3. What remains is admitted at once; one more is not.
fn what_remains_is_there<A: Arithmetic<State: Clone> + Clone>(
    algorithm: A,
    calls: &[Call],
) -> TestCaseResult {
    after_each(algorithm, calls, |cell, now, _, answer| {
        prop_assert!(answer.remaining <= answer.limit);
        prop_assert!(cell.clone().hit(now, answer.remaining).admitted);
        prop_assert!(!cell.clone().hit(now, answer.remaining + 1).admitted);
        Ok(())
    })
}
for_each_algorithm!(what_remains_is_there, std::convert::identity);

/// The reset of section 2: from then on, and not one millisecond before, the key is as good as new.
fn resets_are_exact<A: Arithmetic<State: Clone> + Clone>(
    algorithm: A,
    calls: &[Call],
) -> TestCaseResult {
    after_each(algorithm, calls, |cell, now, cost, answer| {
        if cost == 0 {
            return SEE_PEEKS;
        }
        let ms = i64::try_from(answer.reset_after_ms).unwrap();
        let at_reset = cell.clone().hit(now + ms * MS, answer.limit);
        let fresh = Cell::new(cell.algorithm.clone()).hit(now + ms * MS, answer.limit);
        prop_assert_eq!(at_reset, fresh);
        prop_assert_eq!(cell.clone().hit(now + ms * MS, 0).reset_after_ms, 0);
        if ms > 0 {
            prop_assert!(cell.clone().hit(now + (ms - 1) * MS, 0).reset_after_ms > 0);
        }
        Ok(())
    })
}
for_each_algorithm!(resets_are_exact, std::convert::identity);

/// 5. Peeks and refused calls change nothing; but for a clock that is gone, which calls that only
///    go on never meet.
fn peeks_and_refusals_are_free<A: Arithmetic + Clone>(
    algorithm: A,
    calls: &[Call],
) -> TestCaseResult {
    let mut with = Cell::new(algorithm.clone());
    let mut without = Cell::new(algorithm);
    let mut now = START;
    for call in calls {
        now += call.step_us;
        let answer = with.hit(now, call.cost);
        with.hit(now, 0);
        with.hit(now, answer.remaining + 1);
        if answer.admitted && call.cost > 0 {
            prop_assert_eq!(without.hit(now, call.cost), answer);
        }
    }
    Ok(())
}
for_each_algorithm!(peeks_and_refusals_are_free, onward);

/// 6. Later never means less.
fn time_only_gives<A: Arithmetic<State: Clone> + Clone>(
    algorithm: A,
    calls: &[Call],
) -> TestCaseResult {
    after_each(algorithm, calls, |cell, now, cost, answer| {
        if cost == 0 {
            return SEE_PEEKS;
        }
        let mut least = answer.remaining;
        for step in [1, 7, 999, 1_000, 33_333, 1_000_000, 61_000_000] {
            let remaining = cell.clone().hit(now + step, 0).remaining;
            prop_assert!(remaining >= least, "{remaining} after {step} µs, {least} before");
            least = remaining;
        }
        Ok(())
    })
}
for_each_algorithm!(time_only_gives, std::convert::identity);

/// The calls that were admitted: when, and at what cost.
fn admitted<A: Arithmetic>(algorithm: A, calls: &[Call]) -> Vec<(i64, u64)> {
    let (mut cell, mut now) = (Cell::new(algorithm), START);
    let mut admitted = Vec::new();
    for call in calls {
        now += call.step_us;
        if cell.hit(now, call.cost).admitted {
            admitted.push((now, call.cost));
        }
    }
    admitted
}

/// The most that was admitted in a span that ends with a call, with or without its first instant.
fn most_in(admitted: &[(i64, u64)], span: i64, with_first: bool) -> u64 {
    let within =
        |end: i64, at: i64| at <= end && (at > end - span || with_first && at == end - span);
    let sum = |end| admitted.iter().filter(|(at, _)| within(end, *at)).map(|(_, cost)| cost).sum();
    admitted.iter().map(|(end, _)| sum(*end)).max().unwrap_or(0)
}

proptest! {
    /// 1. The two buckets give the same answers, but for the delay.
    #[test]
    fn buckets_agree((flow, calls) in with_flow()) {
        let mut token = Cell::new(TokenBucket(flow));
        let mut leaky = Cell::new(LeakyBucket { flow, longest: None });
        let mut now = START;
        for call in calls {
            now += call.step_us;
            let leaked = leaky.hit(now, call.cost);
            prop_assert_eq!(token.hit(now, call.cost), Answer { delay_ms: 0, ..leaked });
        }
    }

    /// 4. In a span of any length a bucket admits what fits in and what flows.
    #[test]
    fn bucket_bound((flow, calls) in with_flow(), span in 0..100_000_000_i64) {
        let admitted = admitted(TokenBucket(flow), &onward(calls));
        let most = u128::from(most_in(&admitted, span, true)) * u128::from(flow.units_per_permit);
        let flowed = u128::from(span.unsigned_abs()) * u128::from(flow.units_per_tick);
        prop_assert!(most <= flow.full() + flowed);
    }

    #[test]
    fn sliding_log_bound(((limit, window, _), calls) in with_window()) {
        let admitted = admitted(SlidingLog::new(limit, window, RESOLUTION), &onward(calls));
        prop_assert!(most_in(&admitted, i64::try_from(window).unwrap(), false) <= limit);
    }

    #[test]
    fn fixed_window_bound(((limit, window, _), calls) in with_window()) {
        let admitted = admitted(FixedWindow::new(limit, window, RESOLUTION), &onward(calls));
        let window = i64::try_from(window).unwrap();
        prop_assert!(most_in(&admitted, window, false) <= 2 * limit);
        // Each window, opened by the first call that finds none open.
        let (mut start, mut count) = (None, 0);
        for (at, cost) in admitted.into_iter().filter(|(_, cost)| *cost > 0) {
            if start.is_none_or(|start| at >= start + window) {
                (start, count) = (Some(at), 0);
            }
            count += cost;
            prop_assert!(count <= limit);
        }
    }

    /// Changed parameters: more never refuses what would have passed.
    #[test]
    fn more_is_never_less((flow, calls) in with_flow(), more in 0..50_u64, faster in 1..50_u64) {
        // The unit changes as well where the faster rate can be reduced.
        let raised = Flow::new(flow.capacity + more, flow.units_per_tick * faster, flow.units_per_permit, RESOLUTION);
        after_each(TokenBucket(flow), &calls, |cell, now, _, answer| {
            let mut cell = Cell { algorithm: TokenBucket(raised), state: cell.state };
            prop_assert!(cell.hit(now, answer.remaining).admitted);
            Ok(())
        })?;
        after_each(LeakyBucket { flow, longest: None }, &calls, |cell, now, _, answer| {
            let algorithm = LeakyBucket { flow: raised, longest: None };
            let mut cell = Cell { algorithm, state: cell.state };
            prop_assert!(cell.hit(now, answer.remaining).admitted);
            Ok(())
        })?;
    }

    /// A leaky bucket's longest delay is kept, and the wait for it is exact.
    #[test]
    fn delays_are_bounded((flow, calls) in with_flow(), longest_ms in 0..100_000_u64) {
        let bucket = LeakyBucket { flow, longest: None }.within_ms(longest_ms);
        let calls = onward(calls);
        after_each(bucket, &calls, |_, _, cost, answer| {
            prop_assert!(answer.delay_ms <= longest_ms || cost == 0);
            Ok(())
        })?;
        waits_are_exact(bucket, &calls)?;
    }
}
