//! What a function returns when its body does not run.

use std::cell::Cell;

use ratelimit_kit::{FromRateLimitError, InvalidCall, RateLimitError, rate_limit};

use crate::support::{Error, LIMITER, now, refused};

thread_local! {
    static ANSWERS: Cell<u32> = const { Cell::new(0) };
}

fn answers() -> u32 {
    ANSWERS.get()
}

#[test]
fn a_result_an_option_and_a_type_of_ones_own() {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn result() -> Result<u8, RateLimitError> {
        Ok(1)
    }
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn option() -> Option<u8> {
        Some(1)
    }
    #[derive(Debug, PartialEq)]
    enum Reply {
        Done,
        Later(String),
    }
    impl FromRateLimitError for Reply {
        fn from_rate_limit_error(error: RateLimitError) -> Self {
            Self::Later(error.to_string())
        }
    }
    #[rate_limit(name = "own", capacity = 1, refill = 1, limiter = LIMITER)]
    fn own() -> Reply {
        Reply::Done
    }

    assert_eq!(result().unwrap(), 1);
    assert!(matches!(result(), Err(RateLimitError::Limited(_))));
    assert_eq!((option(), option()), (Some(1), None));
    assert_eq!(own(), Reply::Done);
    assert_eq!(own(), Reply::Later("rate limit `own` exceeded, retry in 1s".to_owned()));
}

mod b114_not_for_business_errors {
    use super::*;

    async fn fb(id: u64) -> Result<u8, Error> {
        ANSWERS.set(ANSWERS.get() + 1);
        Ok(u8::try_from(id).unwrap_or(0) + 100)
    }

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER, on_limited = fb(id).await)]
    async fn f(id: u64, outcome: Result<u8, Error>) -> Result<u8, Error> {
        outcome
    }

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER, on_limited = fb(id).await)]
    async fn panics(id: u64) -> Result<u8, Error> {
        panic!("the body of {id}")
    }

    #[test]
    fn the_answer_is_for_refusals_only() {
        let before = answers();
        assert!(matches!(now(f(1, Err(Error::Business))), Err(Error::Business)));
        assert_eq!(now(f(1, Ok(1))).unwrap(), 1);
        assert_eq!(now(f(1, Ok(1))).unwrap(), 101);
        assert_eq!(answers() - before, 1);

        for _ in 0..2 {
            let panicked = std::panic::catch_unwind(|| now(panics(2)));
            assert!(panicked.is_err());
        }
        assert_eq!(answers() - before, 1);
        assert_eq!(now(panics(2)).unwrap(), 102, "each panicking call took a permit");
    }
}

mod b116_forms {
    use super::*;

    const BUSY: u64 = 3;

    fn fb(id: u64) -> u64 {
        id + 100
    }

    async fn later(id: u64) -> u64 {
        id + 200
    }

    fn generic<T: From<u8>>() -> T {
        T::from(7)
    }

    struct Service(u64);

    impl Service {
        fn fb(&self, id: u64) -> u64 {
            self.0 + id
        }

        #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = self.fb(id))]
        fn method(&self, id: u64) -> u64 {
            id
        }

        #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = Self::of(id).0)]
        fn associated(id: u64) -> u64 {
            id
        }

        fn of(id: u64) -> Self {
            Self(id + 9)
        }
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = fb(id))]
    fn sync(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = later(id).await)]
    async fn asynchronous(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = generic())]
    fn inferred(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "key", capacity = 1, refill = 1, limiter = LIMITER, on_limited = generic::<T>())]
    fn of_a_generic<T: From<u8>>(id: T, key: u8) -> T {
        id
    }

    #[rate_limit(name = "closure", key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = |error| format!("{id}: {error}"))]
    fn closure(id: u64) -> String {
        String::new()
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = |error: RateLimitError| match error {
        RateLimitError::Limited(refusal) => refusal.limit(),
        _ => 0,
    })]
    fn typed_closure(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = 5)]
    fn value(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = BUSY)]
    fn constant(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = ())]
    fn unit(id: u64) {
        ANSWERS.set(ANSWERS.get() + u32::try_from(id).unwrap_or(0));
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = panic!("limited"))]
    fn panicking(id: u64) -> u64 {
        id
    }

    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = Err(parse()?))]
    fn leaving(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    fn parse() -> Result<Error, Error> {
        Err(Error::Business)
    }

    #[test]
    fn every_form_answers() {
        let service = Service(50);
        assert_eq!((sync(1), sync(1)), (1, 101));
        assert_eq!((now(asynchronous(1)), now(asynchronous(1))), (1, 201));
        assert_eq!((inferred(1), inferred(1)), (1, 7));
        assert_eq!((of_a_generic(1_u64, 0), of_a_generic(1_u64, 0)), (1, 7));
        assert_eq!((service.method(1), service.method(1)), (1, 51));
        assert_eq!((Service::associated(1), Service::associated(1)), (1, 10));
        assert_eq!(closure(1), "");
        assert_eq!(closure(1), "1: rate limit `closure` exceeded, retry in 1s");
        assert_eq!((typed_closure(9), typed_closure(9)), (9, 1));
        assert_eq!((value(1), value(1)), (1, 5));
        assert_eq!((constant(1), constant(1)), (1, 3));
        assert_eq!(panicking(1), 1);
        assert!(std::panic::catch_unwind(|| panicking(1)).is_err());
        assert!(leaving(1).is_ok());
        assert!(matches!(leaving(1), Err(Error::Business)));

        let before = answers();
        unit(4);
        unit(4);
        assert_eq!(answers() - before, 4);
    }
}

#[test]
fn on_limited_answers_mistakes_too() {
    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = |error| matches!(error, RateLimitError::Invalid(InvalidCall::EmptyKey { .. })))]
    fn empty(id: &str) -> bool {
        id.is_empty()
    }
    assert!(empty(""));
    assert!(!empty("a"));
}

#[test]
fn a_hash_without_a_secret_is_no_empty_key() {
    #[rate_limit(key = "hash(id)", capacity = 1, refill = 1, limiter = LIMITER)]
    fn hashed(id: &str) -> Result<(), Error> {
        let _ = id;
        Ok(())
    }
    for id in ["a", ""] {
        let error = hashed(id).unwrap_err();
        let Error::Limited(RateLimitError::Invalid(mistake)) = &error else { panic!("{error:?}") };
        assert!(matches!(mistake, InvalidCall::NoSecret { .. }), "{mistake}");
    }
}

#[test]
fn on_limited_can_leave_the_function_by_itself() {
    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = return 7)]
    fn returned(id: u8) -> u8 {
        id
    }
    macro_rules! bail {
        ($error:expr) => {
            return Err($error)
        };
    }
    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = bail!(id))]
    async fn bailed(id: u8) -> Result<u8, u8> {
        Ok(id + 1)
    }
    assert_eq!([returned(1), returned(1)], [1, 7]);
    assert_eq!([now(bailed(1)), now(bailed(1))], [Ok(2), Err(1)]);
}

/// A macro by the name of one that never comes back, which does.
#[test]
fn f49_a_macro_that_comes_back_stands_in_a_closure() {
    macro_rules! bail {
        ($value:expr) => {
            $value + 1
        };
    }
    #[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = |_| bail!(id))]
    fn given(id: u8) -> u8 {
        id
    }
    assert_eq!([given(1), given(1)], [1, 2]);
}

mod unavailable {
    use std::future::pending;
    use std::sync::LazyLock;
    use std::time::Duration;

    use ratelimit_kit::store::{Answers, BoxFuture};
    use ratelimit_kit::{Check, Limiter, Store, StoreError};

    use super::*;

    /// A store that never answers.
    #[derive(Debug)]
    struct Dead;

    impl Store for Dead {
        fn decide<'a>(&'a self, _: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
            Box::pin(pending())
        }

        fn reset<'a>(&'a self, _: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
            Box::pin(pending())
        }
    }

    static DEAD: LazyLock<Limiter> = LazyLock::new(|| {
        Limiter::builder().store(Dead).deadline(Duration::from_millis(5)).build().unwrap()
    });

    #[rate_limit(capacity = 1, refill = 1, on_error = closed, limiter = DEAD, on_limited = 1, on_unavailable = 2)]
    fn both() -> u8 {
        0
    }

    #[rate_limit(capacity = 1, refill = 1, on_error = closed, limiter = DEAD, on_limited = 1)]
    fn one_for_all() -> u8 {
        0
    }

    #[rate_limit(capacity = 1, refill = 1, on_error = closed, limiter = DEAD, on_unavailable = |error| Some(error.to_string()))]
    async fn alone() -> Option<String> {
        pending().await
    }

    #[rate_limit(capacity = 1, refill = 1, on_error = closed, limiter = LIMITER, on_unavailable = Ok(9))]
    fn refusals_go_on_as_ever() -> Result<u8, Error> {
        Ok(1)
    }

    #[rate_limit(capacity = 1, refill = 1, on_error = open, limiter = DEAD)]
    fn open() -> Result<u8, Error> {
        Ok(1)
    }

    #[rate_limit(capacity = 1, refill = 1, on_error = "local", limiter = DEAD)]
    fn local() -> Result<u8, Error> {
        Ok(1)
    }

    #[tokio::test]
    async fn a_closed_rule_without_a_store() {
        assert_eq!(both(), 2);
        assert_eq!(one_for_all(), 1);
        assert!(alone().await.unwrap().contains("cannot be decided"));
        assert!(refusals_go_on_as_ever().is_ok());
        assert!(refused(refusals_go_on_as_ever()));
        for _ in 0..5 {
            assert!(open().is_ok());
        }
        assert!(local().is_ok());
        assert!(refused(local()));
    }
}

/// A rule that only watches keeps no call from running, whatever is wrong with the call.
mod watching {
    use super::*;

    #[rate_limit(name = "watch-empty", key = "id", capacity = 1, refill = 1, mode = shadow, limiter = LIMITER)]
    fn empty(id: &str) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[rate_limit(name = "watch-cost", capacity = 1, refill = 1, cost = cost, mode = shadow, limiter = LIMITER)]
    fn costs(cost: i64) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[rate_limit(name = "watch-context", key = "@ip", capacity = 1, refill = 1, mode = shadow, limiter = LIMITER)]
    #[rate_limit(name = "watch-enforced", key = "id", capacity = 1, refill = 1)]
    fn context(id: &str) -> Result<(), RateLimitError> {
        Ok(())
    }

    #[test]
    fn nothing_is_a_mistake_of_the_call() {
        assert!(empty("").is_ok());
        assert!(costs(-1).is_ok());
        assert!(costs(5).is_ok());
        assert!(context("a").is_ok());
        // The other rule decides as if it were alone.
        assert!(matches!(context("a"), Err(RateLimitError::Limited(_))));
        assert!(matches!(context(""), Err(RateLimitError::Invalid(_))));
    }
}
