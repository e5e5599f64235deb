//! What happens to servers.

mod one_server;
mod under_sentinel;
mod whole_cluster;

use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;

pub(crate) use self::one_server::OneServer;
pub(crate) use self::under_sentinel::UnderSentinel;
pub(crate) use self::whole_cluster::WholeCluster;
use crate::now::now;

/// The time before the first fault, and after the last one.
const QUIET: (Duration, Duration) = (Duration::from_millis(1500), Duration::from_millis(5500));

/// Between the end of one fault and the beginning of the next, in milliseconds.
const PAUSE: std::ops::Range<u64> = 1500..3000;

/// Servers that can be hurt.
pub(crate) trait Stage: Sized + 'static {
    /// What to call them in a table.
    const NAME: &'static str;
    /// In which ways.
    const KINDS: &'static [Kind<Self>];

    /// Where nodes reach them.
    fn url(&self) -> String;
    /// The address of each.
    fn servers(&self) -> Vec<String>;
    /// Those of which writes are taken.
    fn primaries(&self) -> Vec<usize>;
    /// Starts again what was killed, and waits until everything is in order.
    fn settle(&mut self);
}

/// One kind of fault.
pub(crate) struct Kind<S> {
    name: &'static str,
    /// How long it takes, about, until everything is in order.
    takes: Duration,
    inflict: fn(&mut S, &mut Rng),
    is_served: bool,
}

impl<S> Kind<S> {
    const fn new(name: &'static str, takes_ms: u64, inflict: fn(&mut S, &mut Rng)) -> Self {
        Self { name, takes: Duration::from_millis(takes_ms), inflict, is_served: false }
    }

    /// Calls are decided by the server all the time.
    const fn served(self) -> Self {
        Self { is_served: true, ..self }
    }
}

/// One that happened. Times are in microseconds since the Unix epoch.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: &'static str,
    pub(crate) begun: u64,
    /// From then on there was a server for every key.
    pub(crate) cured: u64,
    /// From then on there was one primary for every key, and everybody knew it.
    pub(crate) settled: u64,
    /// Replicas that became primaries.
    pub(crate) promotions: usize,
    /// Whether calls are to be decided by the server meanwhile.
    pub(crate) is_served: bool,
}

/// Lets one thing after the other happen, for about so long.
pub(crate) fn inflict<S: Stage>(stage: &mut S, lasts: Duration, rng: &mut Rng) -> Vec<Fault> {
    let end = Instant::now() + lasts.saturating_sub(QUIET.1);
    thread::sleep(QUIET.0);
    let mut deck = Vec::new();
    let mut faults = Vec::new();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let Some(kind) = draw::<S>(&mut deck, left, rng) else { break };
        let before = stage.primaries();
        let mut fault = fault(stage, kind, rng);
        let after = stage.primaries();
        thread::sleep(Duration::from_millis(rng.u64(PAUSE)));
        // Those that watch may take a while to find that something was wrong.
        if stage.primaries() != after {
            stage.settle();
            fault.settled = now();
        }
        let primaries = stage.primaries();
        fault.promotions = primaries.iter().filter(|new| !before.contains(new)).count();
        faults.push(fault);
    }
    thread::sleep(end.saturating_duration_since(Instant::now()) + QUIET.1);
    faults
}

/// A kind for which there is time. Every kind comes up before one comes up again.
fn draw<S: Stage>(
    deck: &mut Vec<usize>,
    left: Duration,
    rng: &mut Rng,
) -> Option<&'static Kind<S>> {
    if deck.is_empty() {
        deck.extend(0..S::KINDS.len());
        rng.shuffle(deck);
    }
    let place = deck.iter().position(|kind| S::KINDS[*kind].takes < left)?;
    Some(&S::KINDS[deck.remove(place)])
}

fn fault<S: Stage>(stage: &mut S, kind: &Kind<S>, rng: &mut Rng) -> Fault {
    let begun = now();
    (kind.inflict)(stage, rng);
    let cured = now();
    stage.settle();
    Fault {
        kind: kind.name,
        begun,
        cured,
        settled: now(),
        promotions: 0,
        is_served: kind.is_served,
    }
}

/// From 0.2 to 1.5 seconds.
fn moment(rng: &mut Rng) -> Duration {
    Duration::from_millis(rng.u64(200..=1500))
}
