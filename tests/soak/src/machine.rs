//! What the kernel says about processes and the machine.

use std::fs;
use std::thread::available_parallelism;

/// The resident memory of a process, in KiB.
pub(crate) fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// How many files and sockets a process has open.
pub(crate) fn files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// What processors have done so far, in ticks of all of them together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) nodes: u64,
    pub(crate) busy: u64,
    pub(crate) all: u64,
}

impl Work {
    pub(crate) fn so_far(pids: &[u32]) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap();
        // user nice system idle iowait irq softirq steal; what guests do is in them already.
        let ticks = stat.lines().next().unwrap().split_whitespace().skip(1).take(8);
        let ticks: Vec<u64> = ticks.map(|ticks| ticks.parse().unwrap()).collect();
        let all: u64 = ticks.iter().sum();
        let nodes = pids.iter().map(|pid| of_process(*pid)).sum();
        Self { nodes, busy: all - ticks[3] - ticks[4], all }
    }

    pub(crate) fn plus_since(self, earlier: Self, now: Self) -> Self {
        Self {
            nodes: self.nodes + now.nodes - earlier.nodes,
            busy: self.busy + now.busy - earlier.busy,
            all: self.all + now.all - earlier.all,
        }
    }

    /// Of what all processors could have done: by the nodes, and by all.
    pub(crate) fn shares(self) -> (f64, f64) {
        let share = |part: u64| part as f64 / self.all.max(1) as f64;
        (share(self.nodes), share(self.busy))
    }
}

/// How many processors there are.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// User and system time of a process.
fn of_process(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name, in parentheses, may hold anything.
    let (_, after_name) = stat.rsplit_once(") ").unwrap();
    after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum()
}
