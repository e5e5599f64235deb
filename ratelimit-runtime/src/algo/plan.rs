//! A rule's algorithm, checked and compiled for a resolution.

use super::{
    FixedWindow, Flow, LeakyBucket, MAX_COUNT, MAX_LOG, MAX_SPAN_US, MAX_SUB_WINDOWS, Resolution,
    SlidingCounter, SlidingLog, TokenBucket,
};
use crate::error::ConfigError;
use crate::rule::{Algorithm, Rate};
use std::time::Duration;

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

impl Plan {
    /// Checks the numbers of an algorithm and compiles them.
    pub const fn new(algorithm: Algorithm, resolution: Resolution) -> Result<Self, ConfigError> {
        match algorithm {
            Algorithm::TokenBucket { capacity, refill } => {
                match flow(capacity, refill, resolution) {
                    Ok(flow) => Ok(Self::TokenBucket(TokenBucket(flow))),
                    Err(error) => Err(error),
                }
            }
            Algorithm::LeakyBucket { capacity, leak } => match flow(capacity, leak, resolution) {
                Ok(flow) => Ok(Self::LeakyBucket(LeakyBucket { flow, longest: None })),
                Err(error) => Err(error),
            },
            Algorithm::FixedWindow { limit, window } => match span(limit, MAX_COUNT, window) {
                Ok(us) => Ok(Self::FixedWindow(FixedWindow::new(limit, us, resolution))),
                Err(error) => Err(error),
            },
            Algorithm::SlidingLog { limit, window } => match span(limit, MAX_LOG, window) {
                Ok(us) => Ok(Self::SlidingLog(SlidingLog::new(limit, us, resolution))),
                Err(error) => Err(error),
            },
            Algorithm::SlidingCounter { limit, window, sub_windows } => {
                if sub_windows == 0 || sub_windows > MAX_SUB_WINDOWS {
                    return Err(ConfigError::SubWindows { sub_windows });
                }
                match span(limit, MAX_COUNT, window) {
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

const fn flow(capacity: u64, rate: Rate, resolution: Resolution) -> Result<Flow, ConfigError> {
    if rate.permits() == 0 {
        return Err(ConfigError::ZeroRate);
    }
    if rate.permits() > MAX_COUNT {
        return Err(ConfigError::TooMany { count: rate.permits(), max: MAX_COUNT });
    }
    match span(capacity, MAX_COUNT, rate.period()) {
        Ok(us) => Ok(Flow::new(capacity, rate.permits(), us, resolution)),
        Err(error) => Err(error),
    }
}

/// A period or window in microseconds, if it and the count that goes with it are within bounds.
const fn span(count: u64, max: u64, span: Duration) -> Result<u64, ConfigError> {
    if count > max {
        return Err(ConfigError::TooMany { count, max });
    }
    let us = span.as_micros();
    if us == 0 || us > MAX_SPAN_US as u128 || !span.subsec_nanos().is_multiple_of(1_000) {
        return Err(ConfigError::Span { span });
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^52, checked above")]
    Ok(us as u64)
}
