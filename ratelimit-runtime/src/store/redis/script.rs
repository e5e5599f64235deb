//! Which script decides a list of checks, and the command that calls it.

use redis::Cmd;

use super::args;
use super::naming::Names;
use super::node::Request;
use super::slot::Slot;
use crate::algo::{FixedWindow, Instant, MAX_COUNT, MAX_SPAN_US, Plan, Resolution};
use crate::error::ConfigError;
use crate::rule::Check;

/// The call that decides a list of checks of one slot, at a time in microseconds or at the server's.
pub(super) fn call(
    names: Names<'_>,
    now_us: Option<Instant>,
    checks: &[Check<'_>],
) -> Result<Request, ConfigError> {
    let mut arguments = smallvec::SmallVec::<[args::Argument; 1]>::with_capacity(checks.len());
    let mut script = &ratelimit_lua::ACQUIRE_ALL;
    for check in checks {
        let plan = check.plan(Resolution::Micros)?;
        if checks.len() == 1 {
            script = of_one(&plan);
        }
        arguments.push(args::encode(&plan, check.cost(), check.is_shadow()));
    }
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.sha1).arg(checks.len());
    let mut slot = Slot::default();
    for check in checks {
        let key = names.of(check);
        slot = names.slot(&key);
        command.arg(key);
    }
    add_time(&mut command, now_us);
    for argument in &arguments {
        command.arg(argument.as_slice());
    }
    Ok(Request { script, command, slot })
}

/// The call that says what checks of one slot would get, as there is at least one. None of them is charged,
/// because the last check of the list refuses whatever is there: it costs more than its limit. It reads the
/// first key, so that it is in the same slot, and writes nothing.
pub(super) fn look(
    names: Names<'_>,
    now_us: Option<Instant>,
    checks: &[Check<'_>],
) -> Result<Request, ConfigError> {
    let script = &ratelimit_lua::ACQUIRE_ALL;
    let refuses = Plan::FixedWindow(FixedWindow::new(1, MAX_SPAN_US, Resolution::Micros));
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.sha1).arg(checks.len() + 1);
    let keys: Vec<String> = checks.iter().map(|check| names.of(check)).collect();
    let first = keys.first().map(String::as_str).unwrap_or_default();
    let slot = names.slot(first);
    command.arg(&keys).arg(first);
    add_time(&mut command, now_us);
    for check in checks {
        let plan = check.plan(Resolution::Micros)?;
        command.arg(args::encode(&plan, check.cost(), check.is_shadow()).as_slice());
    }
    command.arg(args::encode(&refuses, 2, false).as_slice());
    Ok(Request { script, command, slot })
}

/// The call that gives back what a check was charged at an instant, as the reply to that said.
pub(super) fn give_back(
    names: Names<'_>,
    now_us: Option<Instant>,
    check: &Check<'_>,
    charged_at: [u8; 8],
    in_line_until: Option<Instant>,
) -> Result<Request, ConfigError> {
    let script = &ratelimit_lua::GIVE_BACK;
    let plan = check.plan(Resolution::Micros)?;
    let mut command = redis::cmd("EVALSHA");
    let key = names.of(check);
    let slot = names.slot(&key);
    command.arg(script.sha1).arg(1).arg(key);
    add_time(&mut command, now_us);
    command.arg(args::encode(&plan, check.cost(), check.is_shadow()).as_slice());
    command.arg(&charged_at);
    if let Some(until) = in_line_until {
        command.arg(&until.clamp(0, LATEST).to_le_bytes());
    }
    Ok(Request { script, command, slot })
}

/// Questions that are like calls and touch nobody's budget: they are about a key that no check has.
#[derive(Debug)]
pub(super) struct Questions {
    /// Looks at that key.
    pub(super) probe: Request,
    /// Which commands of the scripts the user may not run.
    pub(super) permissions: Request,
}

impl Questions {
    /// On a cluster, where each node has keys of its own, the probe is about none.
    pub(super) fn new(names: Names<'_>) -> Self {
        let mut questions = Self::about(&names.probe());
        if names.grouped {
            let script = &ratelimit_lua::ACQUIRE_ALL;
            let mut command = redis::cmd("EVALSHA");
            command.arg(script.sha1).arg(0);
            add_time(&mut command, None);
            questions.probe = Request { script, command, slot: Slot::default() };
        }
        questions
    }

    /// About a key.
    pub(super) fn about(key: &str) -> Self {
        let call = |script: &'static ratelimit_lua::Script| {
            let mut command = redis::cmd("EVALSHA");
            command.arg(script.sha1).arg(1).arg(key);
            Request { script, command, slot: Slot::default() }
        };
        let plan = Plan::FixedWindow(FixedWindow::new(1, 1_000_000, Resolution::Micros));
        let mut probe = call(of_one(&plan));
        add_time(&mut probe.command, None);
        probe.command.arg(args::encode(&plan, 0, false).as_slice());
        Self { probe, permissions: call(&ratelimit_lua::PERMISSIONS) }
    }
}

fn add_time(command: &mut Cmd, now_us: Option<Instant>) {
    match now_us {
        Some(now_us) => command.arg(now_us.clamp(0, LATEST)),
        None => command.arg(""),
    };
}

/// The last microsecond that a script can count to, in the year 2255.
#[expect(clippy::cast_possible_wrap, reason = "2^53 - 1")]
const LATEST: Instant = MAX_COUNT as Instant;

const fn of_one(plan: &Plan) -> &'static ratelimit_lua::Script {
    match plan {
        Plan::TokenBucket(_) => &ratelimit_lua::TOKEN_BUCKET,
        Plan::LeakyBucket(_) => &ratelimit_lua::LEAKY_BUCKET,
        Plan::FixedWindow(_) => &ratelimit_lua::FIXED_WINDOW,
        Plan::SlidingLog(_) => &ratelimit_lua::SLIDING_LOG,
        Plan::SlidingCounter(_) => &ratelimit_lua::SLIDING_COUNTER,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::time::Duration;

    use super::super::naming::Naming;
    use super::{Names, call, give_back};
    use crate::rule::{Algorithm, Check, Mode, Rate, Rule};

    const BUCKET: Algorithm = Algorithm::TokenBucket { capacity: 20, refill: Rate::per_second(5) };
    static NAMING: LazyLock<Naming> = LazyLock::new(|| Naming::new("rate:limit", None));
    const WINDOW: Algorithm = Algorithm::FixedWindow { limit: 100, window: Duration::from_mins(1) };

    fn names() -> Names<'static> {
        Names { naming: &NAMING, grouped: false }
    }

    /// The arguments of a call, without the checks.
    fn words(now_us: Option<i64>, checks: &[Check<'_>]) -> Vec<String> {
        let request = call(names(), now_us, checks).unwrap();
        let words = words_of(&request.command);
        assert_eq!(words[..2], ["EVALSHA", request.script.sha1]);
        assert_eq!(words.len(), 4 + 2 * checks.len());
        words[2..4 + checks.len()].to_vec()
    }

    fn words_of(command: &redis::Cmd) -> Vec<String> {
        command
            .args_iter()
            .filter_map(|arg| match arg {
                redis::Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn one_check_has_a_script_of_its_own() {
        let rule = Rule::new("sms", BUCKET);
        let checks = [Check::new(&rule, "13800000000")];
        assert_eq!(call(names(), None, &checks).unwrap().script.name, "token_bucket");
        assert_eq!(words(None, &checks), ["1", "rate:limit:sms:tb1:13800000000", ""]);
    }

    #[test]
    fn several_checks_are_one_call() {
        let (sms, day) =
            (Rule::new("sms", BUCKET), Rule::new("day", WINDOW).with_mode(Mode::Shadow));
        let checks = [Check::new(&sms, "a"), Check::new(&day, "b")];
        assert_eq!(call(names(), None, &checks).unwrap().script.name, "acquire_all");
        let keys = ["2", "rate:limit:sms:tb1:a", "rate:limit:day:fw1:b", "7"];
        assert_eq!(words(Some(7), &checks), keys);
    }

    #[test]
    fn times_are_ones_that_scripts_can_count_to() {
        let rule = Rule::new("sms", BUCKET);
        for (now_us, sent) in [(-1, "0"), (i64::MAX, "9007199254740991")] {
            let words = words(Some(now_us), &[Check::new(&rule, "a")]);
            assert_eq!(words.last().unwrap(), sent);
        }
    }

    #[test]
    fn numbers_of_a_call_are_checked() {
        let rule = Rule::new("sms", BUCKET);
        let none = Algorithm::TokenBucket { capacity: 1, refill: Rate::per_second(0) };
        assert!(call(names(), None, &[Check::new(&rule, "a").with_algorithm(none)]).is_err());
    }

    #[test]
    fn what_is_given_back_is_what_was_charged() {
        let rule = Rule::new("sms", BUCKET);
        let check = Check::new(&rule, "a").with_cost(2);
        for (until, more) in [(None, &[][..]), (Some(9), &["\t\0\0\0\0\0\0\0".to_owned()])] {
            let request = give_back(names(), Some(7), &check, 5_u64.to_le_bytes(), until).unwrap();
            assert_eq!(request.script.name, "give_back");
            let words = words_of(&request.command);
            assert_eq!(words[1..5], [request.script.sha1, "1", "rate:limit:sms:tb1:a", "7"]);
            assert_eq!(words[6].as_bytes(), [5, 0, 0, 0, 0, 0, 0, 0]);
            assert_eq!(&words[7..], more);
        }
    }
}
