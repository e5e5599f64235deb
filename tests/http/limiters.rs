//! Limiters and layers that are made and dropped.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use ratelimit_kit::{Algorithm, LimitKey, Limiter, RateLimitLayer, Rule};
use test_support::{Flavor, Link, Node, Server};
use tower::ServiceExt as _;

const LIMITERS: u64 = 800;

/// Of each limiter nothing is left when it and its layer have gone: no memory, no thread, no file.
#[test]
fn b152_limiters_that_come_and_go() {
    if let Some(link) = Link::attach() {
        return b152_node(link);
    }
    let server = Server::start(Flavor::Installed);
    let mut node = Node::builder("limiters::b152_limiters_that_come_and_go")
        .env("SERVER", &server.url())
        .start();
    let quarters = [(); 4].map(|()| {
        let line = node.recv();
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        <[u64; 3]>::try_from(numbers).unwrap()
    });
    println!("KiB, threads, files: {quarters:?}");
    let ([kib, threads, files], [last_kib, last_threads, last_files]) = (quarters[0], quarters[3]);
    // A page here and there is the allocator's.
    assert!(last_kib <= kib + 512, "{quarters:?}");
    assert!(last_threads <= threads && last_files <= files, "{quarters:?}");
}

fn b152_node(mut link: Link) {
    let url = std::env::var("SERVER").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for number in 1..=LIMITERS {
        let limiter = Limiter::builder().redis(&*url).deadline(Duration::from_secs(5));
        let window = Duration::from_mins(10);
        let rule = Rule::named("all", Algorithm::FixedWindow { limit: LIMITERS, window });
        let layer = RateLimitLayer::new()
            .limiter(limiter.build().unwrap())
            .limit(rule, |_| LimitKey::from("all"));
        let service = Router::new().route("/", get(async || "done")).layer(layer);
        let response = runtime.block_on(service.oneshot(Request::new(Body::empty()))).unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        drop(response);
        if number % (LIMITERS / 4) == 0 {
            // Connections are closed on another thread.
            let end = Instant::now() + Duration::from_secs(10);
            while ratelimit_kit::__private::tasks() > 0 && Instant::now() < end {
                thread::sleep(Duration::from_millis(10));
            }
            let count = |what: &str| fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
            link.send(format!("{} {} {}", kib(), count("task"), count("fd")));
        }
    }
}

fn kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
