//! Runs scenarios on a subject and compares.

use std::fmt::Debug;
use std::time::Duration;

use ratelimit_runtime::__private::algo::Answer;

use crate::report::{Mismatch, Report, Skip};
use crate::scenario::{Calls, Load, Quota, Scenario, Step};
use crate::subject::Subject;

/// The key of the steps that name none.
const ONE_KEY: &str = "one";

/// After so many scenarios in a row that ended in an error, the subject is taken to be gone.
const MOST_ERRORS: usize = 5;

/// Runs all scenarios, each on a fresh limiter. What a subject's clock cannot express is skipped,
/// and the report says so.
pub fn run(scenarios: &[Scenario], subject: &mut dyn Subject) -> Report {
    let mut report = Report::new(subject.name());
    let mut errors = 0;
    for scenario in scenarios {
        if let Some(why) = skipped(scenario, subject) {
            report.skipped.push(Skip { scenario: scenario.id.clone(), why });
            continue;
        }
        report.scenarios += 1;
        // An error ends the scenario: without that call the following answers mean nothing.
        match run_one(scenario, subject, &mut report) {
            Ok(()) => errors = 0,
            Err(mismatch) => {
                report.mismatches.push(mismatch);
                errors += 1;
            }
        }
        if errors == MOST_ERRORS {
            break;
        }
    }
    report
}

fn skipped(scenario: &Scenario, subject: &dyn Subject) -> Option<String> {
    let tick = subject.tick().as_nanos();
    let fits = |at: Duration| at.as_nanos().is_multiple_of(tick);
    let fine = match &scenario.calls {
        Calls::Steps(steps) => steps.iter().all(|step| fits(step.at)),
        Calls::Load { offered, .. } => offered.iter().all(|load| fits(load.every)),
    };
    if fine {
        subject.declines(&scenario.algorithm)
    } else {
        Some(format!("its instants are finer than the clock's {:?}", subject.tick()))
    }
}

fn run_one(
    scenario: &Scenario,
    subject: &mut dyn Subject,
    report: &mut Report,
) -> Result<(), Mismatch> {
    subject
        .start(&scenario.id, scenario.algorithm)
        .map_err(|why| failed(scenario, "the start".to_owned(), why))?;
    match &scenario.calls {
        Calls::Steps(steps) => run_steps(scenario, steps, subject, report),
        Calls::Load { offered, quotas } => run_load(scenario, offered, quotas, subject, report),
    }
}

fn run_steps(
    scenario: &Scenario,
    steps: &[Step],
    subject: &mut dyn Subject,
    report: &mut Report,
) -> Result<(), Mismatch> {
    for (number, step) in (1..).zip(steps) {
        let place = || format!("step {number} at {:?}, cost {}", step.at, step.cost);
        let key = step.key.as_deref().unwrap_or(ONE_KEY);
        let answer =
            subject.hit(key, step.at, step.cost).map_err(|why| failed(scenario, place(), why))?;
        report.steps += 1;
        compare(scenario, step, &answer, &place, report);
    }
    Ok(())
}

fn compare(
    scenario: &Scenario,
    step: &Step,
    got: &Answer,
    place: &dyn Fn() -> String,
    report: &mut Report,
) {
    let expected = step.expected;
    let mut fields = Fields { scenario, place, report };
    fields.compare("limit", Some(scenario.algorithm.limit()), got.limit);
    fields.compare("allowed", expected.allowed, got.admitted);
    fields.compare("remaining", expected.remaining, got.remaining);
    fields.compare("retry_after_ms", expected.retry_after_ms, got.retry_after_ms);
    fields.compare("reset_after_ms", expected.reset_after_ms, got.reset_after_ms);
    fields.compare("delay_ms", expected.delay_ms, got.delay_ms);
}

struct Fields<'a> {
    scenario: &'a Scenario,
    place: &'a dyn Fn() -> String,
    report: &'a mut Report,
}

impl Fields<'_> {
    /// Compares a field if the vectors say what it must be.
    fn compare<T>(&mut self, field: &'static str, expected: Option<T>, got: impl Into<T>)
    where
        T: PartialEq + Debug,
    {
        let (Some(expected), got) = (expected, got.into()) else { return };
        self.report.fields += 1;
        if expected != got {
            self.report.mismatches.push(Mismatch {
                scenario: self.scenario.id.clone(),
                place: (self.place)(),
                field,
                expected: format!("{expected:?}"),
                got: format!("{got:?}"),
            });
        }
    }
}

fn run_load(
    scenario: &Scenario,
    offered: &[Load],
    quotas: &[Quota],
    subject: &mut dyn Subject,
    report: &mut Report,
) -> Result<(), Mismatch> {
    let mut passed = Vec::new();
    for (at, cost) in calls(offered) {
        let answer = subject
            .hit(ONE_KEY, at, cost)
            .map_err(|why| failed(scenario, format!("the call at {at:?}"), why))?;
        report.steps += 1;
        if answer.admitted {
            passed.push((at, cost));
        }
    }
    for quota in quotas {
        let within = passed.iter().filter(|(at, _)| (quota.from..quota.to).contains(at));
        let admitted: u64 = within.map(|(_, cost)| cost).sum();
        report.fields += 1;
        if !quota.admitted.contains(&admitted) {
            report.mismatches.push(Mismatch {
                scenario: scenario.id.clone(),
                place: format!("from {:?} to {:?}", quota.from, quota.to),
                field: "admitted",
                expected: format!("{:?}", quota.admitted),
                got: admitted.to_string(),
            });
        }
    }
    Ok(())
}

/// All calls of all loads in the order of time.
fn calls(offered: &[Load]) -> Vec<(Duration, u64)> {
    let mut calls = Vec::new();
    for load in offered {
        let instants = std::iter::successors(Some(load.from), |at| at.checked_add(load.every));
        for at in instants.take_while(|at| *at < load.to) {
            calls.extend((0..load.batch).map(|_| (at, load.cost)));
        }
    }
    calls.sort_by_key(|(at, _)| *at);
    calls
}

fn failed(scenario: &Scenario, place: String, why: String) -> Mismatch {
    Mismatch {
        scenario: scenario.id.clone(),
        place,
        field: "answer",
        expected: "one".to_owned(),
        got: why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::parse;
    use ratelimit_runtime::Algorithm;

    /// Admits `limit` calls and forgets nothing; wrong in the way a test wants.
    #[derive(Default)]
    struct Counter {
        limit: u64,
        used: u64,
        fails_at_ms: Option<u128>,
        off_by: u64,
    }

    impl Subject for Counter {
        fn name(&self) -> String {
            "a counter".to_owned()
        }

        fn tick(&self) -> Duration {
            Duration::from_millis(1)
        }

        fn declines(&self, algorithm: &Algorithm) -> Option<String> {
            (algorithm.limit() > 100).then(|| "too many".to_owned())
        }

        fn start(&mut self, _: &str, algorithm: Algorithm) -> Result<(), String> {
            (self.limit, self.used) = (algorithm.limit(), 0);
            Ok(())
        }

        fn hit(&mut self, _: &str, now: Duration, cost: u64) -> Result<Answer, String> {
            if self.fails_at_ms == Some(now.as_millis()) {
                return Err("out of order".to_owned());
            }
            let allowed = self.used + cost <= self.limit;
            self.used += if allowed { cost } else { 0 };
            Ok(Answer {
                admitted: allowed,
                limit: self.limit,
                remaining: self.limit - self.used + self.off_by,
                retry_after_ms: allowed.then_some(0),
                reset_after_ms: 5,
                delay_ms: 0,
            })
        }
    }

    fn steps(limit: u64, steps: &str) -> Vec<Scenario> {
        let params = format!(r#"{{"limit": {limit}, "window_ms": 5}}"#);
        parse(&format!(
            r#"[{{"id": "s", "algo": "fixed_window", "params": {params}, "steps": [{steps}]}}]"#
        ))
        .unwrap()
    }

    const TWO: &str = r#"{"at_ms": 0, "cost": 1, "allowed": true, "remaining": 0},
                         {"at_ms": 1, "cost": 1, "allowed": false, "retry_after_ms": null}"#;

    #[test]
    fn what_agrees_is_counted() {
        let report = run(&steps(1, TWO), &mut Counter::default());
        assert_eq!((report.scenarios, report.steps, report.fields), (1, 2, 6));
        assert!(report.passed());
    }

    #[test]
    fn what_differs_is_named() {
        let subject = &mut Counter { off_by: 3, ..Counter::default() };
        let report = run(&steps(1, TWO), subject);
        let [mismatch] = report.mismatches.as_slice() else { panic!("{report}") };
        assert_eq!(
            mismatch.to_string(),
            "s, step 1 at 0ns, cost 1: remaining is expected to be 0, got 3"
        );
        assert!(!report.passed());
    }

    #[test]
    fn never_is_not_a_wait() {
        let wait = r#"{"at_ms": 0, "cost": 2, "retry_after_ms": 7}"#;
        let report = run(&steps(1, wait), &mut Counter::default());
        let [mismatch] = report.mismatches.as_slice() else { panic!("{report}") };
        assert!(mismatch.to_string().ends_with("expected to be Ms(7), got Never"));
    }

    #[test]
    fn an_error_ends_its_scenario_and_fails() {
        let subject = &mut Counter { fails_at_ms: Some(0), ..Counter::default() };
        let report = run(&steps(1, TWO), subject);
        assert_eq!((report.steps, report.mismatches.len()), (0, 1));
        assert!(report.to_string().contains("out of order"));
    }

    #[test]
    fn what_cannot_be_run_is_skipped_with_its_reason() {
        let fine = r#"{"at_us": 1500, "cost": 1}"#;
        let report = run(&steps(1, fine), &mut Counter::default());
        assert_eq!((report.scenarios, report.skipped.len()), (0, 1));
        // Written in microseconds, but whole milliseconds.
        let coarse = r#"{"at_us": 2000, "cost": 1}"#;
        assert_eq!(run(&steps(1, coarse), &mut Counter::default()).scenarios, 1);
        let report = run(&steps(101, coarse), &mut Counter::default());
        assert!(report.to_string().contains("skipped s: too many"));
    }

    #[test]
    fn nothing_run_is_nothing_passed() {
        assert!(!run(&[], &mut Counter::default()).passed());
    }

    #[test]
    fn loads_are_offered_in_order_and_counted() {
        let load = |quota: &str| {
            parse(&format!(
                r#"[{{"id": "l", "algo": "fixed_window", "params": {{"limit": 5, "window_ms": 9}},
                     "load": [{{"from_ms": 2, "to_ms": 4, "every_us": 1000, "batch": 2, "cost": 1}},
                              {{"from_ms": 0, "to_ms": 3, "every_us": 2000, "batch": 1, "cost": 1}}],
                     "expect": [{{"from_ms": 0, "to_ms": 2, "admitted": 1}}, {quota}]}}]"#
            ))
            .unwrap()
        };
        // 0: 1 call; 2: 3 calls; 3: 2 calls, of which one is too many.
        let right = load(r#"{"from_ms": 0, "to_ms": 4, "min": 5, "max": 5}"#);
        let report = run(&right, &mut Counter::default());
        assert!(report.passed(), "{report}");
        assert_eq!((report.steps, report.fields), (6, 2));
        let wrong = load(r#"{"from_ms": 3, "to_ms": 4, "min": 2, "max": 3}"#);
        let report = run(&wrong, &mut Counter::default());
        let [mismatch] = report.mismatches.as_slice() else { panic!("{report}") };
        assert_eq!(
            mismatch.to_string(),
            "l, from 3ms to 4ms: admitted is expected to be 2..=3, got 1"
        );
    }
}
