//! Which script decides a list of checks, and the command that calls it.

use ratelimit_lua::Script;
use redis::Cmd;

use super::args;
use crate::algo::{Instant, MAX_COUNT, Plan, Resolution};
use crate::error::ConfigError;
use crate::key::Key;
use crate::rule::{Algorithm, Check, Rule};

/// The call that decides a list of checks, at a time in microseconds or at the server's.
pub(super) fn call(
    prefix: &str,
    now_us: Option<Instant>,
    checks: &[Check<'_>],
) -> Result<(&'static Script, Cmd), ConfigError> {
    let mut arguments = smallvec::SmallVec::<[args::Argument; 1]>::with_capacity(checks.len());
    let mut script = &ratelimit_lua::ACQUIRE_ALL;
    for check in checks {
        let plan = check.plan(Resolution::Micros)?;
        if checks.len() == 1 {
            script = of_one(&plan);
        }
        arguments.push(args::encode(&plan, check.permits(), check.is_shadow()));
    }
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.sha1).arg(checks.len());
    for check in checks {
        command.arg(state_key(prefix, check.rule(), check.key()));
    }
    match now_us {
        Some(now_us) => command.arg(now_us.clamp(0, LATEST)),
        None => command.arg(""),
    };
    for argument in &arguments {
        command.arg(argument.as_slice());
    }
    Ok((script, command))
}

/// The last microsecond that a script can count to, in the year 2255.
#[expect(clippy::cast_possible_wrap, reason = "2^53 - 1")]
const LATEST: Instant = MAX_COUNT as Instant;

const fn of_one(plan: &Plan) -> &'static Script {
    match plan {
        Plan::TokenBucket(_) => &ratelimit_lua::TOKEN_BUCKET,
        Plan::LeakyBucket(_) => &ratelimit_lua::LEAKY_BUCKET,
        Plan::FixedWindow(_) => &ratelimit_lua::FIXED_WINDOW,
        Plan::SlidingLog(_) => &ratelimit_lua::SLIDING_LOG,
        Plan::SlidingCounter(_) => &ratelimit_lua::SLIDING_COUNTER,
    }
}

/// The Redis key of a key of a rule. At most 470 bytes: a prefix has no more than 64, and a rule's
/// name is written and shortened like a key of one value.
pub(super) fn state_key(prefix: &str, rule: &Rule, key: &Key) -> String {
    let (name, tag) = (Key::from(rule.name()), tag(rule.algorithm()));
    [prefix, name.as_str(), tag, key.as_str()].join(":")
}

/// The algorithm and the version of its format: another one never reads what this one has written,
/// also while old and new instances run side by side.
const fn tag(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::TokenBucket { .. } => "tb1",
        Algorithm::LeakyBucket { .. } => "lb1",
        Algorithm::FixedWindow { .. } => "fw1",
        Algorithm::SlidingLog { .. } => "sl1",
        Algorithm::SlidingCounter { .. } => "sc1",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{call, state_key};
    use crate::key::Key;
    use crate::rule::{Algorithm, Check, Mode, Rate, Rule};

    const BUCKET: Algorithm = Algorithm::TokenBucket { capacity: 20, refill: Rate::per_second(5) };
    const WINDOW: Algorithm = Algorithm::FixedWindow { limit: 100, window: Duration::from_mins(1) };

    /// The arguments of a call, without the checks.
    fn words(now_us: Option<i64>, checks: &[Check<'_>]) -> Vec<String> {
        let (script, command) = call("rate:limit", now_us, checks).unwrap();
        let words: Vec<_> = command
            .args_iter()
            .filter_map(|arg| match arg {
                redis::Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(words[..2], ["EVALSHA", script.sha1]);
        assert_eq!(words.len(), 4 + 2 * checks.len());
        words[2..4 + checks.len()].to_vec()
    }

    #[test]
    fn one_check_has_a_script_of_its_own() {
        let rule = Rule::new("sms", BUCKET);
        let checks = [Check::new(&rule, "13800000000")];
        assert_eq!(call("p", None, &checks).unwrap().0.name, "token_bucket");
        assert_eq!(words(None, &checks), ["1", "rate:limit:sms:tb1:13800000000", ""]);
    }

    #[test]
    fn several_checks_are_one_call() {
        let (sms, day) = (Rule::new("sms", BUCKET), Rule::new("day", WINDOW).mode(Mode::Shadow));
        let checks = [Check::new(&sms, "a"), Check::new(&day, "b")];
        assert_eq!(call("p", None, &checks).unwrap().0.name, "acquire_all");
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
        assert!(call("p", None, &[Check::new(&rule, "a").numbers(none)]).is_err());
    }

    #[test]
    fn a_rule_cannot_reach_into_the_next_part() {
        let rule = Rule::new("a:b {c}", WINDOW);
        let key = state_key("rate:limit", &rule, &Key::from("k"));
        assert_eq!(key, "rate:limit:a%3Ab%20%7Bc%7D:fw1:k");
    }

    #[test]
    fn state_keys_stay_short() {
        let rule = Rule::named("r".repeat(1_000), WINDOW);
        let key = state_key(&"p".repeat(64), &rule, &Key::from("k".repeat(1_000)));
        assert!(key.len() <= 512, "{}", key.len());
    }
}
