//! The limiter of the process.

use std::panic::Location;
use std::time::{Duration, Instant};

use once_cell::sync::OnceCell;
use parking_lot::Mutex;

use super::{Limiter, mistaken};
use crate::decision::RateLimitError;
use crate::error::{ConfigError, InvalidCall};

#[cfg(feature = "testing")]
tokio::task_local! {
    /// The limiter that a test has chosen for what it runs.
    pub(crate) static OF_SCOPE: Limiter;
}

static INSTALLED: OnceCell<Installed> = OnceCell::new();

/// The limiter of the process, and who chose it.
struct Installed {
    limiter: Limiter,
    /// Where it was installed; `None` if the first call has set it up.
    at: Option<&'static Location<'static>>,
}

/// Why the environment gives no limiter, so that not every call reads it.
static FAILURE: Mutex<Option<Failure>> = Mutex::new(None);

struct Failure {
    error: ConfigError,
    at: Instant,
}

impl Failure {
    /// How long it counts: what is wrong outside, like a file that is missing, may have been mended.
    const VALID: Duration = Duration::from_mins(1);

    fn is_valid(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) < Self::VALID
    }
}

impl Limiter {
    /// The limiter that a test has chosen for what runs here, instead of that of the process.
    #[inline]
    pub(crate) fn of_scope() -> Option<Self> {
        #[cfg(feature = "testing")]
        return OF_SCOPE.try_with(Clone::clone).ok();
        #[cfg(not(feature = "testing"))]
        None
    }

    /// Makes this the limiter of the process, which annotated functions use. Once, and before the
    /// first of them is called.
    #[track_caller]
    pub fn install(self) -> Result<(), ConfigError> {
        let installed = Installed { limiter: self, at: Some(Location::caller()) };
        INSTALLED.set(installed).map_err(|_| ConfigError::AlreadyInstalled {
            at: INSTALLED.get().and_then(|installed| installed.at),
        })
    }

    /// The limiter of the process, for a call: if it is not set up, that call is invalid.
    pub(crate) fn installed_for_call() -> Result<&'static Self, RateLimitError> {
        Self::installed().map_err(|error| match error {
            RateLimitError::Invalid(mistake) => mistaken(mistake),
            other => other,
        })
    }

    /// The limiter of the process. If none was installed, the environment
    /// [says which](Limiter::from_env), from now on.
    ///
    /// While a variable has a wrong value there is none: that is logged at error level, once a minute,
    /// and the environment is read again as often.
    pub fn installed() -> Result<&'static Self, RateLimitError> {
        match INSTALLED.get() {
            Some(installed) => Ok(&installed.limiter),
            None => Self::of_environment().map_err(|error| InvalidCall::Config(error).into()),
        }
    }

    #[cold]
    fn of_environment() -> Result<&'static Self, ConfigError> {
        let mut start = None;
        let mut new_failure = None;
        let made = INSTALLED.get_or_try_init(|| {
            // Here, where one thread is at a time: so one of them says what is wrong.
            let now = Instant::now();
            if let Some(failure) = FAILURE.lock().as_ref().filter(|failure| failure.is_valid(now)) {
                return Err(failure.error.clone());
            }
            match Self::builder().build_quiet() {
                Ok((limiter, of)) => {
                    start = Some(of);
                    Ok(Installed { limiter, at: None })
                }
                Err(error) => {
                    *FAILURE.lock() = Some(Failure { error: error.clone(), at: now });
                    new_failure = Some(error.clone());
                    Err(error)
                }
            }
        });
        // Not before: what takes the log may call a limited function.
        if let Some(start) = start {
            start.log();
        }
        if let Some(error) = new_failure {
            tracing::error!(%error, "rate limits cannot be set up: calls are rejected");
        }
        made.map(|installed| &installed.limiter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_counts_for_a_minute() {
        let at = Instant::now();
        let failure = Failure { error: ConfigError::Thread, at };
        let valid = [0, 59, 60, 61].map(|secs| failure.is_valid(at + Duration::from_secs(secs)));
        assert_eq!(valid, [true, true, false, false]);
    }
}
