//! Every argument, under lints that most crates would find too strict.

#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::unreachable,
    clippy::unit_arg,
    clippy::let_unit_value,
    clippy::used_underscore_binding,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::shadow_unrelated,
    clippy::absolute_paths,
    clippy::std_instead_of_core,
    clippy::missing_inline_in_public_items,
    clippy::default_numeric_fallback,
    clippy::min_ident_chars,
    clippy::items_after_statements,
    clippy::semicolon_outside_block,
    clippy::single_call_fn,
    missing_docs,
    missing_debug_implementations,
    unused_qualifications,
    unreachable_pub,
    single_use_lifetimes,
    let_underscore_drop
)]
#![forbid(unsafe_code, unreachable_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
// What the test itself does, with and without the attribute.
#![allow(
    clippy::single_call_fn,
    clippy::missing_inline_in_public_items,
    clippy::needless_pass_by_ref_mut,
    clippy::redundant_pub_crate
)]

use core::error::Error;
use core::future::ready;
use core::pin::Pin;
use core::time::Duration;

use ratelimit_kit::{Limiter, Rate, RateLimitError, rate_limit};

type Done = Result<(), RateLimitError>;

struct Plan {
    burst: u32,
    rate: Rate,
    window: Duration,
    parts: u8,
    free: bool,
}

struct Service {
    tenant: String,
    calls: u64,
    limiter: Limiter,
}

#[rate_limit(capacity = 5, refill = "300/min")]
fn plain() -> Done {
    Ok(())
}

#[rate_limit(key = "'x:' + phone", name = "lints", algo = "token_bucket", capacity = 5, refill = 5)]
async fn asynchronous(phone: &str) -> Done {
    tick(phone).await;
    Ok(())
}

#[rate_limit(key = [phone, &phone.len()], algo = leaky_bucket, capacity = 5, leak = "1/15s", wait = "2s")]
async fn paced(phone: &str) -> Done {
    if phone.is_empty() {
        tick(phone).await;
        Ok(())
    } else {
        Err(tick_twice(phone).await)?
    }
}

async fn tick_twice(phone: &str) -> RateLimitError {
    tick(phone).await;
    match plain() {
        Err(error) => error,
        Ok(()) => loop {
            tick(phone).await;
        },
    }
}

async fn tick(phone: &str) {
    ready(phone).await;
}

#[rate_limit(key = "plan.free", algo = fixed_window, limit = plan.burst, window = plan.window, cost = 2, when = !plan.free)]
#[rate_limit(algo = sliding_counter, limit = plan.burst, window = plan.window, sub_windows = plan.parts, mode = shadow, on_error = open, headers = hidden)]
#[rate_limit(capacity = plan.burst, refill = plan.rate, cost = plan.parts)]
#[rate_limit(algo = sliding_log, limit = 5, window = 60, on_error = closed)]
fn per_call(plan: &Plan) -> Done {
    if plan.free { Ok(()) } else { plain() }
}

#[rate_limit(capacity = 5, refill = 1, on_limited = 0, on_unavailable = |error| u64::from(error.http_status()))]
fn answered(number: u64) -> u64 {
    number
}

#[rate_limit(capacity = 5, refill = 1, on_limited = ())]
fn unit(_unused: u8) {}

#[rate_limit(capacity = 5, refill = 1, on_limited = todo!())]
fn later() -> u8 {
    1
}

#[rate_limit(capacity = 5, refill = 1)]
fn items_first() -> Done {
    use core::cmp::max;
    const LEAST: u8 = 1;
    const fn limit() -> u8 {
        LEAST
    }
    assert_eq!(max(limit(), 0), LEAST);
    Ok(())
}

#[rate_limit(capacity = 5, refill = 1)]
fn items_first_in_a_future() -> Pin<Box<dyn Future<Output = Done> + Send>> {
    Box::pin(async {
        use core::future::ready as at_once;
        at_once(()).await;
        Ok(())
    })
}

#[rate_limit(key = "id", capacity = 5, refill = 1)]
fn built(
    id: u64,
    mut list: Vec<u64>,
    _unused: String,
    _: String,
) -> impl Future<Output = Done> + Send {
    list.push(1);
    let len = list.len();
    async move {
        tick(&len.to_string()).await;
        Ok(())
    }
}

#[rate_limit(key = "id", capacity = 5, refill = 1)]
fn one_block(id: String, number: u64) -> Pin<Box<dyn Future<Output = Done> + Send>> {
    Box::pin(async move {
        tick(&number.to_string()).await;
        Ok(())
    })
}

#[rate_limit(capacity = 5, refill = 1)]
fn early(number: u64) -> Pin<Box<dyn Future<Output = Done> + Send>> {
    if number == 0 {
        return Box::pin(ready(Ok(())));
    }
    Box::pin(async move {
        tick(&number.to_string()).await;
        Ok(())
    })
}

#[rate_limit(capacity = 5, refill = 1, on_limited = return 0)]
fn returned(number: u8) -> u8 {
    number
}

macro_rules! bail {
    ($error:expr) => {
        return Err($error.into())
    };
}

#[rate_limit(capacity = 5, refill = 1, on_limited = bail!("limited"))]
fn bailed(number: u8) -> Result<u8, Box<dyn Error>> {
    if number == 0 {
        bail!("nothing")
    }
    Ok(number)
}

impl Service {
    #[rate_limit(key = "self.tenant", capacity = 5, refill = 1, limiter = self.limiter, group = self.tenant)]
    fn count(&mut self) -> Done {
        self.calls = self.calls.saturating_add(1);
        Ok(())
    }

    #[rate_limit(key = "self.tenant", capacity = 5, refill = 1, limiter = self.limiter, on_limited = None)]
    async fn count_later(&mut self) -> Option<u64> {
        tick(&self.tenant).await;
        Some(self.calls)
    }

    #[rate_limit(key = "self.tenant", capacity = 5, refill = 1)]
    fn boxed(&self) -> Pin<Box<dyn Future<Output = Done> + Send + '_>> {
        Box::pin(async move {
            tick(&self.tenant).await;
            Ok(())
        })
    }

    #[rate_limit(key = "self.tenant", capacity = 5, refill = 1)]
    fn built(&mut self) -> Pin<Box<dyn Future<Output = Done> + Send + '_>> {
        self.calls = self.calls.saturating_add(1);
        Box::pin(async move {
            tick(&self.tenant).await;
            Ok(())
        })
    }
}

pub(super) async fn run() -> Result<(), Box<dyn Error>> {
    let plan = Plan {
        burst: 9,
        rate: Rate::per_second(1),
        window: Duration::from_secs(1),
        parts: 2,
        free: true,
    };
    let limiter = Limiter::builder().build()?;
    let mut service = Service { tenant: "t".to_owned(), calls: 0, limiter };
    plain()?;
    asynchronous("a").await?;
    paced("").await.err();
    per_call(&plan)?;
    assert_eq!(answered(1), 1);
    unit(1);
    assert_eq!(later(), 1);
    items_first()?;
    items_first_in_a_future().await?;
    built(1, Vec::new(), String::new(), String::new()).await?;
    one_block(String::from("a"), 1).await?;
    early(1).await?;
    assert_eq!(returned(1), 1);
    assert_eq!(bailed(1)?, 1);
    service.count()?;
    assert_eq!(service.count_later().await, Some(1));
    service.built().await?;
    service.boxed().await?;
    Ok(())
}
