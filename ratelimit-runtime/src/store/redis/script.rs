//! Which script decides a list of checks, and the command that calls it.

use redis::Cmd;

use super::args;
use super::node::Request;
use super::slot::Slot;
use crate::algo::{FixedWindow, Instant, MAX_COUNT, Plan, Resolution};
use crate::error::ConfigError;
use crate::key::Key;
use crate::rule::{Algorithm, Check};

/// How the names of keys are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'p> {
    pub(super) prefix: &'p str,
    /// On a cluster the group of a check is a part of its name.
    pub(super) grouped: bool,
}

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
        arguments.push(args::encode(&plan, check.permits(), check.is_shadow()));
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

/// The call that gives back what a check was charged at an instant, as the reply to that said.
pub(super) fn give_back(
    names: Names<'_>,
    now_us: Option<Instant>,
    check: &Check<'_>,
    charged_at: [u8; 8],
) -> Result<Request, ConfigError> {
    let script = &ratelimit_lua::GIVE_BACK;
    let plan = check.plan(Resolution::Micros)?;
    let mut command = redis::cmd("EVALSHA");
    let key = names.of(check);
    let slot = names.slot(&key);
    command.arg(script.sha1).arg(1).arg(key);
    add_time(&mut command, now_us);
    command.arg(args::encode(&plan, check.permits(), check.is_shadow()).as_slice());
    command.arg(&charged_at);
    Ok(Request { script, command, slot })
}

/// A question that is like a call and touches nobody's budget: it looks at a key that no check has. On a
/// cluster, where each node has keys of its own, it is about none.
pub(super) fn probe(names: Names<'_>) -> Request {
    let mut command = redis::cmd("EVALSHA");
    if names.grouped {
        let script = &ratelimit_lua::ACQUIRE_ALL;
        command.arg(script.sha1).arg(0);
        add_time(&mut command, None);
        return Request { script, command, slot: Slot::default() };
    }
    let plan = Plan::FixedWindow(FixedWindow::new(1, 1_000_000, Resolution::Micros));
    let script = of_one(&plan);
    command.arg(script.sha1).arg(1).arg([names.prefix, "probe"].join(":"));
    add_time(&mut command, None);
    command.arg(args::encode(&plan, 0, false).as_slice());
    Request { script, command, slot: Slot::default() }
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

/// The longest group that is a part of a name as it is: a UUID fits.
const MAX_GROUP: usize = 36;

impl Names<'_> {
    /// Where a key of such a name lies. A single server has no use for that.
    pub(super) fn slot(self, key: &str) -> Slot {
        if self.grouped { Slot::of(key) } else { Slot::default() }
    }

    /// The Redis key of a check. At most 512 bytes: a prefix has no more than 64, a rule's name is
    /// written and shortened like a key of one value, and a group is cut.
    pub(super) fn of(self, check: &Check<'_>) -> String {
        let rule = check.rule();
        let (name, tag) = (Key::from(rule.name()), tag(rule.algorithm()));
        let key = check.key().as_str();
        match check.current_group().filter(|_| self.grouped) {
            None => [self.prefix, name.as_str(), tag, key].join(":"),
            Some(group) => {
                // Braces make it a hash tag. A key has none of its own.
                let group = group.as_str();
                let digest;
                let group = if group.len() <= MAX_GROUP {
                    group
                } else {
                    digest = Key::digest(group);
                    &digest
                };
                let group = ["{", group, "}"].concat();
                [self.prefix, &group, name.as_str(), tag, key].join(":")
            }
        }
    }
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

    use super::{Names, Slot, call, give_back};
    use crate::rule::{Algorithm, Check, Mode, Rate, Rule};

    const BUCKET: Algorithm = Algorithm::TokenBucket { capacity: 20, refill: Rate::per_second(5) };
    const NAMES: Names<'_> = Names { prefix: "rate:limit", grouped: false };
    const GROUPED: Names<'_> = Names { prefix: "rate:limit", grouped: true };
    const WINDOW: Algorithm = Algorithm::FixedWindow { limit: 100, window: Duration::from_mins(1) };

    /// The arguments of a call, without the checks.
    fn words(now_us: Option<i64>, checks: &[Check<'_>]) -> Vec<String> {
        let request = call(NAMES, now_us, checks).unwrap();
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
        assert_eq!(call(NAMES, None, &checks).unwrap().script.name, "token_bucket");
        assert_eq!(words(None, &checks), ["1", "rate:limit:sms:tb1:13800000000", ""]);
    }

    #[test]
    fn several_checks_are_one_call() {
        let (sms, day) = (Rule::new("sms", BUCKET), Rule::new("day", WINDOW).mode(Mode::Shadow));
        let checks = [Check::new(&sms, "a"), Check::new(&day, "b")];
        assert_eq!(call(NAMES, None, &checks).unwrap().script.name, "acquire_all");
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
        assert!(call(NAMES, None, &[Check::new(&rule, "a").numbers(none)]).is_err());
    }

    #[test]
    fn a_rule_cannot_reach_into_the_next_part() {
        let rule = Rule::new("a:b {c}", WINDOW);
        let key = NAMES.of(&Check::new(&rule, "k"));
        assert_eq!(key, "rate:limit:a%3Ab%20%7Bc%7D:fw1:k");
    }

    #[test]
    fn state_keys_stay_short() {
        let rule = Rule::named("r".repeat(1_000), WINDOW);
        let names = Names { prefix: &"p".repeat(64), grouped: true };
        let check = Check::new(&rule, "k".repeat(1_000)).group("g".repeat(1_000));
        let key = names.of(&check);
        assert!(key.len() <= 512, "{}", key.len());
        let other = names.of(&check.clone().group("g".repeat(1_001)));
        assert_ne!(key, other);
    }

    #[test]
    fn a_group_is_a_slot_on_a_cluster_and_nothing_elsewhere() {
        let (sms, day) = (Rule::new("sms", BUCKET), Rule::new("day", WINDOW));
        let sms = Check::new(&sms, "a").group("t{1}");
        let day = Check::new(&day, "b").group("t{1}");
        assert_eq!(GROUPED.of(&sms), "rate:limit:{t%7B1%7D}:sms:tb1:a");
        assert_eq!(NAMES.of(&sms), "rate:limit:sms:tb1:a");
        assert_eq!(Slot::of(&GROUPED.of(&sms)), Slot::of(&GROUPED.of(&day)));
        assert_ne!(Slot::of(&NAMES.of(&sms)), Slot::of(&NAMES.of(&day)));
    }

    #[test]
    fn what_is_given_back_is_what_was_charged() {
        let rule = Rule::new("sms", BUCKET);
        let check = Check::new(&rule, "a").cost(2);
        let request = give_back(NAMES, Some(7), &check, 5_u64.to_le_bytes()).unwrap();
        assert_eq!(request.script.name, "give_back");
        let words = words_of(&request.command);
        assert_eq!(words[1..5], [request.script.sha1, "1", "rate:limit:sms:tb1:a", "7"]);
        assert_eq!(words[6].as_bytes(), [5, 0, 0, 0, 0, 0, 0, 0]);
    }
}
