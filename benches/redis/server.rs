//! What the server spends on a decision, and what a key takes.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use ratelimit_kit::{Check, Limiter, Rule};
use test_support::{Server, unique};

use crate::ALGORITHMS;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const CALLS: usize = 20_000;
const ROUNDS: usize = 5;
const IN_FLIGHT: usize = 64;

/// Prints the server's own time per call (`INFO commandstats`): for calls that pass, on random keys,
/// and for calls that are refused.
pub(crate) async fn cost(server: &Server) -> Result<()> {
    let connection = redis::Client::open(server.url())?.get_multiplexed_async_connection().await?;
    let limiter = Limiter::builder().redis_connection(connection.clone());
    let limiter = limiter.deadline(Duration::from_secs(5)).build()?;

    let empty: String = redis::cmd("SCRIPT")
        .arg("LOAD")
        .arg("#!lua\nreturn 1")
        .query_async(&mut connection.clone())
        .await?;
    let empty = async |_: usize| {
        let mut call = redis::cmd("EVALSHA");
        call.arg(&empty).arg(1).arg("rate:limit:nothing");
        let _: redis::RedisResult<i64> = call.query_async(&mut connection.clone()).await;
    };
    let mut empty_us = Vec::new();
    for _ in 0..ROUNDS {
        empty_us.push(us_per_call(server, &empty).await?);
    }
    let empty_us = median(empty_us);

    println!("\n| script | allowed, µs | refused, µs | allowed, times an empty script |");
    println!("| --- | --: | --: | --: |");
    println!("| empty (`return 1`) | {empty_us:.2} | | 1.0 |");
    for (name, algorithm) in ALGORITHMS {
        let (mut allowed, mut refused) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let rule = Rule::named(unique("cost"), algorithm);
            let pass = async |i: usize| {
                let _ = limiter.check(&Check::new(&rule, i % (CALLS / 4))).await;
            };
            allowed.push(us_per_call(server, &pass).await?);
            let full = Rule::named(unique("cost"), algorithm);
            for key in 0..100_u32 {
                let _ = limiter.check(&Check::new(&full, key).with_cost(100)).await;
            }
            let refuse = async |i: usize| {
                let _ = limiter.check(&Check::new(&full, i % 100)).await;
            };
            refused.push(us_per_call(server, &refuse).await?);
        }
        let (allowed, refused) = (median(allowed), median(refused));
        println!("| {name} | {allowed:.2} | {refused:.2} | {:.1} |", allowed / empty_us);
    }
    Ok(())
}

/// Prints `MEMORY USAGE` of a key after one call and after a hundred.
pub(crate) async fn memory(server: &Server) -> Result<()> {
    let limiter = Limiter::builder().redis(server.url()).build()?;
    limiter.ready().await?;
    println!("\n| bytes per key in Redis | after 1 call | after 100 calls |\n| --- | --: | --: |");
    for (name, algorithm) in ALGORITHMS {
        server.flush();
        let rule = Rule::new("memory", algorithm);
        let check = Check::new(&rule, "13800000000");
        limiter.check(&check).await?;
        let one = usage(server)?;
        for _ in 1..100 {
            limiter.check(&check).await?;
        }
        println!("| {name} | {one} | {} |", usage(server)?);
    }
    Ok(())
}

fn usage(server: &Server) -> Result<u64> {
    let keys: Vec<String> = server.command(&["KEYS", "*"]);
    let key = keys.first().ok_or("the call left no key")?;
    Ok(server.command(&["MEMORY", "USAGE", key]))
}

/// The server's mean time for an `EVALSHA` while the calls run.
async fn us_per_call(server: &Server, call: &impl AsyncFn(usize)) -> Result<f64> {
    server.command::<String>(&["CONFIG", "RESETSTAT"]);
    stream::iter(0..CALLS).for_each_concurrent(IN_FLIGHT, |i| call(i)).await;
    let stats: String = server.command(&["INFO", "commandstats"]);
    let line = stats.lines().find(|line| line.starts_with("cmdstat_evalsha:"));
    let field =
        line.and_then(|line| line.split(',').find_map(|f| f.strip_prefix("usec_per_call=")));
    Ok(field.ok_or("the server counted no EVALSHA")?.parse()?)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
