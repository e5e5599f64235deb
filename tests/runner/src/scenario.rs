//! The model of a vector file, strict where a slip would compare too little.

use std::ops::RangeInclusive;
use std::time::Duration;

use ratelimit_runtime::{Algorithm, Rate};
use serde::{Deserialize, Deserializer};

/// Calls on one fresh limiter, and what they must be answered.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its unique name.
    pub id: String,
    /// Which limiter.
    pub algorithm: Algorithm,
    /// The calls.
    pub calls: Calls,
}

/// The calls of a scenario.
#[derive(Clone, Debug)]
pub enum Calls {
    /// One by one, each with its answer.
    Steps(Vec<Step>),
    /// A load, with how much of it passes.
    Load {
        /// What is offered, in the order of time.
        offered: Vec<Load>,
        /// What passes.
        quotas: Vec<Quota>,
    },
}

/// One call.
#[derive(Clone, Debug)]
pub struct Step {
    /// When, since the Unix epoch.
    pub at: Duration,
    /// Whose budget; absent: the one that all such steps share.
    pub key: Option<String>,
    /// How many permits it takes.
    pub cost: u64,
    /// What it must be answered.
    pub expected: Expected,
}

/// The fields of an answer that are compared. `None`: not compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expected {
    /// Whether the call passes.
    pub allowed: Option<bool>,
    /// The largest cost that would pass now.
    pub remaining: Option<u64>,
    /// The wait.
    pub retry_after_ms: Option<Wait>,
    /// The time until the key is as good as new.
    pub reset_after_ms: Option<u64>,
    /// The wait of an admitted call for its slot.
    pub delay_ms: Option<u64>,
}

/// How long to wait before a call is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// So many milliseconds; 0 if it is admitted now.
    Ms(u64),
    /// No wait will do: `null` in a file.
    Never,
}

impl From<Option<u64>> for Wait {
    fn from(ms: Option<u64>) -> Self {
        ms.map_or(Self::Never, Self::Ms)
    }
}

/// Equal calls at equal distances, from an instant up to but not including another.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The first instant, since the Unix epoch.
    pub from: Duration,
    /// The end.
    pub to: Duration,
    /// The distance.
    pub every: Duration,
    /// How many calls at each instant.
    pub batch: u64,
    /// What each takes.
    pub cost: u64,
}

/// How much cost passes in a time.
#[derive(Clone, Debug)]
pub struct Quota {
    /// The beginning of that time, since the Unix epoch.
    pub from: Duration,
    /// Its end, which is not in it.
    pub to: Duration,
    /// The bounds of the cost.
    pub admitted: RangeInclusive<u64>,
}

/// A scenario as it is written. Unknown fields here are notes for people.
#[derive(Deserialize)]
pub(crate) struct Written {
    id: String,
    algo: String,
    params: Params,
    steps: Option<Vec<WrittenStep>>,
    load: Option<Vec<WrittenLoad>>,
    expect: Option<Vec<WrittenQuota>>,
}

/// The numbers of all algorithms; each takes its own and no others.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    capacity: Option<u64>,
    refill_tokens: Option<u64>,
    refill_period_ms: Option<u64>,
    leak_tokens: Option<u64>,
    leak_period_ms: Option<u64>,
    limit: Option<u64>,
    window_ms: Option<u64>,
    sub_windows: Option<u32>,
}

/// A field that nobody knows is an answer that nobody compares: an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    at_ms: Option<u64>,
    at_us: Option<u64>,
    at_ns: Option<u64>,
    cost: u64,
    key: Option<String>,
    allowed: Option<bool>,
    remaining: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    retry_after_ms: Option<Wait>,
    reset_after_ms: Option<u64>,
    delay_ms: Option<u64>,
    #[serde(rename = "prelude")]
    _prelude: Option<bool>,
    #[serde(rename = "note")]
    _note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLoad {
    from_ms: u64,
    to_ms: u64,
    every_us: u64,
    batch: u64,
    cost: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenQuota {
    from_ms: u64,
    to_ms: u64,
    admitted: Option<u64>,
    min: Option<u64>,
    max: Option<u64>,
}

/// Tells `null` from an absent field.
fn present<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Wait>, D::Error> {
    Option::deserialize(field).map(|ms: Option<u64>| Some(ms.into()))
}

impl Written {
    /// Checks what the format promises and gives it types.
    pub(crate) fn check(self) -> Result<Scenario, String> {
        let Self { id, algo, params, steps, load, expect } = self;
        let within = |why: String| format!("scenario {id}: {why}");
        let algorithm = params.algorithm(&algo).map_err(within)?;
        let calls = match (steps, load, expect) {
            (Some(steps), None, None) => calls_of_steps(steps),
            (None, Some(load), Some(expect)) => calls_of_load(load, expect),
            _ => Err("it needs either `steps`, or `load` and `expect`".to_owned()),
        };
        Ok(Scenario { calls: calls.map_err(within)?, id, algorithm })
    }
}

impl Params {
    fn algorithm(mut self, algo: &str) -> Result<Algorithm, String> {
        let algorithm = match algo {
            "token_bucket" | "gcra" => Algorithm::TokenBucket {
                capacity: take(&mut self.capacity, "capacity")?,
                refill: Rate::new(
                    take(&mut self.refill_tokens, "refill_tokens")?,
                    Duration::from_millis(take(&mut self.refill_period_ms, "refill_period_ms")?),
                ),
            },
            "leaky_bucket" => Algorithm::LeakyBucket {
                capacity: take(&mut self.capacity, "capacity")?,
                leak: Rate::new(
                    take(&mut self.leak_tokens, "leak_tokens")?,
                    Duration::from_millis(take(&mut self.leak_period_ms, "leak_period_ms")?),
                ),
            },
            "fixed_window" => Algorithm::FixedWindow {
                limit: take(&mut self.limit, "limit")?,
                window: Duration::from_millis(take(&mut self.window_ms, "window_ms")?),
            },
            "sliding_log" => Algorithm::SlidingLog {
                limit: take(&mut self.limit, "limit")?,
                window: Duration::from_millis(take(&mut self.window_ms, "window_ms")?),
            },
            "sliding_window_counter" | "sliding_counter" => Algorithm::SlidingCounter {
                limit: take(&mut self.limit, "limit")?,
                window: Duration::from_millis(take(&mut self.window_ms, "window_ms")?),
                sub_windows: take(&mut self.sub_windows, "sub_windows")?,
            },
            unknown => return Err(format!("there is no algorithm `{unknown}`")),
        };
        match self.left() {
            None => Ok(algorithm),
            Some(extra) => Err(format!("{algo} takes no `{extra}`")),
        }
    }

    /// A parameter that nobody took.
    fn left(&self) -> Option<&'static str> {
        let Self {
            capacity,
            refill_tokens,
            refill_period_ms,
            leak_tokens,
            leak_period_ms,
            limit,
            window_ms,
            sub_windows,
        } = self;
        let set = [
            (capacity.is_some(), "capacity"),
            (refill_tokens.is_some(), "refill_tokens"),
            (refill_period_ms.is_some(), "refill_period_ms"),
            (leak_tokens.is_some(), "leak_tokens"),
            (leak_period_ms.is_some(), "leak_period_ms"),
            (limit.is_some(), "limit"),
            (window_ms.is_some(), "window_ms"),
            (sub_windows.is_some(), "sub_windows"),
        ];
        set.into_iter().find_map(|(set, name)| set.then_some(name))
    }
}

fn take<T>(value: &mut Option<T>, name: &str) -> Result<T, String> {
    value.take().ok_or_else(|| format!("`{name}` is missing"))
}

fn calls_of_steps(written: Vec<WrittenStep>) -> Result<Calls, String> {
    let mut steps = Vec::with_capacity(written.len());
    let mut unit = None;
    for (number, step) in (1..).zip(written) {
        let (at, its_unit) = match (step.at_ms, step.at_us, step.at_ns) {
            (Some(ms), None, None) => (Duration::from_millis(ms), "at_ms"),
            (None, Some(us), None) => (Duration::from_micros(us), "at_us"),
            (None, None, Some(ns)) => (Duration::from_nanos(ns), "at_ns"),
            _ => return Err(format!("step {number} needs one of `at_ms`, `at_us` and `at_ns`")),
        };
        if *unit.get_or_insert(its_unit) != its_unit {
            return Err(format!("step {number} has another unit of time than those before it"));
        }
        let expected = Expected {
            allowed: step.allowed,
            remaining: step.remaining,
            retry_after_ms: step.retry_after_ms,
            reset_after_ms: step.reset_after_ms,
            delay_ms: step.delay_ms,
        };
        steps.push(Step { at, key: step.key, cost: step.cost, expected });
    }
    if steps.is_empty() { Err("it has no steps".to_owned()) } else { Ok(Calls::Steps(steps)) }
}

fn calls_of_load(load: Vec<WrittenLoad>, expect: Vec<WrittenQuota>) -> Result<Calls, String> {
    let mut offered = Vec::with_capacity(load.len());
    for WrittenLoad { from_ms, to_ms, every_us, batch, cost } in load {
        if every_us == 0 {
            return Err("a load needs an `every_us` above 0".to_owned());
        }
        offered.push(Load {
            from: Duration::from_millis(from_ms),
            to: Duration::from_millis(to_ms),
            every: Duration::from_micros(every_us),
            batch,
            cost,
        });
    }
    let mut quotas = Vec::with_capacity(expect.len());
    for WrittenQuota { from_ms, to_ms, admitted, min, max } in expect {
        let admitted = match (admitted, min, max) {
            (Some(exactly), None, None) => exactly..=exactly,
            (None, Some(min), Some(max)) => min..=max,
            _ => return Err("`expect` needs `admitted`, or `min` and `max`".to_owned()),
        };
        let (from, to) = (Duration::from_millis(from_ms), Duration::from_millis(to_ms));
        quotas.push(Quota { from, to, admitted });
    }
    if offered.is_empty() || quotas.is_empty() {
        return Err("`load` and `expect` must not be empty".to_owned());
    }
    Ok(Calls::Load { offered, quotas })
}
