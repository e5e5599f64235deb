//! Behind two nginx, one behind the other, in the configuration of `docs/gateway.md`; the client is curl.
//!
//! All of them are on the loopback interface, each with an address of its own: 127.0.0.2 and 127.0.0.3
//! are the proxies, 127.0.1.x are clients.

use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use ratelimit_kit::{Algorithm, ClientIp, LimitKey, RateLimitLayer, RequestContext, Rule};
use test_support::Nginx;

use crate::support::limiter;
use crate::support::site::Site;

/// The configurations of the page, in their order.
fn documented() -> Vec<String> {
    let page = include_str!("../../docs/gateway.md");
    let blocks = page.split("```nginx\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The way that requests go. Ends with the test.
struct Way {
    outer: Nginx,
    _inner: Nginx,
    service: SocketAddr,
}

impl Way {
    fn new() -> Self {
        let proxies = ClientIp::behind(["127.0.0.2", "127.0.0.3"]).unwrap();
        let layer = RateLimitLayer::new()
            .client_ip(proxies)
            .user(|of| of.header("x-user-id").map(str::to_owned));
        let service = Site::new(limiter(), layer).on_axum();
        let [outer, inner] = &documented()[..] else { panic!("two configurations") };
        let place = |text: &str, from: &str, to: &str| {
            assert!(text.contains(from), "no {from} in {text}");
            text.replace(from, to)
        };
        // Where they are, and from which address they ask.
        let inner = place(inner, "10.0.0.10:3000", &service.to_string());
        let inner = Nginx::start(&format!("proxy_bind 127.0.0.3;\n{inner}"));
        let outer = place(outer, "10.0.0.3:80", &format!("127.0.0.1:{}", inner.port()));
        let outer = Nginx::start(&format!("proxy_bind 127.0.0.2;\n{outer}"));
        Self { outer, _inner: inner, service }
    }

    fn gateway(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.outer.port()).into()
    }
}

/// What curl shows of an answer.
struct Seen {
    status: u16,
    head: String,
    body: String,
}

fn curl(from: &str, address: SocketAddr, path: &str, headers: &[&str]) -> Seen {
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--include", "--max-time", "20", "--noproxy", "*"]);
    command.args(["--interface", from]);
    for header in headers {
        command.args(["--header", header]);
    }
    let output = command.arg(format!("http://{address}{path}")).output();
    let output = output.expect("curl is there after `cargo xtask test`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Seen { status, head: head.to_lowercase(), body: body.to_owned() }
}

#[test]
fn clients_are_found_behind_two_proxies() {
    let way = Way::new();
    let ask = |from: &str, headers: &[&str]| curl(from, way.gateway(), "/ip", headers);
    // Whatever a client writes, it is one client.
    assert_eq!(ask("127.0.1.1", &["X-Forwarded-For: 9.9.9.9"]).status, 200);
    assert_eq!(ask("127.0.1.1", &["X-Forwarded-For: 127.0.0.2", "X-Real-IP: 8.8.8.8"]).status, 200);
    let refused =
        ask("127.0.1.1", &["X-Forwarded-For: 7.7.7.7, 127.0.0.3", "Forwarded: for=6.6.6.6"]);
    assert_eq!(refused.status, 429, "{}", refused.head);
    assert!(refused.head.contains("\r\nretry-after: 60"), "{}", refused.head);
    assert!(refused.head.contains("\r\nratelimit: \"ip\";r=0;t=60"), "{}", refused.head);
    assert!(refused.body.contains("Too Many Requests"), "{}", refused.body);
    // Another one.
    assert_eq!(ask("127.0.1.2", &[]).status, 200);
    // Around the proxies, nothing that it writes is believed: it is that other client still.
    let around = |header| curl("127.0.1.2", way.service, "/ip", &[header]).status;
    assert_eq!(around("X-Forwarded-For: 127.0.1.9, 127.0.0.2"), 200);
    assert_eq!(around("X-Forwarded-For: 127.0.1.8"), 429);
    // What the gateway does not know.
    let user =
        |from, user: &str| curl(from, way.gateway(), "/user", &[&format!("X-User-Id: {user}")]);
    let statuses = ["127.0.1.3", "127.0.1.4", "127.0.1.5"].map(|from| user(from, "ann").status);
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(user("127.0.1.5", "bob").status, 200);
}

/// A cache in front keeps what a service does not forbid. What one client has brought about is nobody else's
/// page, whatever that client says of itself.
#[test]
fn no_cache_keeps_a_refusal() {
    let window = Duration::from_mins(1);
    let rule = Rule::new("page", Algorithm::FixedWindow { limit: 1, window });
    let who = |context: &RequestContext| {
        LimitKey::from(context.header("x-who").unwrap_or_default().escape_ascii().to_string())
    };
    let layer = RateLimitLayer::new().limiter(limiter()).limit(rule, who);
    let service = Site::new(limiter(), layer).on_axum();
    let cache = Nginx::start(&format!(
        "proxy_cache_path cache keys_zone=pages:1m;
         server {{
             listen 80;
             location / {{
                 proxy_pass http://{service};
                 proxy_cache pages;
                 proxy_cache_valid any 1m;
                 add_header X-Cache $upstream_cache_status always;
             }}
         }}"
    ));
    let cache = ([127, 0, 0, 1], cache.port()).into();
    let attacker = ["X-Who: attacker", "Content-Type: application/grpc"];
    let stranger = ["X-Who: stranger"];
    let see = |from: &[&str], status: u16, cached: &str| {
        let seen = curl("127.0.1.1", cache, "/free", from);
        assert_eq!(seen.status, status, "{}", seen.head);
        assert!(seen.head.contains(&format!("\r\nx-cache: {cached}")), "{}", seen.head);
        seen
    };
    // The attacker's budget is used up elsewhere.
    assert_eq!(curl("127.0.1.1", service, "/free", &attacker).status, 200);
    let refused = see(&attacker, 429, "miss");
    assert!(
        refused.head.contains("\r\ncontent-type: application/problem+json"),
        "{}",
        refused.head
    );
    see(&attacker, 429, "miss");
    assert_eq!(see(&stranger, 200, "miss").body, "free");
    // And the page is kept, as nginx is told.
    see(&attacker, 200, "hit");
}

#[test]
fn floods_end_at_the_gateway() {
    let way = Way::new();
    let started = Instant::now();
    // From one curl, over one connection: that is fast enough on slow machines too.
    let flood = curl("127.0.1.7", way.gateway(), "/free?[1-300]", &[]);
    // Twenty-one at once, and ten a second.
    let most = 22.0 + 10.0 * started.elapsed().as_secs_f64();
    let passed = flood.body.matches("HTTP/1.1 200").count() + 1;
    assert!(passed >= 21, "{passed}");
    assert!(f64::from(u32::try_from(passed).unwrap()) <= most, "nginx lets {passed} pass");
    let refused = flood.body.split("HTTP/1.1 ").find(|answer| answer.starts_with("429"));
    let refused = refused.expect("nginx lets everything pass").to_lowercase();
    assert!(!refused.contains("ratelimit"), "it is nginx that says so: {refused}");
    // By address: others are not affected.
    assert_eq!(curl("127.0.1.8", way.gateway(), "/free", &[]).status, 200);
}
