//! Every shape of function.

use std::collections::HashMap;
use std::fmt::Display;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ratelimit_kit::rate_limit;

use crate::support::{Error, LIMITER, now, refused};

/// Two calls pass, the third does not.
macro_rules! assert_two {
    ($call:expr) => {
        assert!($call.is_ok());
        assert!($call.is_ok());
        assert!(refused($call));
    };
}

struct Service {
    tenant: String,
    v: Vec<u32>,
    calls: AtomicU32,
    x: u8,
}

fn service(tenant: &str) -> Service {
    Service { tenant: tenant.to_owned(), v: vec![1, 2, 3], calls: AtomicU32::new(0), x: 7 }
}

mod b001_opaque_and_boxed_types {
    use super::*;

    impl Service {
        #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1, limiter = LIMITER)]
        fn list(&self, id: &str) -> Result<impl Iterator<Item = u32> + '_, Error> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            assert_eq!(id, "i");
            Ok(self.v.iter().copied())
        }

        #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn alist(&self, id: &str) -> Result<impl Iterator<Item = u32> + '_, Error> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            assert_eq!(id, "i");
            Ok(self.v.iter().copied())
        }
    }

    #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1, limiter = LIMITER)]
    async fn job(id: u64) -> Result<Box<dyn FnOnce() -> u8 + Send>, Error> {
        assert_eq!(id, 5);
        Ok(Box::new(|| 7))
    }

    #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1, limiter = LIMITER)]
    fn forever(id: u64) -> Result<u64, Error> {
        let mut n = id;
        loop {
            n += 1;
            if n > 9 {
                return Ok(n);
            }
        }
    }

    #[rate_limit(key = "'a:' + id", algo = "token_bucket", capacity = 2, refill = 1, limiter = LIMITER)]
    fn parse(id: &str) -> Result<u32, Error> {
        let n: u32 = id.parse()?;
        Ok(n)
    }

    #[test]
    fn iterators() {
        let service = service("t");
        for _ in 0..2 {
            assert!(service.list("i").unwrap().eq([1, 2, 3]));
        }
        assert!(refused(service.list("i").map(drop)));
        assert_eq!(service.calls.load(Ordering::Relaxed), 2);
        for _ in 0..2 {
            assert!(now(service.alist("i")).unwrap().eq([1, 2, 3]));
        }
        assert!(refused(now(service.alist("i")).map(drop)));
        assert_eq!(service.calls.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn boxes_loops_and_question_marks() {
        for _ in 0..2 {
            assert_eq!(now(job(5)).unwrap()(), 7);
            assert_eq!(forever(5).unwrap(), 10);
        }
        assert!(refused(now(job(5))));
        assert!(refused(forever(5)));
        assert_eq!(parse("12").unwrap(), 12);
        assert!(matches!(parse("x"), Err(Error::Business)));
        assert_two!(parse("13"));
    }
}

mod b002_lifetimes {
    use super::*;

    trait Command: Send + Sync {
        fn name(&self) -> &str;
    }

    struct Message<'a>(&'a str);
    struct Client {
        id: u64,
        name: String,
    }
    struct Request<'a>(&'a str);
    struct Has<'a> {
        id: &'a str,
    }

    #[rate_limit(key = "t", capacity = 2, refill = 1, limiter = LIMITER)]
    fn help<'a>(cmds: &[Arc<dyn Command>], t: &'a str) -> Result<Message<'a>, Error> {
        assert!(cmds.iter().all(|command| !command.name().is_empty()));
        Ok(Message(t))
    }

    impl Service {
        #[rate_limit(key = "c.id", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn send<'a>(&self, c: &'a Client) -> Result<Request<'a>, Error> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            Ok(Request(&c.name))
        }
    }

    #[rate_limit(key = "h.id", capacity = 2, refill = 1, limiter = LIMITER)]
    async fn g(h: Has<'_>) -> Result<(), Error> {
        assert!(!h.id.is_empty());
        Ok(())
    }

    #[rate_limit(key = "y", capacity = 2, refill = 1, limiter = LIMITER)]
    fn w<'a: 'b, 'b>(x: &'a str, y: &'b str) -> Result<&'b str, Error> {
        Ok(if x.is_empty() { y } else { x })
    }

    #[test]
    fn the_result_borrows_what_it_should() {
        struct Help;
        impl Command for Help {
            fn name(&self) -> &str {
                "help"
            }
        }
        assert_eq!(help(&[Arc::new(Help)], "t").unwrap().0, "t");

        let client = Client { id: 1, name: "c".to_owned() };
        let owner = service("t");
        let request = now(owner.send(&client)).unwrap();
        drop(owner);
        assert_eq!(request.0, "c");

        assert_two!(now(g(Has { id: "h" })));
        assert_two!(w("", "y"));
    }
}

mod b006_control_flow {
    use super::*;

    /// A body that means the same with and without the attribute.
    macro_rules! body {
        ($self:ident, $early:expr) => {{
            macro_rules! get {
                () => {
                    $self.x
                };
            }
            println!("{}", $self.x);
            fn check() -> u8 {
                return 3;
            }
            let double = |n: u8| {
                if n == 0 {
                    return 0;
                }
                n * 2
            };
            let found = 'l: {
                if get!() == 7 {
                    break 'l double(check());
                }
                0
            };
            if $early {
                return Ok(1);
            }
            Ok(found + get!())
        }};
    }

    impl Service {
        #[rate_limit(key = "early", capacity = 1, refill = 1, limiter = LIMITER)]
        fn shared(&self, early: bool) -> Result<u8, Error> {
            body!(self, early)
        }

        #[rate_limit(key = "early", capacity = 1, refill = 1, limiter = LIMITER)]
        async fn asynchronous(&self, early: bool) -> Result<u8, Error> {
            body!(self, early)
        }

        #[rate_limit(key = "early", capacity = 1, refill = 1, limiter = LIMITER)]
        fn exclusive(&mut self, early: bool) -> Result<u8, Error> {
            self.x += 0;
            body!(self, early)
        }

        fn plain(&self, early: bool) -> Result<u8, Error> {
            body!(self, early)
        }
    }

    #[test]
    fn self_and_control_flow_keep_their_meaning() {
        let mut service = service("t");
        for early in [true, false] {
            let plain = service.plain(early).unwrap();
            assert_eq!(service.shared(early).unwrap(), plain);
            assert_eq!(now(service.asynchronous(early)).unwrap(), plain);
            assert_eq!(service.exclusive(early).unwrap(), plain);
            assert!(refused(service.shared(early)));
            assert!(refused(now(service.asynchronous(early))));
            assert!(refused(service.exclusive(early)));
        }
    }
}

mod receivers {
    use super::*;

    impl Service {
        #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        fn by_reference(&self) -> Result<(), Error> {
            Ok(())
        }

        #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn by_exclusive_reference(&mut self) -> Result<(), Error> {
            self.x = 1;
            Ok(())
        }

        #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        fn by_value(self) -> Result<Self, Error> {
            Ok(self)
        }

        #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn by_arc(self: Arc<Self>) -> Result<(), Error> {
            Ok(())
        }

        #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        fn by_box(self: Box<Self>) -> Result<(), Error> {
            Ok(())
        }

        #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        fn by_pin(self: Pin<&mut Self>) -> Result<(), Error> {
            Ok(())
        }

        #[rate_limit(key = "tenant", capacity = 2, refill = 1, limiter = LIMITER)]
        fn associated(tenant: &str) -> Result<Self, Error> {
            Ok(service(tenant))
        }

        #[rate_limit(key = self.tenant.to_uppercase(), capacity = 2, refill = 1, limiter = LIMITER)]
        fn by_a_rust_key(&self) -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn every_receiver_can_be_limited() {
        assert_two!(service("r").by_reference());
        assert_two!(now(service("r").by_exclusive_reference()));
        assert_two!(service("r").by_value());
        assert_two!(now(Arc::new(service("r")).by_arc()));
        assert_two!(Box::new(service("r")).by_box());
        assert_two!(Pin::new(&mut service("r")).by_pin());
        assert_two!(Service::associated("r"));
        assert_two!(service("r").by_a_rust_key());
        assert!(service("other").by_reference().is_ok(), "another key has its own budget");
    }
}

mod parameters {
    use super::*;

    struct Json<T>(T);
    struct Body {
        phone: String,
        code: u32,
    }
    struct Point {
        x: i32,
        y: i32,
    }

    fn body(phone: &str) -> Json<Body> {
        Json(Body { phone: phone.to_owned(), code: 1 })
    }

    #[rate_limit(key = "req.phone", capacity = 2, refill = 1, limiter = LIMITER)]
    async fn tuple_struct(Json(req): Json<Body>) -> Result<u32, Error> {
        Ok(req.code)
    }

    #[rate_limit(key = "[x, renamed]", capacity = 2, refill = 1, limiter = LIMITER)]
    fn structure(Point { x, y: renamed }: Point) -> Result<i32, Error> {
        Ok(x + renamed)
    }

    #[rate_limit(key = "[a, b, first]", capacity = 2, refill = 1, limiter = LIMITER)]
    fn tuple_and_slice((a, b): (u8, &str), [first, ..]: [u16; 3]) -> Result<usize, Error> {
        Ok(usize::from(a) + b.len() + usize::from(first))
    }

    #[rate_limit(key = "n", capacity = 2, refill = 1, limiter = LIMITER)]
    fn mutable(mut n: u64) -> Result<u64, Error> {
        n += 1;
        Ok(n)
    }

    #[rate_limit(key = "whole.phone", capacity = 2, refill = 1, limiter = LIMITER)]
    fn at_pattern(Json(ref whole @ Body { code, .. }): Json<Body>) -> Result<usize, Error> {
        Ok(whole.phone.len() + code as usize)
    }

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
    fn generic<T: Display, const N: usize>(id: &str, extra: [T; N]) -> Result<usize, Error>
    where
        T: Clone,
    {
        Ok(id.len() + extra.len())
    }

    #[rate_limit(key = id.to_string(), capacity = 2, refill = 1, limiter = LIMITER)]
    async fn impl_trait(id: impl Display) -> Result<String, Error> {
        Ok(id.to_string())
    }

    #[rate_limit(key = "r#type", capacity = 2, refill = 1, limiter = LIMITER)]
    fn raw(r#type: u8) -> Result<u8, Error> {
        Ok(r#type)
    }

    #[rate_limit(key = "_n", capacity = 2, refill = 1, limiter = LIMITER)]
    fn unused(_n: u8, _: u8) -> Result<(), Error> {
        Ok(())
    }

    #[rate_limit(key = [tenant, user], capacity = 2, refill = 1, limiter = LIMITER)]
    fn rust_list(tenant: &str, user: u64) -> Result<usize, Error> {
        Ok(tenant.len() + usize::try_from(user).unwrap_or(0))
    }

    #[rate_limit(key = format!("{a}-{}", b), capacity = 2, refill = 1, limiter = LIMITER)]
    fn formatted(a: u8, b: u8) -> Result<u8, Error> {
        Ok(a + b)
    }

    #[rate_limit(key = "name", capacity = 2, refill = 1, limiter = LIMITER)]
    async fn moves(name: String, map: HashMap<String, u8>) -> Result<String, Error> {
        drop(map);
        Ok(name)
    }

    #[rate_limit(key = "args[0] + args[1]", capacity = 2, refill = 1, limiter = LIMITER)]
    fn by_index(first: &str, second: u64) -> Result<usize, Error> {
        Ok(first.len() + usize::try_from(second).unwrap_or(0))
    }

    #[rate_limit(key = "id", capacity = 2, refill = 1, limiter = LIMITER)]
    fn not_always_there(#[cfg(any())] gone: NoSuchType, id: u8) -> Result<u8, Error> {
        Ok(id)
    }

    #[test]
    fn every_pattern_gives_its_names_to_the_key() {
        assert_two!(not_always_there(1));
        assert_two!(now(tuple_struct(body("1"))));
        assert!(now(tuple_struct(body("2"))).is_ok());
        assert_two!(structure(Point { x: 1, y: 2 }));
        assert!(structure(Point { x: 12, y: 2 }).is_ok());
        assert_two!(tuple_and_slice((1, "b"), [7, 8, 9]));
        assert_two!(mutable(4));
        assert_two!(at_pattern(body("3")));
        assert_two!(raw(1));
        assert_two!(unused(1, 2));
        assert_two!(by_index("a", 1));
    }

    #[test]
    fn generic_instances_share_a_rule() {
        assert!(generic("g", [1, 2]).is_ok());
        assert!(generic("g", ["x"]).is_ok());
        assert!(refused(generic("g", [1.5])));
        assert_two!(now(impl_trait("i")));
    }

    #[test]
    fn keys_in_rust() {
        assert_two!(rust_list("a", 1));
        assert!(rust_list("a", 2).is_ok());
        assert_two!(formatted(1, 2));
        assert_two!(now(moves("m".to_owned(), HashMap::new())));
    }
}

mod other_items {
    use super::*;

    #[rate_limit(capacity = 2, refill = 1, limiter = LIMITER)]
    #[expect(improper_ctypes_definitions, reason = "nothing calls it from C")]
    extern "C" fn external(n: u8) -> Result<u8, Error> {
        Ok(n)
    }

    #[rate_limit(key = "n", capacity = 3, refill = 1, limiter = LIMITER)]
    fn recursive(n: u8, depth: u8) -> Result<u8, Error> {
        if depth == 0 { Ok(0) } else { Ok(1 + recursive(n, depth - 1)?) }
    }

    #[rate_limit(capacity = 2, refill = 1, limiter = LIMITER)]
    fn inner_attribute(n: u8) -> Result<u8, Error> {
        #![allow(unused_variables)]
        let unused = 1;
        Ok(n)
    }

    #[rate_limit(capacity = 2, refill = 1, limiter = LIMITER)]
    pub(crate) async fn visible() -> Option<()> {
        Some(())
    }

    #[test]
    fn other_kinds_of_functions() {
        assert_two!(external(1));
        assert_two!(inner_attribute(1));
        assert_eq!([now(visible()), now(visible()), now(visible())], [Some(()), Some(()), None]);
    }

    #[test]
    fn recursion_is_limited_at_every_call() {
        assert_eq!(recursive(1, 2).unwrap(), 2);
        assert!(refused(recursive(2, 3)));
    }

    #[rate_limit(capacity = 2, refill = 1, limiter = LIMITER)]
    fn not_send(value: Rc<u8>) -> Result<u8, Error> {
        Ok(*value)
    }

    #[test]
    fn values_that_cannot_leave_their_thread() {
        assert_two!(not_send(Rc::new(1)));
    }

    fn local_functions() -> Result<u8, Error> {
        #[rate_limit(capacity = 2, refill = 1, limiter = LIMITER)]
        fn local() -> Result<u8, Error> {
            Ok(1)
        }
        local()
    }

    #[test]
    fn functions_inside_functions() {
        assert_two!(local_functions());
    }
}

mod traits {
    use super::*;

    trait Sender {
        fn tenant(&self) -> &str;

        #[rate_limit(key = self.tenant(), capacity = 2, refill = 1, limiter = LIMITER)]
        fn by_default(&self) -> Result<u8, Error> {
            Ok(1)
        }

        #[rate_limit(key = self.tenant(), capacity = 2, refill = 1, limiter = LIMITER)]
        async fn by_default_async(&self) -> Result<u8, Error> {
            Ok(1)
        }

        fn send(&self, to: &str) -> Result<u8, Error>;

        async fn send_async(&self, to: &str) -> Result<u8, Error>;
    }

    impl Sender for Service {
        fn tenant(&self) -> &str {
            &self.tenant
        }

        #[rate_limit(key = "self.tenant + to", capacity = 2, refill = 1, limiter = LIMITER)]
        fn send(&self, to: &str) -> Result<u8, Error> {
            assert_eq!(to, "b");
            Ok(2)
        }

        #[rate_limit(key = "self.tenant + to", capacity = 2, refill = 1, limiter = LIMITER)]
        async fn send_async(&self, to: &str) -> Result<u8, Error> {
            assert_eq!(to, "b");
            Ok(2)
        }
    }

    #[test]
    fn methods_of_traits() {
        let service = service("traits");
        assert_two!(service.by_default());
        assert_two!(now(service.by_default_async()));
        assert_two!(service.send("b"));
        assert_two!(now(service.send_async("b")));
    }

    #[test]
    fn calls_through_a_trait_object_are_limited() {
        trait Job {
            fn run(&self) -> Result<u8, Error>;
        }
        impl Job for Service {
            #[rate_limit(key = "self.tenant", capacity = 2, refill = 1, limiter = LIMITER)]
            fn run(&self) -> Result<u8, Error> {
                Ok(1)
            }
        }
        let job: &dyn Job = &service("dyn");
        assert_two!(job.run());
    }
}
