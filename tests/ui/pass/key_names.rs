//! Names in a key: every way to write a parameter, and every kind of `self`.

use std::rc::Rc;
use std::sync::Arc;

use ratelimit_kit::{RateLimitError, rate_limit};

type Limited = Result<(), RateLimitError>;

/// One call a key: the first is admitted, the second of the same key is not.
fn once(call: impl Fn(&str) -> Limited) {
    assert!(call("a").is_ok());
    assert!(call("b").is_ok());
    assert!(call("a").is_err());
    assert!(call("b").is_err());
}

struct Json<T>(T);

struct Req {
    phone: String,
    inner: Inner,
    r#type: String,
}

struct Inner {
    deep: (u8, String),
}

fn req(name: &str) -> Req {
    Req {
        phone: name.to_owned(),
        inner: Inner { deep: (0, name.to_owned()) },
        r#type: name.to_owned(),
    }
}

#[rate_limit(key = "name", algo = fixed_window, limit = 1, window = "1h")]
fn plain(name: &str) -> Limited {
    let _ = name;
    Ok(())
}

#[rate_limit(key = "#name", algo = fixed_window, limit = 1, window = "1h")]
fn mutable(mut name: String) -> Limited {
    name.push('x');
    Ok(())
}

#[rate_limit(key = "type", algo = fixed_window, limit = 1, window = "1h")]
fn raw(r#type: &str) -> Limited {
    let _ = r#type;
    Ok(())
}

#[rate_limit(key = "r#type + r#type", algo = fixed_window, limit = 1, window = "1h")]
fn raw_in_key(r#type: &str) -> Limited {
    let _ = r#type;
    Ok(())
}

#[rate_limit(key = "'短信:' + 电话", algo = fixed_window, limit = 1, window = "1h")]
fn other_script(电话: &str) -> Limited {
    let _ = 电话;
    Ok(())
}

#[rate_limit(key = "req.phone", algo = fixed_window, limit = 1, window = "1h")]
fn newtype(Json(req): Json<Req>) -> Limited {
    drop(req);
    Ok(())
}

#[rate_limit(key = "phone + deep", algo = fixed_window, limit = 1, window = "1h")]
fn structure(Req { phone, inner: Inner { deep: (_, deep) }, .. }: Req) -> Limited {
    drop((phone, deep));
    Ok(())
}

#[rate_limit(key = "first + last", algo = fixed_window, limit = 1, window = "1h")]
fn slice([first, .., last]: [&str; 3]) -> Limited {
    let _ = (first, last);
    Ok(())
}

#[rate_limit(key = "whole.0 + part", algo = fixed_window, limit = 1, window = "1h")]
fn at(ref whole @ (part, _): (&str, u8)) -> Limited {
    let _ = (whole, part);
    Ok(())
}

#[rate_limit(key = "name", algo = fixed_window, limit = 1, window = "1h")]
fn reference(&name: &&str) -> Limited {
    let _ = name;
    Ok(())
}

#[rate_limit(key = "req.inner.deep.1 + req.type", algo = fixed_window, limit = 1, window = "1h")]
fn fields(req: &Arc<Box<Req>>) -> Limited {
    let _ = req;
    Ok(())
}

#[rate_limit(key = "args[1]", algo = fixed_window, limit = 1, window = "1h")]
fn by_number(_: u8, name: &str) -> Limited {
    let _ = name;
    Ok(())
}

#[rate_limit(key = "name", algo = fixed_window, limit = 1, window = "1h")]
fn generic<T: ratelimit_kit::KeyPart, const N: usize>(name: T, rest: [u8; N]) -> Limited
where
    T: Copy,
{
    let _ = (name, rest);
    Ok(())
}

#[rate_limit(key = "name", algo = fixed_window, limit = 1, window = "1h")]
fn impl_trait<'a>(name: impl ratelimit_kit::KeyPart + 'a) -> Limited {
    let _ = name;
    Ok(())
}

struct Shop {
    tenant: String,
}

impl Shop {
    fn new(tenant: &str) -> Self {
        Self { tenant: tenant.to_owned() }
    }

    #[rate_limit(key = "self.tenant", algo = fixed_window, limit = 1, window = "1h")]
    fn shared(&self) -> Limited {
        Ok(())
    }

    #[rate_limit(key = "#self.tenant", algo = fixed_window, limit = 1, window = "1h")]
    fn exclusive(&mut self) -> Limited {
        self.tenant.clear();
        Ok(())
    }

    #[rate_limit(key = "self.tenant", algo = fixed_window, limit = 1, window = "1h")]
    fn owned(self) -> Limited {
        drop(self);
        Ok(())
    }

    #[rate_limit(key = "self.tenant", algo = fixed_window, limit = 1, window = "1h")]
    fn counted(self: Rc<Self>) -> Limited {
        drop(self);
        Ok(())
    }

    #[rate_limit(key = "args[0] + self.tenant", algo = fixed_window, limit = 1, window = "1h")]
    fn argument(&self, name: &str) -> Limited {
        let _ = name;
        Ok(())
    }
}

fn main() {
    once(plain);
    once(|name| mutable(name.to_owned()));
    once(raw);
    once(raw_in_key);
    once(other_script);
    once(|name| newtype(Json(req(name))));
    once(|name| structure(req(name)));
    once(|name| slice([name, "x", "y"]));
    once(|name| at((name, 0)));
    once(|name| reference(&name));
    once(|name| fields(&Arc::new(Box::new(req(name)))));
    once(|name| by_number(0, name));
    once(|name| generic(name, [0; 3]));
    once(|name| impl_trait(name));
    once(|name| Shop::new(name).shared());
    once(|name| Shop::new(name).exclusive());
    once(|name| Shop::new(name).owned());
    once(|name| Rc::new(Shop::new(name)).counted());
    once(|name| Shop::new("acme").argument(name));
}
