//! What can be in a key, with and without a default.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

use ratelimit_kit::{KeyPart, KeyWriter, RateLimitError, rate_limit};

type Limited = Result<(), RateLimitError>;

struct UserId(u64);

impl KeyPart for UserId {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        self.0.append_to(key);
    }
}

enum Plan {
    Free,
    Paid(String),
}

impl KeyPart for Plan {
    fn append_to(&self, key: &mut KeyWriter<'_>) {
        match self {
            Plan::Free => key.push_str("free"),
            Plan::Paid(name) => key.push_display(format_args!("paid/{name}")),
        }
    }
}

/// One call for each value, of functions in a module that gives them names of their own.
macro_rules! values {
    ($($name:ident: $type:ty = $one:expr, $two:expr;)*) => {$(
        mod $name {
            use super::*;

            #[rate_limit(key = "value", algo = fixed_window, limit = 1, window = "1h")]
            pub(super) fn plain(value: $type) -> Limited {
                let _ = value;
                Ok(())
            }

            #[rate_limit(key = "value ?: 'none'", algo = fixed_window, limit = 1, window = "1h")]
            pub(super) fn with_default(value: $type) -> Limited {
                let _ = value;
                Ok(())
            }

            #[rate_limit(key = "value ?: 'none'", algo = fixed_window, limit = 1, window = "1h")]
            pub(super) fn optional(value: Option<$type>) -> Limited {
                let _ = value;
                Ok(())
            }
        }

        assert!($name::plain($one).is_ok());
        assert!($name::plain($two).is_ok());
        assert!($name::plain($one).is_err());
        assert!($name::with_default($one).is_ok());
        assert!($name::with_default($one).is_err());
        assert!($name::optional(Some($one)).is_ok());
        assert!($name::optional(None).is_ok());
        assert!($name::optional(Some($two)).is_ok());
        assert!($name::optional(Some($one)).is_err());
        assert!($name::optional(None).is_err());
    )*};
}

#[rate_limit(key = "a + b + c + d", algo = fixed_window, limit = 1, window = "1h")]
fn references(a: &mut u8, b: &&str, c: &dyn KeyPart, d: Box<dyn KeyPart + Send>) -> Limited {
    *a += 1;
    let _ = (b, c, d);
    Ok(())
}

#[rate_limit(
    key = "a ?: 'n' + b ?: 'n' + c ?: 'n' + d ?: 'n'",
    algo = fixed_window,
    limit = 1,
    window = "1h"
)]
fn options(
    a: &Option<String>,
    b: Option<&Option<Arc<str>>>,
    c: &mut Option<u8>,
    d: Option<Option<UserId>>,
) -> Limited {
    *c = None;
    let _ = (a, b, d);
    Ok(())
}

fn main() {
    values! {
        text: &'static str = "a", "b";
        string: String = "a".to_owned(), "b".to_owned();
        cow: Cow<'static, str> = Cow::Borrowed("a"), Cow::Owned("b".to_owned());
        character: char = 'a', 'b';
        boolean: bool = true, false;
        byte: u8 = 0, 255;
        signed: i128 = i128::MIN, 0;
        size: usize = 1, 2;
        non_zero: NonZeroU32 = NonZeroU32::MIN, NonZeroU32::MAX;
        ip: IpAddr = IpAddr::from([1, 1, 1, 1]), IpAddr::from([0; 16]);
        ipv4: Ipv4Addr = Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST;
        ipv6: Ipv6Addr = Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED;
        counted: Rc<str> = "a".into(), "b".into();
        shared: Arc<String> = Arc::new("a".to_owned()), Arc::new("b".to_owned());
        boxed: Box<u8> = Box::new(1), Box::new(2);
        own: UserId = UserId(1), UserId(2);
        own_display: Plan = Plan::Free, Plan::Paid("gold".to_owned());
    }
    assert!(references(&mut 1, &"b", &'c', Box::new(4)).is_ok());
    assert!(references(&mut 2, &"b", &'c', Box::new(4)).is_ok());
    assert!(references(&mut 1, &"b", &"c", Box::new("4")).is_err());

    let some = Some(Arc::from("b"));
    let a = Some("a".to_owned());
    assert!(options(&a, Some(&some), &mut Some(1), Some(Some(UserId(1)))).is_ok());
    assert!(options(&a, Some(&None), &mut Some(1), Some(Some(UserId(1)))).is_ok());
    assert!(options(&a, None, &mut Some(1), Some(Some(UserId(1)))).is_err());
    assert!(options(&None, None, &mut None, Some(None)).is_ok());
    assert!(options(&None, None, &mut None, None).is_err());
}
