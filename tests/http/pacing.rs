//! Rules of layers whose requests wait for their turn.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use actix_web::{App, HttpServer, web};
use axum::Router;
use axum::routing::get as route;
use ratelimit_kit::{
    Algorithm, Check, Clock, LimitKey, Limiter, ManualClock, Rate, RateLimitLayer, RequestContext,
    Rule,
};
use test_support::{Flavor, Server, unique};

use crate::support::client::{Answer, get};
use crate::support::site::serve_router;

const TURN: Duration = Duration::from_millis(200);

fn line(name: &str) -> Rule {
    let leak = Rate::per_second(5);
    Rule::named(name, Algorithm::LeakyBucket { capacity: 20, leak })
}

fn key(context: &RequestContext) -> LimitKey {
    context.header("x-key").map_or_else(
        || LimitKey::from("one"),
        |key| LimitKey::from(String::from_utf8_lossy(key).as_ref()),
    )
}

/// When handlers have begun.
#[derive(Clone, Default)]
struct Begun(Arc<Mutex<Vec<Instant>>>);

impl Begun {
    fn begin(&self) -> &'static str {
        self.0.lock().unwrap().push(Instant::now());
        "done"
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

fn on_axum(layer: RateLimitLayer, begun: Begun) -> SocketAddr {
    serve_router(Router::new().route("/", route(async move || begun.begin())).layer(layer))
}

/// Its thread ends with the process. A client that closes its connection has left: without the setting,
/// actix-web takes it for one that only has no more to say.
fn on_actix(layer: RateLimitLayer, begun: Begun) -> SocketAddr {
    let (tell, address) = mpsc::channel();
    thread::spawn(move || {
        let app = move || {
            let begun = begun.clone();
            let handler = move || {
                let begun = begun.clone();
                async move { begun.begin() }
            };
            App::new().wrap(layer.clone()).route("/", web::get().to(handler))
        };
        let server = HttpServer::new(app).workers(1).h1_allow_half_closed(false);
        let server = server.disable_signals().bind("127.0.0.1:0").unwrap();
        tell.send(server.addrs()[0]).unwrap();
        actix_web::rt::System::new().block_on(server.run())
    });
    address.recv().unwrap()
}

/// Until it is so; tests of threads have no other way.
#[track_caller]
fn wait_until(what: &str, is: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is() {
        assert!(Instant::now() < end, "not within 20 s: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

type Serve = fn(RateLimitLayer, Begun) -> SocketAddr;

fn on_a_clock(serve: Serve, layer: RateLimitLayer) -> (SocketAddr, Begun, Limiter, ManualClock) {
    let (clock, begun) = (ManualClock::new(), Begun::default());
    let limiter = Limiter::builder().clock(Clock::Manual(clock.clone())).build().unwrap();
    let address = serve(layer.limiter(limiter.clone()), begun.clone());
    (address, begun, limiter, clock)
}

/// Twenty requests at once; their answers as they come.
fn twenty(address: SocketAddr) -> mpsc::Receiver<(Answer, Instant)> {
    let (tell, answers) = mpsc::channel();
    for _ in 0..20 {
        let tell = tell.clone();
        thread::spawn(move || tell.send((get("/").to(address), Instant::now())));
    }
    answers
}

#[test]
fn b163_a_rule_of_a_layer_that_paces() {
    for (framework, serve) in [("axum", on_axum as Serve), ("actix", on_actix)] {
        let layer = RateLimitLayer::new().limit(line("b163"), key).wait(10 * TURN);
        let (address, begun, _, clock) = on_a_clock(serve, layer);
        let answers = twenty(address);
        // One whose turn is now, and those for whom it would take too long.
        let mut refused = 0;
        for _ in 0..10 {
            let (answer, _) = answers.recv_timeout(Duration::from_secs(20)).unwrap();
            if answer.status == 429 {
                refused += 1;
                let wait: u64 = answer.header("retry-after").parse().unwrap();
                assert!(wait >= 1, "{framework} {answer:?}");
            }
        }
        assert_eq!((refused, begun.count()), (9, 1), "{framework}");
        for turn in 2..=11 {
            clock.advance(TURN);
            wait_until("a turn", || begun.count() >= turn);
            assert_eq!(begun.count(), turn, "{framework}: nobody is early");
            let (answer, _) = answers.recv_timeout(Duration::from_secs(20)).unwrap();
            assert_eq!(answer.status, 200, "{framework}");
        }
    }
}

#[test]
fn b163_who_leaves_the_line_starts_no_handler() {
    for (framework, serve) in [("axum", on_axum as Serve), ("actix", on_actix)] {
        let rule = line("b163-leaving");
        let layer = RateLimitLayer::new().limit(rule.clone(), key).wait(10 * TURN);
        let (address, begun, limiter, clock) = on_a_clock(serve, layer);
        let queued_for = || {
            let looked = pollster::block_on(limiter.peek(&Check::new(&rule, "b").with_cost(0)));
            20 - looked.unwrap().outcomes()[0].remaining()
        };
        // One after the other, so that it is known who waits for how long.
        let mut clients = Vec::new();
        for n in 1..=11 {
            let mut client = TcpStream::connect(address).unwrap();
            write!(client, "GET / HTTP/1.1\r\nhost: x\r\nx-key: b\r\n\r\n").unwrap();
            clients.push(client);
            wait_until("a place in line", || queued_for() >= n);
        }
        wait_until("the first", || begun.count() == 1);
        clock.advance(TURN / 2);
        let before = queued_for();
        for wait in [4, 2] {
            clients.remove(wait).shutdown(Shutdown::Both).unwrap();
        }
        wait_until("a refund", || queued_for() <= before - 2);
        clock.advance(TURN / 2);
        let mut expected = 1;
        for turn in 1..=10 {
            expected += usize::from(![2, 4].contains(&turn));
            wait_until("a turn", || begun.count() >= expected);
            assert_eq!(begun.count(), expected, "{framework} {turn}");
            clock.advance(TURN);
        }
        for mut client in clients {
            let mut answer = [0; 12];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200", "{framework}");
        }
        assert_eq!(begun.count(), 9, "{framework}");
    }
}

/// A rule without a wait admits whatever there is room for, at once.
#[test]
fn b163_without_a_wait_it_does_not_pace() {
    for (framework, serve) in [("axum", on_axum as Serve), ("actix", on_actix)] {
        let layer = RateLimitLayer::new().limit(line("b163-at-once"), key);
        let (address, begun, ..) = on_a_clock(serve, layer);
        assert_eq!(get("/").times(20, address), [200; 20], "{framework}");
        assert_eq!(begun.count(), 20, "{framework}");
        assert_eq!(get("/").to(address).status, 429, "{framework}");
    }
}

/// In real time, as Redis has it. Nobody is early; how late somebody is, is the machine's.
#[test]
fn b163_on_redis() {
    let url = Server::shared(Flavor::Installed).url();
    for (framework, serve) in [("axum", on_axum as Serve), ("actix", on_actix)] {
        let limiter = Limiter::builder().redis(url.clone()).deadline(Duration::from_secs(5));
        let limiter = limiter.build().unwrap();
        limiter.ready_blocking().unwrap();
        let begun = Begun::default();
        let layer = RateLimitLayer::new().limit(line(&unique("b163")), key).wait(10 * TURN);
        let address = serve(layer.limiter(limiter), begun.clone());
        let answers: Vec<(Answer, Instant)> = twenty(address).iter().collect();
        let count = |status| answers.iter().filter(|(answer, _)| answer.status == status).count();
        // Who comes a turn later than the first has one less in front.
        assert!((11..=12).contains(&count(200)), "{framework}: {}", count(200));
        assert_eq!(count(200) + count(429), 20, "{framework}");
        let begun = begun.0.lock().unwrap();
        for (n, turn) in begun.iter().enumerate() {
            let expected = TURN * u32::try_from(n).unwrap();
            let late = Duration::from_millis(30);
            assert!(turn.duration_since(begun[0]) + late >= expected, "{framework} {n}: {begun:?}");
        }
        let last_refusal = answers.iter().filter(|(answer, _)| answer.status == 429).map(|of| of.1);
        assert!(last_refusal.max().unwrap() < begun[begun.len() - 1], "{framework}: at once");
    }
}

/// Who closes the connection while it waits has its place in Redis refunded, and starts no handler.
#[test]
fn b163_who_leaves_the_line_on_redis() {
    for (framework, serve) in [("axum", on_axum as Serve), ("actix", on_actix)] {
        let limiter = Limiter::builder().redis(Server::shared(Flavor::Installed).url());
        let limiter = limiter.deadline(Duration::from_secs(5)).build().unwrap();
        limiter.ready_blocking().unwrap();
        let slow = Algorithm::LeakyBucket { capacity: 20, leak: Rate::per_second(1) };
        let rule = Rule::named(unique("b163-leaving"), slow);
        let begun = Begun::default();
        let layer = RateLimitLayer::new().limit(rule.clone(), key).wait(20 * TURN);
        let address = serve(layer.limiter(limiter.clone()), begun.clone());
        let mut clients = Vec::new();
        for _ in 0..3 {
            let mut client = TcpStream::connect(address).unwrap();
            write!(client, "GET / HTTP/1.1\r\nhost: x\r\nx-key: b\r\n\r\n").unwrap();
            clients.push(client);
            // In this order.
            thread::sleep(TURN / 2);
        }
        let free = || {
            let looked = pollster::block_on(limiter.peek(&Check::new(&rule, "b").with_cost(0)));
            looked.unwrap().outcomes()[0].remaining()
        };
        let before = free();
        clients.remove(1).shutdown(Shutdown::Both).unwrap();
        wait_until("a refund", || free() > before);
        for mut client in clients {
            let mut answer = [0; 12];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"HTTP/1.1 200", "{framework}");
        }
        let begun = begun.0.lock().unwrap();
        assert_eq!(begun.len(), 2, "{framework}");
        // It starts when its turn comes.
        let third = begun[1].duration_since(begun[0]);
        assert!(third + TURN / 4 >= Duration::from_secs(2), "{framework}: {third:?}");
    }
}

/// Where Redis does not answer, the share of this instance paces in its place.
#[test]
fn f35_without_a_store_the_share_paces() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let limiter = Limiter::builder().redis(format!("redis://127.0.0.1:{port}")).build().unwrap();
    let layer = RateLimitLayer::new().limit(line("f35-local"), key).wait(3 * TURN);
    let begun = Begun::default();
    let address = on_axum(layer.limiter(limiter), begun.clone());
    let answers: Vec<(Answer, Instant)> = twenty(address).iter().collect();
    let admitted = answers.iter().filter(|(answer, _)| answer.status == 200).count();
    assert!((4..=8).contains(&admitted), "{admitted}");
    let begun = begun.0.lock().unwrap();
    assert!(begun[3].duration_since(begun[0]) + TURN / 4 >= 3 * TURN, "{begun:?}");
}

/// Waiting requests are counted by nobody else's clock: a hundred of them take no thread.
#[test]
fn who_waits_takes_no_thread() {
    let layer = RateLimitLayer::new().limit(line("b163-threads"), key).wait(10 * TURN);
    let (address, begun, limiter, clock) = on_a_clock(on_axum, layer);
    let served = Arc::new(AtomicUsize::new(0));
    let waiting: Vec<thread::JoinHandle<()>> = (0..5)
        .map(|_| {
            let served = served.clone();
            thread::spawn(move || {
                assert_eq!(get("/").to(address).status, 200);
                served.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    let rule = line("b163-threads");
    wait_until("all in line", || {
        let looked = pollster::block_on(limiter.peek(&Check::new(&rule, "one").with_cost(0)));
        looked.unwrap().outcomes()[0].remaining() == 15
    });
    // The runtime has one thread, and serves others meanwhile.
    assert_eq!(get("/").header("x-key", "other").to(address).status, 200);
    assert_eq!(served.load(Ordering::Relaxed).max(1), 1);
    clock.advance(10 * TURN);
    for client in waiting {
        client.join().unwrap();
    }
    assert_eq!(begun.count(), 6);
}
