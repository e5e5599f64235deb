//! Which rule is which.

use std::fmt::Debug;

use ratelimit_kit::rate_limit;

use crate::support::{Error, LIMITER, now, refused};

/// The name of the rule that refuses the second call.
macro_rules! name {
    ($call:expr) => {{
        assert!($call.is_ok());
        $call.unwrap_err().refused_by()
    }};
}

const HERE: &str = module_path!();

#[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
fn free() -> Result<(), Error> {
    Ok(())
}

#[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
async fn free_async() -> Result<(), Error> {
    Ok(())
}

#[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
fn generic<T: Debug>(_: T) -> Result<(), Error> {
    Ok(())
}

struct A;
struct B;
struct Of<T>(T);

impl A {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn method(&self) -> Result<(), Error> {
        Ok(())
    }

    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    async fn method_async(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl B {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn method(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl<T: Debug> Of<T> {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn method(&self) -> Result<(), Error> {
        assert!(!format!("{:?}", self.0).is_empty());
        Ok(())
    }
}

trait Send {
    fn send(&self) -> Result<(), Error>;

    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn by_default(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl Send for A {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn send(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl Send for B {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn send(&self) -> Result<(), Error> {
        Ok(())
    }
}

#[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
fn free_built() -> impl Future<Output = Result<(), Error>> {
    std::future::ready(Ok(()))
}

/// What names are made of is a compiler's text that std does not promise: this notices when it changes.
#[test]
fn f48_a_default_name_is_the_path_of_the_function() {
    assert_eq!(name!(free()), format!("{HERE}::free"));
    assert_eq!(name!(now(free_async())), format!("{HERE}::free_async"));
    assert_eq!(name!(now(free_built())), format!("{HERE}::free_built"));
    assert_eq!(name!(A.method()), format!("{HERE}::A::method"));
    assert_eq!(name!(now(A.method_async())), format!("{HERE}::A::method_async"));
    assert_eq!(name!(B.method()), format!("{HERE}::B::method"), "another type");
}

#[test]
fn generic_instances_share() {
    assert!(generic(1).is_ok());
    assert_eq!(generic("a").unwrap_err().refused_by(), format!("{HERE}::generic"));
    assert!(Of(1).method().is_ok());
    assert_eq!(Of("a").method().unwrap_err().refused_by(), format!("{HERE}::Of::method"));
}

#[test]
fn methods_of_a_trait() {
    assert_eq!(name!(A.send()), format!("<{HERE}::A as {HERE}::Send>::send"));
    assert_eq!(name!(B.send()), format!("<{HERE}::B as {HERE}::Send>::send"));
    assert!(A.by_default().is_ok());
    let shared = B.by_default().unwrap_err().refused_by();
    assert_eq!(shared, format!("{HERE}::Send::by_default"), "a default method shares");
}

mod b020_rule_and_key {
    use super::*;

    mod a {
        use super::*;

        #[rate_limit(algo = fixed_window, limit = 2, window = 60, key = "id", limiter = LIMITER)]
        pub(super) fn send(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    }

    mod b {
        use super::*;

        #[rate_limit(algo = fixed_window, limit = 2, window = 60, key = "id", limiter = LIMITER)]
        pub(super) fn send(id: u64) -> Result<u64, Error> {
            Ok(id)
        }
    }

    #[rate_limit(name = "pool", algo = fixed_window, limit = 3, window = 60, limiter = LIMITER)]
    fn pool_one() -> Result<(), Error> {
        Ok(())
    }

    #[rate_limit(name = "pool", algo = fixed_window, limit = 3, window = 60, limiter = LIMITER)]
    fn pool_two() -> Result<(), Error> {
        Ok(())
    }

    #[test]
    fn the_same_attribute_in_two_modules() {
        assert!(a::send(1).is_ok());
        assert!(a::send(1).is_ok());
        assert!(refused(a::send(1)));
        assert!(b::send(1).is_ok());
    }

    #[test]
    fn one_written_name_is_one_budget() {
        let passed = [pool_one(), pool_two(), pool_one(), pool_two()];
        assert_eq!(passed.map(|result| result.is_ok()), [true, true, true, false]);
    }
}
