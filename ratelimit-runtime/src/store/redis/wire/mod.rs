//! The algorithms as Redis sees them: in key names, in the arguments of scripts and in their replies.
//! `ratelimit-lua` describes the layout.
//!
//! Each algorithm has a file that implements [`Wire`]. `algorithms!` below is called with all of their names,
//! and the compiler says what is missing.

mod argument;
mod bucket;
mod fixed_window;
mod leaky_bucket;
mod numbers;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

use ratelimit_lua::Script;

use self::argument::Argument;
pub(super) use self::numbers::Numbers;
use crate::algo::{
    Answer, Arithmetic, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, Timestamp,
    TokenBucket, Verdict,
};
use crate::error::StoreError;
use crate::rule::{Algorithm, Plan};

/// What is particular about one algorithm.
trait Wire: Arithmetic {
    /// The algorithm and the version of its state, in key names: no version reads what another one has
    /// written, even while old and new instances run side by side.
    const TAG: &'static str;

    /// The algorithm in an argument. In upper case for a shadow check.
    const LETTER: u8;

    /// The script that decides a single check.
    const SCRIPT: &'static Script;

    /// The capacity or limit.
    fn limit(&self) -> u64;

    /// Adds the numbers of an argument that follow the cost.
    fn encode(&self, argument: &mut Argument);

    /// Rebuilds the state that a reply tells of; `None` if the key is not in use.
    fn state(
        &self,
        numbers: Numbers<'_>,
        verdict: Verdict,
    ) -> Result<Option<Self::State>, StoreError>;
}

/// Makes everything that depends on which algorithms there are.
macro_rules! algorithms {
    ($($name:ident)*) => {
        /// The tags of all algorithms.
        pub(super) const TAGS: &[&str] = &[$(<$name as Wire>::TAG),*];

        /// The tag of an algorithm.
        pub(super) const fn tag(algorithm: Algorithm) -> &'static str {
            match algorithm {
                $(Algorithm::$name { .. } => <$name as Wire>::TAG),*
            }
        }

        /// The script that decides a single check.
        pub(super) const fn script(plan: &Plan) -> &'static Script {
            match plan {
                $(Plan::$name(_) => <$name as Wire>::SCRIPT),*
            }
        }

        /// A check as the argument of a script.
        pub(super) fn argument(plan: &Plan, cost: u64, is_shadow: bool) -> Argument {
            match plan {
                $(Plan::$name(algorithm) => argument_of(algorithm, cost, is_shadow)),*
            }
        }

        /// Whether a call of this cost would be admitted, as far as the reply to another one tells.
        pub(super) fn admits(
            plan: &Plan,
            numbers: Numbers<'_>,
            now: Timestamp,
            cost: u64,
        ) -> Result<bool, StoreError> {
            match plan {
                $(Plan::$name(algorithm) => admits_by(algorithm, numbers, now, cost)),*
            }
        }

        /// The answer to a check.
        pub(super) fn answer(
            plan: &Plan,
            numbers: Numbers<'_>,
            now: Timestamp,
            verdict: Verdict,
        ) -> Result<Answer, StoreError> {
            match plan {
                $(Plan::$name(algorithm) => answer_of(algorithm, numbers, now, verdict)),*
            }
        }
    };
}

algorithms!(TokenBucket LeakyBucket FixedWindow SlidingLog SlidingCounter);

fn argument_of<W: Wire>(algorithm: &W, cost: u64, is_shadow: bool) -> Argument {
    let letter = if is_shadow { W::LETTER.to_ascii_uppercase() } else { W::LETTER };
    let mut argument = Argument::new(letter);
    // Anything above the limit is refused, so one above it says enough.
    argument.add(cost.min(algorithm.limit().saturating_add(1)));
    algorithm.encode(&mut argument);
    argument
}

fn admits_by<W: Wire>(
    algorithm: &W,
    numbers: Numbers<'_>,
    now: Timestamp,
    cost: u64,
) -> Result<bool, StoreError> {
    let admitted = Verdict { cost, admitted: true, charged: false };
    Ok(algorithm.admits(algorithm.state(numbers, admitted)?.as_ref(), now, cost))
}

fn answer_of<W: Wire>(
    algorithm: &W,
    numbers: Numbers<'_>,
    now: Timestamp,
    verdict: Verdict,
) -> Result<Answer, StoreError> {
    Ok(algorithm.answer(algorithm.state(numbers, verdict)?.as_ref(), now, verdict))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::{Argument, TAGS, argument, tag};
    use crate::algo::{MAX_COUNT, Resolution};
    use crate::rule::{Algorithm, Plan, Rate};

    const SECOND: Duration = Duration::from_secs(1);

    const ALGORITHMS: [Algorithm; 5] = [
        Algorithm::TokenBucket { capacity: 1, refill: Rate::per_second(1) },
        Algorithm::LeakyBucket { capacity: 1, leak: Rate::per_second(1) },
        Algorithm::FixedWindow { limit: 1, window: SECOND },
        Algorithm::SlidingLog { limit: 1, window: SECOND },
        Algorithm::SlidingCounter { limit: 1, window: SECOND, sub_windows: 1 },
    ];

    fn plan(algorithm: Algorithm) -> Plan {
        Plan::new(algorithm, Resolution::Micros).unwrap()
    }

    fn is(argument: &Argument, letter: u8, numbers: &[u64]) {
        let mut expected = Argument::new(letter);
        for number in numbers {
            expected.add(*number);
        }
        assert_eq!(argument, &expected);
    }

    #[test]
    fn a_token_bucket_is_in_lowest_terms() {
        let refill = Rate::per_minute(100);
        let plan = plan(Algorithm::TokenBucket { capacity: 20, refill });
        // 1 token is 600,000 parts, of which every microsecond brings one.
        is(&argument(&plan, 3, false), b't', &[3, 20, 1, 600_000, 12_000_000]);
    }

    #[test]
    fn a_recovery_that_takes_forever_is_cut() {
        let refill = Rate::per_day(1);
        let plan = plan(Algorithm::TokenBucket { capacity: MAX_COUNT, refill });
        is(&argument(&plan, 1, false), b't', &[1, MAX_COUNT, 1, 86_400_000_000, MAX_COUNT]);
    }

    #[test]
    fn a_recovery_is_rounded_down() {
        let plan = plan(Algorithm::TokenBucket { capacity: 1, refill: Rate::per_second(3) });
        is(&argument(&plan, 1, false), b't', &[1, 1, 3, 1_000_000, 333_333]);
    }

    #[test]
    fn a_leaky_bucket_without_a_longest_delay_takes_any_queue() {
        let plan = plan(Algorithm::LeakyBucket { capacity: 4, leak: Rate::per_second(2) });
        is(&argument(&plan, 1, false), b'l', &[1, 4, 1, 500_000, 2_000_000, 4, 0]);
    }

    #[test]
    fn a_longest_delay_is_a_queue_depth() {
        let leaky = Algorithm::LeakyBucket { capacity: 4, leak: Rate::per_second(2) };
        let Plan::LeakyBucket(bucket) = plan(leaky) else { panic!() };
        for (ms, queue, queue_parts) in
            [(0, 0, 0), (700, 1, 200_000), (2_000, 4, 0), (2_100, 4, 0), (u64::MAX, 4, 0)]
        {
            let plan = Plan::LeakyBucket(bucket.within_ms(ms));
            let numbers = [1, 4, 1, 500_000, 2_000_000, queue, queue_parts];
            is(&argument(&plan, 1, false), b'l', &numbers);
        }
    }

    #[test]
    fn windows_are_in_microseconds() {
        let window = Duration::from_millis(1_500);
        let fixed = plan(Algorithm::FixedWindow { limit: 7, window });
        is(&argument(&fixed, 2, false), b'f', &[2, 7, 1_500_000]);
        let log = plan(Algorithm::SlidingLog { limit: 7, window });
        is(&argument(&log, 2, false), b's', &[2, 7, 1_500_000]);
        let counter = plan(Algorithm::SlidingCounter { limit: 7, window, sub_windows: 10 });
        is(&argument(&counter, 2, false), b'c', &[2, 7, 1_500_000, 10]);
    }

    #[test]
    fn shadows_are_in_upper_case() {
        for (algorithm, letter) in ALGORITHMS.into_iter().zip(*b"TLFSC") {
            assert_eq!(argument(&plan(algorithm), 1, true).as_bytes().first(), Some(&letter));
        }
    }

    #[test]
    fn costs_above_the_limit_are_one_above_it() {
        let window = Duration::from_secs(1);
        let plan = plan(Algorithm::FixedWindow { limit: MAX_COUNT, window });
        is(&argument(&plan, u64::MAX, false), b'f', &[MAX_COUNT + 1, MAX_COUNT, 1_000_000]);
        is(&argument(&plan, MAX_COUNT, false), b'f', &[MAX_COUNT, MAX_COUNT, 1_000_000]);
    }

    #[test]
    fn no_two_algorithms_have_one_tag_or_letter() {
        let letters =
            ALGORITHMS.map(|algorithm| argument(&plan(algorithm), 1, false).as_bytes()[0]);
        let tags = ALGORITHMS.map(tag);
        assert_eq!(tags, *TAGS);
        assert_eq!(HashSet::from(letters).len(), ALGORITHMS.len());
        assert_eq!(HashSet::from(tags).len(), ALGORITHMS.len());
    }
}
