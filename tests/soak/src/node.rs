//! A node of the service: it calls, and says how it went. Who it is to call, from when on and until
//! when, the parent says, and asks every now and then for what there is to report.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_runtime::{__private as runtime_internals, Limiter, RateLimitError};
use test_support::Link;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use crate::call::{Call, cause};
use crate::lateness::Lateness;
use crate::load::{PER_SECOND, Target};
use crate::now::{SECOND, now};

/// How many nodes there are.
pub(crate) const NODES: usize = 4;

/// The tasks of a node.
pub(crate) const TASKS: usize = 64;

/// How often each task calls.
const PERIOD: Duration = Duration::from_micros((NODES * TASKS) as u64 * SECOND / PER_SECOND);

/// The end of an answer of several lines.
pub(crate) const END: &str = ".";

/// Reports wait for so long after a call: the plain timer must have been looked at by then.
const SETTLED: Duration = Duration::from_millis(200);

/// For how long tasks may end after the limiter has gone.
const PATIENCE: Duration = Duration::from_secs(3);

/// A call that is not reported yet.
struct Done {
    call: Call,
    began: Instant,
    ended: Instant,
}

/// What callers have to tell.
#[derive(Clone, Default)]
struct Reports {
    done: Arc<Mutex<Vec<Done>>>,
    wrong: Arc<Mutex<Vec<String>>>,
}

/// Answers the parent until it has gone.
pub(crate) fn run(mut link: Link) {
    let reports = Reports::default();
    count_panics(&reports);
    let lateness = Lateness::start();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    // The limiters' own thread is there from now on, and its files are not counted as left behind.
    runtime_internals::tasks();
    let number: usize = link.recv().unwrap().parse().unwrap();
    let mut running: Option<Running> = None;
    while let Some(line) = link.recv() {
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "meet" => {
                let (new, ready) = Running::meet(&runtime, rest);
                running = Some(new);
                link.send(ready);
            }
            "begin" => running.as_mut().unwrap().begin(&runtime, number, &reports),
            "tell" => reports.tell(&mut link, &lateness, SETTLED),
            "stop" => {
                let tasks = running.take().unwrap().stop(&runtime);
                thread::sleep(SETTLED);
                reports.tell(&mut link, &lateness, Duration::ZERO);
                link.send(tasks);
            }
            other => panic!("what is `{other}`?"),
        }
    }
}

/// The load on one limiter.
struct Running {
    limiter: Limiter,
    stop: Arc<AtomicBool>,
    callers: JoinSet<()>,
    tasks_before: Tasks,
}

/// The living tasks of the callers' runtime and of the limiters' own.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tasks(usize, usize);

impl Tasks {
    fn now(runtime: &Runtime) -> Self {
        Self(runtime.metrics().num_alive_tasks(), runtime_internals::tasks())
    }
}

impl Running {
    /// A limiter from a URL, and whether it is ready.
    fn meet(runtime: &Runtime, url: &str) -> (Self, String) {
        let tasks_before = Tasks::now(runtime);
        let limiter = Limiter::builder().redis(url).build().unwrap();
        let ready = match runtime.block_on(limiter.ready()) {
            Ok(()) => "ready".to_owned(),
            Err(error) => error.to_string(),
        };
        let running = Self { limiter, stop: Arc::default(), callers: JoinSet::new(), tasks_before };
        (running, ready)
    }

    fn begin(&mut self, runtime: &Runtime, node: usize, reports: &Reports) {
        let origin = Instant::now();
        for task in 0..TASKS {
            let caller = Caller {
                limiter: self.limiter.clone(),
                number: task * NODES + node,
                origin,
                stop: self.stop.clone(),
                reports: reports.clone(),
            };
            self.callers.spawn_on(caller.run(), runtime.handle());
        }
    }

    /// Ends the load and the limiter; the tasks that were there before, and those that are left.
    fn stop(self, runtime: &Runtime) -> String {
        let Self { limiter, stop, mut callers, tasks_before } = self;
        stop.store(true, Ordering::Relaxed);
        runtime.block_on(async { while callers.join_next().await.is_some() {} });
        drop(limiter);
        let deadline = Instant::now() + PATIENCE;
        while Tasks::now(runtime) != tasks_before && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
        let (Tasks(a, b), Tasks(c, d)) = (tasks_before, Tasks::now(runtime));
        format!("{} {}", a + b, c + d)
    }
}

/// One task: it calls at fixed times, however long calls take.
struct Caller {
    limiter: Limiter,
    number: usize,
    origin: Instant,
    stop: Arc<AtomicBool>,
    reports: Reports,
}

impl Caller {
    async fn run(self) {
        let offset = PERIOD.mul_f64(self.number as f64 / (NODES * TASKS) as f64);
        let mut at = self.origin + offset;
        // A step that meets all targets in turn.
        for turn in (self.number..).step_by(Target::COUNT + 8) {
            sleep_until(at.into()).await;
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.call(turn % Target::COUNT).await;
            at += PERIOD;
        }
    }

    async fn call(&self, target: usize) {
        let (start, began) = (now(), Instant::now());
        let checks = Target::new(target).checks(start / SECOND);
        let answer = self.limiter.check_all(&checks).await;
        let ended = Instant::now();
        let (admitted, degraded) = match &answer {
            Ok(decision) => (true, decision.cause()),
            Err(RateLimitError::Limited(refusal)) => (false, refusal.decision().cause()),
            Err(error) => {
                self.reports.wrong.lock().unwrap().push(format!("{error}"));
                return;
            }
        };
        let degraded = degraded.map(|error| cause(error.kind()));
        let took = (ended - began).as_micros() as u64;
        let call = Call { start, took, late: 0, target, admitted, degraded };
        self.reports.done.lock().unwrap().push(Done { call, began, ended });
    }
}

impl Reports {
    /// Sends what ended so long ago, and forgets it.
    fn tell(&self, link: &mut Link, lateness: &Lateness, ago: Duration) {
        for wrong in self.wrong.lock().unwrap().drain(..) {
            link.send(format!("wrong {}", wrong.replace('\n', " ")));
        }
        let now = Instant::now();
        let due: Vec<Done> =
            self.done.lock().unwrap().extract_if(.., |done| done.ended + ago <= now).collect();
        for Done { mut call, began, ended } in due {
            call.late = lateness.between(began, ended).as_micros() as u64;
            link.send(call);
        }
        link.send(END);
    }
}

/// Lets panics of any thread be reported.
fn count_panics(reports: &Reports) {
    let wrong = reports.wrong.clone();
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        wrong.lock().unwrap().push(format!("panic: {info}"));
        usual(info);
    }));
}
