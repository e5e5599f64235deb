//! A rule's algorithm, checked and compiled for a resolution.

use std::time::Duration;

use super::{Algorithm, Rate};
use crate::algo::{
    FixedWindow, Flow, LeakyBucket, MAX_COUNT, MAX_LOG, MAX_SPAN_US, MAX_SUB_WINDOWS, Resolution,
    SlidingCounter, SlidingLog, TokenBucket,
};
use crate::error::{Argument, Fault, InvalidNumber};

/// One of the five algorithms with its numbers, ready to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Plan {
    /// See [`TokenBucket`].
    TokenBucket(TokenBucket),
    /// See [`LeakyBucket`].
    LeakyBucket(LeakyBucket),
    /// See [`FixedWindow`].
    FixedWindow(FixedWindow),
    /// See [`SlidingLog`].
    SlidingLog(SlidingLog),
    /// See [`SlidingCounter`].
    SlidingCounter(SlidingCounter),
}

/// Runs an expression on the algorithm in a plan, whichever it is.
macro_rules! with_algorithm {
    ($plan:expr, $algorithm:ident => $run:expr) => {
        match $plan {
            $crate::rule::Plan::TokenBucket($algorithm) => $run,
            $crate::rule::Plan::LeakyBucket($algorithm) => $run,
            $crate::rule::Plan::FixedWindow($algorithm) => $run,
            $crate::rule::Plan::SlidingLog($algorithm) => $run,
            $crate::rule::Plan::SlidingCounter($algorithm) => $run,
        }
    };
}
pub(crate) use with_algorithm;

impl Plan {
    /// Checks the numbers of an algorithm and compiles them.
    pub const fn new(algorithm: Algorithm, resolution: Resolution) -> Result<Self, InvalidNumber> {
        match algorithm {
            Algorithm::TokenBucket { capacity, refill } => {
                match flow(capacity, refill, Argument::Refill, resolution) {
                    Ok(flow) => Ok(Self::TokenBucket(TokenBucket(flow))),
                    Err(error) => Err(error),
                }
            }
            Algorithm::LeakyBucket { capacity, leak } => {
                match flow(capacity, leak, Argument::Leak, resolution) {
                    Ok(flow) => Ok(Self::LeakyBucket(LeakyBucket { flow, longest: None })),
                    Err(error) => Err(error),
                }
            }
            Algorithm::FixedWindow { limit, window } => match window_us(limit, MAX_COUNT, window) {
                Ok(us) => Ok(Self::FixedWindow(FixedWindow::new(limit, us, resolution))),
                Err(error) => Err(error),
            },
            Algorithm::SlidingLog { limit, window } => match window_us(limit, MAX_LOG, window) {
                Ok(us) => Ok(Self::SlidingLog(SlidingLog::new(limit, us, resolution))),
                Err(error) => Err(error),
            },
            Algorithm::SlidingCounter { limit, window, sub_windows } => {
                if sub_windows == 0 || sub_windows > MAX_SUB_WINDOWS {
                    let fault = Fault::Parts(sub_windows);
                    return Err(InvalidNumber::new(Argument::SubWindows, fault));
                }
                match window_us(limit, MAX_COUNT, window) {
                    Ok(us) => Ok(Self::SlidingCounter(SlidingCounter::new(
                        limit,
                        us,
                        sub_windows,
                        resolution,
                    ))),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

const fn flow(
    capacity: u64,
    rate: Rate,
    argument: Argument,
    resolution: Resolution,
) -> Result<Flow, InvalidNumber> {
    if rate.permits() == 0 {
        return Err(InvalidNumber::new(argument, Fault::Zero));
    }
    if let Err(error) = count(rate.permits(), MAX_COUNT, argument) {
        return Err(error);
    }
    if let Err(error) = count(capacity, MAX_COUNT, Argument::Capacity) {
        return Err(error);
    }
    match span(rate.period(), argument) {
        Ok(us) => Ok(Flow::new(capacity, rate.permits(), us, resolution)),
        Err(error) => Err(error),
    }
}

/// A window in microseconds, if it and its limit are within bounds.
const fn window_us(limit: u64, max: u64, window: Duration) -> Result<u64, InvalidNumber> {
    match count(limit, max, Argument::Limit) {
        Ok(()) => span(window, Argument::Window),
        Err(error) => Err(error),
    }
}

const fn count(count: u64, max: u64, argument: Argument) -> Result<(), InvalidNumber> {
    if count > max {
        return Err(InvalidNumber::new(argument, Fault::TooMany { count, max }));
    }
    Ok(())
}

/// A period or window in microseconds.
const fn span(span: Duration, argument: Argument) -> Result<u64, InvalidNumber> {
    let us = span.as_micros();
    if us == 0 || us > MAX_SPAN_US as u128 || !span.subsec_nanos().is_multiple_of(1_000) {
        return Err(InvalidNumber::new(argument, Fault::Span(span)));
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^52, checked above")]
    Ok(us as u64)
}
