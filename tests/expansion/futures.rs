//! Functions that return futures.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use ratelimit_kit::rate_limit;

use crate::support::{Error, LIMITER, now, refused};

macro_rules! assert_two {
    ($call:expr) => {
        assert!(now($call).is_ok());
        assert!(now($call).is_ok());
        assert!(refused(now($call)));
    };
}

#[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
fn boxed<'a>(id: &'a str) -> Pin<Box<dyn Future<Output = Result<usize, Error>> + Send + 'a>> {
    let before = id.len();
    Box::pin(async move { Ok(before + id.len()) })
}

#[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
fn opaque(id: u64) -> impl Future<Output = Result<u64, Error>> {
    async move { Ok(id) }
}

#[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
fn cast(id: u64) -> Pin<Box<dyn Future<Output = Result<u64, Error>>>> {
    Box::pin(async move { Ok(id) }) as Pin<Box<dyn Future<Output = Result<u64, Error>>>>
}

#[rate_limit(key = "id", capacity = 1, refill = 1, limiter = LIMITER, on_limited = later(id).await)]
fn answered(id: u64) -> impl Future<Output = u64> + Send {
    async move { id }
}

async fn later(id: u64) -> u64 {
    id + 100
}

#[test]
fn the_check_runs_inside_the_future() {
    assert_two!(boxed("a"));
    assert_two!(opaque(1));
    assert_two!(cast(1));
    assert_eq!((now(answered(1)), now(answered(1))), (1, 101));
}

#[test]
fn a_future_that_is_not_polled_costs_nothing() {
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    async fn lazy() -> Result<(), Error> {
        Ok(())
    }
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    fn lazy_box() -> Pin<Box<dyn Future<Output = Result<(), Error>>>> {
        Box::pin(async { Ok(()) })
    }
    for _ in 0..5 {
        drop(lazy());
        drop(lazy_box());
    }
    assert!(now(lazy()).is_ok());
    assert!(now(lazy_box()).is_ok());
    assert!(refused(now(lazy())));
    assert!(refused(now(lazy_box())));
}

mod b009_send {
    use super::*;

    #[rate_limit(key = "id", capacity = 9, refill = 1, limiter = LIMITER)]
    async fn a(id: String) -> Result<(), Error> {
        tokio::task::yield_now().await;
        drop(id);
        Ok(())
    }

    #[rate_limit(key = "id", capacity = 9, refill = 1, limiter = LIMITER)]
    async fn b(id: String, c: Cell<u8>) -> Result<(), Error> {
        tokio::task::yield_now().await;
        c.set(1);
        drop(id);
        Ok(())
    }

    #[rate_limit(key = "id", capacity = 9, refill = 1, limiter = LIMITER)]
    async fn d(id: Rc<str>) -> Result<(), Error> {
        tokio::task::yield_now().await;
        drop(id);
        Ok(())
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_future_is_send_exactly_if_it_was() {
        tokio::spawn(a("x".to_owned())).await.unwrap().unwrap();
        tokio::spawn(b("x".to_owned(), Cell::new(0))).await.unwrap().unwrap();
        tokio::task::LocalSet::new()
            .run_until(async { tokio::task::spawn_local(d("x".into())).await.unwrap().unwrap() })
            .await;
    }
}

mod b123_sync_inside_a_runtime {
    use super::*;

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
    fn f(id: &str) -> Result<u8, Error> {
        Ok(u8::try_from(id.len()).unwrap_or(0))
    }

    fn admits_two(id: &str) {
        assert!(f(id).is_ok());
        assert!(f(id).is_ok());
        assert!(refused(f(id)));
    }

    struct OnDrop;

    impl Drop for OnDrop {
        fn drop(&mut self) {
            admits_two("drop");
        }
    }

    #[test]
    fn anywhere() {
        let multi = tokio::runtime::Runtime::new().unwrap();
        multi.block_on(async { tokio::spawn(async { admits_two("multi") }).await.unwrap() });
        multi.block_on(async {
            tokio::task::spawn_blocking(|| admits_two("spawn_blocking")).await.unwrap();
        });
        multi.block_on(async { admits_two("block_on") });
        multi.spawn(async {
            let _held = OnDrop;
            std::future::pending::<()>().await;
        });
        drop(multi);

        let current = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let local = tokio::task::LocalSet::new();
        local.block_on(&current, async {
            tokio::task::spawn_local(async { admits_two("current") }).await.unwrap();
        });
        admits_two("no runtime");
    }
}

/// Methods behind `#[async_trait]`, which rewrites them before any attribute on them runs.
mod async_traits {
    use super::*;

    struct Json<T>(T);
    struct Request {
        phone: String,
    }

    #[async_trait]
    trait Gateway: Send + Sync {
        async fn send(&self, to: &str) -> Result<u8, Error>;
        async fn send_all(&mut self, Json(req): Json<Request>, mut n: u8) -> Result<u8, Error>;
        async fn consume(self, to: String) -> Result<u8, Error>
        where
            Self: Sized;
        async fn shared(self: Arc<Self>, to: &str) -> Result<u8, Error>;
        async fn nothing(&self, to: &str);

        #[rate_limit(key = "to", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn by_default(&self, to: &str) -> Result<u8, Error> {
            self.send(to).await
        }
    }

    #[derive(Clone, Default)]
    struct Sms {
        tenant: String,
        sent: u32,
    }

    impl Sms {
        fn count(&mut self) {
            self.sent += 1;
        }
    }

    #[async_trait]
    impl Gateway for Sms {
        #[rate_limit(key = "self.tenant + to", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn send(&self, to: &str) -> Result<u8, Error> {
            tokio::task::yield_now().await;
            assert_eq!(to, "1");
            Ok(self.tenant.len() as u8)
        }

        #[rate_limit(key = "[self.tenant, req.phone]", capacity = 2, refill = 1, limiter = LIMITER)]
        #[rate_limit(key = format!("{}", self.tenant), name = "tenants", algo = fixed_window, limit = 9, window = 60)]
        async fn send_all(&mut self, Json(req): Json<Request>, mut n: u8) -> Result<u8, Error> {
            self.count();
            n += 1;
            Ok(n + req.phone.len() as u8)
        }

        #[rate_limit(key = "to", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn consume(self, to: String) -> Result<u8, Error> {
            drop(self);
            Ok(to.len() as u8)
        }

        #[rate_limit(key = "self.tenant + to", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn shared(self: Arc<Self>, to: &str) -> Result<u8, Error> {
            Ok(to.len() as u8)
        }

        #[rate_limit(key = "to", capacity = 1, refill = 1, limiter = LIMITER, on_limited = self.refused())]
        async fn nothing(&self, to: &str) {
            assert_eq!(to, "1");
        }
    }

    impl Sms {
        fn refused(&self) {
            assert_eq!(self.tenant, "t");
            REFUSED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    static REFUSED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

    #[tokio::test]
    async fn methods_of_async_traits_are_limited() {
        let mut sms = Sms { tenant: "t".to_owned(), sent: 0 };
        let request = || Json(Request { phone: "1".to_owned() });
        for allowed in [true, true, false] {
            assert_eq!(sms.send("1").await.is_ok(), allowed);
            assert_eq!(sms.send_all(request(), 1).await.is_ok(), allowed);
            assert_eq!(sms.clone().consume("1".to_owned()).await.is_ok(), allowed);
            assert_eq!(Arc::new(sms.clone()).shared("1").await.is_ok(), allowed);
        }
        assert_eq!(sms.sent, 2, "the body did not run for the refused call");
        sms.nothing("1").await;
        sms.nothing("1").await;
        assert_eq!(REFUSED.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn default_methods_are_limited_on_their_own() {
        struct Free;
        #[async_trait]
        impl Gateway for Free {
            async fn send(&self, _: &str) -> Result<u8, Error> {
                Ok(1)
            }
            async fn send_all(&mut self, _: Json<Request>, _: u8) -> Result<u8, Error> {
                Ok(1)
            }
            async fn consume(self, _: String) -> Result<u8, Error> {
                Ok(1)
            }
            async fn shared(self: Arc<Self>, _: &str) -> Result<u8, Error> {
                Ok(1)
            }
            async fn nothing(&self, _: &str) {}
        }
        assert!(Free.by_default("d").await.is_ok());
        assert!(Free.by_default("d").await.is_ok());
        assert!(refused(Free.by_default("d").await));
    }

    #[tokio::test]
    async fn futures_that_stay_on_their_thread() {
        #[async_trait(?Send)]
        trait Local {
            async fn run(&self, id: Rc<str>) -> Result<u8, Error>;
        }
        struct Here;
        #[async_trait(?Send)]
        impl Local for Here {
            #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
            async fn run(&self, id: Rc<str>) -> Result<u8, Error> {
                Ok(id.len() as u8)
            }
        }
        assert!(Here.run("a".into()).await.is_ok());
        assert!(Here.run("a".into()).await.is_ok());
        assert!(refused(Here.run("a".into()).await));
    }
}

/// Other attributes above and below.
mod stacked_with_others {
    use super::*;

    #[tracing::instrument(skip_all, fields(id))]
    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
    async fn instrument_above(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
    #[tracing::instrument(skip_all, fields(id), err(Debug))]
    async fn instrument_below(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
    #[tracing::instrument]
    fn instrument_sync(id: u64) -> Result<u64, Error> {
        Ok(id)
    }

    #[async_trait]
    trait Traced {
        async fn above(&self, id: u64) -> Result<u64, Error>;
        async fn below(&self, id: u64, pair: (u8, u8)) -> Result<u64, Error>;
    }

    struct Service {
        tenant: u8,
    }

    #[async_trait]
    impl Traced for Service {
        #[tracing::instrument(skip(self))]
        #[rate_limit(key = "self.tenant + id", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn above(&self, id: u64) -> Result<u64, Error> {
            Ok(id + u64::from(self.tenant))
        }

        #[rate_limit(key = "[self.tenant, a]", capacity = 2, refill = 1, limiter = LIMITER)]
        #[tracing::instrument(skip(self))]
        async fn below(&self, id: u64, (a, b): (u8, u8)) -> Result<u64, Error> {
            Ok(id + u64::from(self.tenant + a + b))
        }
    }

    #[test]
    fn instrument() {
        assert_two!(instrument_above(1));
        assert_two!(instrument_below(1));
        assert_two!(async { instrument_sync(1) });
        assert_two!(Service { tenant: 1 }.above(1));
        assert_two!(Service { tenant: 1 }.below(1, (1, 2)));
    }

    #[tokio::test]
    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    async fn a_test_above() -> Result<(), Error> {
        Ok(())
    }

    #[rate_limit(capacity = 1, refill = 1, limiter = LIMITER)]
    #[tokio::test]
    async fn a_test_below() -> Result<(), Error> {
        Ok(())
    }
}
