//! Different values have different budgets, however they are chosen and however long they are.

use ratelimit_kit::{RateLimitError, rate_limit};

#[rate_limit(key = "[tenant, user]", capacity = 1, refill = "1/min")]
fn list(tenant: &str, user: &str) -> Result<(), RateLimitError> {
    let _ = (tenant, user);
    Ok(())
}

#[rate_limit(key = "tenant + user", capacity = 1, refill = "1/min")]
fn joined(tenant: &str, user: &str) -> Result<(), RateLimitError> {
    let _ = (tenant, user);
    Ok(())
}

#[rate_limit(key = "id", capacity = 1, refill = "1/min")]
fn one(id: &str) -> Result<(), RateLimitError> {
    let _ = id;
    Ok(())
}

fn main() {
    let pairs = [
        ("a:b", "c"),
        ("a", "b:c"),
        ("a\\:b", "c"),
        ("a%3Ab", "c"),
        ("a%253Ab", "c"),
        ("a|b", "c"),
        ("a\0b", "c"),
        ("ab", "c"),
        ("a", "bc"),
        ("{a}", "b"),
        ("a", "{b}"),
    ];
    for call in [list, joined] {
        for (tenant, user) in pairs {
            assert!(call(tenant, user).is_ok(), "{tenant:?} {user:?}");
        }
        for (tenant, user) in pairs {
            assert!(call(tenant, user).is_err(), "{tenant:?} {user:?}");
        }
    }

    let long = |size: usize, last: char| "a".repeat(size - 1) + &last.to_string();
    let ids = [
        long(102_400, 'x'),
        long(102_400, 'y'),
        long(1_048_576, 'x'),
        long(1_048_576, 'y'),
        "tess_live_AAAA".to_owned(),
        "tess_live_BBBB".to_owned(),
    ];
    for id in &ids {
        assert!(one(id).is_ok());
    }
    for id in &ids {
        let error = one(id).unwrap_err();
        assert!(error.to_string().len() + format!("{error:?}").len() < 1_024);
    }
}
