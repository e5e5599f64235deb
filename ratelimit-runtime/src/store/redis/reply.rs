//! From the reply of a script to answers. `ratelimit-lua` describes the layout.

use std::iter;

use redis::Value;
use smallvec::SmallVec;

use crate::algo::{
    Answer, Arithmetic, CounterState, Grid, Instant, LeakyState, LogState, MAX_COUNT,
    MAX_SUB_WINDOWS, Plan, Resolution, TokenState, Verdict, WindowState,
};
use crate::error::StoreError;
use crate::rule::Check;
use crate::store::{Answers, Charges};

type Result<T> = core::result::Result<T, StoreError>;

/// The answers to checks, from the reply to their call.
pub(super) fn answers(reply: &Value, checks: &[Check<'_>]) -> Result<Answers> {
    let records = records(reply, checks.len())?;
    // A check that admits is charged if all that are enforced do.
    let charge =
        checks.iter().zip(&records).all(|(check, record)| record.admitted || check.is_shadow());
    let answers = checks.iter().zip(&records).map(|(check, record)| {
        let (cost, allowed) = (check.cost(), record.admitted);
        let verdict = Verdict { cost, allowed, charged: charge && allowed && cost > 0 };
        record.answer(&check.plan(Resolution::Micros)?, verdict)
    });
    answers.collect()
}

/// For each check that was charged, the instant at which it was: what giving it back needs.
pub(super) fn charges(reply: &Value, checks: &[Check<'_>]) -> Result<Charges> {
    let records = records(reply, checks.len())?;
    let charge =
        checks.iter().zip(&records).all(|(check, record)| record.admitted || check.is_shadow());
    let instant = |(check, record): (&Check<'_>, &Record<'_>)| {
        // Every state begins with it.
        let charged = charge && record.admitted && check.cost() > 0;
        let first = record.state.0.first().filter(|_| charged);
        first.copied().map(Instant::from_le_bytes)
    };
    Ok(checks.iter().zip(&records).map(instant).collect())
}

/// The answer to a check that was not sent, from the reply to a look: to the same check with a cost
/// of 0. The wait for a place in a log is what is certainly enough.
pub(super) fn looked(reply: &Value, check: &Check<'_>) -> Result<Answer> {
    let records = records(reply, 1)?;
    records.first().ok_or(StoreError::Reply)?.as_asked(check)
}

/// The answers to checks, from the reply to a [look](super::script::look) at what they would get.
pub(super) fn foreseen(reply: &Value, checks: &[Check<'_>]) -> Result<Answers> {
    // Behind them is what keeps them from being charged.
    let records = records(reply, checks.len() + 1)?;
    let answers = checks.iter().zip(&records).map(|(check, record)| {
        let verdict = Verdict { cost: check.cost(), allowed: record.admitted, charged: false };
        record.answer(&check.plan(Resolution::Micros)?, verdict)
    });
    answers.collect()
}

/// The answer to a check of whose state nothing is known: as if it had none.
pub(super) fn unused(check: &Check<'_>) -> Result<Answer> {
    Record { admitted: true, now: 0, state: State(&[]) }.as_asked(check)
}

/// What a script says about one check.
struct Record<'r> {
    admitted: bool,
    now: Instant,
    state: State<'r>,
}

/// The numbers of a state, not yet read.
#[derive(Clone, Copy)]
struct State<'r>(&'r [[u8; 8]]);

/// The record of a single check, or a list of them.
fn records(reply: &Value, len: usize) -> Result<SmallVec<[Record<'_>; 1]>> {
    match reply {
        Value::BulkString(bytes) if len == 1 => iter::once(Record::new(bytes)).collect(),
        Value::Array(replies) if len > 1 && len == replies.len() => {
            let records = replies.iter().map(|reply| match reply {
                Value::BulkString(bytes) => Record::new(bytes),
                _ => Err(StoreError::Reply),
            });
            records.collect()
        }
        _ => Err(StoreError::Reply),
    }
}

impl<'r> Record<'r> {
    fn new(bytes: &'r [u8]) -> Result<Self> {
        let (head, numbers) = match bytes.split_first() {
            Some((head, numbers)) => (head, numbers.as_chunks()),
            None => return Err(StoreError::Reply),
        };
        let ([now, state @ ..], []) = numbers else { return Err(StoreError::Reply) };
        let admitted = match head {
            0 => false,
            1 => true,
            _ => return Err(StoreError::Reply),
        };
        Ok(Self { admitted, now: Instant::from_le_bytes(*now), state: State(state) })
    }

    /// The answer to a check, as far as the state tells: it was not charged.
    fn as_asked(&self, check: &Check<'_>) -> Result<Answer> {
        let (plan, cost) = (check.plan(Resolution::Micros)?, check.cost());
        let verdict = Verdict { cost, allowed: self.admits(&plan, cost)?, charged: false };
        self.answer(&plan, verdict)
    }

    /// Whether a call of this cost would be admitted, as far as the state tells.
    fn admits(&self, plan: &Plan, cost: u64) -> Result<bool> {
        let Self { now, state, .. } = *self;
        Ok(match plan {
            Plan::TokenBucket(bucket) => bucket.admits(state.tokens()?.as_ref(), now, cost),
            Plan::LeakyBucket(bucket) => bucket.admits(state.level()?.as_ref(), now, cost),
            Plan::FixedWindow(window) => window.admits(state.window()?.as_ref(), now, cost),
            Plan::SlidingLog(log) => {
                let all = Verdict { cost, allowed: true, charged: false };
                log.admits(state.log(log.limit, all)?.as_ref(), now, cost)
            }
            Plan::SlidingCounter(counter) => counter.admits(state.counts()?.as_ref(), now, cost),
        })
    }

    fn answer(&self, plan: &Plan, verdict: Verdict) -> Result<Answer> {
        let Self { now, state, .. } = *self;
        Ok(match plan {
            Plan::TokenBucket(bucket) => bucket.answer(state.tokens()?.as_ref(), now, verdict),
            Plan::LeakyBucket(bucket) => bucket.answer(state.level()?.as_ref(), now, verdict),
            Plan::FixedWindow(window) => window.answer(state.window()?.as_ref(), now, verdict),
            Plan::SlidingLog(log) => {
                log.answer(state.log(log.limit, verdict)?.as_ref(), now, verdict)
            }
            Plan::SlidingCounter(counter) => counter.answer(state.counts()?.as_ref(), now, verdict),
        })
    }
}

impl State<'_> {
    fn tokens(self) -> Result<Option<TokenState>> {
        let bucket = self.bucket()?;
        Ok(bucket.map(|(last, tokens, unit)| TokenState { last, tokens, unit }))
    }

    fn level(self) -> Result<Option<LeakyState>> {
        let bucket = self.bucket()?;
        Ok(bucket.map(|(last, level, unit)| LeakyState { last, level, unit }))
    }

    /// When it was charged, what it holds in units, and how many of these a permit is.
    fn bucket(self) -> Result<Option<(Instant, u128, u64)>> {
        let Some([last, unit, permits, parts]) = self.numbers()? else { return Ok(None) };
        if parts >= unit {
            return Err(StoreError::Reply);
        }
        let amount = u128::from(permits) * u128::from(unit) + u128::from(parts);
        Ok(Some((instant(last), amount, unit)))
    }

    fn window(self) -> Result<Option<WindowState>> {
        let Some([last, age, count]) = self.numbers()? else { return Ok(None) };
        let last = instant(last);
        Ok(Some(WindowState { start: last - instant(age), last, count }))
    }

    /// As much of a log as matters: what has to leave before the call fits, and the rest.
    fn log(self, limit: u64, verdict: Verdict) -> Result<Option<LogState>> {
        // The entry that has to leave may have been made before the epoch.
        let (last, sum, blocker) = match *self.0 {
            [last, sum, blocker] => (last, sum, Instant::from_le_bytes(blocker)),
            [] => return Ok(None),
            _ => return Err(StoreError::Reply),
        };
        let (last, sum) = (instant(number(last)?), number(sum)?);
        let excess = match limit.checked_sub(verdict.cost) {
            Some(room) if !verdict.allowed => sum.saturating_sub(room),
            _ => 0,
        };
        Ok(Some(LogState::new([(blocker.min(last), excess), (last, sum - excess)])))
    }

    fn counts(self) -> Result<Option<CounterState>> {
        let (last, window, parts, counts) = match self.0 {
            [last, window, parts, _sum, counts @ ..] => (last, window, parts, counts),
            [] => return Ok(None),
            _ => return Err(StoreError::Reply),
        };
        let (last, window) = (instant(number(*last)?), number(*window)?);
        let parts = u32::try_from(number(*parts)?).map_err(|_| StoreError::Reply)?;
        if window == 0 || !(1..=MAX_SUB_WINDOWS).contains(&parts) {
            return Err(StoreError::Reply);
        }
        if counts.len() != parts as usize + 1 {
            return Err(StoreError::Reply);
        }
        let newest = i128::from(last) * i128::from(parts) / i128::from(window);
        Ok(Some(CounterState {
            last,
            grid: Grid { window, parts },
            newest: i64::try_from(newest).map_err(|_| StoreError::Reply)?,
            counts: counts.iter().map(|count| u64::from_le_bytes(*count)).collect(),
        }))
    }

    /// The numbers of a state that has so many, or none.
    fn numbers<const N: usize>(self) -> Result<Option<[u64; N]>> {
        let bytes = match <&[[u8; 8]; N]>::try_from(self.0) {
            Ok(bytes) => bytes,
            Err(_) if self.0.is_empty() => return Ok(None),
            Err(_) => return Err(StoreError::Reply),
        };
        let mut numbers = [0; N];
        for (to, from) in numbers.iter_mut().zip(bytes) {
            *to = number(*from)?;
        }
        Ok(Some(numbers))
    }
}

/// A number that a script has looked at: none of them is above 2^53.
fn number(bytes: [u8; 8]) -> Result<u64> {
    match u64::from_le_bytes(bytes) {
        number if number <= MAX_COUNT + 1 => Ok(number),
        _ => Err(StoreError::Reply),
    }
}

/// A number of microseconds since the epoch, or between two instants.
const fn instant(number: u64) -> Instant {
    number.cast_signed()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use redis::Value;

    use super::answers;
    use crate::algo::Answer;
    use crate::error::StoreError;
    use crate::rule::{Algorithm, Check, Mode, Rate, Rule};

    const SECOND: u64 = 1_000_000;
    const WINDOW: Duration = Duration::from_secs(10);

    const ALGORITHMS: [Algorithm; 5] = [
        Algorithm::TokenBucket { capacity: 10, refill: Rate::per_second(1) },
        Algorithm::LeakyBucket { capacity: 10, leak: Rate::per_second(1) },
        Algorithm::FixedWindow { limit: 10, window: WINDOW },
        Algorithm::SlidingLog { limit: 10, window: WINDOW },
        Algorithm::SlidingCounter { limit: 10, window: WINDOW, sub_windows: 2 },
    ];

    fn record(admitted: u8, now: u64, state: &[u64]) -> Value {
        let mut bytes = vec![admitted];
        for number in [now].iter().chain(state) {
            bytes.extend(number.to_le_bytes());
        }
        Value::BulkString(bytes)
    }

    /// The answer to a call of this cost.
    fn answer(algorithm: Algorithm, cost: u64, reply: &Value) -> Answer {
        let rule = Rule::new("r", algorithm);
        let [answer] = answers(reply, &[Check::new(&rule, "k").with_cost(cost)])
            .unwrap()
            .into_inner()
            .unwrap();
        answer
    }

    fn allowed(remaining: u64, reset_after_ms: u64) -> Answer {
        Answer {
            allowed: true,
            limit: 10,
            remaining,
            retry_after_ms: Some(0),
            reset_after_ms,
            delay_ms: 0,
        }
    }

    fn refused(remaining: u64, retry_after_ms: u64, reset_after_ms: u64) -> Answer {
        let retry_after_ms = Some(retry_after_ms);
        Answer { allowed: false, retry_after_ms, ..allowed(remaining, reset_after_ms) }
    }

    #[test]
    fn an_unused_key_has_no_state() {
        for algorithm in ALGORITHMS {
            assert_eq!(answer(algorithm, 0, &record(1, SECOND, &[])), allowed(10, 0));
            let never = Answer { retry_after_ms: None, ..refused(10, 0, 0) };
            assert_eq!(answer(algorithm, 11, &record(0, SECOND, &[])), never);
        }
    }

    #[test]
    fn a_token_bucket_has_whole_tokens_and_parts() {
        let [bucket, ..] = ALGORITHMS;
        // Half a token is there besides the 7, and 2 s bring two more.
        let state = [5 * SECOND, SECOND, 7, SECOND / 2];
        assert_eq!(answer(bucket, 1, &record(1, 5 * SECOND, &state)), allowed(7, 2_500));
        assert_eq!(answer(bucket, 10, &record(0, 7 * SECOND, &state)), refused(9, 500, 500));
    }

    #[test]
    fn a_leaky_bucket_says_what_was_in_front() {
        let [_, bucket, ..] = ALGORITHMS;
        let state = [5 * SECOND, SECOND, 3, SECOND / 2];
        let reply = record(1, 5 * SECOND, &state);
        let delayed = |delay_ms| Answer { delay_ms, ..allowed(6, 3_500) };
        // The call's own cost is in the level.
        assert_eq!(answer(bucket, 2, &reply), delayed(1_500));
        assert_eq!(answer(bucket, 0, &reply), delayed(3_500));
        assert_eq!(answer(bucket, 7, &record(0, 5 * SECOND, &state)), refused(6, 500, 3_500));
    }

    #[test]
    fn a_fixed_window_has_an_age() {
        let [_, _, window, ..] = ALGORITHMS;
        let state = [5 * SECOND, 2 * SECOND, 4];
        assert_eq!(answer(window, 1, &record(1, 5 * SECOND, &state)), allowed(6, 8_000));
        // A second later, and a second before: the clock stepped back.
        assert_eq!(answer(window, 7, &record(0, 6 * SECOND, &state)), refused(6, 7_000, 7_000));
        assert_eq!(answer(window, 7, &record(0, 4 * SECOND, &state)), refused(6, 9_000, 9_000));
        // Opened before the epoch, by a clock that is gone.
        let state = [SECOND, 2 * SECOND, 4];
        assert_eq!(answer(window, 1, &record(1, SECOND, &state)), allowed(6, 8_000));
    }

    #[test]
    fn a_log_says_what_has_to_leave() {
        let [.., log, _] = ALGORITHMS;
        let state = |blocker: i64| [5 * SECOND, 9, blocker.cast_unsigned()];
        let second = SECOND.cast_signed();
        assert_eq!(answer(log, 1, &record(1, 5 * SECOND, &state(5 * second))), allowed(1, 10_000));
        let reply = record(0, 6 * SECOND, &state(3 * second));
        assert_eq!(answer(log, 4, &reply), refused(1, 7_000, 9_000));
        let reply = record(0, 6 * SECOND, &state(-2 * second));
        assert_eq!(answer(log, 4, &reply), refused(1, 2_000, 9_000));
        // Everything has to leave.
        let reply = record(0, 6 * SECOND, &state(5 * second));
        assert_eq!(answer(log, 10, &reply), refused(1, 9_000, 9_000));
    }

    #[test]
    fn a_counter_has_counts_on_its_own_grid() {
        let [.., counter] = ALGORITHMS;
        // At 12 s, 2 s into the third sub-window: 1 + 2 in full, and 3/5 of 5.
        let state = [12 * SECOND, 10 * SECOND, 2, 3, 1, 2, 5];
        assert_eq!(answer(counter, 1, &record(1, 12 * SECOND, &state)), allowed(4, 13_000));
        assert_eq!(answer(counter, 5, &record(0, 12 * SECOND, &state)), refused(4, 1, 13_000));
        // As refused with other numbers than those of the key: one sub-window of 6 s.
        let state = [12 * SECOND, 6 * SECOND, 1, 9, 9, 0];
        assert_eq!(answer(counter, 5, &record(0, 12 * SECOND, &state)), refused(1, 8_667, 12_000));
    }

    #[test]
    fn a_list_is_charged_if_no_enforced_check_refuses() {
        let [_, bucket, ..] = ALGORITHMS;
        let rule = Rule::new("r", bucket);
        let shadow = rule.clone().with_mode(Mode::Shadow);
        let state = [5 * SECOND, SECOND, 3, 0];
        let reply =
            Value::Array(vec![record(1, 5 * SECOND, &state), record(0, 5 * SECOND, &state)]);
        for (second, delay_ms) in [(&rule, 3_000), (&shadow, 2_000)] {
            let checks = [Check::new(&rule, "a"), Check::new(second, "b").with_cost(8)];
            let answers = answers(&reply, &checks).unwrap();
            let allowed: Vec<_> = answers.iter().map(|answer| answer.allowed).collect();
            assert_eq!(allowed, [true, false]);
            assert_eq!(answers.first().unwrap().delay_ms, delay_ms);
        }
    }

    #[test]
    fn the_form_of_a_reply_follows_from_the_number_of_checks() {
        let rule = Rule::new("r", ALGORITHMS[0]);
        let one = [Check::new(&rule, "a")];
        let two = [Check::new(&rule, "a"), Check::new(&rule, "b")];
        let good = record(1, SECOND, &[]);
        let list = |len| Value::Array(vec![good.clone(); len]);
        assert!(answers(&good, &one).is_ok());
        assert!(answers(&list(2), &two).is_ok());
        for (reply, checks) in [
            (&good, &two[..]),
            (&list(1), &one),
            (&list(1), &two),
            (&list(3), &two),
            (&Value::Array(vec![good.clone(), Value::Nil]), &two),
            (&Value::Nil, &one),
            (&Value::Int(1), &one),
            (&Value::Okay, &one),
            (&Value::SimpleString("OK".to_owned()), &one),
        ] {
            assert_eq!(answers(reply, checks).unwrap_err(), StoreError::Reply);
        }
    }

    /// Whatever a server says, there is an answer or an error.
    #[test]
    fn nonsense_is_an_error() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut refused = 0;
        for algorithm in ALGORITHMS {
            let rule = Rule::new("r", algorithm);
            for _ in 0..20_000 {
                let numbers = random.usize(0..8);
                let mut bytes = vec![random.u8(0..3)];
                for _ in 0..numbers {
                    let bits = random.u32(0..64);
                    bytes.extend((random.u64(..) >> bits).to_le_bytes());
                }
                if random.u8(..) < 20 {
                    bytes.truncate(random.usize(0..=bytes.len()));
                }
                let check = Check::new(&rule, "k").with_cost(random.u64(0..12));
                refused += u32::from(answers(&Value::BulkString(bytes), &[check]).is_err());
            }
        }
        assert!((50_000..100_000).contains(&refused), "{refused}");
    }

    #[test]
    fn parts_of_a_permit_are_less_than_one() {
        for unit in [0, 5] {
            let rule = Rule::new("r", ALGORITHMS[0]);
            let reply = record(1, SECOND, &[SECOND, unit, 1, 5]);
            assert_eq!(answers(&reply, &[Check::new(&rule, "k")]), Err(StoreError::Reply));
        }
    }
}
