//! From the reply of a script to answers. `ratelimit-lua` describes the layout.
//!
//! Scripts return states, not answers. The state is rebuilt here, and the same arithmetic that decides in
//! the embedded store works out what remains and how long to wait.

use std::iter;

use redis::Value;
use smallvec::SmallVec;

use super::prepared::Prepared;
use super::wire::{self, Numbers};
use crate::algo::{Answer, Timestamp, Verdict};
use crate::error::StoreError;
use crate::store::{Answers, Charges};

type Result<T> = core::result::Result<T, StoreError>;

/// The reply to a call that decides checks.
pub(super) struct Reply<'r> {
    checks: &'r [Prepared<'r>],
    records: SmallVec<[Record<'r>; 1]>,
    /// Whether every enforced check admits the call, so that those that admit it are charged.
    is_admitted: bool,
}

impl<'r> Reply<'r> {
    pub(super) fn parse(reply: &'r Value, checks: &'r [Prepared<'r>]) -> Result<Self> {
        let records = records(reply, checks.len())?;
        let is_admitted =
            checks.iter().zip(&records).all(|(check, record)| check.lets_pass(record.admits));
        Ok(Self { checks, records, is_admitted })
    }

    /// The answers to the checks.
    pub(super) fn answers(&self) -> Result<Answers> {
        self.each().map(|(check, record)| record.answer(check, self.is_admitted)).collect()
    }

    /// For each check that was charged, when it was: a refund needs that.
    pub(super) fn charges(&self) -> Charges {
        let charged_at = |(check, record): (&Prepared<'_>, &Record<'_>)| {
            record.state.charged_at().filter(|_| record.verdict(check, self.is_admitted).charged)
        };
        self.each().map(charged_at).collect()
    }

    fn each(&self) -> impl Iterator<Item = (&Prepared<'r>, &Record<'r>)> {
        self.checks.iter().zip(&self.records)
    }
}

/// What checks would get, from the reply to a [preview](super::command::preview) of them.
pub(super) fn preview(reply: &Value, checks: &[Prepared<'_>]) -> Result<Answers> {
    // The last record is that of the check that keeps the others from being charged.
    let records = records(reply, checks.len() + 1)?;
    checks.iter().zip(&records).map(|(check, record)| record.answer(check, false)).collect()
}

/// The answer to a check that was not sent, from the reply to a [read](super::command::read) of its key. The
/// wait for a sliding log is long enough, and may be too long.
pub(super) fn evaluate(reply: &Value, check: &Prepared<'_>) -> Result<Answer> {
    let records = records(reply, 1)?;
    records.first().ok_or(StoreError::Reply)?.evaluate(check)
}

/// The answer to a check of whose key nothing is known: as if it were not in use.
pub(super) fn unused(check: &Prepared<'_>) -> Result<Answer> {
    Record { admits: true, now: 0, state: Numbers(&[]) }.evaluate(check)
}

/// What a script says about one check.
struct Record<'r> {
    /// Whether this check alone admits the call.
    admits: bool,
    now: Timestamp,
    state: Numbers<'r>,
}

/// The record of a single check, or a list of them.
fn records(reply: &Value, len: usize) -> Result<SmallVec<[Record<'_>; 1]>> {
    match reply {
        Value::BulkString(bytes) if len == 1 => iter::once(Record::parse(bytes)).collect(),
        Value::Array(replies) if len > 1 && len == replies.len() => {
            let records = replies.iter().map(|reply| match reply {
                Value::BulkString(bytes) => Record::parse(bytes),
                _ => Err(StoreError::Reply),
            });
            records.collect()
        }
        _ => Err(StoreError::Reply),
    }
}

impl<'r> Record<'r> {
    fn parse(bytes: &'r [u8]) -> Result<Self> {
        let (head, numbers) = match bytes.split_first() {
            Some((head, numbers)) => (head, numbers.as_chunks()),
            None => return Err(StoreError::Reply),
        };
        let ([now, state @ ..], []) = numbers else { return Err(StoreError::Reply) };
        let admits = match head {
            0 => false,
            1 => true,
            _ => return Err(StoreError::Reply),
        };
        Ok(Self { admits, now: Timestamp::from_le_bytes(*now), state: Numbers(state) })
    }

    /// How the check that was sent ends.
    fn verdict(&self, check: &Prepared<'_>, is_call_admitted: bool) -> Verdict {
        Verdict::new(check.cost(), self.admits, is_call_admitted)
    }

    /// The answer to the check that was sent.
    fn answer(&self, check: &Prepared<'_>, is_call_admitted: bool) -> Result<Answer> {
        wire::answer(&check.plan, self.state, self.now, self.verdict(check, is_call_admitted))
    }

    /// The answer to a check that was not sent, as far as the state tells.
    fn evaluate(&self, check: &Prepared<'_>) -> Result<Answer> {
        let cost = check.cost();
        let admitted = wire::admits(&check.plan, self.state, self.now, cost)?;
        wire::answer(&check.plan, self.state, self.now, Verdict::new(cost, admitted, false))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use redis::Value;

    use super::super::naming::{KeyNaming, KeyPrefix};
    use super::super::prepared::prepare;
    use super::Reply;
    use crate::algo::Answer;
    use crate::error::StoreError;
    use crate::rule::{Algorithm, Check, Mode, Rate, Rule};
    use crate::store::Answers;

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

    fn answers(reply: &Value, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
        let prefix = KeyPrefix::new("p", None);
        let checks = prepare(KeyNaming { prefix: &prefix, has_slots: false }, checks)?;
        Reply::parse(reply, &checks)?.answers()
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
            admitted: true,
            limit: 10,
            remaining,
            retry_after_ms: Some(0),
            reset_after_ms,
            delay_ms: 0,
        }
    }

    fn refused(remaining: u64, retry_after_ms: u64, reset_after_ms: u64) -> Answer {
        let retry_after_ms = Some(retry_after_ms);
        Answer { admitted: false, retry_after_ms, ..allowed(remaining, reset_after_ms) }
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
    fn a_leaky_bucket_tells_the_queue_in_front() {
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
        // Opened before the epoch, by a clock that has since been reset.
        let state = [SECOND, 2 * SECOND, 4];
        assert_eq!(answer(window, 1, &record(1, SECOND, &state)), allowed(6, 8_000));
    }

    #[test]
    fn a_log_tells_what_has_to_expire() {
        let [.., log, _] = ALGORITHMS;
        let state = |blocker: i64| [5 * SECOND, 9, blocker.cast_unsigned()];
        let second = SECOND.cast_signed();
        assert_eq!(answer(log, 1, &record(1, 5 * SECOND, &state(5 * second))), allowed(1, 10_000));
        let reply = record(0, 6 * SECOND, &state(3 * second));
        assert_eq!(answer(log, 4, &reply), refused(1, 7_000, 9_000));
        let reply = record(0, 6 * SECOND, &state(-2 * second));
        assert_eq!(answer(log, 4, &reply), refused(1, 2_000, 9_000));
        // Everything has to expire.
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
            let admitted: Vec<_> = answers.iter().map(|answer| answer.admitted).collect();
            assert_eq!(admitted, [true, false]);
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
