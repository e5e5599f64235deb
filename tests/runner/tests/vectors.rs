//! The vectors of this repository, on everything that decides.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::Path;

use ratelimit_runtime::__private::algo::Resolution;
use test_support::{Cluster, Flavor, Sentinels, Server, unique};
use vector_runner::{Arithmetic, Limited, Listing, Scenario, Subject, read, run};

/// How many scenarios there are: a file that is not read must not go unnoticed.
const SCENARIOS: usize = 166;

fn vectors() -> Vec<Scenario> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let scenarios = read(&dir).unwrap();
    assert_eq!(scenarios.len(), SCENARIOS);
    scenarios
}

/// Instants between two microseconds, which Redis cannot express.
const FINE: [&str; 5] = ["fw-r4j-timeout", "gcra-700m", "lb-1239", "tb-10m-per-s", "tb-gov-1e9"];

/// A period that only the arithmetic can express.
const LONG: [&str; 1] = ["tb-xrate-tiny"];

/// Runs all, except for what may be skipped, and nothing else.
fn check(mut subject: impl Subject, may_skip: &[&str]) {
    let report = run(&vectors(), &mut subject);
    assert!(report.passed(), "{report}");
    let skipped: BTreeSet<&str> = report.skipped.iter().map(|s| s.scenario.as_str()).collect();
    assert_eq!(skipped, may_skip.iter().copied().collect());
    assert_eq!(report.scenarios + skipped.len(), SCENARIOS);
}

#[test]
fn arithmetic_in_nanoseconds() {
    check(Arithmetic::new(Resolution::Nanos), &[]);
}

#[test]
fn arithmetic_in_microseconds() {
    check(Arithmetic::new(Resolution::Micros), &FINE);
}

#[test]
fn embedded_store() {
    check(Limited::embedded(Listing::Alone), &LONG);
    check(Limited::embedded(Listing::Accompanied), &LONG);
}

fn on(name: &str, url: &str, listings: &[Listing]) {
    for listing in listings {
        let subject = Limited::redis(name, url, *listing, &unique("vectors")).unwrap();
        check(subject, &[&FINE[..], &LONG].concat());
    }
}

fn on_server(flavor: Flavor) {
    let listings = [Listing::Alone, Listing::Accompanied];
    on(&flavor.to_string(), &Server::shared(flavor).url(), &listings);
}

#[test]
fn installed_redis() {
    on_server(Flavor::Installed);
}

#[test]
fn redis_8_0() {
    on_server(Flavor::Redis8);
}

#[test]
fn valkey_8_1() {
    on_server(Flavor::Valkey8);
}

/// On three nodes, with lists that lie in two slots and with lists that lie in one.
#[test]
fn cluster() {
    let cluster = Cluster::start(Flavor::Redis8);
    let listings = [Listing::Alone, Listing::Accompanied, Listing::Grouped];
    on("a cluster", &cluster.url(), &listings);
}

/// Once found, it is a server like any other.
#[test]
fn sentinel() {
    let sentinels = Sentinels::start(Flavor::Valkey8);
    on("Sentinel", &sentinels.url(), &[Listing::Alone]);
}
