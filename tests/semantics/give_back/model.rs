//! The charges that stand, and what the arithmetic makes of them.

use ratelimit_runtime::__private::algo::{Arithmetic, Plan, Timestamp, Verdict};

/// A key on which the charges that were given back have never been made.
#[derive(Debug)]
pub(super) struct Model {
    plan: Plan,
    /// Those that stand: when, as the replies told, and at what cost.
    charges: Vec<(Timestamp, u64)>,
    /// The latest of all, also of those that were given back: a key's time does not run backwards.
    latest: Timestamp,
}

impl Model {
    pub(super) fn new(plan: Plan) -> Self {
        Self { plan, charges: Vec::new(), latest: 0 }
    }

    pub(super) fn charge(&mut self, at: Timestamp, cost: u64) {
        self.charges.push((at, cost));
        self.latest = self.latest.max(at);
    }

    pub(super) fn give_back(&mut self, at: Timestamp, cost: u64) {
        let charge = self.charges.iter().rposition(|charge| *charge == (at, cost)).unwrap();
        let Plan::FixedWindow(window) = self.plan else {
            self.charges.remove(charge);
            return;
        };
        // A window stays where it is, whoever opened it, as long as something is in it. One that
        // opens later would not have less room at all times, but at other ones.
        self.charges[charge].1 = 0;
        let state = replay(&window, &self.charges).unwrap();
        if state.count == 0 {
            self.charges.retain(|(at, _)| *at < state.start);
        }
    }

    /// What is left, seen with the time of the key.
    pub(super) fn remaining(&self, now: Timestamp) -> u64 {
        match &self.plan {
            Plan::TokenBucket(bucket) => self.left(bucket, now),
            Plan::LeakyBucket(bucket) => self.left(bucket, now),
            Plan::FixedWindow(window) => self.left(window, now),
            Plan::SlidingLog(log) => self.left(log, now),
            Plan::SlidingCounter(counter) => self.left(counter, now),
            other => panic!("what is {other:?}?"),
        }
    }

    fn left<A: Arithmetic>(&self, algorithm: &A, now: Timestamp) -> u64 {
        let state = replay(algorithm, &self.charges);
        let look = Verdict { cost: 0, admitted: true, charged: false };
        algorithm.answer(state.as_ref(), now.max(self.latest), look).remaining
    }
}

fn replay<A: Arithmetic>(algorithm: &A, charges: &[(Timestamp, u64)]) -> Option<A::State> {
    let charge = |state, &(at, cost): &(Timestamp, u64)| Some(algorithm.charge(state, at, cost));
    charges.iter().fold(None, charge)
}
