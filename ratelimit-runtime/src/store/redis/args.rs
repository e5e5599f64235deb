//! A check as an argument of a script. `ratelimit-lua` describes the layout.

use smallvec::SmallVec;

use crate::algo::{Flow, LeakyBucket, MAX_COUNT, Plan, SlidingCounter, TokenBucket};

/// A kind and at most seven numbers.
pub(super) type Argument = SmallVec<[u8; 64]>;

/// The argument for a call of this cost.
pub(super) fn encode(plan: &Plan, cost: u64, shadow: bool) -> Argument {
    let kind = if shadow { kind(plan).to_ascii_uppercase() } else { kind(plan) };
    // Costs are of any size, and what is above the limit is refused in any case.
    let cost = |limit: u64| cost.min(limit.saturating_add(1));
    match *plan {
        Plan::TokenBucket(TokenBucket(flow)) => {
            let Flow { capacity, gain, unit, .. } = flow;
            pack(kind, &[cost(capacity), capacity, gain, unit, recovery(&flow)])
        }
        Plan::LeakyBucket(LeakyBucket { flow, longest }) => {
            let Flow { capacity, gain, unit, .. } = flow;
            let (line, line_parts) = permits(&flow, longest.unwrap_or(flow.full()));
            let recovery = recovery(&flow);
            pack(kind, &[cost(capacity), capacity, gain, unit, recovery, line, line_parts])
        }
        Plan::FixedWindow(window) => pack(kind, &[cost(window.limit), window.limit, window.window]),
        Plan::SlidingLog(log) => pack(kind, &[cost(log.limit), log.limit, log.window]),
        Plan::SlidingCounter(SlidingCounter { limit, grid, .. }) => {
            pack(kind, &[cost(limit), limit, grid.window, grid.parts.into()])
        }
    }
}

/// The letter of an algorithm.
const fn kind(plan: &Plan) -> u8 {
    match plan {
        Plan::TokenBucket(_) => b't',
        Plan::LeakyBucket(_) => b'l',
        Plan::FixedWindow(_) => b'f',
        Plan::SlidingLog(_) => b's',
        Plan::SlidingCounter(_) => b'c',
    }
}

/// In how many microseconds a bucket recovers in full, rounded down.
fn recovery(flow: &Flow) -> u64 {
    let ticks = flow.full() / u128::from(flow.gain.max(1));
    u64::try_from(ticks).map_or(MAX_COUNT, |ticks| ticks.min(MAX_COUNT))
}

/// An amount, at most the full capacity, as whole permits and parts of one more.
fn permits(flow: &Flow, amount: u128) -> (u64, u64) {
    let unit = u128::from(flow.unit.max(1));
    let amount = amount.min(flow.full());
    let parts = u64::try_from(amount % unit).unwrap_or(0);
    (u64::try_from(amount / unit).unwrap_or(flow.capacity), parts)
}

fn pack(kind: u8, numbers: &[u64]) -> Argument {
    let mut argument = Argument::new();
    argument.push(kind);
    for number in numbers {
        argument.extend_from_slice(&number.to_le_bytes());
    }
    argument
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Argument, encode, pack};
    use crate::algo::{MAX_COUNT, Plan, Resolution};
    use crate::rule::{Algorithm, Rate};

    fn plan(algorithm: Algorithm) -> Plan {
        Plan::new(algorithm, Resolution::Micros).unwrap()
    }

    fn is(argument: &Argument, kind: u8, numbers: &[u64]) {
        assert_eq!(argument, &pack(kind, numbers));
    }

    #[test]
    fn a_token_bucket_is_in_lowest_terms() {
        let refill = Rate::per_minute(100);
        let plan = plan(Algorithm::TokenBucket { capacity: 20, refill });
        // 1 token is 600,000 parts, of which every microsecond brings one.
        is(&encode(&plan, 3, false), b't', &[3, 20, 1, 600_000, 12_000_000]);
    }

    #[test]
    fn a_recovery_that_takes_forever_is_cut() {
        let refill = Rate::per_day(1);
        let plan = plan(Algorithm::TokenBucket { capacity: MAX_COUNT, refill });
        is(&encode(&plan, 1, false), b't', &[1, MAX_COUNT, 1, 86_400_000_000, MAX_COUNT]);
    }

    #[test]
    fn a_recovery_is_rounded_down() {
        let plan = plan(Algorithm::TokenBucket { capacity: 1, refill: Rate::per_second(3) });
        is(&encode(&plan, 1, false), b't', &[1, 1, 3, 1_000_000, 333_333]);
    }

    #[test]
    fn a_leaky_bucket_without_a_longest_delay_takes_any_line() {
        let plan = plan(Algorithm::LeakyBucket { capacity: 4, leak: Rate::per_second(2) });
        is(&encode(&plan, 1, false), b'l', &[1, 4, 1, 500_000, 2_000_000, 4, 0]);
    }

    #[test]
    fn a_longest_delay_is_a_line() {
        let leaky = Algorithm::LeakyBucket { capacity: 4, leak: Rate::per_second(2) };
        let Plan::LeakyBucket(bucket) = plan(leaky) else { panic!() };
        for (ms, line, line_parts) in
            [(0, 0, 0), (700, 1, 200_000), (2_000, 4, 0), (2_100, 4, 0), (u64::MAX, 4, 0)]
        {
            let plan = Plan::LeakyBucket(bucket.within_ms(ms));
            let numbers = [1, 4, 1, 500_000, 2_000_000, line, line_parts];
            is(&encode(&plan, 1, false), b'l', &numbers);
        }
    }

    #[test]
    fn windows_are_in_microseconds() {
        let window = Duration::from_millis(1_500);
        let fixed = plan(Algorithm::FixedWindow { limit: 7, window });
        is(&encode(&fixed, 2, false), b'f', &[2, 7, 1_500_000]);
        let log = plan(Algorithm::SlidingLog { limit: 7, window });
        is(&encode(&log, 2, false), b's', &[2, 7, 1_500_000]);
        let counter = plan(Algorithm::SlidingCounter { limit: 7, window, sub_windows: 10 });
        is(&encode(&counter, 2, false), b'c', &[2, 7, 1_500_000, 10]);
    }

    #[test]
    fn shadows_are_in_upper_case() {
        let window = Duration::from_secs(1);
        let refill = Rate::per_second(1);
        for (algorithm, kind) in [
            (Algorithm::TokenBucket { capacity: 1, refill }, b'T'),
            (Algorithm::LeakyBucket { capacity: 1, leak: refill }, b'L'),
            (Algorithm::FixedWindow { limit: 1, window }, b'F'),
            (Algorithm::SlidingLog { limit: 1, window }, b'S'),
            (Algorithm::SlidingCounter { limit: 1, window, sub_windows: 1 }, b'C'),
        ] {
            assert_eq!(encode(&plan(algorithm), 1, true).first(), Some(&kind));
        }
    }

    #[test]
    fn costs_above_the_limit_are_one_above_it() {
        let window = Duration::from_secs(1);
        let plan = plan(Algorithm::FixedWindow { limit: MAX_COUNT, window });
        is(&encode(&plan, u64::MAX, false), b'f', &[MAX_COUNT + 1, MAX_COUNT, 1_000_000]);
        is(&encode(&plan, MAX_COUNT, false), b'f', &[MAX_COUNT, MAX_COUNT, 1_000_000]);
    }
}
