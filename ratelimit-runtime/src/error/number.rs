//! Numbers of an algorithm that cannot be.

use std::fmt;
use std::time::Duration;

/// An argument that takes a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Capacity,
    Refill,
    Leak,
    Limit,
    Window,
    SubWindows,
    Wait,
}

impl Argument {
    const fn name(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Refill => "refill",
            Self::Leak => "leak",
            Self::Limit => "limit",
            Self::Window => "window",
            Self::SubWindows => "sub_windows",
            Self::Wait => "wait",
        }
    }
}

/// What is wrong with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A rate of no permits at all.
    Zero,
    /// Below zero; the smallest `i64` stands for everything below it.
    Negative(i64),
    /// Too large to be counted exactly.
    TooMany { count: u64, max: u64 },
    /// A period or window that is too short, too long, or not whole microseconds.
    Span(Duration),
    /// A number of sub-windows that is out of its range.
    Parts(u32),
}

/// A number that an algorithm cannot count with: which argument it was given for, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNumber {
    argument: Argument,
    fault: Fault,
}

impl InvalidNumber {
    pub(crate) const fn new(argument: Argument, fault: Fault) -> Self {
        Self { argument, fault }
    }

    /// The argument as the attribute calls it, like `refill`.
    pub const fn argument(&self) -> &'static str {
        self.argument.name()
    }

    /// How many different mistakes there are.
    pub(super) const MARKS: u32 = 7 * 5;

    /// A number below [`MARKS`](Self::MARKS) for each argument and fault, whatever the value.
    pub(super) const fn mark(&self) -> u32 {
        let fault = match self.fault {
            Fault::Zero => 0,
            Fault::Negative(_) => 1,
            Fault::TooMany { .. } => 2,
            Fault::Span(_) => 3,
            Fault::Parts(_) => 4,
        };
        self.argument as u32 * 5 + fault
    }
}

impl fmt::Display for InvalidNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.argument.name();
        match self.fault {
            Fault::Zero => write!(f, "`{name}` is 0, and a rate is at least 1 permit per period"),
            Fault::Negative(value) => write!(f, "`{name}` is {value}, and cannot be negative"),
            Fault::TooMany { count, max } => {
                write!(f, "`{name}` is {count}, which is more than the maximum {max}")
            }
            Fault::Span(span) => {
                let period = match self.argument {
                    Argument::Refill | Argument::Leak => "the period of ",
                    _ => "",
                };
                write!(
                    f,
                    "{period}`{name}` is {span:?}, which is not a whole number of microseconds \
                     from 1 to 2^52 (142 years)"
                )
            }
            Fault::Parts(parts) => write!(f, "`{name}` is {parts}, which is not from 1 to 100"),
        }
    }
}

impl std::error::Error for InvalidNumber {}
