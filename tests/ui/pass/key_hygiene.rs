//! What stands around a key does not change what it means.

#![deny(warnings)]

use ratelimit_kit::{RateLimitError, rate_limit};

type Limited = Result<(), RateLimitError>;

// Names that the expansion uses, as something else.
mod core {}
mod std {}
#[allow(dead_code)]
struct KeyBuilder;
#[allow(dead_code)]
enum Shadowed {
    Some,
    None,
    Ok,
    Err,
}
#[allow(unused_macros)]
macro_rules! matches {
    () => {};
}

/// Arguments that have the names of our locals.
#[rate_limit(
    key = "it + key + call + builder + value + limited",
    algo = fixed_window,
    limit = 1,
    window = "1h"
)]
fn names(it: u8, key: u8, call: u8, builder: u8, value: u8, limited: u8) -> Limited {
    let _ = (it, key, call, builder, value, limited);
    Ok(())
}

struct User {
    id: u8,
    it: Option<Box<User>>,
}

#[rate_limit(key = "it?.it?.id ?: it?.id ?: 'none'", algo = fixed_window, limit = 1, window = "1h")]
fn closures(it: &Option<User>) -> Limited {
    let _ = it;
    Ok(())
}

/// The argument comes from the macro.
macro_rules! inside {
    ($name:ident) => {
        #[rate_limit(key = "'in:' + phone", algo = fixed_window, limit = 1, window = "1h")]
        fn $name(phone: &str) -> Limited {
            let _ = phone;
            Ok(())
        }
    };
}
inside!(from_inside);

/// The argument comes from the caller, the key from the macro.
macro_rules! outside {
    ($name:ident, $argument:ident) => {
        #[rate_limit(key = "'out:' + phone", algo = fixed_window, limit = 1, window = "1h")]
        fn $name($argument: &str) -> Limited {
            let _ = $argument;
            Ok(())
        }
    };
}
outside!(from_outside, phone);

/// The key comes from the caller, the argument from the macro.
macro_rules! key_from_caller {
    ($name:ident, $key:literal, $rust:expr) => {
        #[rate_limit(key = $key, algo = fixed_window, limit = 1, window = "1h")]
        fn $name(phone: &str, number: u8) -> Limited {
            let _ = (phone, number);
            Ok(())
        }
    };
}
key_from_caller!(from_caller, "'caller:' + phone + number", ());

mod bare {
    #![no_implicit_prelude]

    #[::ratelimit_kit::rate_limit(
        key = "'bare:' + lower(name) ?: 'none'",
        algo = fixed_window,
        limit = 1,
        window = "1h"
    )]
    pub(super) fn no_prelude(
        name: &::std::option::Option<&str>,
    ) -> ::std::result::Result<(), ::ratelimit_kit::RateLimitError> {
        let _ = name;
        ::std::result::Result::Ok(())
    }
}

fn main() {
    assert!(names(1, 2, 3, 4, 5, 6).is_ok());
    assert!(names(1, 2, 3, 4, 5, 7).is_ok());
    assert!(names(1, 2, 3, 4, 5, 6).is_err());

    let inner = Option::Some(Box::new(User { id: 7, it: None }));
    assert!(closures(&Option::Some(User { id: 1, it: inner })).is_ok());
    assert!(closures(&Option::Some(User { id: 7, it: None })).is_err());
    assert!(closures(&None).is_ok());

    for call in [from_inside, from_outside, |phone: &str| from_caller(phone, 1)] {
        assert!(call("a").is_ok());
        assert!(call("b").is_ok());
        assert!(call("a").is_err());
    }
    assert!(bare::no_prelude(&Option::Some("A")).is_ok());
    assert!(bare::no_prelude(&Option::Some("a")).is_err());
    assert!(bare::no_prelude(&None).is_ok());
}
