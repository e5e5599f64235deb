//! The limiter of the process.

use std::panic::Location;

use once_cell::sync::OnceCell;

use super::{Limiter, mistaken};
use crate::error::{ConfigError, Mistake, RateLimitError};

static INSTALLED: OnceCell<Installed> = OnceCell::new();

/// The limiter of the process, and who chose it.
struct Installed {
    limiter: Limiter,
    /// Where it was installed; `None` if the first call has set it up.
    at: Option<&'static Location<'static>>,
}

impl Limiter {
    /// The limiter that a test has chosen for what runs here, instead of that of the process.
    #[inline]
    pub(crate) fn of_scope() -> Option<Self> {
        #[cfg(feature = "testing")]
        return crate::testing::current();
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
            RateLimitError::Mistake(mistake) => mistaken(mistake),
            other => other,
        })
    }

    /// The limiter of the process. If none was installed, the environment
    /// [says which](Limiter::from_env), from now on.
    pub fn installed() -> Result<&'static Self, RateLimitError> {
        let mut is_new = false;
        let limiter = INSTALLED.get_or_try_init(|| {
            let limiter = Self::silently_from_env()?;
            is_new = true;
            Ok::<_, ConfigError>(Installed { limiter, at: None })
        });
        let Installed { limiter, .. } = limiter.map_err(Mistake::Config)?;
        if is_new {
            // Not before the limiter is there: what takes the log may call a limited function.
            limiter.tell_mode();
            if std::env::var_os(super::builder::REDIS_URL).is_none() {
                tracing::warn!(
                    "no rate limit store is set up: limits hold for this process only (set {} to share them)",
                    super::builder::REDIS_URL
                );
            }
        }
        Ok(limiter)
    }
}
