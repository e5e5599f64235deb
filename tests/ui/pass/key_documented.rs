//! Every example of `docs/key-language.md`, with the key that the page promises.
//!
//! `crate = crate::spy` puts a module between the expansion and the crate which notes the keys.

use std::net::IpAddr;

use ratelimit_kit::{Limiter, RateLimitError, rate_limit};

mod spy {
    pub use ratelimit_kit::*;

    pub mod __private {
        use std::cell::RefCell;

        pub use ratelimit_kit::__private::*;
        use ratelimit_kit::{LimitKey, KeyPart, MaybeKeyPart};

        thread_local! {
            pub static KEYS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
        }

        pub struct KeyBuilder<'s>(ratelimit_kit::KeyBuilder<'s>);

        impl<'s> KeyBuilder<'s> {
            pub fn new() -> Self {
                Self(ratelimit_kit::KeyBuilder::new())
            }

            pub fn with_secret(secret: Option<&'s [u8]>) -> Self {
                Self(ratelimit_kit::KeyBuilder::with_secret(secret))
            }

            pub fn text(&mut self, text: &'static str) -> &mut Self {
                self.0.text(text);
                self
            }

            pub fn value<T: KeyPart + ?Sized>(&mut self, value: &T) -> &mut Self {
                self.0.value(value);
                self
            }

            pub fn value_or<T, D>(&mut self, value: &T, default: &D) -> &mut Self
            where
                T: MaybeKeyPart + ?Sized,
                D: KeyPart + ?Sized,
            {
                self.0.value_or(value, default);
                self
            }

            pub fn part(&mut self) -> &mut Self {
                self.0.part();
                self
            }

            pub fn finish(&mut self) -> LimitKey {
                let key = self.0.finish();
                KEYS.with_borrow_mut(|keys| keys.push(key.as_str().to_owned()));
                key
            }
        }
    }
}

struct Json<T>(T);

struct Shop {
    tenant: String,
}

struct Order {
    item: u64,
    r#type: String,
    note: Option<String>,
    size: (u32, u32),
}

struct User {
    id: u64,
    name: Option<String>,
    address: Option<Address>,
}

struct Address {
    city: String,
}

/// Makes `buy` with each key, calls it, and compares.
macro_rules! documented {
    ($($key:literal => $expected:literal,)*) => {$({
        trait Buy {
            #[allow(clippy::too_many_arguments)]
            fn buy(
                &self,
                phone: &str,
                order: Json<Order>,
                user: Option<User>,
                guest: Option<&User>,
                email: &str,
                ip: IpAddr,
                note: &str,
            ) -> Result<(), RateLimitError>;
        }

        impl Buy for Shop {
            #[rate_limit(key = $key, capacity = 100, refill = 1, crate = crate::spy)]
            fn buy(
                &self,
                phone: &str,
                Json(order): Json<Order>,
                user: Option<User>,
                guest: Option<&User>,
                email: &str,
                ip: IpAddr,
                note: &str,
            ) -> Result<(), RateLimitError> {
                let _ = (phone, order, user, guest, email, ip, note);
                Ok(())
            }
        }

        let order = Order { item: 7, r#type: "gift".to_owned(), note: None, size: (3, 4) };
        let user = User { id: 42, name: Some("Ann".to_owned()), address: None };
        let shop = Shop { tenant: "acme".to_owned() };
        let email = " Ann@Example.com ";
        let ip = IpAddr::from([203, 0, 113, 77]);
        shop.buy("13800000000", Json(order), Some(user), None, email, ip, "").unwrap();
        let keys = spy::__private::KEYS.take();
        assert_eq!(keys, [$expected], "for {}", $key);
    })*};
}

fn main() {
    // A field that no example reads is a warning otherwise.
    let _ = |address: &Address| address.city.len();
    Limiter::builder().key_secret("secret").build().unwrap().install().unwrap();
    documented! {
        "'sms:' + phone" => "sms:13800000000",
        "'order:' + order.item + ':' + phone" => "order:7:13800000000",
        "phone + order.item" => "13800000000:7",
        "'it''s:' + phone" => "it's:13800000000",
        "'短信:' + phone" => "短信:13800000000",
        "'v' + 2 + ':' + true" => "v2:true",
        "('a:' + phone)" => "a:13800000000",
        "'everybody'" => "everybody",
        "phone" => "13800000000",
        "#phone" => "13800000000",
        "self.tenant + phone" => "acme:13800000000",
        "order.item" => "7",
        "order.type" => "gift",
        "order.size.0 + order.size.1" => "3:4",
        "args[0]" => "13800000000",
        "'buy:' + #args[0]" => "buy:13800000000",
        "user?.id ?: 'anonymous'" => "42",
        "guest?.id ?: 'anonymous'" => "anonymous",
        "'user:' + guest?.id ?: 'anonymous'" => "user:anonymous",
        "user?.name ?: 'anonymous'" => "Ann",
        "user?.address?.city ?: 'nowhere'" => "nowhere",
        "order.note ?: 'none'" => "none",
        "note ?: 'none'" => "none",
        "guest?.name ?: user?.name ?: 'nobody'" => "Ann",
        "guest?.id ?: phone" => "13800000000",
        "[self.tenant, phone]" => "acme:13800000000",
        "['buy', self.tenant, user?.id ?: 'anonymous']" => "buy:acme:42",
        "['item' + order.item, phone]" => "item7:13800000000",
        "lower(email)" => "%20ann@example.com%20",
        "trim(email)" => "Ann@Example.com",
        "lower(trim(email))" => "ann@example.com",
        "lower(guest?.name) ?: 'anonymous'" => "anonymous",
        "trim(note) ?: 'none'" => "none",
        "digits(phone)" => "13800000000",
        "fold(email)" => "ann@example.com",
        "'ip:' + prefix(ip, 24)" => "ip:203.0.113.0/24",
        "prefix(ip, 16, 48)" => "203.0.0.0/16",
        "hash(phone)" => "1272e4cbe0e8167f1b20abb9e2b54cca",
    }
}
