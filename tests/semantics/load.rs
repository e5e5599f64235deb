//! The picture that a load over HTTP gives: annotated handlers of a real service, on Redis.
//!
//! What is counted is the instant at which Redis admitted a call, as Redis itself tells it: MONITOR
//! shows with microseconds when a script was called and when it wrote, and a script writes only
//! when it admits. When a handler ran, or a client had its answer, is later by as much as a hundred
//! busy connections make it, and that changes from call to call.
//!
//! A picture needs a load. When none reached Redis while one second turned into the next, the
//! machine was too busy, and the picture is taken again.

mod monitor;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ratelimit_kit::{Limiter, RateLimitError, rate_limit};
use test_support::{Hit, Load, Picture, unique};
use tokio::net::TcpListener;

use self::monitor::Monitor;
use test_stage::algorithms::{ms, secs};
use test_stage::machine;
use test_stage::real_time::{Watch, warm_up};
use test_stage::stage::on_redis;

/// How long no call may reach Redis where two seconds meet: the time of one token.
const LONGEST_GAP: Duration = ms(50);

/// How often a picture is taken.
const ATTEMPTS: usize = 5;

/// How often handlers ran.
type Runs = Arc<AtomicUsize>;

fn limiter() -> &'static Limiter {
    static LIMITER: OnceLock<Limiter> = OnceLock::new();
    LIMITER.get_or_init(|| on_redis().build().unwrap())
}

struct Limited(RateLimitError);

impl From<RateLimitError> for Limited {
    fn from(error: RateLimitError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Limited {
    fn into_response(self) -> Response {
        StatusCode::from_u16(self.0.http_status()).unwrap().into_response()
    }
}

#[rate_limit(
    name = "load-bucket",
    key = run,
    algo = "token_bucket",
    capacity = 50,
    refill = 20,
    limiter = limiter()
)]
async fn bucket(Path(run): Path<String>, State(runs): State<Runs>) -> Result<(), Limited> {
    runs.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[rate_limit(
    name = "load-window",
    key = run,
    algo = "fixed_window",
    limit = 100,
    window = "60s",
    limiter = limiter()
)]
async fn window(Path(run): Path<String>, State(runs): State<Runs>) -> Result<(), Limited> {
    runs.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[rate_limit(
    name = "load-counter",
    key = run,
    algo = "sliding_counter",
    limit = 50,
    window = "1s",
    sub_windows = 10,
    limiter = limiter()
)]
async fn counter(Path(run): Path<String>, State(runs): State<Runs>) -> Result<(), Limited> {
    runs.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// A service with these handlers, and what Redis says of one key of one of them.
struct Service {
    address: SocketAddr,
    path: String,
    runs: Runs,
    monitor: Monitor,
    answers: Vec<Hit>,
}

impl Service {
    async fn start(handler: &str) -> Self {
        let run = unique("run");
        tokio::task::spawn_blocking(|| warm_up(limiter())).await.unwrap();
        let runs = Runs::default();
        let service = Router::new()
            .route("/bucket/{run}", get(bucket))
            .route("/window/{run}", get(window))
            .route("/counter/{run}", get(counter))
            .with_state(Arc::clone(&runs));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, service).await });
        let monitor = Monitor::start(&run);
        Self { address, path: format!("/{handler}/{run}"), runs, monitor, answers: Vec::new() }
    }

    fn load(&self) -> Load {
        Load::new(self.address, &self.path)
    }

    async fn offer(&mut self, load: Load) {
        self.answers.extend(load.run().await.hits());
    }

    /// When calls were admitted, from the first one on, or from the second of the server's clock in
    /// which that was. `Err` if there was a gap in the load where two seconds meet.
    fn picture(self, origin: &Origin) -> Result<Picture, Gap> {
        let seen = self.monitor.stop();
        let answers = Picture::new(self.answers);
        let (admitted, refused) = (answers.total(200), answers.total(429));
        assert_eq!(admitted + refused, answers.hits().len(), "other answers than 200 and 429");
        assert!(refused > 0, "nobody was refused: this was no load");
        assert_eq!(seen.calls.len(), answers.hits().len(), "calls that MONITOR shows");
        assert_eq!(seen.admissions.len(), admitted, "admissions that MONITOR shows");
        assert_eq!(self.runs.load(Ordering::Relaxed), admitted, "handlers that ran");
        let origin = match origin {
            Origin::First => seen.admissions[0],
            Origin::Second => secs(seen.admissions[0].as_secs()),
        };
        let hit = |at: &Duration| Hit { at: *at - origin, status: 200 };
        let picture = Picture::new(seen.admissions.iter().map(hit).collect());
        let calls: Vec<Duration> = seen.calls.iter().map(|at| at.saturating_sub(origin)).collect();
        let gap = calls.windows(2).any(|pair| {
            let [before, after] = [pair[0], pair[1]];
            // The longest are pauses between two loads.
            let gap = LONGEST_GAP..secs(10);
            gap.contains(&(after - before)) && before.as_secs() < after.as_secs()
        });
        if gap { Err(Gap) } else { Ok(picture) }
    }
}

/// From when on the seconds of a picture are counted.
enum Origin {
    First,
    Second,
}

/// There was no load where two seconds meet.
#[derive(Debug)]
struct Gap;

/// Runs a test that is asynchronous from there on.
fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test)
}

/// Takes a picture, again if there was a gap in the load.
async fn take(picture: impl AsyncFn() -> Result<Picture, Gap>) -> Picture {
    for _ in 0..ATTEMPTS {
        if let Ok(picture) = picture().await {
            return picture;
        }
    }
    panic!("in {ATTEMPTS} attempts the machine was too busy for an even load");
}

/// A full bucket goes at once, then the refill is all there is: 20 a second, second by second.
#[test]
fn load_picture_of_a_token_bucket() {
    let _loud = machine::loud();
    let picture = run(take(async || {
        let mut service = Service::start("bucket").await;
        service.offer(service.load().connections(100).lasts(secs(10))).await;
        service.picture(&Origin::First)
    }));
    let per_second = picture.per(secs(1), 200);
    // 50 at once, and those that came back before the first second was over.
    assert!((69..=70).contains(&per_second[0]), "{per_second:?}");
    for admitted in &per_second[1..10] {
        assert!((19..=21).contains(admitted), "{per_second:?}");
    }
    // They come back one by one, and are taken as soon as somebody comes.
    let spread = |second: u64| {
        let tenth = |n: u64| picture.within(200, secs(second) + ms(n)..secs(second) + ms(n + 100));
        (0..1_000).step_by(100).filter(|n| tenth(*n) > 0).count()
    };
    assert!((1..10).all(|second| spread(second) >= 5), "{:?}", picture.per(ms(100), 200));
    let total = picture.within(200, secs(0)..secs(10));
    assert!(total.abs_diff(50 + 20 * 10) <= 2, "{total} admitted");
}

/// Around the border of a fixed window twice the limit passes: the price of this algorithm.
#[test]
fn load_picture_of_a_fixed_window() {
    let picture = run(take(async || {
        let mut service = Service::start("window").await;
        // The first call opens the window.
        service.offer(service.load().every(ms(100)).lasts(ms(50))).await;
        assert_eq!(service.answers.len(), 1);
        tokio::time::sleep(secs(59)).await;
        service.offer(service.load().connections(10).every(ms(5)).lasts(secs(2))).await;
        service.picture(&Origin::First)
    }));
    let around = picture.within(200, secs(59)..secs(61));
    assert!((199..=200).contains(&around), "{around} admitted around the border");
    // Before it what was left of the first window, after it a whole one.
    let per_second = picture.per(secs(1), 200);
    assert_eq!((per_second[0], per_second[59], per_second[60]), (1, 99, 100));
}

/// A sliding counter in ten parts keeps a load that is spread at its limit, second by second.
#[test]
fn load_picture_of_a_sliding_counter() {
    let _quiet = machine::quiet();
    let picture = run(take(async || {
        let mut service = Service::start("counter").await;
        let begin = || Watch::shared().wait_for_multiple_of(secs(1));
        tokio::task::spawn_blocking(begin).await.unwrap();
        service.offer(service.load().connections(20).every(ms(10)).lasts(secs(10))).await;
        service.picture(&Origin::Second)
    }));
    let per_second = picture.per(secs(1), 200);
    for admitted in &per_second[..9] {
        assert!((48..=52).contains(admitted), "not within 5 %: {per_second:?}");
    }
}
