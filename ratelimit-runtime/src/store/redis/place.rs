//! Which servers a URL names.

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo};

use crate::error::ConfigError;

/// Where Sentinels listen if a URL does not say it.
const SENTINEL_PORT: u16 = 26379;

/// What a URL names.
#[derive(Clone)]
pub(super) enum Place {
    /// One server.
    Server(ConnectionInfo),
    /// The primary of a name that Sentinels watch.
    Sentinel {
        /// Where to ask, and as whom.
        sentinels: Vec<ConnectionInfo>,
        /// The name.
        primary: String,
        /// As whom to log in at the primary.
        login: RedisConnectionInfo,
        tls: bool,
    },
    /// A cluster, some of whose nodes are these.
    Cluster { seeds: Vec<ConnectionInfo> },
}

impl Place {
    /// `redis://`, `rediss://` (TLS) and `unix://` for one server, `redis+sentinel://host,host/name`
    /// and `redis+cluster://host,host` for several, both also as `rediss+…`.
    ///
    /// Errors tell nothing of the URL: it may hold a password.
    pub(super) fn parse(url: &str) -> Result<Self, ConfigError> {
        let (scheme, rest) = url.split_once("://").ok_or(ConfigError::RedisUrl)?;
        let tls = scheme == "rediss" || scheme.starts_with("rediss+");
        if tls && cfg!(not(feature = "tls")) {
            return Err(ConfigError::NoTlsFeature);
        }
        let parts = Parts::of(if tls { "rediss" } else { "redis" }, rest);
        match scheme {
            "redis+sentinel" | "rediss+sentinel" => parts.sentinel(tls),
            "redis+cluster" | "rediss+cluster" => parts.cluster(),
            _ => Ok(Self::Server(info(url)?)),
        }
    }
}

/// A URL with several hosts, which the parser of the Redis client takes one at a time.
struct Parts<'u> {
    scheme: &'static str,
    /// With its `@`, or empty.
    login: &'u str,
    hosts: &'u str,
    path: &'u str,
    query: &'u str,
}

impl<'u> Parts<'u> {
    fn of(scheme: &'static str, rest: &'u str) -> Self {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let at = authority.rfind('@').map_or(0, |at| at + 1);
        let (login, hosts) = authority.split_at(at);
        Self { scheme, login, hosts, path, query }
    }

    fn cluster(&self) -> Result<Place, ConfigError> {
        // A cluster has one database.
        if !matches!(self.path, "" | "0") {
            return Err(ConfigError::RedisUrl);
        }
        let seeds = self.each_host(|host| self.url(self.login, host, "0", self.query))?;
        Ok(Place::Cluster { seeds })
    }

    fn sentinel(&self, tls: bool) -> Result<Place, ConfigError> {
        let (primary, database) = self.path.split_once('/').unwrap_or((self.path, "0"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if primary.is_empty() || !primary.chars().all(is_plain) {
            return Err(ConfigError::RedisUrl);
        }
        let of_sentinel = |name: &str| {
            let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
        };
        let (user, password) = (of_sentinel("sentinel_user"), of_sentinel("sentinel_password"));
        let login = if user.is_empty() && password.is_empty() {
            String::new()
        } else {
            format!("{user}:{password}@")
        };
        let sentinels = self.each_host(|host| {
            // A colon without a port says nothing.
            let host = host.strip_suffix(':').unwrap_or(host);
            let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
            let port = if has_port { String::new() } else { format!(":{SENTINEL_PORT}") };
            self.url(&login, &format!("{host}{port}"), "", "")
        })?;
        let others: Vec<&str> =
            self.query.split('&').filter(|pair| !pair.starts_with("sentinel_")).collect();
        let server = self.url(self.login, "primary", database, &others.join("&"));
        let login = info(&server)?.redis_settings().clone();
        Ok(Place::Sentinel { sentinels, primary: primary.to_owned(), login, tls })
    }

    fn url(&self, login: &str, host: &str, path: &str, query: &str) -> String {
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}://{login}{host}/{path}{mark}{query}", self.scheme)
    }

    fn each_host(&self, url: impl Fn(&str) -> String) -> Result<Vec<ConnectionInfo>, ConfigError> {
        self.hosts.split(',').map(|host| info(&url(host))).collect()
    }
}

fn info(url: &str) -> Result<ConnectionInfo, ConfigError> {
    let info = url.into_connection_info().map_err(|_| ConfigError::RedisUrl)?;
    let is_somewhere = match info.addr() {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => !host.is_empty(),
        _ => true,
    };
    if is_somewhere { Ok(info) } else { Err(ConfigError::RedisUrl) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(infos: &[ConnectionInfo]) -> Vec<String> {
        infos.iter().map(|info| info.addr().to_string()).collect()
    }

    #[test]
    fn one_server() {
        let Ok(Place::Server(info)) = Place::parse("redis://u:p%40@h:1/2") else { panic!() };
        assert_eq!(info.addr().to_string(), "h:1");
        let login = info.redis_settings();
        assert_eq!((login.username(), login.password(), login.db()), (Some("u"), Some("p@"), 2));
        assert!(matches!(Place::parse("unix:///tmp/socket"), Ok(Place::Server(_))));
    }

    #[test]
    fn sentinels_and_their_own_login() {
        let url = "redis+sentinel://app:a%2Fb@s1,s2:5,[::1],s3:/main/3?sentinel_user=w&sentinel_password=x%40";
        let Ok(Place::Sentinel { sentinels, primary, login, tls }) = Place::parse(url) else {
            panic!()
        };
        assert_eq!(addresses(&sentinels), ["s1:26379", "s2:5", "::1:26379", "s3:26379"]);
        assert_eq!((primary.as_str(), tls), ("main", false));
        let app = (login.username(), login.password(), login.db());
        assert_eq!(app, (Some("app"), Some("a/b"), 3));
        for sentinel in &sentinels {
            let login = sentinel.redis_settings();
            let watch = (login.username(), login.password(), login.db());
            assert_eq!(watch, (Some("w"), Some("x@"), 0));
        }
    }

    #[test]
    fn a_cluster_and_its_nodes() {
        let url = "redis+cluster://u:p@a:7000,b:7001,c";
        let Ok(Place::Cluster { seeds }) = Place::parse(url) else { panic!() };
        assert_eq!(addresses(&seeds), ["a:7000", "b:7001", "c:6379"]);
        assert!(seeds.iter().all(|seed| seed.redis_settings().password() == Some("p")));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn tls() {
        let Ok(Place::Cluster { seeds }) = Place::parse("rediss+cluster://a:7000") else {
            panic!()
        };
        assert!(matches!(seeds[0].addr(), ConnectionAddr::TcpTls { .. }));
        let place = Place::parse("rediss+sentinel://a/main");
        assert!(matches!(place, Ok(Place::Sentinel { tls: true, .. })));
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn no_tls() {
        for url in ["rediss://a", "rediss+sentinel://a/main", "rediss+cluster://a"] {
            assert!(matches!(Place::parse(url), Err(ConfigError::NoTlsFeature)), "{url}");
        }
    }

    #[test]
    fn what_is_no_url() {
        for url in [
            "",
            "localhost:6379",
            "http://host",
            "redis://",
            "redis://host:port",
            "redis+sentinel://host",
            "redis+sentinel://host/a b",
            "redis+sentinel:///main",
            "redis+cluster://",
            "redis+cluster://a,,b",
            "redis+cluster://a/1",
        ] {
            assert!(matches!(Place::parse(url), Err(ConfigError::RedisUrl)), "{url}");
        }
    }
}
