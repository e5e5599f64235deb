//! Settings, and the variables of the environment that fill what the code leaves open.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, fs, io};

use crate::clock::Clock;
use crate::error::ConfigError;
use crate::rule::{Mode, OnError};

/// The variable that chooses Redis.
pub(super) const REDIS_URL: &str = "RATELIMIT_REDIS_URL";
pub(super) const REDIS_CA: &str = "RATELIMIT_REDIS_CA";
pub(super) const REDIS_PASSWORD_FILE: &str = "RATELIMIT_REDIS_PASSWORD_FILE";
pub(super) const REDIS_SENTINEL_PASSWORD_FILE: &str = "RATELIMIT_REDIS_SENTINEL_PASSWORD_FILE";
pub(super) const SERVICE: &str = "RATELIMIT_SERVICE";
const KEY_SECRET_FILE: &str = "RATELIMIT_KEY_SECRET_FILE";
/// The switch for bad nights.
pub(super) const MODE: &str = "RATELIMIT_MODE";

/// What can be set by a value. `None` is left open.
#[derive(Default)]
pub(super) struct Settings {
    /// By the environment alone: in code a URL is a source beside others.
    pub(super) redis: Option<String>,
    /// By the environment alone: in code a file is a source of credentials beside others.
    pub(super) redis_password_file: Option<PathBuf>,
    pub(super) redis_sentinel_password_file: Option<PathBuf>,
    pub(super) redis_roots: Option<Bytes>,
    pub(super) service: Option<String>,
    pub(super) prefix: Option<String>,
    pub(super) replicas: Option<NonZeroU32>,
    pub(super) on_error: Option<OnError>,
    pub(super) deadline: Option<Duration>,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) max_keys: Option<usize>,
    pub(super) clock: Option<Clock>,
    pub(super) key_secret: Option<Bytes>,
    /// By the environment alone.
    pub(super) mode: Option<Mode>,
}

/// What counts where nobody has said anything.
impl Settings {
    pub(super) fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or("rate:limit")
    }

    pub(super) fn deadline(&self) -> Duration {
        self.deadline.unwrap_or(Duration::from_millis(50))
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout.unwrap_or(Duration::from_secs(1))
    }

    pub(super) fn max_keys(&self) -> usize {
        self.max_keys.unwrap_or(100_000)
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock.clone().unwrap_or(Clock::Server)
    }
}

/// A variable of the environment.
struct Variable {
    name: &'static str,
    /// The builder's setting that it stands for.
    #[cfg(test)]
    setting: &'static str,
    /// What it may be, as errors and the documentation say it.
    takes: &'static str,
    /// What counts without it, as the documentation says it.
    #[cfg(test)]
    default: &'static str,
    is_open: fn(&Settings) -> bool,
    set: fn(&mut Settings, &OsStr) -> Result<(), Problem>,
}

/// What is wrong with a value.
enum Problem {
    /// It is not what the variable takes.
    Unexpected,
    /// Something that can be said.
    Says(&'static str),
}

/// `"NAME", setting: "what it may be", "default", parser;`
macro_rules! variables {
    ($($name:expr, $field:ident: $takes:literal, $default:literal, $parse:expr;)*) => {
        &[$(Variable {
            name: $name,
            #[cfg(test)]
            setting: stringify!($field),
            takes: $takes,
            #[cfg(test)]
            default: $default,
            is_open: |settings| settings.$field.is_none(),
            set: |settings, value| {
                settings.$field = Some($parse(value)?);
                Ok(())
            },
        }),*]
    };
}

/// All of them: docs/redis.md has the same table.
const VARIABLES: &[Variable] = variables! {
    REDIS_URL, redis: "a Redis URL", "the embedded store", text;
    REDIS_PASSWORD_FILE, redis_password_file: "the path of a file with the password",
        "that of the URL", path;
    REDIS_SENTINEL_PASSWORD_FILE, redis_sentinel_password_file:
        "the path of a file with the password of the Sentinels", "that of the URL", path;
    REDIS_CA, redis_roots: "the path of a file with certificates in PEM", "those of the system", file;
    SERVICE, service: "a name", "none", text;
    "RATELIMIT_PREFIX", prefix: "1 to 64 bytes without braces, blanks and control characters",
        "`rate:limit`", prefix;
    "RATELIMIT_REPLICAS", replicas: "a whole number from 1 to 4294967295", "1", number;
    "RATELIMIT_ON_ERROR", on_error: "`local`, `open` or `closed`", "`local`", on_error;
    "RATELIMIT_DEADLINE_MS", deadline: "a whole number of milliseconds from 1 to 86400000", "50",
        millis;
    "RATELIMIT_CONNECT_TIMEOUT_MS", connect_timeout:
        "a whole number of milliseconds from 1 to 86400000", "1000", millis;
    "RATELIMIT_MAX_KEYS", max_keys: "a whole number from 1 to 4294967295", "100000", max_keys;
    "RATELIMIT_CLOCK", clock: "`server` or `caller`", "`server`", clock;
    KEY_SECRET_FILE, key_secret: "the path of a file with the secret", "none", file;
    MODE, mode: "`enforce`, `shadow` or `off`", "`enforce`", mode;
};

impl Settings {
    /// Fills what is open from the environment. What the code has set is not even looked at there.
    pub(super) fn fill(
        &mut self,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<(), ConfigError> {
        for variable in VARIABLES {
            if !(variable.is_open)(self) {
                continue;
            }
            let Some(value) = environment(variable.name) else { continue };
            let value = trimmed(&value);
            if value.is_empty() {
                continue;
            }
            (variable.set)(self, value).map_err(|problem| match problem {
                Problem::Unexpected => {
                    wrong(variable.name, &format!("expected {}", variable.takes))
                }
                Problem::Says(what) => wrong(variable.name, what),
            })?;
        }
        Ok(())
    }
}

/// What is wrong with a prefix of keys in Redis.
pub(super) fn check_prefix(prefix: &str) -> Option<&'static str> {
    let has = |unfit: fn(char) -> bool| prefix.contains(unfit);
    match prefix.len() {
        0 => Some("is empty"),
        65.. => Some("is longer than 64 bytes"),
        _ if has(|c| matches!(c, '{' | '}')) => {
            Some("has a brace, which would put keys of a Cluster into other slots")
        }
        _ if has(char::is_whitespace) => Some("has a blank"),
        _ if has(char::is_control) => Some("has a control character"),
        _ => None,
    }
}

/// The error that a variable has a wrong value, which it never repeats.
pub(super) fn wrong(variable: &'static str, problem: &str) -> ConfigError {
    ConfigError::Variable { variable, problem: problem.into() }
}

/// A secret or certificates: as the code has them, or in a file.
pub(super) enum Bytes {
    Given(Vec<u8>),
    File(PathBuf),
}

impl Bytes {
    /// Reads them, if they are in a file: that which this variable names.
    pub(super) fn read(self, variable: &'static str) -> Result<Vec<u8>, ConfigError> {
        let file = match self {
            Self::Given(bytes) => return Ok(bytes),
            Self::File(file) => file,
        };
        let unreadable = |error: &io::Error| {
            wrong(variable, &format!("the file cannot be read: {}", error.kind()))
        };
        let bytes = fs::read(file).map_err(|error| unreadable(&error))?;
        if bytes.trim_ascii().is_empty() {
            Err(wrong(variable, "the file is empty"))
        } else {
            Ok(bytes)
        }
    }

    /// Reads them as the secret for keys. What ends the line in a file is no part of it.
    pub(super) fn secret(self) -> Result<Box<[u8]>, ConfigError> {
        let is_file = self.is_file();
        let secret = self.read(KEY_SECRET_FILE)?;
        Ok(if is_file { secret.trim_ascii_end().into() } else { secret.into() })
    }

    pub(super) const fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A secret, or where one is.
        f.write_str("Bytes(..)")
    }
}

/// Without the blanks around it. What is not Unicode is only good for a path, and stays as it is.
fn trimmed(value: &OsStr) -> &OsStr {
    value.to_str().map_or(value, |text| OsStr::new(text.trim()))
}

fn word(value: &OsStr) -> Result<&str, Problem> {
    value.to_str().ok_or(Problem::Unexpected)
}

fn text(value: &OsStr) -> Result<String, Problem> {
    word(value).map(str::to_owned)
}

#[expect(clippy::unnecessary_wraps, reason = "as all parsers")]
fn file(value: &OsStr) -> Result<Bytes, Problem> {
    Ok(Bytes::File(value.into()))
}

#[expect(clippy::unnecessary_wraps, reason = "as all parsers")]
fn path(value: &OsStr) -> Result<PathBuf, Problem> {
    Ok(value.into())
}

fn prefix(value: &OsStr) -> Result<String, Problem> {
    let prefix = text(value)?;
    match check_prefix(&prefix) {
        Some(problem) => Err(Problem::Says(problem)),
        None => Ok(prefix),
    }
}

fn number<T: std::str::FromStr>(value: &OsStr) -> Result<T, Problem> {
    word(value)?.parse().map_err(|_| Problem::Unexpected)
}

fn max_keys(value: &OsStr) -> Result<usize, Problem> {
    let keys: NonZeroU32 = number(value)?;
    usize::try_from(keys.get()).map_err(|_| Problem::Unexpected)
}

fn millis(value: &OsStr) -> Result<Duration, Problem> {
    match number(value)? {
        ms @ 1..=86_400_000 => Ok(Duration::from_millis(ms)),
        _ => Err(Problem::Unexpected),
    }
}

/// One of a few words, in capitals or not.
fn one_of<T: Clone>(value: &OsStr, words: &[(&str, T)]) -> Result<T, Problem> {
    let value = word(value)?;
    let meant = words.iter().find(|(word, _)| value.eq_ignore_ascii_case(word));
    meant.map(|(_, meaning)| meaning.clone()).ok_or(Problem::Unexpected)
}

fn on_error(value: &OsStr) -> Result<OnError, Problem> {
    let words = [("local", OnError::Local), ("open", OnError::Open), ("closed", OnError::Closed)];
    one_of(value, &words)
}

fn clock(value: &OsStr) -> Result<Clock, Problem> {
    one_of(value, &[("server", Clock::Server), ("caller", Clock::Caller)])
}

fn mode(value: &OsStr) -> Result<Mode, Problem> {
    one_of(value, &[("enforce", Mode::Enforce), ("shadow", Mode::Shadow), ("off", Mode::Off)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a limiter has when one variable is set.
    fn filled(name: &str, value: &str) -> Result<Settings, ConfigError> {
        let mut settings = Settings::default();
        settings.fill(|asked| (asked == name).then(|| value.into()))?;
        Ok(settings)
    }

    #[test]
    fn every_variable_fills_its_setting() {
        let of = |name, value| filled(name, value).unwrap();
        assert_eq!(of(REDIS_URL, "redis://h").redis.as_deref(), Some("redis://h"));
        let path = Some(PathBuf::from("/a"));
        assert_eq!(of(REDIS_PASSWORD_FILE, "/a").redis_password_file, path);
        assert_eq!(of(REDIS_SENTINEL_PASSWORD_FILE, "/a").redis_sentinel_password_file, path);
        assert!(of(REDIS_CA, "/a").redis_roots.is_some_and(|bytes| bytes.is_file()));
        assert_eq!(of(SERVICE, " sms gateway ").service.as_deref(), Some("sms gateway"));
        assert_eq!(of("RATELIMIT_PREFIX", "p").prefix.as_deref(), Some("p"));
        assert_eq!(of("RATELIMIT_REPLICAS", " 3\n").replicas, NonZeroU32::new(3));
        assert_eq!(of("RATELIMIT_ON_ERROR", "Closed").on_error, Some(OnError::Closed));
        let (day, two) = (Duration::from_hours(24), Duration::from_millis(2));
        assert_eq!(of("RATELIMIT_DEADLINE_MS", "2").deadline, Some(two));
        assert_eq!(of("RATELIMIT_CONNECT_TIMEOUT_MS", "86400000").connect_timeout, Some(day));
        assert_eq!(of("RATELIMIT_MAX_KEYS", "7").max_keys, Some(7));
        assert!(matches!(of("RATELIMIT_CLOCK", "CALLER").clock, Some(Clock::Caller)));
        assert!(of(KEY_SECRET_FILE, "/a").key_secret.is_some_and(|bytes| bytes.is_file()));
        assert_eq!(of(MODE, "OFF").mode, Some(Mode::Off));
        assert_eq!(of(MODE, "Shadow ").mode, Some(Mode::Shadow));
    }

    #[test]
    fn blank_is_unset() {
        for variable in VARIABLES {
            for blank in ["", " ", "\t\n", "\u{3000}"] {
                let settings = filled(variable.name, blank).unwrap();
                assert!((variable.is_open)(&settings), "{} of {blank:?}", variable.name);
            }
        }
    }

    #[test]
    fn a_wrong_value_is_named_and_not_repeated() {
        for (name, values) in [
            ("RATELIMIT_PREFIX", &["S3cr3t {", "S3cr3t S3cr3t"][..]),
            ("RATELIMIT_REPLICAS", &["0", "-1", "S3cr3t", "1.5", "4294967296", "0x1", "1 000"]),
            ("RATELIMIT_ON_ERROR", &["S3cr3t", "fail_open"]),
            ("RATELIMIT_DEADLINE_MS", &["0", "50ms", "S3cr3t", "86400001"]),
            ("RATELIMIT_CONNECT_TIMEOUT_MS", &["0", "1s", "S3cr3t"]),
            ("RATELIMIT_MAX_KEYS", &["0", "100,000", "S3cr3t"]),
            ("RATELIMIT_CLOCK", &["S3cr3t", "manual"]),
            (MODE, &["of", "S3cr3t", "on"]),
        ] {
            for value in values {
                let Err(error) = filled(name, value) else { panic!("{name}={value}") };
                let text = error.to_string();
                assert!(text.starts_with(&format!("{name}: ")), "{text}");
                assert!(!text.contains("S3cr3t"), "{text}");
            }
        }
        let Err(error) = filled(MODE, "of") else { panic!("`of` is no mode") };
        assert_eq!(error.to_string(), "RATELIMIT_MODE: expected `enforce`, `shadow` or `off`");
    }

    /// A switch for bad nights: what is wrong beside it would be found when it is switched back.
    #[test]
    fn a_limiter_that_is_switched_off_excuses_no_wrong_value() {
        let looked_at = |name: &str| match name {
            MODE => Some("off".into()),
            "RATELIMIT_REPLICAS" => Some("none".into()),
            _ => None,
        };
        let Err(error) = Settings::default().fill(looked_at) else { panic!("no error") };
        assert!(error.to_string().starts_with("RATELIMIT_REPLICAS: "), "{error}");
    }

    #[test]
    fn what_the_code_says_is_not_looked_at() {
        let mut settings = Settings { replicas: NonZeroU32::new(2), ..Settings::default() };
        let looked_at = |name: &str| {
            assert_ne!(name, "RATELIMIT_REPLICAS");
            None
        };
        settings.fill(looked_at).unwrap();
        assert_eq!(settings.replicas, NonZeroU32::new(2));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_not_unicode_is_no_value_but_can_be_a_path() {
        use std::os::unix::ffi::OsStringExt as _;
        let latin = || OsString::from_vec(b"caf\xE9".to_vec());
        for variable in VARIABLES {
            let mut settings = Settings::default();
            let filled = settings.fill(|asked| (asked == variable.name).then(latin));
            let takes_path = variable.takes.starts_with("the path");
            assert_eq!(filled.is_ok(), takes_path, "{}", variable.name);
        }
    }

    /// The documentation has a row for each, and no other.
    #[test]
    fn the_documentation_has_all_variables() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/redis.md");
        let docs = fs::read_to_string(docs).unwrap();
        let row = |variable: &Variable| {
            let setting = match variable.setting {
                "mode" => "",
                setting => &format!("`{setting}`"),
            };
            let Variable { name, takes, default, .. } = variable;
            format!("| `{name}` | {setting} | {takes} | {default} |")
        };
        let rows: Vec<&str> =
            docs.lines().filter(|line| line.starts_with("| `RATELIMIT_")).collect();
        let expected: Vec<String> = VARIABLES.iter().map(row).collect();
        assert_eq!(rows, expected);
    }

    /// Every setting of the builder has one, but for those that are no values.
    #[test]
    fn every_setting_has_a_variable() {
        let no_values = [
            // Closures, and what a variable has another setting for.
            "redis_credentials",
            "redis_sentinel_credentials",
            "redis_roots_file",
            "redis_identity",
            "redis_identity_files",
            "redis_connection",
            "store",
            "embedded",
            "require_shared",
            "on_event",
            // Keys name people: whether a log may have them is for who writes the service to decide.
            "log_keys",
        ];
        let source = include_str!("builder.rs");
        let settings = source.lines().filter_map(|line| {
            let name = line.trim().strip_prefix("pub fn ")?;
            let (name, arguments) = name.split_once('(')?;
            // Rustfmt may put `mut self` on a line of its own.
            (arguments.starts_with("mut self") || arguments.is_empty()).then_some(name)
        });
        let without: Vec<&str> = settings
            .filter(|setting| !no_values.contains(setting))
            .filter(|setting| !VARIABLES.iter().any(|variable| variable.setting == *setting))
            .collect();
        assert_eq!(without, [""; 0], "add a variable, or say why there is none");
    }
}
