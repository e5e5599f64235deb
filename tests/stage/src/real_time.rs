//! Redis in real time, by the clock of its server.
//!
//! A spec says what a call at t = 9,900 ms is told, give or take 30 ms. On a busy machine a call
//! can come later than that, and then it is not the call that the spec speaks of. So every call is
//! timed by the server itself: one that was late makes the run void, and the run is made again.
//! What was in time must be answered exactly.

use std::thread;
use std::time::Duration;

use futures_util::future::join_all;
use ratelimit_kit::{Check, Limiter, Outcome, Rule};
use test_support::{Flavor, Server, unique};

use crate::algorithms::{Kind, ms, rule};
use crate::machine;
use crate::place::Place;
use crate::stage::{block_on, only, told};

/// How much later than planned a call may come.
const TOLERANCE: Duration = ms(30);

/// How often a run may be void.
const ATTEMPTS: usize = 5;

/// The clock of a Redis server.
pub struct Watch(redis::Connection);

impl Watch {
    /// That of the server that tests share.
    pub fn shared() -> Self {
        Self::of(Server::shared(Flavor::Installed))
    }

    /// That of this server.
    pub fn of(server: &Server) -> Self {
        Self(server.connect())
    }

    /// That of the server at the other end.
    pub fn over(connection: redis::Connection) -> Self {
        Self(connection)
    }

    /// The time since the Unix epoch.
    pub fn now(&mut self) -> Duration {
        let (seconds, micros): (u64, u32) = redis::cmd("TIME").query(&mut self.0).unwrap();
        Duration::new(seconds, micros * 1_000)
    }

    /// Waits until the server shows this time.
    pub fn wait_until(&mut self, time: Duration) {
        while let left = time.saturating_sub(self.now())
            && !left.is_zero()
        {
            thread::sleep(left);
        }
    }

    /// Waits for a time that is a multiple of a span.
    pub fn wait_for_multiple_of(&mut self, span: Duration) -> Duration {
        let multiple = self.now().as_micros() / span.as_micros() + 1;
        let time = span * u32::try_from(multiple).unwrap();
        self.wait_until(time);
        time
    }

    /// Waits, if need be, until the next multiple of a span is at least so far away: sliding
    /// counters begin a new part there.
    pub fn stay_clear_of_multiples_of(&mut self, span: Duration, distance: Duration) {
        let gone = self.now().as_micros() % span.as_micros();
        if span.as_micros() - gone < distance.as_micros() {
            self.wait_for_multiple_of(span);
        }
    }
}

/// Connects, and uploads all scripts, which happens at their first use and takes its time.
pub fn warm_up(limiter: &Limiter) {
    block_on(limiter.ready()).unwrap();
    for kind in Kind::ALL {
        let rule = rule(kind.per(1, ms(1)));
        assert!(told(limiter.check_blocking(&Check::new(&rule, "warm"))).is_admitted());
    }
}

/// A call was not made in time.
#[derive(Debug)]
pub struct Late;

/// Calls at planned times.
pub struct Schedule {
    /// The clock that calls are planned by.
    pub watch: Watch,
    /// What is called.
    pub limiter: Limiter,
    start: Duration,
    planned: Duration,
}

/// Makes a run of calls at planned times, again if one of them was late.
pub fn on_schedule(run: impl Fn(&mut Schedule) -> Result<(), Late>) {
    let place = Place::server();
    for _ in 0..ATTEMPTS {
        let _quiet = machine::quiet();
        let limiter = place.limiter().prefix(unique("it")).build().unwrap();
        warm_up(&limiter);
        let mut watch = Watch::of(place.servers()[0]);
        let start = watch.now();
        let mut schedule = Schedule { watch, limiter, start, planned: start };
        if run(&mut schedule).is_ok() {
            return;
        }
    }
    panic!("in {ATTEMPTS} attempts the machine was too busy to call in time");
}

impl Schedule {
    /// The plan begins with these calls, which are quickly made.
    pub fn begin_with(&mut self, calls: impl FnOnce(&Limiter)) -> Result<(), Late> {
        let before = self.watch.now();
        calls(&self.limiter);
        self.start = self.watch.now();
        self.planned = self.start;
        if self.start - before <= TOLERANCE / 2 { Ok(()) } else { Err(Late) }
    }

    /// The plan begins at a multiple of a span, for which this waits.
    pub fn begin_at_multiple_of(&mut self, span: Duration) {
        self.start = self.watch.wait_for_multiple_of(span);
        self.planned = self.start;
    }

    /// Waits until so many milliseconds after the beginning: what follows is planned for then.
    pub fn at(&mut self, t: u64) {
        self.planned = self.start + ms(t);
        self.watch.wait_until(self.planned);
    }

    /// So many calls, now.
    pub fn hits(&mut self, rule: &Rule, calls: u64) -> Result<Vec<Outcome>, Late> {
        let check = Check::new(rule, "key");
        let calls = (0..calls).map(|_| self.limiter.check(&check));
        let outcomes = block_on(join_all(calls)).into_iter().map(told).collect();
        self.in_time().map(|()| outcomes)
    }

    /// How many of so many calls are admitted now.
    pub fn admits(&mut self, rule: &Rule, calls: u64) -> Result<usize, Late> {
        let outcomes = self.hits(rule, calls)?;
        Ok(outcomes.iter().filter(|outcome| outcome.is_admitted()).count())
    }

    /// What is left, now.
    pub fn peek(&mut self, rule: &Rule) -> Result<Outcome, Late> {
        let decision = block_on(self.limiter.peek(&Check::new(rule, "key"))).unwrap();
        let outcome = only(decision.outcomes()).clone();
        self.in_time().map(|()| outcome)
    }

    /// Whether what was planned is done in time.
    pub fn in_time(&mut self) -> Result<(), Late> {
        if self.watch.now() <= self.planned + TOLERANCE { Ok(()) } else { Err(Late) }
    }
}
