//! User and password, and who has them.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::error::{ConfigError, InvalidPasswordFile};
use crate::process::PerProcess;

/// A password for Redis, and the user that it belongs to. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RedisCredentials {
    user: Option<String>,
    password: String,
}

impl RedisCredentials {
    /// The password of a user.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: Some(user.into()), password: password.into() }
    }

    /// The password of the user in the URL, or else of the default user.
    pub fn password(password: impl Into<String>) -> Self {
        Self { user: None, password: password.into() }
    }

    /// A login with these credentials.
    pub(super) fn applied_to(
        &self,
        login: redis::RedisConnectionInfo,
    ) -> redis::RedisConnectionInfo {
        let login = login.set_password(&self.password);
        match &self.user {
            Some(user) => login.set_username(user),
            None => login,
        }
    }
}

impl fmt::Debug for RedisCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisCredentials").finish_non_exhaustive()
    }
}

/// Where credentials come from that can change.
#[derive(Clone)]
pub(crate) struct Provider(Arc<Source>);

struct Source {
    read: Box<dyn Fn() -> Result<RedisCredentials, NoCredentials> + Send + Sync>,
    /// Held while `read` runs: one that hangs takes one thread and no more.
    busy: PerProcess<Arc<Mutex<()>>>,
}

/// Why there are no credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoCredentials {
    /// The closure has none, or has panicked.
    None,
    /// There was no answer in time.
    Late,
    /// The file has none.
    File(PathBuf, InvalidPasswordFile),
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("the closure for them returns none"),
            Self::Late => f.write_str("the source of them does not answer in time"),
            // The name of the file, and nothing of what is in it.
            Self::File(path, fault) => write!(f, "the file `{}` {fault}", path.display()),
        }
    }
}

impl Provider {
    pub(crate) fn new(ask: impl Fn() -> Option<RedisCredentials> + Send + Sync + 'static) -> Self {
        Self::reading(move || ask().ok_or(NoCredentials::None))
    }

    fn reading(
        read: impl Fn() -> Result<RedisCredentials, NoCredentials> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Source { read: Box::new(read), busy: PerProcess::new() }))
    }

    /// A file that holds a password, and perhaps a line break after it. It is read at once as well, so that a
    /// mistake in its name is found before the first login.
    pub(crate) fn file(path: PathBuf) -> Result<Self, ConfigError> {
        read(&path).map_err(ConfigError::PasswordFile)?;
        let reading = move || read(&path).map_err(|fault| NoCredentials::File(path.clone(), fault));
        Ok(Self::reading(reading))
    }

    /// The credentials of the moment.
    pub(super) async fn ask(&self, limit: Duration) -> Result<RedisCredentials, NoCredentials> {
        let asking = async {
            let Ok(busy) = self.0.busy.get_or_try_init(|| Ok::<_, Infallible>(Arc::default()));
            let busy = busy.clone().lock_owned().await;
            let source = self.0.clone();
            // It may block, and this thread serves all checks.
            let task = tokio::task::spawn_blocking(move || {
                let _busy = busy;
                (source.read)()
            });
            task.await.unwrap_or(Err(NoCredentials::None))
        };
        timeout(limit, asking).await.unwrap_or(Err(NoCredentials::Late))
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").finish_non_exhaustive()
    }
}

/// The longest password, in bytes.
const LONGEST: u64 = 64 * 1024;

fn read(path: &Path) -> Result<RedisCredentials, InvalidPasswordFile> {
    let unreadable = |error: std::io::Error| InvalidPasswordFile::Unreadable(error.kind());
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(LONGEST).read_to_end(&mut bytes).map_err(unreadable)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| InvalidPasswordFile::NotUnicode)?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(InvalidPasswordFile::Empty),
        password => Ok(RedisCredentials::password(password)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_show_nothing() {
        let credentials = RedisCredentials::new("app", "S3cr3t");
        assert_eq!(format!("{credentials:?}"), "RedisCredentials { .. }");
        assert_eq!(format!("{:?}", Provider::new(|| None)), "Provider { .. }");
    }

    #[test]
    fn a_file_that_holds_no_password_is_found_at_once() {
        let folder = std::env::temp_dir();
        let path = folder.join(format!("ratelimit-password-{}", std::process::id()));
        for (text, fault) in [
            (&b""[..], InvalidPasswordFile::Empty),
            (b"\r\n", InvalidPasswordFile::Empty),
            (b"\xff", InvalidPasswordFile::NotUnicode),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Provider::file(path.clone()).unwrap_err();
            assert_eq!(error, ConfigError::PasswordFile(fault));
        }
        std::fs::write(&path, " p w \n").unwrap();
        assert_eq!(read(&path), Ok(RedisCredentials::password(" p w ")));
        std::fs::remove_file(&path).unwrap();
        let missing = InvalidPasswordFile::Unreadable(std::io::ErrorKind::NotFound);
        assert_eq!(Provider::file(path).unwrap_err(), ConfigError::PasswordFile(missing));
    }

    fn ask(provider: &Provider, limit: Duration) -> Result<RedisCredentials, NoCredentials> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let credentials = runtime.block_on(provider.ask(limit));
        runtime.shutdown_background();
        credentials
    }

    #[test]
    fn a_provider_that_panics_has_nothing() {
        let asked = ask(&Provider::new(|| panic!("no")), Duration::from_secs(9));
        assert_eq!(asked, Err(NoCredentials::None));
    }

    #[test]
    fn a_provider_that_hangs_is_not_asked_again_meanwhile() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let asked = Arc::new(AtomicU32::new(0));
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let (count, wait) = (asked.clone(), parking_lot::Mutex::new(wait));
        let provider = Provider::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = wait.lock().recv();
            None
        });
        for _ in 0..3 {
            assert_eq!(ask(&provider, Duration::from_millis(20)), Err(NoCredentials::Late));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        drop(go_on);
    }
}
