//! Names of the user's and of the expansion never meet.

use ratelimit_kit::rate_limit;

use crate::support::{Error, LIMITER, now, refused};

/// Anything that is not an absolute path breaks here.
mod b014_shadowed_names {
    #![allow(dead_code, non_camel_case_types, unused_imports, unused_macros)]

    use super::*;

    mod core {}
    mod std {}
    mod ratelimit_kit {}
    mod alloc {}
    struct Result;
    struct Option;
    enum Shadow {
        Ok,
        Err,
        Some,
        None,
    }
    use Shadow::{Err, None, Ok, Some};
    struct Rule;
    struct Call;
    struct LimitKey;
    struct KeyBuilder;
    struct str;
    struct bool;
    trait Copy {}
    trait From {}
    macro_rules! matches {
        () => {};
    }

    type Outcome = ::core::result::Result<u64, Error>;

    #[rate_limit(key = "id + id", name = "shadowed", capacity = 1, refill = "1/2s", cost = id, when = id > 0, limiter = LIMITER, on_unavailable = ::core::result::Result::Ok(1))]
    #[rate_limit(algo = fixed_window, limit = 9, window = 60)]
    fn sync(id: u64) -> Outcome {
        ::core::result::Result::Ok(id)
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER)]
    async fn asynchronous(id: u64) -> Outcome {
        ::core::result::Result::Ok(id)
    }

    #[test]
    fn paths_are_absolute() {
        assert!(sync(1).is_ok());
        assert!(refused(sync(1)));
        assert!(now(asynchronous(1)).is_ok());
        assert!(refused(now(asynchronous(1))));
    }
}

mod b014_argument_names {
    use super::*;

    #[rate_limit(key = "key", capacity = 1, refill = 1, limiter = LIMITER)]
    #[expect(clippy::too_many_arguments, reason = "one for every name that could collide")]
    fn f(
        key: String,
        result: u32,
        limiter: u32,
        cost: u32,
        now: u64,
        store: &str,
        conn: u8,
        retry_after: u64,
        args: u8,
        ctx: u8,
        guard: u8,
        outcome: u8,
        r#type: u8,
        call: u8,
        limited: u8,
        applies: u8,
        krate: u8,
    ) -> Result<u64, Error> {
        let key: String = key;
        let bytes = [conn, args, ctx, guard, outcome, r#type, call, limited, applies, krate];
        Ok(key.len() as u64
            + u64::from(result + limiter + cost)
            + now
            + store.len() as u64
            + retry_after
            + bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>())
    }

    #[rate_limit(key = "key", capacity = 1, refill = 1, limiter = LIMITER, when = applies > 0, cost = call)]
    async fn g(key: String, call: u8, limited: u8, applies: u8) -> Result<u64, Error> {
        Ok(key.len() as u64 + u64::from(call + limited + applies))
    }

    #[test]
    fn arguments_can_have_any_name() {
        let f = |key: &str| f(key.into(), 1, 1, 1, 1, "s", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
        assert_eq!(f("k1").unwrap(), 18);
        assert!(refused(f("k1")));
        assert_eq!(f("k2").unwrap(), 18);
        let g = |key: &str| now(g(key.into(), 1, 1, 1));
        assert_eq!(g("k1").unwrap(), 5);
        assert!(refused(g("k1")));
        assert_eq!(g("k2").unwrap(), 5);
    }
}

mod from_macros {
    use super::*;

    macro_rules! limited {
        ($name:ident, $key:literal, $capacity:literal, $refill:expr, $algo:ident, $ty:ty) => {
            #[rate_limit(key = $key, algo = $algo, capacity = $capacity, refill = $refill, limiter = LIMITER)]
            fn $name(id: $ty) -> Result<$ty, Error> {
                Ok(id)
            }
        };
        ($name:ident, $param:ident, $key:expr) => {
            #[rate_limit(key = $key, capacity = 2, refill = 1, limiter = LIMITER)]
            fn $name($param: u64) -> Result<u64, Error> {
                Ok($param)
            }
        };
        ($name:ident) => {
            #[rate_limit(key = "hidden + self.0", capacity = 2, refill = 1, limiter = LIMITER)]
            fn $name(&self, hidden: u64) -> Result<u64, Error> {
                Ok(hidden + self.0)
            }
        };
    }

    limited!(one, "'x:' + id", 2, "1/2s", token_bucket, u64);
    limited!(two, id, "id");
    limited!(three, id, id + 1);

    struct S(u64);
    impl S {
        limited!(method);
    }

    #[test]
    fn functions_that_macros_write() {
        for _ in 0..2 {
            assert!(one(1).is_ok());
            assert!(two(1).is_ok());
            assert!(three(1).is_ok());
            assert!(S(1).method(1).is_ok());
        }
        assert!(refused(one(1)));
        assert!(refused(two(1)));
        assert!(refused(three(1)));
        assert!(refused(S(1).method(1)));
    }
}
