//! What every shape of function does before, during and after a call: the cells of the table in
//! `docs/functions.md`. A shape is a module here, and a column is a test in it.
//!
//! Each function is there twice, without and with the attribute, and its arguments tell when they are
//! dropped.

// Only the attribute uses one of the arguments.
#![allow(unused_mut, unused_variables)]

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use futures_util::future::{BoxFuture, FutureExt, LocalBoxFuture, ready};
use ratelimit_kit::rate_limit;

use crate::support::{Error, LIMITER, now, refused};

thread_local! {
    static LOG: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn log(what: &'static str) {
    LOG.with_borrow_mut(|log| log.push(what));
}

fn logged() -> Vec<&'static str> {
    LOG.take()
}

/// An argument that tells when it is dropped.
pub(crate) struct Noisy(&'static str);

impl Noisy {
    const fn name(&self) -> &'static str {
        self.0
    }

    const fn touch(&self) {}

    const fn change(&mut self) {}
}

impl Drop for Noisy {
    fn drop(&mut self) {
        log(self.0);
    }
}

/// A part of the key: the test, because each has a thread of its own.
fn here() -> String {
    format!("{:?}", std::thread::current().id())
}

/// A function twice, and its tests. `|call| ..` says whether a call was refused; then comes a part of the key, of an
/// argument.
macro_rules! shape {
    ($name:ident, |$call:ident| $refused:expr, $key:expr, $($item:tt)*) => {
        mod $name {
            use super::*;

            pub(crate) mod bare {
                use super::*;

                pub(crate) $($item)*
            }

            pub(crate) mod limited {
                use super::*;

                #[rate_limit(key = [here(), $key], capacity = 1, refill = 1, limiter = LIMITER)]
                pub(crate) $($item)*
            }

            shape!(@tests |$call| $refused, [] bare::f, [] limited::f);
        }
    };
    (@method $name:ident, |$call:ident| $refused:expr, $key:expr, $($item:tt)*) => {
        mod $name {
            use super::*;

            struct Bare;
            pub(crate) struct Limited;

            impl Bare {
                $($item)*
            }

            impl Limited {
                #[rate_limit(key = [here(), $key], capacity = 1, refill = 1, limiter = LIMITER)]
                pub(crate) $($item)*
            }

            shape!(@tests |$call| $refused, [let mut bare = Bare;] bare.f, [let mut limited = Limited;] limited.f);
        }
    };
    (@async_trait $name:ident, |$call:ident| $refused:expr, $key:expr, $($item:tt)*) => {
        mod $name {
            use super::*;

            struct Bare;
            pub(crate) struct Limited;

            #[async_trait]
            pub(crate) trait Shape {
                async fn f(&self, a: Noisy, b: Noisy, key: Noisy, c: Noisy, d: Noisy) -> Result<(), Error>;
            }

            #[async_trait]
            impl Shape for Bare {
                $($item)*
            }

            #[async_trait]
            impl Shape for Limited {
                #[rate_limit(key = [here(), $key], capacity = 1, refill = 1, limiter = LIMITER)]
                $($item)*
            }

            shape!(@tests |$call| $refused, [let mut bare = Bare;] bare.f, [let mut limited = Limited;] limited.f);
        }
    };
    (@tests |$call:ident| $refused:expr, [$($let_bare:tt)*] $($bare:ident).+ $(:: $bare_f:ident)?, [$($let:tt)*] $($limited:ident).+ $(:: $limited_f:ident)?) => {
        /// The body never begins, and the refusal is the function's own result.
        #[test]
        fn b115_a_refused_call() {
            let all = ["a", "b", "c", "d", "key"];
            $($let)*
            let $call = $($limited).+ $(:: $limited_f)? (Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
            assert!(!$refused);
            assert!(logged().contains(&"body"));

            $($let)*
            let $call = $($limited).+ $(:: $limited_f)? (Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
            assert!($refused);
            let mut dropped = logged();
            dropped.sort_unstable();
            assert_eq!(dropped, all, "each argument once, and nothing else");
        }

        /// The same happens in the same order as in the bare function.
        #[test]
        fn an_admitted_call() {
            $($let_bare)*
            let $call = $($bare).+ $(:: $bare_f)? (Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
            assert!(!$refused);
            let bare = logged();
            assert_eq!(bare.len(), 6 + usize::from(bare.contains(&"future")), "{bare:?}");
            $($let)*
            let $call = $($limited).+ $(:: $limited_f)? (Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
            assert!(!$refused);
            assert_eq!(logged(), bare);
        }
    };
}

/// What holds for futures besides.
macro_rules! future {
    ($name:ident, $f:path) => {
        future!($name, $f, |call| refused(now(call)));
    };
    ($name:ident, $f:path, |$call:ident| $refused:expr) => {
        mod $name {
            use super::*;

            /// It is decided when the future is polled for the first time.
            #[test]
            fn a_future_that_is_not_polled() {
                let call = || $f(Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
                for _ in 0..3 {
                    drop(call());
                    let mut dropped = logged();
                    dropped.sort_unstable();
                    assert_eq!(dropped, ["a", "b", "c", "d", "key"]);
                }
                let $call = call();
                assert!(!$refused);
                let $call = call();
                assert!($refused);
            }

            /// It is `Send` as the function's own is.
            #[test]
            fn send() {
                const fn is_send<T: Send>(_: &T) {}
                let future = $f(Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
                is_send(&future);
            }
        }
    };
}

/// What holds for functions that decide when they are called: what they return takes no part in it.
macro_rules! at_once {
    ($name:ident, $f:path, |$call:ident| $refused:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn a_result_that_is_not_used() {
                let call = || $f(Noisy("a"), Noisy("b"), Noisy("key"), Noisy("c"), Noisy("d"));
                drop(call());
                assert!(logged().contains(&"body"));
                let $call = call();
                assert!($refused);
                assert!(!logged().contains(&"body"));
            }
        }
    };
}

shape! {
    sync_function, |call| refused(call), key.name(),
    fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<(), Error> {
        log("body");
        a.touch();
        b.change();
        key.touch();
        Ok(())
    }
}
at_once!(sync_function_is_decided_at_once, sync_function::limited::f, |call| refused(call));

shape! {
    async_function, |call| refused(now(call)), key.name(),
    async fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<(), Error> {
        log("body");
        ready(()).await;
        a.touch();
        b.change();
        Ok(())
    }
}
future!(async_function_is_a_future, async_function::limited::f);

shape! {
    impl_future_of_a_block, |call| refused(now(call)), key.name(),
    fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> impl Future<Output = Result<(), Error>> {
        async move {
            log("body");
            b.change();
            a.touch();
            Ok(())
        }
    }
}
future!(impl_future_of_a_block_is_a_future, impl_future_of_a_block::limited::f);

shape! {
    impl_future, |call| refused(now(call)), key.name(),
    fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> impl Future<Output = Result<(), Error>> {
        log("body");
        b.change();
        ready(()).then(move |()| async move {
            log("future");
            a.touch();
            Ok(())
        })
    }
}
future!(impl_future_is_a_future, impl_future::limited::f);

shape! {
    boxed_future_of_a_block, |call| refused(now(call)), key.name(),
    fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> {
        Box::pin(async move {
            log("body");
            b.change();
            a.touch();
            Ok(())
        })
    }
}
future!(boxed_future_of_a_block_is_a_future, boxed_future_of_a_block::limited::f);

shape! {
    boxed_future, |call| refused(now(call)), key.name(),
    fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Pin<Box<dyn Future<Output = Result<(), Error>> + Send>> {
        log("body");
        b.change();
        a.touch();
        if key.0.is_empty() {
            return Box::pin(ready(Err(Error::Business)));
        }
        Box::pin(async move {
            log("future");
            b.touch();
            Ok(())
        })
    }
}
future!(boxed_future_is_a_future, boxed_future::limited::f);

shape! {
    box_future_by_its_name, |call| refused(now(call)), key.name(),
    fn f(a: Noisy, b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> BoxFuture<'static, Result<(), Error>> {
        log("body");
        b.touch();
        let held = Noisy("f");
        async move {
            log("future");
            held.touch();
            std::mem::forget(held);
            a.touch();
            Ok(())
        }
        .boxed()
    }
}
future!(box_future_by_its_name_is_a_future, box_future_by_its_name::limited::f);

shape! {
    a_box_that_is_not_pinned, |call| refused(now(call)), key.name(),
    fn f(a: Noisy, b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Box<dyn Future<Output = Result<(), Error>> + Send + Unpin> {
        log("body");
        a.touch();
        b.touch();
        Box::new(ready(Ok(())))
    }
}

future!(a_box_that_is_not_pinned_is_a_future, a_box_that_is_not_pinned::limited::f);

shape! {
    @method method, |call| refused(call), key.name(),
    fn f(&self, a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<(), Error> {
        log("body");
        b.change();
        a.touch();
        Ok(())
    }
}

at_once!(method_is_decided_at_once, of_method, |call| refused(call));

fn of_method(a: Noisy, b: Noisy, key: Noisy, c: Noisy, d: Noisy) -> Result<(), Error> {
    method::Limited.f(a, b, key, c, d)
}

shape! {
    @method async_method, |call| refused(now(call)), key.name(),
    async fn f(&mut self, a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<(), Error> {
        log("body");
        b.change();
        a.touch();
        Ok(())
    }
}

future!(async_method_is_a_future, of_async_method);

fn of_async_method(
    a: Noisy,
    b: Noisy,
    key: Noisy,
    c: Noisy,
    d: Noisy,
) -> impl Future<Output = Result<(), Error>> + Send {
    Box::leak(Box::new(async_method::Limited)).f(a, b, key, c, d)
}

shape! {
    @method method_with_a_future, |call| refused(now(call)), key.name(),
    fn f(self, a: Noisy, b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> impl Future<Output = Result<(), Error>> {
        log("body");
        b.touch();
        async move {
            log("future");
            a.touch();
            let _this = self;
            Ok(())
        }
    }
}

future!(method_with_a_future_is_a_future, of_method_with_a_future);

fn of_method_with_a_future(
    a: Noisy,
    b: Noisy,
    key: Noisy,
    c: Noisy,
    d: Noisy,
) -> impl Future<Output = Result<(), Error>> + Send {
    method_with_a_future::Limited.f(a, b, key, c, d)
}

shape! {
    @async_trait async_trait_method, |call| refused(now(call)), key.name(),
    async fn f(&self, a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<(), Error> {
        log("body");
        b.change();
        a.touch();
        Ok(())
    }
}

future!(async_trait_method_is_a_future, of_async_trait);

fn of_async_trait(
    a: Noisy,
    b: Noisy,
    key: Noisy,
    c: Noisy,
    d: Noisy,
) -> impl Future<Output = Result<(), Error>> + Send {
    use async_trait_method::{Limited, Shape};
    Limited.f(a, b, key, c, d)
}

shape! {
    iterator_in_a_result, |call| refused(call.map(|all| all.for_each(drop))), key.name(),
    fn f(a: Noisy, b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<impl Iterator<Item = Noisy>, Error> {
        log("body");
        b.touch();
        Ok([a].into_iter())
    }
}
at_once!(iterator_is_decided_at_once, iterator_in_a_result::limited::f, |call| refused(
    call.map(drop)
));

shape! {
    stream_in_a_result, |call| refused(call.map(|all| now(futures_util::StreamExt::count(all)))), key.name(),
    fn f(a: Noisy, b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<impl futures_util::Stream<Item = Noisy>, Error> {
        log("body");
        b.touch();
        Ok(futures_util::stream::iter([a]))
    }
}
at_once!(stream_is_decided_at_once, stream_in_a_result::limited::f, |call| refused(call.map(drop)));

shape! {
    stream_of_an_async_function, |call| refused(now(call).map(|all| now(futures_util::StreamExt::count(all)))), key.name(),
    async fn f(a: Noisy, b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> Result<impl futures_util::Stream<Item = Noisy>, Error> {
        log("body");
        b.touch();
        Ok(futures_util::stream::iter([a]))
    }
}
future!(stream_of_an_async_function_is_a_future, stream_of_an_async_function::limited::f, |call| {
    refused(now(call).map(drop))
});

/// Arguments that are used come last: the others are dropped after them.
#[cfg(feature = "axum")]
mod responses {
    use axum::http::StatusCode;
    use axum::response::IntoResponse;

    use super::*;

    fn is_429(response: impl IntoResponse) -> bool {
        response.into_response().status() == StatusCode::TOO_MANY_REQUESTS
    }

    shape! {
        impl_into_response, |call| is_429(call), key.name(),
        fn f(_c: Noisy, _: Noisy, a: Noisy, mut b: Noisy, key: Noisy) -> impl IntoResponse {
            log("body");
            a.touch();
            b.change();
            if key.0.is_empty() {
                return "nothing";
            }
            "done"
        }
    }
    at_once!(response_is_decided_at_once, impl_into_response::limited::f, |call| is_429(call));

    shape! {
        async_impl_into_response, |call| is_429(now(call)), key.name(),
        async fn f(_c: Noisy, _: Noisy, a: Noisy, mut b: Noisy, key: Noisy) -> impl IntoResponse {
            log("body");
            a.touch();
            b.change();
            ready(()).await;
            "done"
        }
    }
    future!(async_response_is_a_future, async_impl_into_response::limited::f, |call| is_429(now(
        call
    )));

    shape! {
        future_of_an_impl_into_response, |call| is_429(now(call)), key.name(),
        fn f(a: Noisy, mut b: Noisy, key: Noisy, _c: Noisy, _: Noisy) -> impl Future<Output = impl IntoResponse> {
            log("body");
            b.change();
            async move {
                a.touch();
                "done"
            }
        }
    }
    future!(
        future_of_an_impl_into_response_is_a_future,
        future_of_an_impl_into_response::limited::f,
        |call| is_429(now(call))
    );
}

#[cfg(feature = "actix")]
mod responders {
    use actix_web::Responder;
    use actix_web::http::StatusCode;
    use actix_web::test::TestRequest;

    use super::*;

    fn is_429(response: impl Responder) -> bool {
        let request = TestRequest::default().to_http_request();
        response.respond_to(&request).status() == StatusCode::TOO_MANY_REQUESTS
    }

    shape! {
        impl_responder, |call| is_429(call), key.name(),
        fn f(_c: Noisy, _: Noisy, a: Noisy, mut b: Noisy, key: Noisy) -> impl Responder {
            log("body");
            a.touch();
            b.change();
            "done"
        }
    }
    at_once!(responder_is_decided_at_once, impl_responder::limited::f, |call| is_429(call));

    shape! {
        async_impl_responder, |call| is_429(now(call)), key.name(),
        async fn f(_c: Noisy, _: Noisy, a: Noisy, mut b: Noisy, key: Noisy) -> impl Responder {
            log("body");
            a.touch();
            b.change();
            ready(()).await;
            "done"
        }
    }
    future!(async_responder_is_a_future, async_impl_responder::limited::f, |call| is_429(now(
        call
    )));
}

/// Futures that stay on their thread.
mod not_send {
    use std::rc::Rc;

    use super::*;

    #[rate_limit(key = [here(), &*id], capacity = 1, refill = 1, limiter = LIMITER)]
    async fn function(id: Rc<str>) -> Result<usize, Error> {
        ready(()).await;
        Ok(id.len())
    }

    #[rate_limit(key = [here(), &*id], capacity = 1, refill = 1, limiter = LIMITER)]
    fn opaque(id: Rc<str>) -> impl Future<Output = Result<usize, Error>> {
        let len = id.len();
        ready(Ok(len))
    }

    #[rate_limit(key = [here(), &*id], capacity = 1, refill = 1, limiter = LIMITER)]
    fn boxed(id: Rc<str>) -> LocalBoxFuture<'static, Result<usize, Error>> {
        let len = id.len();
        ready(Ok(len)).boxed_local()
    }

    #[test]
    fn a_refused_and_an_admitted_call() {
        let id = || Rc::from("id");
        assert_eq!((now(function(id())).unwrap(), refused(now(function(id())))), (2, true));
        assert_eq!((now(opaque(id())).unwrap(), refused(now(opaque(id())))), (2, true));
        assert_eq!((now(boxed(id())).unwrap(), refused(now(boxed(id())))), (2, true));
    }
}

/// What functions do to build a future.
mod building {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }

    fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    /// One call passes, a second one is refused, and `$counted` times something was done.
    macro_rules! once {
        ($counted:expr, $call:expr) => {
            COUNT.set(0);
            assert!(now($call).is_ok());
            assert!(refused(now($call)));
            assert_eq!(COUNT.get(), $counted);
        };
    }

    #[test]
    fn f26_statements_in_front_of_the_future() {
        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn opaque() -> impl Future<Output = Result<(), Error>> {
            count();
            async move { Ok(()) }
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn boxed() -> Pin<Box<dyn Future<Output = Result<(), Error>>>> {
            count();
            Box::pin(async move { Ok(()) })
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn macro_in_front() -> impl Future<Output = Result<(), Error>> {
            macro_rules! counted {
                () => {
                    count();
                };
            }
            counted!();
            async move { Ok(()) }
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn held() -> impl Future<Output = Result<(), Error>> {
            thread_local!(static LOCK: RefCell<u8> = const { RefCell::new(0) });
            let lock = LOCK.with(|lock| *lock.borrow_mut());
            count();
            async move { if lock == 0 { Ok(()) } else { Err(Error::Business) } }
        }

        once!(1, opaque());
        once!(1, boxed());
        once!(1, macro_in_front());
        once!(1, held());
    }

    #[test]
    fn f26_early_returns_and_futures_without_a_block() {
        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn early(id: u8) -> BoxFuture<'static, Result<u8, Error>> {
            count();
            if id == 0 {
                return Box::pin(ready(Ok(0)));
            }
            Box::pin(async move { Ok(id) })
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn unpin() -> impl Future<Output = Result<(), Error>> + Unpin {
            count();
            ready(Ok(()))
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn not_moved() -> impl Future<Output = Result<(), Error>> {
            async {
                count();
                Ok(())
            }
        }

        once!(1, early(0));
        once!(1, unpin());
        once!(1, not_moved());
    }

    /// What a method returns may borrow from it.
    #[test]
    fn f26_a_future_that_borrows_from_the_method() {
        struct Inner(u32);

        impl Inner {
            fn call(&mut self) -> BoxFuture<'_, Result<u32, Error>> {
                Box::pin(async move {
                    self.0 += 1;
                    Ok(self.0)
                })
            }
        }

        struct Outer {
            inner: Inner,
            calls: u32,
        }

        impl Outer {
            #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
            fn boxed(&mut self) -> BoxFuture<'_, Result<u32, Error>> {
                self.calls += 1;
                self.inner.call()
            }

            #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
            fn opaque<'a>(
                &'a mut self,
                by: &'a mut u32,
            ) -> impl Future<Output = Result<u32, Error>> + Send + 'a {
                self.calls += 1;
                *by += 1;
                self.inner.call().map(move |called| called.map(|calls| calls + *by))
            }

            #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
            fn of_something_else(&self, _why: &str) -> BoxFuture<'static, Result<u32, Error>> {
                count();
                ready(Ok(1)).boxed()
            }
        }

        let mut outer = Outer { inner: Inner(0), calls: 0 };
        let mut by = 0;
        assert_eq!(now(outer.boxed()).unwrap(), 1);
        assert!(refused(now(outer.boxed())));
        assert_eq!(now(outer.opaque(&mut by)).unwrap(), 3);
        assert!(refused(now(outer.opaque(&mut by))));
        assert_eq!((outer.calls, outer.inner.0, by), (2, 2, 1));
        let future = {
            let outer = Outer { inner: Inner(0), calls: 0 };
            outer.of_something_else("x")
        };
        assert_eq!(now(future).unwrap(), 1, "an unused reference does not tie the future");
    }

    #[test]
    fn f27_futures_that_are_joined_or_wrapped() {
        async fn counted() -> Result<(), Error> {
            count();
            Ok(())
        }

        fn nested_work<F: Future>(future: F) -> F {
            count();
            future
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn joined() -> impl Future<Output = Result<((), ()), Error>> {
            futures_util::future::try_join(async { counted().await }, async { counted().await })
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn nested() -> impl Future<Output = Result<(), Error>> {
            nested_work(async { Ok(()) })
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn then() -> impl Future<Output = Result<(), Error>> {
            async { Ok(()) }.then(|result| async move {
                count();
                result
            })
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn inspected() -> impl Future<Output = Result<(), Error>> {
            async { Ok(()) }.inspect(|_| count())
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn selected() -> impl Future<Output = Result<(), Error>> {
            let (one, other) = (Box::pin(counted()), Box::pin(async { Ok(()) }));
            futures_util::future::select(one, other).map(|done| done.factor_first().0)
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn cast() -> BoxFuture<'static, Result<(), Error>> {
            {
                count();
                return Box::pin(async move { Ok(()) }) as BoxFuture<'static, Result<(), Error>>;
            }
        }

        once!(2, joined());
        once!(1, nested());
        once!(1, then());
        once!(1, inspected());
        once!(1, selected());
        once!(1, cast());
    }

    #[test]
    fn f28_a_refusal_is_the_result_whatever_stands_behind_the_block() {
        use futures_util::TryFutureExt;

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn or_else() -> impl Future<Output = Result<u8, Error>> {
            async { Ok::<_, Error>(1) }.or_else(|_| async { Ok(2) })
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn map_err() -> impl Future<Output = Result<u8, Error>> {
            async { "1".parse::<u8>() }.map_err(Error::from)
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn unwrapped() -> impl Future<Output = Result<u8, Error>> {
            async { Ok::<_, Error>(1) }.unwrap_or_else(|_| 2).map(Ok)
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn caught() -> BoxFuture<'static, Result<u8, Error>> {
            async { Ok::<u8, Error>(1) }
                .catch_unwind()
                .map(|caught| caught.unwrap_or(Ok(3)))
                .boxed()
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn tried_again() -> impl Future<Output = Result<u8, Error>> {
            async move {
                loop {
                    if let Ok(done) = (async { Ok::<u8, Error>(1) }).await {
                        return Ok(done);
                    }
                }
            }
            .boxed()
        }

        once!(0, or_else());
        once!(0, map_err());
        once!(0, unwrapped());
        once!(0, caught());
        once!(0, tried_again());
    }

    #[test]
    fn an_argument_without_a_name_guards_what_builds_the_future() {
        struct Guard;

        impl Drop for Guard {
            fn drop(&mut self) {
                log("free");
            }
        }

        #[rate_limit(key = here(), capacity = 1, refill = 1, limiter = LIMITER)]
        fn guarded(_guard: Guard, _: Guard) -> impl Future<Output = Result<(), Error>> {
            log("building");
            async move {
                log("built");
                Ok(())
            }
        }
        assert!(now(guarded(Guard, Guard)).is_ok());
        assert_eq!(logged(), ["building", "free", "free", "built"]);
    }

    /// Its names count as mentioned where a format string mentions them.
    #[test]
    fn an_argument_in_a_format_string() {
        #[rate_limit(key = [here(), format!("{id}")], capacity = 1, refill = 1, limiter = LIMITER)]
        fn formatted(id: String) -> impl Future<Output = Result<String, Error>> {
            async move { Ok(format!("{id}!")) }
        }
        assert_eq!(now(formatted("a".to_owned())).unwrap(), "a!");
        assert!(refused(now(formatted("a".to_owned()))));
    }
}
