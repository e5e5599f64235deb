//! Keys in Rust: one value, or parts in brackets.

use ratelimit_kit::{RateLimitError, rate_limit};

type Limited = Result<(), RateLimitError>;

struct Order {
    tenant: String,
    items: Vec<u32>,
}

impl Order {
    fn tenant(&self) -> &str {
        &self.tenant
    }
}

fn helper(phone: &str) -> String {
    phone.replace('-', "")
}

#[rate_limit(key = phone.trim_start_matches("+86"), algo = fixed_window, limit = 1, window = "1h")]
fn method(phone: &str) -> Limited {
    let _ = phone;
    Ok(())
}

#[rate_limit(key = phone, algo = fixed_window, limit = 1, window = "1h")]
fn not_moved(phone: String) -> Limited {
    drop(phone);
    Ok(())
}

#[rate_limit(key = helper(&phone), algo = fixed_window, limit = 1, window = "1h")]
fn function(phone: String) -> Limited {
    drop(phone);
    Ok(())
}

#[rate_limit(
    key = [order.tenant(), order.items.first().copied().unwrap_or_default(), 'x'],
    algo = fixed_window,
    limit = 1,
    window = "1h"
)]
fn parts_of_different_types(order: Order) -> Limited {
    drop(order);
    Ok(())
}

#[rate_limit(key = [a, b], algo = fixed_window, limit = 1, window = "1h")]
fn parts(a: &str, b: &str) -> Limited {
    let _ = (a, b);
    Ok(())
}

#[rate_limit(key = format!("{a}{b}"), algo = fixed_window, limit = 1, window = "1h")]
fn merged(a: &str, b: &str) -> Limited {
    let _ = (a, b);
    Ok(())
}

#[rate_limit(
    key = if age >= 18 { "adult" } else { "child" },
    algo = fixed_window,
    limit = 1,
    window = "1h"
)]
fn condition(age: u8) -> Limited {
    let _ = age;
    Ok(())
}

/// What stays inside of the key is allowed.
#[rate_limit(
    key = {
        let mut digits = String::new();
        for c in phone.chars() {
            if c == '#' {
                break;
            }
            digits.push(c);
        }
        let digit = |at: usize| Some(digits.chars().nth(at)?.to_digit(10)?);
        digit(0).unwrap_or_default()
    },
    algo = fixed_window,
    limit = 1,
    window = "1h"
)]
fn block(phone: &str) -> Limited {
    let _ = phone;
    Ok(())
}

fn main() {
    assert!(method("+86138").is_ok());
    assert!(method("138").is_err());
    assert!(not_moved("138".to_owned()).is_ok());
    assert!(not_moved("138".to_owned()).is_err());
    assert!(function("1-3-8".to_owned()).is_ok());
    assert!(function("138".to_owned()).is_err());

    let order = |tenant: &str, items: &[u32]| Order { tenant: tenant.into(), items: items.into() };
    assert!(parts_of_different_types(order("acme", &[1, 2])).is_ok());
    assert!(parts_of_different_types(order("acme", &[2])).is_ok());
    assert!(parts_of_different_types(order("acme", &[1])).is_err());

    assert!(parts("ab", "c").is_ok());
    assert!(parts("a", "bc").is_ok());
    assert!(merged("ab", "c").is_ok());
    assert!(merged("a", "bc").is_err());

    assert!(condition(18).is_ok());
    assert!(condition(7).is_ok());
    assert!(condition(80).is_err());
    assert!(block("1#2").is_ok());
    assert!(block("19").is_err());
}
