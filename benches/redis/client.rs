//! What this crate adds to the round trip.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use ratelimit_kit::{Algorithm, Check, Limiter, Rate, Rule};
use redis::aio::MultiplexedConnection;
use test_support::Server;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const ROUNDS: usize = 9;
const CALLS: u32 = 40_000;
const KEYS: usize = 20_000;

/// So much that no call is refused.
static RULE: Rule = Rule::new(
    "bench",
    Algorithm::TokenBucket { capacity: 1_000_000, refill: Rate::per_second(1_000) },
);

/// Prints decisions and raw calls per second, for some numbers of tasks.
pub(crate) async fn compare(server: &Server) -> Result<()> {
    let connection = redis::Client::open(server.url())?.get_multiplexed_async_connection().await?;
    // A machine that stalls for a moment must show in the figures and not end the run.
    let limiter = Limiter::builder().redis_connection(connection.clone());
    let limiter = limiter.deadline(Duration::from_secs(5)).build()?;
    limiter.check(&Check::new(&RULE, "warm-up")).await?;

    println!("\n| tasks | raw `EVALSHA`, per second | decisions, per second | ratio |");
    println!("| --: | --: | --: | --: |");
    for tasks in [1, 16, 64, 256] {
        let (mut raw, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            raw.push(per_second(tasks, || raw_call(connection.clone())).await);
            ours.push(per_second(tasks, || decision(limiter.clone())).await);
        }
        let (raw, ours) = (median(raw), median(ours));
        println!("| {tasks} | {raw:.0} | {ours:.0} | {:.3} |", ours / raw);
    }
    Ok(())
}

/// Decides for a random key.
async fn decision(limiter: Limiter) {
    let key = fastrand::usize(..KEYS);
    let decided = limiter.check(&Check::new(&RULE, key)).await;
    assert!(decided.is_ok_and(|decision| decision.degraded().is_none()));
}

/// Does what the decision does, by hand: the command is built per call, the reply is looked at.
async fn raw_call(mut connection: MultiplexedConnection) {
    let key = format!("rate:limit:bench:tb1:{}", fastrand::usize(..KEYS));
    // Cost 1, capacity 1,000,000, 1 part per microsecond, 1,000 parts a permit, full after 10^9 µs.
    let mut check = vec![b't'];
    for number in [1_u64, 1_000_000, 1, 1_000, 1_000_000_000] {
        check.extend(number.to_le_bytes());
    }
    let mut command = redis::cmd("EVALSHA");
    command.arg(ratelimit_lua::TOKEN_BUCKET.sha1).arg(1).arg(key).arg("").arg(check);
    let reply: redis::RedisResult<Vec<u8>> = command.query_async(&mut connection).await;
    assert!(reply.is_ok_and(|reply| reply.first() == Some(&1)));
}

/// Runs one call after the other in so many tasks.
async fn per_second<F: Future<Output = ()>>(tasks: u32, call: impl Fn() -> F) -> f64 {
    let start = Instant::now();
    let one_task = || async {
        for _ in 0..CALLS / tasks {
            call().await;
        }
    };
    join_all((0..tasks).map(|_| one_task())).await;
    f64::from(CALLS) / start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
