//! One key on a server: charged and given back by the scripts as they are, looked at through the
//! product.

use std::cell::RefCell;
use std::time::Duration;

use ratelimit_kit::{Algorithm, Check, Clock, Limiter, ManualClock, Outcome, Rule};
use ratelimit_lua::Script;
use ratelimit_runtime::__private::algo::{
    Flow, LeakyBucket, MAX_COUNT, Plan, Resolution, SlidingCounter, Timestamp, TokenBucket,
};
use ratelimit_runtime::__private::plan;
use redis::{Connection, FromRedisValue, cmd};
use test_support::{Server, unique};

use test_stage::algorithms::rule;
use test_stage::stage::{block_on, on_server, only, told};

/// What budgets on one server share.
#[derive(Debug)]
pub(super) struct Desk {
    limiter: Limiter,
    clock: ManualClock,
    prefix: String,
    server: &'static Server,
}

impl Desk {
    pub(super) fn on(server: &'static Server) -> Self {
        let (clock, prefix) = (ManualClock::new(), unique("it"));
        let limiter = on_server(server).prefix(&prefix).clock(Clock::Manual(clock.clone()));
        Self { limiter: limiter.build().unwrap(), clock, prefix, server }
    }

    /// A budget that nobody has used.
    pub(super) fn open(&self, algorithm: Algorithm) -> Budget<'_> {
        let rule = rule(algorithm);
        let plan = plan(&Check::new(&rule, "key"), Resolution::Micros).unwrap();
        let tag = match plan {
            Plan::TokenBucket(_) => "tb1",
            Plan::LeakyBucket(_) => "lb1",
            Plan::FixedWindow(_) => "fw1",
            Plan::SlidingLog(_) => "sl1",
            Plan::SlidingCounter(_) => "sc1",
            other => panic!("what is {other:?}?"),
        };
        let key = format!("{}:{}:{tag}:key", self.prefix, rule.name());
        Budget { desk: self, connection: self.server.connect().into(), rule, plan, key }
    }
}

/// A rule and a key.
pub(super) struct Budget<'d> {
    desk: &'d Desk,
    connection: RefCell<Connection>,
    rule: Rule,
    pub(super) plan: Plan,
    pub(super) key: String,
}

impl Budget<'_> {
    /// Charges a call, by the script of its algorithm. The instant at which it was, as the reply
    /// tells, or nothing if it was refused.
    pub(super) fn charge(&self, now: Timestamp, cost: u64) -> Option<Timestamp> {
        let reply: Vec<u8> = self.run(script(&self.plan), now, &[&pack(&self.plan, cost)]);
        (reply[0] == 1).then(|| Timestamp::from_le_bytes(reply[9..17].try_into().unwrap()))
    }

    /// Gives back what was charged at an instant. Whether it was. The key expires, or is gone.
    pub(super) fn give_back(&self, now: Timestamp, at: Timestamp, cost: u64) -> bool {
        let given = self.give_back_anyhow(now, at, cost);
        self.assert_expiry();
        given
    }

    /// The same, of a call that is in line until an instant.
    pub(super) fn leave(&self, now: Timestamp, at: Timestamp, cost: u64, until: Timestamp) -> bool {
        let arguments: [&[u8]; 3] =
            [&pack(&self.plan, cost), &at.to_le_bytes(), &until.to_le_bytes()];
        let given = self.run::<u8>(&ratelimit_lua::REFUND, now, &arguments) == 1;
        self.assert_expiry();
        given
    }

    fn assert_expiry(&self) {
        let pttl = self.pttl();
        assert!(matches!(pttl, -2 | 1..), "{pttl}: {:?}", self.plan);
    }

    /// The same, on a key on which something else may be.
    pub(super) fn give_back_anyhow(&self, now: Timestamp, at: Timestamp, cost: u64) -> bool {
        let arguments: [&[u8]; 2] = [&pack(&self.plan, cost), &at.to_le_bytes()];
        self.run::<u8>(&ratelimit_lua::REFUND, now, &arguments) == 1
    }

    fn run<T: FromRedisValue>(&self, script: &Script, now: Timestamp, arguments: &[&[u8]]) -> T {
        let mut eval = cmd("EVAL");
        eval.arg(script.source).arg(1).arg(&self.key).arg(now).arg(arguments);
        self.ask(&eval)
    }

    pub(super) fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> T {
        command.query(&mut *self.connection.borrow_mut()).unwrap()
    }

    /// The milliseconds after which the key expires; -1 if it does not, -2 if it has.
    pub(super) fn pttl(&self) -> i64 {
        self.ask(cmd("PTTL").arg(&self.key))
    }

    /// What is left, and how long until it is all there.
    pub(super) fn peek(&self, now: Timestamp) -> Outcome {
        self.set_clock(now);
        let decision =
            block_on(self.desk.limiter.peek(&Check::new(&self.rule, "key").with_cost(0)));
        only(decision.unwrap().outcomes()).clone()
    }

    /// What a call is told.
    pub(super) fn check(&self, now: Timestamp, cost: u64) -> Outcome {
        self.set_clock(now);
        told(self.desk.limiter.check_blocking(&Check::new(&self.rule, "key").with_cost(cost)))
    }

    fn set_clock(&self, now: Timestamp) {
        self.desk.clock.set(Duration::from_micros(now.try_into().unwrap()));
    }
}

fn script(plan: &Plan) -> &'static Script {
    match plan {
        Plan::TokenBucket(_) => &ratelimit_lua::TOKEN_BUCKET,
        Plan::LeakyBucket(_) => &ratelimit_lua::LEAKY_BUCKET,
        Plan::FixedWindow(_) => &ratelimit_lua::FIXED_WINDOW,
        Plan::SlidingLog(_) => &ratelimit_lua::SLIDING_LOG,
        Plan::SlidingCounter(_) => &ratelimit_lua::SLIDING_COUNTER,
        other => panic!("what is {other:?}?"),
    }
}

/// A check as `lua/README.md` describes it.
fn pack(plan: &Plan, cost: u64) -> Vec<u8> {
    let recovery = |flow: &Flow| {
        let ticks = flow.full() / u128::from(flow.units_per_tick);
        u64::try_from(ticks).map_or(MAX_COUNT, |ticks| ticks.min(MAX_COUNT))
    };
    let (kind, numbers) = match plan {
        Plan::TokenBucket(TokenBucket(flow)) => (
            b't',
            vec![cost, flow.capacity, flow.units_per_tick, flow.units_per_permit, recovery(flow)],
        ),
        Plan::LeakyBucket(LeakyBucket { flow, .. }) => {
            let &Flow { capacity, units_per_tick, units_per_permit, .. } = flow;
            (
                b'l',
                vec![cost, capacity, units_per_tick, units_per_permit, recovery(flow), capacity, 0],
            )
        }
        Plan::FixedWindow(window) => (b'f', vec![cost, window.limit, window.window]),
        Plan::SlidingLog(log) => (b's', vec![cost, log.limit, log.window]),
        Plan::SlidingCounter(SlidingCounter { limit, grid, .. }) => {
            (b'c', vec![cost, *limit, grid.window, grid.parts.into()])
        }
        other => panic!("what is {other:?}?"),
    };
    let mut check = vec![kind];
    check.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
    check
}
