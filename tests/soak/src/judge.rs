//! Holds what was seen against what is promised.

use std::collections::{BTreeMap, HashMap};

use crate::call::Call;
use crate::crew::Figures;
use crate::faults::Fault;
use crate::load::{PER_SECOND, Target, is_contested, rules};
use crate::now::SECOND;
use crate::phase::Phase;

/// The deadline of a call, and what may pass until its caller has the answer.
const LONGEST: u64 = 100_000;

/// Calls without the server belong to one outage if they are no further apart.
const GAP: u64 = SECOND / 2;

/// Within so long after a fault, its outage is over.
const RECOVERY: u64 = 3 * SECOND;

/// When the server is 20 ms away, a call of a process that is late by less is answered before its
/// deadline.
const LATE: u64 = 20_000;

/// One of so many calls that are to be served may be decided without the server: servers and proxies
/// are late as well, and nobody counts that.
const UNSERVED: u64 = 200;

/// How much longer after its second a key may be called, by a call that began in it.
const OVERHANG: u64 = SECOND / 5;

/// What the memory of a node may grow by, in KiB.
const GROWTH: u64 = 8 * 1024;

/// What became of a phase.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) totals: Totals,
    /// As many as there were faults, in their order.
    pub(crate) faults: Vec<Outcome>,
    pub(crate) failures: Vec<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) calls: u64,
    /// By the server.
    pub(crate) admitted: u64,
    pub(crate) refused: u64,
    /// By cause.
    pub(crate) degraded: BTreeMap<&'static str, u64>,
    /// Permits that the server gave, of all rules together.
    pub(crate) permits: u64,
    /// Permits above the limits.
    pub(crate) excess: u64,
    pub(crate) worst_excess: u64,
    /// Keys that calls can use up, and those that were.
    pub(crate) contested: u64,
    pub(crate) used_up: u64,
    /// The longest call, and how late its process was then.
    pub(crate) longest: (u64, u64),
    /// The longest call beyond the lateness of its process.
    pub(crate) longest_own: u64,
}

/// What a fault did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) kind: &'static str,
    /// How long there was no server for some keys.
    pub(crate) lasted: u64,
    /// Calls without the server until the next fault.
    pub(crate) degraded: u64,
    /// The longest time of a node until the server decided again.
    pub(crate) outage: u64,
    /// The same, counted from the cure.
    pub(crate) after_cure: u64,
    pub(crate) promotions: usize,
    /// Permits above the limits, of keys that a promotion touched.
    pub(crate) excess: u64,
}

/// Judges a phase.
pub(crate) fn phase(phase: &Phase) -> Verdict {
    let mut verdict = Verdict::default();
    for call in phase.reports.calls.iter().flatten() {
        verdict.count(call);
    }
    for (place, fault) in phase.faults.iter().enumerate() {
        verdict.failures.extend(unserved(phase, fault));
        let until = phase.faults.get(place + 1).map_or(u64::MAX, |next| next.begun);
        verdict.faults.push(outcome(phase, fault, until));
    }
    verdict.outcomes_in_time();
    verdict.limits(phase);
    for failure in &mut verdict.failures {
        failure.insert_str(0, ": ");
        failure.insert_str(0, phase.name);
    }
    verdict
}

/// Whether the load was such that the rest means something.
pub(crate) fn load(phase: &Phase, verdict: &Verdict) -> Vec<String> {
    let Totals { calls, contested, used_up, .. } = verdict.totals;
    let times = || phase.reports.calls.iter().flatten().map(|call| call.start);
    let lasted = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    let planned = lasted * PER_SECOND / SECOND;
    let mut failures = Vec::new();
    // Calls are made however long others take.
    if calls * 20 <= planned * 19 {
        failures.push(format!("{}: {calls} calls were made of {planned}", phase.name));
    }
    // A quarter is enough to see a limit that does not hold, and is there on the busiest machine.
    if used_up * 4 <= contested {
        failures.push(format!("{}: {used_up} of {contested} keys were used up", phase.name));
    }
    failures
}

/// Judges what the nodes cost.
pub(crate) fn figures(figures: &Figures) -> Vec<String> {
    let mut failures = Vec::new();
    for (number, node) in figures.nodes.iter().enumerate() {
        let (memory, tasks, files) = (node.memory, node.tasks, node.files);
        if memory.1 > memory.0 + GROWTH {
            failures
                .push(format!("node {number}: memory grew from {} to {} KiB", memory.0, memory.1));
        }
        if tasks.1 > tasks.0 {
            failures.push(format!("node {number}: {} tasks were left", tasks.1 - tasks.0));
        }
        if files.1 > files.0 {
            failures.push(format!("node {number}: {} files were left", files.1 - files.0));
        }
    }
    failures
}

impl Verdict {
    fn count(&mut self, call: &Call) {
        let totals = &mut self.totals;
        totals.calls += 1;
        match call.degraded {
            Some(cause) => *totals.degraded.entry(cause).or_default() += 1,
            None if call.admitted => totals.admitted += 1,
            None => totals.refused += 1,
        }
        totals.longest = totals.longest.max((call.took, call.late));
        totals.longest_own = totals.longest_own.max(call.took.saturating_sub(call.late));
        if call.took > LONGEST + call.late {
            let Call { took, late, start, degraded, .. } = call;
            self.failures.push(format!(
                "a call took {took} µs when its process was late by {late} µs, at {start}, {degraded:?}"
            ));
        }
    }

    fn outcomes_in_time(&mut self) {
        for Outcome { kind, after_cure, .. } in &self.faults {
            if *after_cure > RECOVERY {
                let failure = format!("not served again {after_cure} µs after: {kind}");
                self.failures.push(failure);
            }
        }
    }

    /// Counts what the server admitted of each key.
    fn limits(&mut self, phase: &Phase) {
        let mut keys: HashMap<(u64, usize, usize), (u64, u64)> = HashMap::new();
        for call in phase.reports.calls.iter().flatten() {
            let target = Target::new(call.target);
            for rule in target.rules() {
                let key = keys.entry((call.start / SECOND, *rule, target.key())).or_default();
                key.0 += 1;
                key.1 += u64::from(call.admitted && call.degraded.is_none());
            }
        }
        for ((second, rule, key), (calls, admitted)) in keys {
            let limit = rules()[rule].algorithm().unwrap().limit();
            self.totals.permits += admitted;
            if is_contested(rule) && calls > limit {
                self.totals.contested += 1;
                self.totals.used_up += u64::from(admitted >= limit);
            }
            let excess = admitted.saturating_sub(limit);
            if excess == 0 {
                continue;
            }
            self.totals.excess += excess;
            self.totals.worst_excess = self.totals.worst_excess.max(excess);
            if let Some(fault) = promotion(&phase.faults, second) {
                self.faults[fault].excess += excess;
            } else {
                let name = rules()[rule].name();
                self.failures.push(format!(
                    "{admitted} of {limit} admitted by rule {name} for key {second}-{key}, which \
                     no promotion touched"
                ));
            }
        }
        if self.totals.used_up * 2 < self.totals.contested {
            self.failures
                .push("less than half of the keys were used up: this proves little".into());
        }
    }
}

/// The fault with a promotion that happened while the keys of a second were in use.
fn promotion(faults: &[Fault], second: u64) -> Option<usize> {
    let (first, last) = (second * SECOND, (second + 1) * SECOND + OVERHANG);
    let touches =
        |fault: &Fault| fault.promotions > 0 && fault.begun <= last && first <= fault.settled;
    faults.iter().position(touches)
}

/// Whether calls were decided without a server that was there.
fn unserved(phase: &Phase, fault: &Fault) -> Option<String> {
    let during = |call: &&Call| fault.begun <= call.start && call.end() <= fault.cured;
    let calls = || phase.reports.calls.iter().flatten().filter(during);
    let all = calls().count() as u64;
    let without = calls().filter(|call| call.degraded.is_some() && call.late < LATE).count() as u64;
    (fault.is_served && without * UNSERVED > all)
        .then(|| format!("{}: {without} of {all} calls without the server", fault.kind))
}

fn outcome(phase: &Phase, fault: &Fault, until: u64) -> Outcome {
    let Fault { kind, begun, cured, promotions, .. } = *fault;
    let mut outcome = Outcome { kind, lasted: cured - begun, promotions, ..Outcome::default() };
    for calls in &phase.reports.calls {
        let degraded = calls.iter().filter(|call| call.degraded.is_some());
        outcome.degraded +=
            degraded.filter(|call| (begun..until).contains(&call.end())).count() as u64;
        for (from, to) in outages(calls, begun, until) {
            outcome.outage = outcome.outage.max(to - from);
            if from <= cured {
                outcome.after_cure = outcome.after_cure.max(to.saturating_sub(cured));
            }
        }
    }
    outcome
}

/// From the first call that was not served until one is served again, of one node: what of that
/// lies between two times.
fn outages(calls: &[Call], begun: u64, until: u64) -> Vec<(u64, u64)> {
    let mut outages: Vec<(u64, u64)> = Vec::new();
    let mut last = None;
    for (place, call) in calls.iter().enumerate() {
        if call.degraded.is_none() || !(begun..until).contains(&call.end()) {
            continue;
        }
        let served = calls[place..].iter().find(|call| call.degraded.is_none());
        // One that does not end lasts as long as anything is known.
        let end = served.or(calls.last()).map_or(until, Call::end).min(until);
        match outages.last_mut() {
            Some(outage) if last.is_some_and(|last| call.start - last <= GAP) => outage.1 = end,
            _ => outages.push((call.start, end)),
        }
        last = Some(call.start);
    }
    outages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(start: u64, degraded: bool) -> Call {
        let degraded = degraded.then_some("deadline");
        Call { start, took: 10, late: 0, target: 0, admitted: true, degraded }
    }

    #[test]
    fn an_outage_ends_with_a_served_call_that_no_failure_follows_soon() {
        let calls = [
            call(1_000, false),
            call(2_000, true),
            call(3_000, false),
            call(4_000, true),
            call(5_000, false),
            call(900_000, true),
            call(901_000, false),
        ];
        assert_eq!(outages(&calls, 0, u64::MAX), [(2_000, 5_010), (900_000, 901_010)]);
        assert_eq!(outages(&calls[..4], 0, u64::MAX), [(2_000, 4_010)]);
        assert_eq!(outages(&calls, 2_011, 4_500), [(4_000, 4_500)]);
    }

    fn seen(calls: Vec<Call>, faults: Vec<Fault>) -> Verdict {
        let reports = crate::crew::Reports { calls: vec![calls], wrong: Vec::new() };
        phase(&Phase { name: "test", faults, reports, looks: crate::expiry::Looks::default() })
    }

    fn promotion_at(begun: u64) -> Fault {
        let settled = begun + SECOND;
        Fault { kind: "test", begun, cured: begun, settled, promotions: 1, is_served: false }
    }

    #[test]
    fn what_is_above_the_limit_needs_a_promotion() {
        let limit = rules()[0].algorithm().unwrap().limit();
        let exactly: Vec<Call> = (0..limit).map(|i| call(9 * SECOND + i, false)).collect();
        assert!(seen(exactly.clone(), Vec::new()).failures.is_empty());

        let mut above = exactly;
        above.push(call(9 * SECOND + limit, false));
        let alone = seen(above.clone(), Vec::new());
        assert_eq!((alone.totals.excess, alone.failures.len()), (1, 1));
        let touched = seen(above.clone(), vec![promotion_at(9 * SECOND)]);
        assert_eq!((touched.faults[0].excess, touched.failures.len()), (1, 0));
        let much_later = seen(above, vec![promotion_at(12 * SECOND)]);
        assert_eq!(much_later.failures.len(), 1);
    }

    #[test]
    fn a_server_that_is_there_serves() {
        let wrong = |calls: &[Call], is_served| {
            let fault = Fault { cured: SECOND, promotions: 0, is_served, ..promotion_at(0) };
            let reports = crate::crew::Reports { calls: vec![calls.to_vec()], wrong: Vec::new() };
            let looks = crate::expiry::Looks::default();
            unserved(&Phase { name: "test", faults: Vec::new(), reports, looks }, &fault).is_some()
        };
        let mut calls: Vec<Call> = (0..300).map(|i| call(i * 1_000, false)).collect();
        calls[7] = call(7_000, true);
        assert!(!wrong(&calls, true));
        calls[8] = call(8_000, true);
        assert!(wrong(&calls, true));
        assert!(!wrong(&calls, false));
        calls[8].late = LATE;
        assert!(!wrong(&calls, true));
    }

    #[test]
    fn a_call_may_be_as_late_as_its_process() {
        let mut slow = call(0, false);
        (slow.took, slow.late) = (LONGEST + 7, 7);
        assert!(seen(vec![slow], Vec::new()).failures.is_empty());
        slow.late = 6;
        assert_eq!(seen(vec![slow], Vec::new()).failures.len(), 1);
    }
}
