//! Many instances that have all lost one server.

use std::time::Instant;

use ratelimit_kit::OnError;
use test_support::{Flavor, Proxy, Server};

use crate::calls::{Told, connected, on, window};
use crate::machine;
use crate::traffic::{Traffic, most_within, percentile};
use crate::wait::{ms, secs, until};

/// Two nodes whose server is gone try to connect now and then, not at the same times, and their
/// callers do not wait for it. A connection that the kernel refuses cannot be counted, so the port
/// accepts here and ends each one at once. Shorter than the spec, half of its 10 seconds with half of
/// its attempts: what is asked for is asked for each second.
#[test]
fn b069_no_reconnect_storm() {
    let _quiet = machine::quiet();
    let server = Server::start(Flavor::Installed);
    let nodes = [(); 2].map(|()| {
        let proxy = Proxy::to(server.port());
        let limiter = connected(on(proxy.url()).on_error(OnError::Open));
        let traffic = Traffic::every(ms(2), &limiter, window(5));
        (proxy, traffic)
    });
    let start = Instant::now();
    let is_refused = |told: &Told| matches!(told, Told::Refused(_));
    for (_, traffic) in &nodes {
        until(secs(5), "a refusal", || traffic.was_told(start, is_refused));
    }
    for (proxy, _) in &nodes {
        proxy.turn_away();
        proxy.cut();
    }
    let gone = Instant::now();
    std::thread::sleep(secs(5));
    for (proxy, _) in &nodes {
        proxy.accept();
    }
    let back = Instant::now();
    for (_, traffic) in &nodes {
        let took = until(secs(10), "a refusal", || traffic.was_told(back, is_refused));
        assert!(took <= secs(2), "{took:?}");
    }

    let attempts = nodes.each_ref().map(|(proxy, _)| {
        let made = proxy.connections();
        made.into_iter().filter(|at| gone < *at && *at < back).collect::<Vec<_>>()
    });
    for attempts in &attempts {
        assert!((5..=30).contains(&attempts.len()), "{} attempts", attempts.len());
        let later: Vec<Instant> =
            attempts.iter().copied().filter(|at| *at > gone + secs(1)).collect();
        let most = most_within(secs(1), &later);
        assert!(most <= 10, "{most} attempts within a second");
    }
    let [ours, theirs] = &attempts;
    let near =
        |at: &&Instant| theirs.iter().any(|other| (**at).max(*other) - (**at).min(*other) < ms(5));
    let together = ours.iter().filter(near).count();
    assert!(together * 3 <= ours.len(), "{together} of {} attempts are at one time", ours.len());

    for (_, traffic) in nodes {
        let seen = traffic.stop();
        let during = seen.into_iter().filter(|call| gone + secs(1) < call.at && call.at < back);
        let during: Vec<_> = during.collect();
        assert!(during.len() > 1_500, "{} calls", during.len());
        assert!(during.iter().all(|call| call.told == Told::Open));
        let p99 = percentile(99, &during);
        assert!(p99 <= ms(5), "{p99:?}");
    }
}
