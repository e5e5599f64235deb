//! The four nodes, as the parent sees them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use test_support::Node;

use crate::call::Call;
use crate::machine::{self, Work};
use crate::node::{END, NODES};

/// How often nodes are asked.
const EVERY: Duration = Duration::from_millis(500);

/// The nodes; they stay the same through all phases.
#[derive(Debug)]
pub(crate) struct Crew {
    nodes: Vec<Node>,
    /// After how long the memory is looked at first, counted from the first call.
    quarter: Duration,
    began: Option<Instant>,
    work_at_begin: Work,
    figures: Figures,
}

/// What the nodes cost.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) work: Work,
    pub(crate) nodes: Vec<NodeFigures>,
}

/// What one node costs.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeFigures {
    /// In KiB, after a quarter of the time and at the end.
    pub(crate) memory: (u64, u64),
    /// Before the first limiter was made, and at most when one had gone.
    pub(crate) tasks: (usize, usize),
    pub(crate) files: (usize, usize),
}

/// What the nodes reported.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// By node, in the order of their start.
    pub(crate) calls: Vec<Vec<Call>>,
    pub(crate) wrong: Vec<String>,
}

impl Crew {
    pub(crate) fn start(quarter: Duration) -> Self {
        let mut nodes: Vec<Node> = (0..NODES).map(|_| Node::start("node")).collect();
        for (number, node) in nodes.iter_mut().enumerate() {
            node.send(number);
        }
        let figures = Figures { work: Work::default(), nodes: vec![NodeFigures::default(); NODES] };
        Self { nodes, quarter, began: None, work_at_begin: Work::default(), figures }
    }

    /// Lets all of them make a limiter, wait until it is ready, and begin.
    pub(crate) fn begin(&mut self, url: &str) {
        for (node, figures) in self.nodes.iter_mut().zip(&mut self.figures.nodes) {
            if self.began.is_none() {
                figures.files.0 = machine::files(node.pid());
            }
            node.send(format_args!("meet {url}"));
        }
        for node in &mut self.nodes {
            let answer = node.recv();
            assert_eq!(answer, "ready", "a node did not get ready at {url}");
        }
        for node in &mut self.nodes {
            node.send("begin");
        }
        self.began.get_or_insert_with(Instant::now);
        self.work_at_begin = Work::so_far(&self.pids());
    }

    /// Gathers what they report, until it is told to stop; then they stop too.
    pub(crate) fn gather(&mut self, stop: &AtomicBool) -> Reports {
        let mut reports = Reports { calls: vec![Vec::new(); NODES], wrong: Vec::new() };
        while !stop.load(Ordering::Relaxed) {
            thread::sleep(EVERY);
            self.look_at_memory();
            for (number, node) in self.nodes.iter_mut().enumerate() {
                node.send("tell");
                reports.hear(number, node);
            }
        }
        let work = Work::so_far(&self.pids());
        self.figures.work = self.figures.work.plus_since(self.work_at_begin, work);
        for node in &mut self.nodes {
            node.send("stop");
        }
        for (number, node) in self.nodes.iter_mut().enumerate() {
            reports.hear(number, node);
            let figures = &mut self.figures.nodes[number];
            let tasks = node.recv();
            let (before, after) = tasks.split_once(' ').unwrap();
            let before = before.parse().unwrap();
            let is_first = figures.memory.1 == 0;
            figures.tasks.0 = if is_first { before } else { figures.tasks.0.min(before) };
            figures.tasks.1 = figures.tasks.1.max(after.parse().unwrap());
            figures.files.1 = figures.files.1.max(machine::files(node.pid()));
            figures.memory.1 = machine::memory(node.pid());
            reports.calls[number].sort_by_key(|call| call.start);
        }
        reports
    }

    /// The end of all of them.
    pub(crate) fn end(self) -> Figures {
        self.figures
    }

    fn look_at_memory(&mut self) {
        let is_due = self.began.is_some_and(|began| began.elapsed() >= self.quarter);
        for (node, figures) in self.nodes.iter().zip(&mut self.figures.nodes) {
            if is_due && figures.memory.0 == 0 {
                figures.memory.0 = machine::memory(node.pid());
            }
        }
    }

    fn pids(&self) -> Vec<u32> {
        self.nodes.iter().map(Node::pid).collect()
    }
}

impl Reports {
    /// Reads one answer of several lines.
    fn hear(&mut self, number: usize, node: &mut Node) {
        loop {
            let line = node.recv();
            if line == END {
                return;
            }
            match Call::read(&line) {
                Some(call) => self.calls[number].push(call),
                None => self.wrong.push(format!("node {number}: {line}")),
            }
        }
    }
}
