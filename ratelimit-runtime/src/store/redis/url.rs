//! Redis URLs.
//!
//! The file is this long because half of it are tables of URLs and of what is wrong with them.

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo};

use crate::error::{ConfigError, InvalidUrl};

/// Where Sentinels listen if a URL has no port.
const SENTINEL_PORT: u16 = 26379;

/// The servers that a URL names.
#[derive(Clone)]
pub(super) enum Topology {
    /// One server.
    Server(ConnectionInfo),
    /// The primary that Sentinels watch under a name.
    Sentinel {
        /// Where they are, and the login there.
        sentinels: Vec<ConnectionInfo>,
        /// The name.
        primary: String,
        /// The login at the primary.
        login: RedisConnectionInfo,
        tls: bool,
    },
    /// A cluster. Some of its nodes are known.
    Cluster { seeds: Vec<ConnectionInfo> },
}

impl Topology {
    /// `redis://`, `rediss://` (TLS) and `unix://` for one server, `redis+sentinel://host,host/name`
    /// and `redis+cluster://host,host` for several, both also as `rediss+…`.
    ///
    /// Errors name the part that is wrong, and quote nothing of the URL: it may hold a password.
    pub(super) fn parse(url: &str) -> Result<Self, ConfigError> {
        let (scheme, rest) = url.split_once("://").ok_or(wrong(InvalidUrl::Scheme))?;
        let scheme = scheme.to_ascii_lowercase();
        let tls =
            matches!(scheme.as_str(), "rediss" | "valkeys" | "rediss+sentinel" | "rediss+cluster");
        if tls && cfg!(not(feature = "tls")) {
            return Err(ConfigError::NoTlsFeature);
        }
        if rest.contains('#') {
            return Err(wrong(InvalidUrl::Unescaped { mark: '#' }));
        }
        let parts = Parts::of(rest, tls);
        match scheme.as_str() {
            "redis" | "rediss" | "valkey" | "valkeys" => parts.server(),
            "redis+sentinel" | "rediss+sentinel" => parts.sentinel(),
            "redis+cluster" | "rediss+cluster" => parts.cluster(),
            "unix" | "redis+unix" | "valkey+unix" => socket(rest, parts.query),
            _ => Err(wrong(InvalidUrl::Scheme)),
        }
    }
}

impl Topology {
    pub(super) const fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster { .. })
    }

    #[cfg(feature = "tls")]
    pub(super) fn is_tls(&self) -> bool {
        let is_tls = |info: &ConnectionInfo| matches!(info.addr(), ConnectionAddr::TcpTls { .. });
        match self {
            Self::Server(info) => is_tls(info),
            Self::Sentinel { tls, .. } => *tls,
            Self::Cluster { seeds } => seeds.iter().any(is_tls),
        }
    }
}

/// A URL that may have several hosts. The parser of the Redis client takes them one at a time.
struct Parts<'u> {
    tls: bool,
    /// Ends in `@`, or is empty.
    login: &'u str,
    hosts: &'u str,
    path: &'u str,
    query: &'u str,
}

impl<'u> Parts<'u> {
    fn of(rest: &'u str, tls: bool) -> Self {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let at = authority.rfind('@').map_or(0, |at| at + 1);
        let (login, hosts) = authority.split_at(at);
        Self { tls, login, hosts, path, query }
    }

    fn server(&self) -> Result<Topology, ConfigError> {
        self.check_login()?;
        if self.hosts.contains(',') {
            return Err(wrong(InvalidUrl::SeveralHosts));
        }
        let path = self.path.trim_matches('/');
        self.check(path)?;
        let host = Host::parse(self.hosts, 1, 1)?;
        Ok(Topology::Server(self.info(self.login, &host, path, self.query)?))
    }

    fn cluster(&self) -> Result<Topology, ConfigError> {
        self.check_login()?;
        // A cluster has one database.
        if !matches!(self.path, "" | "0") {
            return Err(wrong(InvalidUrl::ClusterDatabase));
        }
        self.check("")?;
        let seeds = self.each_host(|host| self.info(self.login, host, "0", self.query))?;
        Ok(Topology::Cluster { seeds })
    }

    fn sentinel(&self) -> Result<Topology, ConfigError> {
        self.check_login()?;
        let (primary, database) = self.path.split_once('/').unwrap_or((self.path, "0"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if primary.is_empty() || !primary.chars().all(is_plain) {
            return Err(wrong(InvalidUrl::Primary));
        }
        let database = database.trim_matches('/');
        self.check(database)?;
        let of_sentinel = |name: &str| self.parameter(name).unwrap_or("");
        let (user, password) = (of_sentinel("sentinel_user"), of_sentinel("sentinel_password"));
        if let Some(mark) = [user, password].concat().chars().find(|c| matches!(c, '/' | '?')) {
            return Err(wrong(InvalidUrl::Unescaped { mark }));
        }
        let login = if user.is_empty() && password.is_empty() {
            String::new()
        } else {
            format!("{user}:{password}@")
        };
        let sentinels = self.each_host(|host| {
            let port = host.port.unwrap_or(SENTINEL_PORT);
            self.info(&login, &Host { port: Some(port), ..*host }, "", "")
        })?;
        let others: Vec<&str> =
            self.query.split('&').filter(|pair| !pair.starts_with("sentinel_")).collect();
        let placeholder = Host { name: "primary", port: None, number: 1, of: 1 };
        let server = self.info(self.login, &placeholder, database, &others.join("&"))?;
        let (primary, login) = (primary.to_owned(), server.redis_settings().clone());
        Ok(Topology::Sentinel { sentinels, primary, login, tls: self.tls })
    }

    /// An unescaped `/` or `?` in a password ends the hosts too early, and the `@` is found after it.
    fn check_login(&self) -> Result<(), ConfigError> {
        const PARAMETERS: [&str; 3] = ["protocol", "sentinel_user", "sentinel_password"];
        if self.path.contains('@') {
            return Err(wrong(InvalidUrl::Unescaped { mark: '/' }));
        }
        let first = self.query.split(['=', '&']).next().unwrap_or_default();
        if self.query.contains('@') && !PARAMETERS.contains(&first) {
            return Err(wrong(InvalidUrl::Unescaped { mark: '?' }));
        }
        Ok(())
    }

    /// Checks what does not depend on the hosts.
    fn check(&self, database: &str) -> Result<(), ConfigError> {
        check_database(database)?;
        check_protocol(self.parameter("protocol"))
    }

    fn parameter(&self, name: &str) -> Option<&'u str> {
        parameter(self.query, name)
    }

    fn each_host(
        &self,
        info: impl Fn(&Host<'_>) -> Result<ConnectionInfo, ConfigError>,
    ) -> Result<Vec<ConnectionInfo>, ConfigError> {
        let of = self.hosts.split(',').count();
        let hosts = self.hosts.split(',').zip(1..);
        hosts.map(|(host, number)| info(&Host::parse(host, number, of)?)).collect()
    }

    /// One server, as the Redis client reads it.
    fn info(
        &self,
        login: &str,
        host: &Host<'_>,
        path: &str,
        query: &str,
    ) -> Result<ConnectionInfo, ConfigError> {
        let mark = if query.is_empty() { "" } else { "?" };
        let port = host.port.map(|port| format!(":{port}")).unwrap_or_default();
        let server = format!("{}{port}/{path}{mark}{query}", host.name);
        let parse = |login: &str| format!("redis://{login}{server}").into_connection_info();
        let info = parse(login).map_err(|_| {
            // All but the login and the host was checked.
            let login_is_wrong = parse("").is_ok();
            wrong(if login_is_wrong { InvalidUrl::Login } else { host.wrong() })
        })?;
        match info.addr() {
            ConnectionAddr::Tcp(name, _) if name.is_empty() => Err(wrong(host.wrong())),
            ConnectionAddr::Tcp(name, port) if self.tls => {
                let (host, port) = (name.clone(), *port);
                let addr = ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None };
                Ok(info.set_addr(addr))
            }
            _ => Ok(info),
        }
    }
}

/// One host of a list, and its number there.
#[derive(Clone, Copy)]
struct Host<'u> {
    /// With brackets around an IPv6 address.
    name: &'u str,
    port: Option<u16>,
    number: usize,
    of: usize,
}

impl<'u> Host<'u> {
    fn parse(text: &'u str, number: usize, of: usize) -> Result<Self, ConfigError> {
        let is_port = |(_, port): &(&str, &str)| !port.ends_with(']');
        let (name, port) = text.rsplit_once(':').filter(is_port).unwrap_or((text, ""));
        let host = Host { name, port: None, number, of };
        if name.is_empty() || (name.contains(':') && !name.starts_with('[')) {
            return Err(wrong(host.wrong()));
        }
        // A colon without a port is as good as none.
        let port = match port {
            "" => None,
            port => match port.parse() {
                Ok(0) | Err(_) => return Err(wrong(InvalidUrl::Port { number, of })),
                Ok(port) => Some(port),
            },
        };
        Ok(Self { port, ..host })
    }

    const fn wrong(&self) -> InvalidUrl {
        InvalidUrl::Host { number: self.number, of: self.of }
    }
}

/// A server that listens on a Unix socket.
fn socket(rest: &str, query: &str) -> Result<Topology, ConfigError> {
    check_database(parameter(query, "db").unwrap_or(""))?;
    check_protocol(parameter(query, "protocol"))?;
    let info = format!("unix://{rest}").into_connection_info();
    info.map(Topology::Server).map_err(|_| wrong(InvalidUrl::Host { number: 1, of: 1 }))
}

fn parameter<'u>(query: &'u str, name: &str) -> Option<&'u str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn check_database(database: &str) -> Result<(), ConfigError> {
    // Servers count them in 32 bits, and answer anything larger with a bare `ERR`.
    if database.is_empty() || database.parse::<i32>().is_ok_and(|database| database >= 0) {
        return Ok(());
    }
    Err(wrong(InvalidUrl::Database))
}

fn check_protocol(protocol: Option<&str>) -> Result<(), ConfigError> {
    match protocol {
        None | Some("2" | "3" | "resp2" | "resp3") => Ok(()),
        Some(_) => Err(wrong(InvalidUrl::Protocol)),
    }
}

const fn wrong(part: InvalidUrl) -> ConfigError {
    ConfigError::RedisUrl(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(infos: &[ConnectionInfo]) -> Vec<String> {
        infos.iter().map(|info| info.addr().to_string()).collect()
    }

    #[test]
    fn one_server() {
        let Ok(Topology::Server(info)) = Topology::parse("redis://u:p%40@h:1/2") else { panic!() };
        assert_eq!(info.addr().to_string(), "h:1");
        let login = info.redis_settings();
        assert_eq!((login.username(), login.password(), login.db()), (Some("u"), Some("p@"), 2));
        assert!(matches!(Topology::parse("unix:///tmp/socket"), Ok(Topology::Server(_))));
    }

    #[test]
    fn sentinels_and_their_own_login() {
        let url = "redis+sentinel://app:a%2Fb@s1,s2:5,[::1],s3:/main/3?sentinel_user=w&sentinel_password=x%40";
        let Ok(Topology::Sentinel { sentinels, primary, login, tls }) = Topology::parse(url) else {
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
        let Ok(Topology::Cluster { seeds }) = Topology::parse(url) else { panic!() };
        assert_eq!(addresses(&seeds), ["a:7000", "b:7001", "c:6379"]);
        assert!(seeds.iter().all(|seed| seed.redis_settings().password() == Some("p")));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn tls() {
        let Ok(Topology::Cluster { seeds }) = Topology::parse("rediss+cluster://a:7000") else {
            panic!()
        };
        assert!(matches!(seeds[0].addr(), ConnectionAddr::TcpTls { .. }));
        let topology = Topology::parse("rediss+sentinel://a/main");
        assert!(matches!(topology, Ok(Topology::Sentinel { tls: true, .. })));
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn no_tls() {
        for url in ["rediss://a", "rediss+sentinel://a/main", "rediss+cluster://a"] {
            assert!(matches!(Topology::parse(url), Err(ConfigError::NoTlsFeature)), "{url}");
        }
    }

    #[test]
    fn an_error_names_the_wrong_part_of_a_url() {
        use InvalidUrl::*;
        let unescaped = |mark| Unescaped { mark };
        let host = |number, of| Host { number, of };
        let port = |number, of| Port { number, of };
        for (url, part) in [
            ("", Scheme),
            ("localhost:6379", Scheme),
            ("redis//app:pw@host", Scheme),
            ("http://host", Scheme),
            ("redis://", host(1, 1)),
            ("redis://:6379", host(1, 1)),
            ("redis://::1", host(1, 1)),
            ("redis://[::1", host(1, 1)),
            ("redis://0.0.0.0", host(1, 1)),
            ("redis://app:pw@host:notaport", port(1, 1)),
            ("redis://host:0", port(1, 1)),
            ("redis://host:65536", port(1, 1)),
            ("redis://app:p#x@host", unescaped('#')),
            ("redis://app:1#x@host", unescaped('#')),
            ("redis://app:p/x@host", unescaped('/')),
            ("redis://app:1/2@host", unescaped('/')),
            ("redis://app:p?x@host", unescaped('?')),
            ("redis://app:1?2@host/3", unescaped('?')),
            ("redis://app:%FF@host", Login),
            ("redis://a,b", SeveralHosts),
            ("redis://host/main", Database),
            ("redis://host/-1", Database),
            ("redis://host/4294967296", Database),
            ("redis://host/2147483648", Database),
            ("redis+sentinel://host/main/9999999999", Database),
            ("unix:///socket?db=main", Database),
            ("redis://host?protocol=4", Protocol),
            ("redis+sentinel://host", Primary),
            ("redis+sentinel://host/", Primary),
            ("redis+sentinel://host/a b", Primary),
            ("redis+sentinel://host/main/zero", Database),
            ("redis+sentinel:///main", host(1, 1)),
            ("redis+sentinel://a,b:x,c/main", port(2, 3)),
            ("redis+sentinel://a/main?sentinel_password=a#b", unescaped('#')),
            ("redis+sentinel://a/main?sentinel_password=a/b", unescaped('/')),
            ("redis+cluster://", host(1, 1)),
            ("redis+cluster://a,,b", host(2, 3)),
            ("redis+cluster://a,b:", Scheme),
            ("redis+cluster://a,b:70000", port(2, 2)),
            ("redis+cluster://app:p/x@a,b", unescaped('/')),
            ("redis+cluster://a/1", ClusterDatabase),
        ] {
            match Topology::parse(url) {
                Err(error) => assert_eq!(error, ConfigError::RedisUrl(part), "{url}"),
                // A colon without a port is as good as none.
                Ok(_) => assert_eq!(url, "redis+cluster://a,b:"),
            }
        }
    }

    #[test]
    fn an_error_names_the_host_and_how_to_escape_a_character() {
        for (url, expected) in [
            (
                "redis://a:p#x@h",
                "the Redis URL is not valid: a `#` in a user, password or path is written %23",
            ),
            (
                "redis://h:x",
                "the Redis URL is not valid: the port of the host is not a number from 1 to 65535",
            ),
            (
                "redis+cluster://a,b:x",
                "the Redis URL is not valid: the port of host 2 of 2 is not a number from 1 to 65535",
            ),
        ] {
            assert_eq!(Topology::parse(url).err().unwrap().to_string(), expected);
        }
    }

    #[test]
    fn schemes_in_capitals_and_characters_that_need_no_escape() {
        let Ok(Topology::Server(info)) = Topology::parse("REDIS://u:a@b:c!@h:1/2") else {
            panic!()
        };
        assert_eq!(info.redis_settings().password(), Some("a@b:c!"));
        let url = "redis+sentinel://s/main?sentinel_password=a@b";
        let Ok(Topology::Sentinel { sentinels, .. }) = Topology::parse(url) else { panic!() };
        assert_eq!(sentinels[0].redis_settings().password(), Some("a@b"));
    }
}
