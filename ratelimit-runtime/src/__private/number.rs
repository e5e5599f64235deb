//! Numbers that an expression in the attribute may give.

use std::time::Duration;

use crate::rule::Rate;

/// A number below zero; the smallest `i64` stands for everything below it.
#[derive(Clone, Copy, Debug)]
pub struct Negative(pub i64);

/// A whole number of any type; one that is too large for its use stays too large.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a whole number",
    label = "`#[rate_limit]` counts in whole numbers",
    note = "any integer type will do; of a `NonZero` one, take `.get()`"
)]
pub trait Count {
    /// The number, saturated.
    fn count(self) -> Result<u64, Negative>;
}

/// A rate: an integer is per second.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate",
    label = "`#[rate_limit]` expects a rate here",
    note = "a rate is a `Rate`, or an integer of any type, which is per second"
)]
pub trait IntoRate {
    /// The rate.
    fn into_rate(self) -> Result<Rate, Negative>;
}

/// A window: an integer is in seconds.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a duration",
    label = "`#[rate_limit]` expects a time here",
    note = "a time is a `std::time::Duration`, or an integer of any type, which is in seconds"
)]
pub trait IntoWindow {
    /// The window.
    fn into_window(self) -> Result<Duration, Negative>;
}

macro_rules! integers {
    ($($integer:ident)*) => { $(
        impl Count for $integer {
            #[inline]
            fn count(self) -> Result<u64, Negative> {
                #[allow(unused_comparisons, reason = "not every type has negative numbers")]
                if self < 0 {
                    #[allow(clippy::unnecessary_fallible_conversions, reason = "not of every type")]
                    return Err(Negative(i64::try_from(self).unwrap_or(i64::MIN)));
                }
                Ok(u64::try_from(self).unwrap_or(u64::MAX))
            }
        }

        impl IntoRate for $integer {
            fn into_rate(self) -> Result<Rate, Negative> {
                self.count().map(Rate::per_second)
            }
        }

        impl IntoWindow for $integer {
            fn into_window(self) -> Result<Duration, Negative> {
                self.count().map(Duration::from_secs)
            }
        }

        // One by one, and not for every `&T`: rustc would explain that in place of the mistake.
        by_reference!($integer: Count::count -> u64);
        by_reference!($integer: IntoRate::into_rate -> Rate);
        by_reference!($integer: IntoWindow::into_window -> Duration);
    )* };
}

macro_rules! by_reference {
    ($number:ident: $trait:ident::$method:ident -> $value:ident) => {
        #[diagnostic::do_not_recommend]
        impl $trait for &$number {
            fn $method(self) -> Result<$value, Negative> {
                (*self).$method()
            }
        }
    };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl IntoRate for Rate {
    fn into_rate(self) -> Result<Rate, Negative> {
        Ok(self)
    }
}

impl IntoWindow for Duration {
    fn into_window(self) -> Result<Duration, Negative> {
        Ok(self)
    }
}

by_reference!(Rate: IntoRate::into_rate -> Rate);
by_reference!(Duration: IntoWindow::into_window -> Duration);
