//! An empty value is no key, unless a default stands for it.

use std::cell::Cell;

use ratelimit_kit::{InvalidCall, RateLimitError, rate_limit};

thread_local! {
    static RUNS: Cell<u32> = const { Cell::new(0) };
}

fn ran() -> Result<(), RateLimitError> {
    RUNS.set(RUNS.get() + 1);
    Ok(())
}

#[rate_limit(key = "user", capacity = 2, refill = "1/min")]
fn plain(user: &str) -> Result<(), RateLimitError> {
    let _ = user;
    ran()
}

#[rate_limit(key = "'user:' + user + ':x'", capacity = 2, refill = "1/min")]
fn inside(user: &str) -> Result<(), RateLimitError> {
    let _ = user;
    ran()
}

#[rate_limit(key = [tenant, user], capacity = 2, refill = "1/min")]
fn in_rust(tenant: u8, user: &str) -> Result<(), RateLimitError> {
    let _ = (tenant, user);
    ran()
}

#[rate_limit(key = "trim(user)", capacity = 2, refill = "1/min")]
fn trimmed(user: &str) -> Result<(), RateLimitError> {
    let _ = user;
    ran()
}

#[rate_limit(key = "user ?: 'anonymous'", capacity = 2, refill = "1/min")]
fn with_default(user: &str) -> Result<(), RateLimitError> {
    let _ = user;
    ran()
}

#[rate_limit(key = "hash(user)", capacity = 2, refill = "1/min")]
fn hashed(user: &str) -> Result<(), RateLimitError> {
    let _ = user;
    ran()
}

fn main() {
    let calls: [&dyn Fn() -> Result<(), RateLimitError>; 4] =
        [&|| plain(""), &|| inside(""), &|| in_rust(1, ""), &|| trimmed(" \t")];
    for call in calls {
        for _ in 0..3 {
            let error = call().unwrap_err();
            let is_empty = matches!(error, RateLimitError::Invalid(InvalidCall::EmptyKey { .. }));
            assert!(is_empty, "{error}");
        }
    }
    assert_eq!(RUNS.get(), 0);

    // No limiter has a secret here.
    assert!(matches!(hashed("ann"), Err(RateLimitError::Invalid(_))));
    assert_eq!(RUNS.get(), 0);

    assert!(plain(" ").is_ok());
    for user in ["", "a", "b", "c"] {
        assert!(with_default(user).is_ok(), "{user}");
    }
    assert!(with_default("anonymous").is_ok());
    assert!(with_default("").is_err());
    assert_eq!(RUNS.get(), 6);
}
