//! The commands that call the scripts. [`Node`](super::node) uploads a script that the server lacks.

use ratelimit_lua::Script;
use redis::{Arg, Cmd};

use super::naming::KeyNaming;
use super::prepared::Prepared;
use super::slot::Slot;
use super::wire;
use crate::algo::{FixedWindow, MAX_COUNT, MAX_SPAN_US, Resolution, Timestamp};
use crate::rule::Plan;

/// A command to the server that has a slot. It may have to be sent several times.
#[derive(Debug)]
pub(super) struct Request {
    /// The script that it calls, if it does: the server may lack it.
    pub(super) script: Option<&'static Script>,
    pub(super) command: Cmd,
    /// The slot of all its keys.
    pub(super) slot: Slot,
}

impl Request {
    /// A command that calls no script.
    pub(super) const fn plain(command: Cmd, slot: Slot) -> Self {
        Self { script: None, command, slot }
    }

    fn of(script: &'static Script, command: Cmd, slot: Slot) -> Self {
        Self { script: Some(script), command, slot }
    }

    /// The same call that carries the text of its script, for a server that lacks it.
    pub(super) fn with_source(&self, script: &Script) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(script.source);
        // After `EVALSHA` and the digest, the arguments are the same.
        for argument in self.command.args_iter().skip(2) {
            if let Arg::Simple(argument) = argument {
                command.arg(argument);
            }
        }
        command
    }
}

/// Decides checks of one slot, at this time in microseconds, or at the server's.
pub(super) fn decide(checks: &[Prepared<'_>], now_us: Option<Timestamp>) -> Request {
    let script = match checks {
        [check] => wire::script(&check.plan),
        _ => &ratelimit_lua::ACQUIRE_ALL,
    };
    let mut command = evalsha(script, checks.len());
    for check in checks {
        command.arg(check.key.as_str());
    }
    add_time(&mut command, now_us);
    for check in checks {
        add_check(&mut command, check, check.cost());
    }
    Request::of(script, command, slot(checks))
}

/// Reads the state of a check's key, and charges nothing: the check with a cost of 0.
pub(super) fn read(check: &Prepared<'_>, now_us: Option<Timestamp>) -> Request {
    let script = wire::script(&check.plan);
    let mut command = evalsha(script, 1);
    command.arg(check.key.as_str());
    add_time(&mut command, now_us);
    add_check(&mut command, check, 0);
    Request::of(script, command, check.slot)
}

/// Decides checks of one slot and charges none of them. One more check is at the end of the list, and refuses
/// whatever is there, because it costs more than its limit. It is about the key of the first check, and so in
/// the same slot; refusing writes nothing.
pub(super) fn preview(checks: &[Prepared<'_>], now_us: Option<Timestamp>) -> Request {
    let script = &ratelimit_lua::ACQUIRE_ALL;
    let mut command = evalsha(script, checks.len() + 1);
    for check in checks.iter().chain(checks.first()) {
        command.arg(check.key.as_str());
    }
    add_time(&mut command, now_us);
    for check in checks {
        add_check(&mut command, check, check.cost());
    }
    let refuses = Plan::FixedWindow(FixedWindow::new(1, MAX_SPAN_US, Resolution::Micros));
    command.arg(wire::argument(&refuses, 2, false).as_bytes());
    Request::of(script, command, slot(checks))
}

/// Refunds what a check was charged at an instant, as the reply to that said.
pub(super) fn refund(
    check: &Prepared<'_>,
    now_us: Option<Timestamp>,
    charged_at: Timestamp,
    queued_until: Option<Timestamp>,
) -> Request {
    let script = &ratelimit_lua::REFUND;
    let mut command = evalsha(script, 1);
    command.arg(check.key.as_str());
    add_time(&mut command, now_us);
    add_check(&mut command, check, check.cost());
    command.arg(&charged_at.to_le_bytes());
    if let Some(until) = queued_until {
        command.arg(&until.clamp(0, LATEST).to_le_bytes());
    }
    Request::of(script, command, check.slot)
}

/// Calls like those of users, which charge nobody: they are about a key that no check has.
#[derive(Debug)]
pub(super) struct ProbeRequests {
    /// Decides something about that key.
    pub(super) decision: Request,
    /// Asks which commands of the scripts the user may not run.
    pub(super) permissions: Request,
}

impl ProbeRequests {
    /// For a deployment. On a cluster, each of whose nodes has other keys, `decision` is about no key.
    pub(super) fn new(naming: KeyNaming<'_>) -> Self {
        let mut probes = Self::about(&naming.probe());
        if naming.has_slots {
            let script = &ratelimit_lua::ACQUIRE_ALL;
            let mut command = evalsha(script, 0);
            add_time(&mut command, None);
            probes.decision = Request::of(script, command, Slot::default());
        }
        probes
    }

    /// About a key.
    pub(super) fn about(key: &str) -> Self {
        let plan = Plan::FixedWindow(FixedWindow::new(1, 1_000_000, Resolution::Micros));
        let script = wire::script(&plan);
        let mut command = evalsha(script, 1);
        command.arg(key);
        add_time(&mut command, None);
        command.arg(wire::argument(&plan, 0, false).as_bytes());
        let decision = Request::of(script, command, Slot::default());

        let script = &ratelimit_lua::PERMISSIONS;
        let mut command = evalsha(script, 1);
        command.arg(key);
        let permissions = Request::of(script, command, Slot::default());
        Self { decision, permissions }
    }
}

fn evalsha(script: &Script, keys: usize) -> Cmd {
    let mut command = redis::cmd("EVALSHA");
    command.arg(script.sha1).arg(keys);
    command
}

fn add_time(command: &mut Cmd, now_us: Option<Timestamp>) {
    match now_us {
        Some(now_us) => command.arg(now_us.clamp(0, LATEST)),
        None => command.arg(""),
    };
}

fn add_check(command: &mut Cmd, check: &Prepared<'_>, cost: u64) {
    command.arg(wire::argument(&check.plan, cost, check.is_shadow()).as_bytes());
}

fn slot(checks: &[Prepared<'_>]) -> Slot {
    checks.first().map_or_else(Slot::default, |check| check.slot)
}

/// The last microsecond that a script can count to, in the year 2255.
#[expect(clippy::cast_possible_wrap, reason = "2^53 - 1")]
const LATEST: Timestamp = MAX_COUNT as Timestamp;

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::time::Duration;

    use super::super::naming::{KeyNaming, KeyPrefix};
    use super::super::prepared::{Prepared, PreparedChecks, prepare};
    use super::{Request, decide, preview, read, refund};
    use crate::rule::{Algorithm, Check, Mode, Rate, Rule};

    const BUCKET: Algorithm = Algorithm::TokenBucket { capacity: 20, refill: Rate::per_second(5) };
    static PREFIX: LazyLock<KeyPrefix> = LazyLock::new(|| KeyPrefix::new("rate:limit", None));
    const WINDOW: Algorithm = Algorithm::FixedWindow { limit: 100, window: Duration::from_mins(1) };

    fn prepared<'c>(checks: &'c [Check<'c>]) -> PreparedChecks<'c> {
        prepare(KeyNaming { prefix: &PREFIX, has_slots: false }, checks).unwrap()
    }

    /// The arguments of a call, without the checks.
    fn words(now_us: Option<i64>, checks: &[Check<'_>]) -> Vec<String> {
        let request = decide(&prepared(checks), now_us);
        let words = words_of(&request);
        assert_eq!(words[..2], ["EVALSHA", request.script.unwrap().sha1]);
        assert_eq!(words.len(), 4 + 2 * checks.len());
        words[2..4 + checks.len()].to_vec()
    }

    fn words_of(request: &Request) -> Vec<String> {
        request
            .command
            .args_iter()
            .filter_map(|arg| match arg {
                redis::Arg::Simple(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                _ => None,
            })
            .collect()
    }

    fn name_of(request: &Request) -> &'static str {
        request.script.unwrap().name
    }

    #[test]
    fn one_check_has_a_script_of_its_own() {
        let rule = Rule::new("sms", BUCKET);
        let checks = [Check::new(&rule, "13800000000")];
        assert_eq!(name_of(&decide(&prepared(&checks), None)), "token_bucket");
        assert_eq!(words(None, &checks), ["1", "rate:limit:sms:tb1:13800000000", ""]);
    }

    #[test]
    fn several_checks_are_one_call() {
        let (sms, day) =
            (Rule::new("sms", BUCKET), Rule::new("day", WINDOW).with_mode(Mode::Shadow));
        let checks = [Check::new(&sms, "a"), Check::new(&day, "b")];
        assert_eq!(name_of(&decide(&prepared(&checks), None)), "acquire_all");
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
    fn invalid_parameters_of_a_call_are_an_error() {
        let rule = Rule::new("sms", BUCKET);
        let none = Algorithm::TokenBucket { capacity: 1, refill: Rate::per_second(0) };
        let naming = KeyNaming { prefix: &PREFIX, has_slots: false };
        assert!(prepare(naming, &[Check::new(&rule, "a").with_algorithm(none)]).is_err());
    }

    #[test]
    fn a_refund_is_of_what_was_charged() {
        let rule = Rule::new("sms", BUCKET);
        let checks = [Check::new(&rule, "a").with_cost(2)];
        let [check]: [Prepared<'_>; 1] = prepared(&checks).into_inner().unwrap();
        for (until, more) in [(None, &[][..]), (Some(9), &["\t\0\0\0\0\0\0\0".to_owned()])] {
            let request = refund(&check, Some(7), 5, until);
            assert_eq!(name_of(&request), "refund");
            let words = words_of(&request);
            assert_eq!(words[2..5], ["1", "rate:limit:sms:tb1:a", "7"]);
            assert_eq!(words[5], words_of(&decide(&prepared(&checks), None))[5]);
            assert_eq!(words[6].as_bytes(), [5, 0, 0, 0, 0, 0, 0, 0]);
            assert_eq!(&words[7..], more);
        }
    }

    #[test]
    fn a_read_is_a_check_that_costs_nothing() {
        let rule = Rule::new("sms", BUCKET);
        let (dear, free) =
            (Check::new(&rule, "a").with_cost(2), Check::new(&rule, "a").with_cost(0));
        let (dear, free) = ([dear], [free]);
        let (dear, free) = (prepared(&dear), prepared(&free));
        assert_eq!(words_of(&read(&dear[0], Some(7))), words_of(&decide(&free, Some(7))));
    }

    #[test]
    fn a_preview_has_one_check_more_that_refuses() {
        let rule = Rule::new("sms", BUCKET);
        let checks = [Check::new(&rule, "a"), Check::new(&rule, "b")];
        let request = preview(&prepared(&checks), None);
        assert_eq!(name_of(&request), "acquire_all");
        let words = words_of(&request);
        let (a, b) = ("rate:limit:sms:tb1:a", "rate:limit:sms:tb1:b");
        assert_eq!(words[2..7], ["3", a, b, a, ""]);
        // A fixed window of 1, and a cost of 2.
        assert!(words.len() == 10 && words[9].starts_with("f\u{2}\0\0\0\0\0\0\0\u{1}"));
    }

    #[test]
    fn a_server_without_the_script_gets_it_with_the_call() {
        let rule = Rule::new("sms", BUCKET);
        let request = decide(&prepared(&[Check::new(&rule, "a")]), None);
        let script = request.script.unwrap();
        let inline = Request::plain(request.with_source(script), request.slot);
        let (inline, words) = (words_of(&inline), words_of(&request));
        assert_eq!((inline[0].as_str(), inline[1].as_str()), ("EVAL", script.source));
        assert_eq!(inline[2..], words[2..]);
    }
}
