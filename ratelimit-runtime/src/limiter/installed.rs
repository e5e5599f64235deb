//! The limiter of the process.

use once_cell::sync::OnceCell;

use super::Limiter;
use crate::error::{ConfigError, Mistake, RateLimitError};

static INSTALLED: OnceCell<Limiter> = OnceCell::new();

impl Limiter {
    /// Makes this the limiter of the process, which annotated functions use. Once, and before the
    /// first of them is called.
    pub fn install(self) -> Result<(), ConfigError> {
        INSTALLED.set(self).map_err(|_| ConfigError::AlreadyInstalled)
    }

    /// The limiter of the process. If none was installed, the environment
    /// [says which](Limiter::from_env), from now on.
    pub fn installed() -> Result<&'static Self, RateLimitError> {
        let limiter = INSTALLED.get_or_try_init(|| {
            let limiter = Self::from_env()?;
            if std::env::var_os(super::builder::REDIS_URL).is_none() {
                tracing::warn!(
                    "no rate limit store is set up: limits hold for this process only (set {} to share them)",
                    super::builder::REDIS_URL
                );
            }
            Ok::<_, ConfigError>(limiter)
        });
        limiter.map_err(|error| Mistake::Config(error).into())
    }
}
