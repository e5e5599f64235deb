//! What is printed: two tables, in the form in which the documentation shows them.

use crate::crew::Figures;
use crate::judge::{Outcome, Totals, Verdict};
use crate::machine::processors;
use crate::node::{NODES, TASKS};
use crate::now::SECOND;
use crate::phase::Phase;

pub(crate) fn print(phases: &[Phase], verdicts: &[Verdict], figures: &Figures) {
    faults(phases, verdicts);
    totals(phases, verdicts);
    costs(figures);
}

fn faults(phases: &[Phase], verdicts: &[Verdict]) {
    println!(
        "\n| fault | times | lasted, s | calls without the server | longest outage of a node, s: \
         median | worst | after the fault, worst | promotions | permits above the limits |\n\
         | --- | --: | --: | --: | --: | --: | --: | --: | --: |"
    );
    for (phase, verdict) in phases.iter().zip(verdicts) {
        let mut kinds: Vec<&str> = Vec::new();
        for outcome in &verdict.faults {
            if !kinds.contains(&outcome.kind) {
                kinds.push(outcome.kind);
            }
        }
        kinds.sort_unstable();
        for kind in kinds {
            let of_kind = verdict.faults.iter().filter(|outcome| outcome.kind == kind);
            let outcomes: Vec<&Outcome> = of_kind.collect();
            let all = |field: fn(&Outcome) -> u64| {
                let mut all: Vec<u64> = outcomes.iter().map(|outcome| field(outcome)).collect();
                all.sort_unstable();
                all
            };
            let outage = all(|outcome| outcome.outage);
            println!(
                "| {}: {kind} | {} | {} | {} | {} | {} | {} | {} | {} |",
                phase.name,
                outcomes.len(),
                seconds(median(&all(|outcome| outcome.lasted))),
                all(|outcome| outcome.degraded).iter().sum::<u64>(),
                seconds(median(&outage)),
                seconds(*outage.last().unwrap()),
                seconds(*all(|outcome| outcome.after_cure).last().unwrap()),
                outcomes.iter().map(|outcome| outcome.promotions).sum::<usize>(),
                all(|outcome| outcome.excess).iter().sum::<u64>(),
            );
        }
    }
}

fn totals(phases: &[Phase], verdicts: &[Verdict]) {
    let row = |name: &str, cell: &dyn Fn(&Phase, &Totals) -> String| {
        let cells: Vec<String> = phases
            .iter()
            .zip(verdicts)
            .map(|(phase, verdict)| cell(phase, &verdict.totals))
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    let names: Vec<&str> = phases.iter().map(|phase| phase.name).collect();
    println!("\n| | {} |\n| --- |{}", names.join(" | "), " --: |".repeat(names.len()));
    row("calls", &|_, totals| totals.calls.to_string());
    row("admitted by the server", &|_, totals| totals.admitted.to_string());
    row("refused by the server", &|_, totals| totals.refused.to_string());
    row("decided without the server", &|_, totals| {
        let degraded: u64 = totals.degraded.values().sum();
        format!("{degraded} ({})", percent(degraded, totals.calls))
    });
    row("their causes", &|_, totals| {
        let causes = totals.degraded.iter().map(|(cause, count)| format!("{cause} {count}"));
        causes.collect::<Vec<_>>().join(", ")
    });
    row("longest call, ms", &|_, totals| millis(totals.longest.0));
    row("the process was late then by, ms", &|_, totals| millis(totals.longest.1));
    row("longest call less that, of all calls, ms", &|_, totals| millis(totals.longest_own));
    row("contested keys, and those used up", &|_, totals| {
        format!("{} ({})", totals.contested, percent(totals.used_up, totals.contested))
    });
    row("permits above the limits", &|_, totals| totals.excess.to_string());
    row("of the permits given by the server", &|_, totals| percent(totals.excess, totals.permits));
    row("worst key", &|_, totals| totals.worst_excess.to_string());
    row("promotions", &|phase, _| {
        phase.faults.iter().map(|fault| fault.promotions).sum::<usize>().to_string()
    });
    row("looks for keys without expiry, and keys at most", &|phase, _| {
        format!("{}, {}", phase.looks.answered, phase.looks.keys)
    });
    row("keys without expiry", &|phase, _| phase.looks.without.len().to_string());
    row("panics and errors", &|phase, _| phase.reports.wrong.len().to_string());
}

fn costs(figures: &Figures) {
    let (nodes, busy) = figures.work.shares();
    println!(
        "\n{NODES} processes of {TASKS} tasks on {} processors: {:.0} % of the machine's time, which was \
         busy for {:.0} %.",
        processors(),
        nodes * 100.0,
        busy * 100.0,
    );
    for (number, node) in figures.nodes.iter().enumerate() {
        println!(
            "Node {number}: memory {:.1} MiB after a quarter of the time, {:.1} MiB at the end; tasks {} \
             before, {} after; files {} before, {} after.",
            node.memory.0 as f64 / 1024.0,
            node.memory.1 as f64 / 1024.0,
            node.tasks.0,
            node.tasks.1,
            node.files.0,
            node.files.1,
        );
    }
}

fn median(sorted: &[u64]) -> u64 {
    sorted[(sorted.len() - 1) / 2]
}

fn seconds(micros: u64) -> String {
    format!("{:.2}", micros as f64 / SECOND as f64)
}

fn millis(micros: u64) -> String {
    format!("{:.1}", micros as f64 / 1000.0)
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2} %", part as f64 * 100.0 / whole.max(1) as f64)
}
