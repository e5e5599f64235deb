//! A service that installs no limiter: what its environment says, and what its log says when that is
//! wrong.

use std::convert::Infallible;

use ratelimit_kit::{Algorithm, Limiter, Rate, RateLimitError, RateLimitLayer, Rule, rate_limit};
use test_support::{Link, Log, Node};
use tower::{Layer as _, ServiceExt as _, service_fn};

const TEST: &str = "environment::b129_blank_and_wrong_variables";
const ALONE: &str = "limits hold for this process only";

/// What a service says and does with one variable.
struct Seen {
    statuses: String,
    /// Without a word of the log in between.
    from_env: String,
    errors: Vec<String>,
    log: String,
}

#[test]
fn b129_blank_and_wrong_variables() {
    if let Some(link) = Link::attach() {
        return service(link);
    }
    for blank in ["", " ", "\t"] {
        for name in ["RATELIMIT_REDIS_URL", "RATELIMIT_REDIS_CA", "RATELIMIT_MODE"] {
            let seen = with(&[(name, blank)]);
            assert_eq!(seen.statuses, "[200, 200, 429] [200, 200, 429]", "{name}={blank:?}");
            assert_eq!((&*seen.from_env, seen.errors.len()), ("ok", 0), "{name}={blank:?}");
            assert_eq!(seen.log.matches(ALONE).count(), 2, "one of each limiter: {}", seen.log);
        }
    }
    for (mode, statuses) in [
        ("OFF", "[200, 200, 200] [200, 200, 200]"),
        ("Shadow", "[200, 200, 200] [200, 200, 200]"),
        (" off ", "[200, 200, 200] [200, 200, 200]"),
        ("Enforce", "[200, 200, 429] [200, 200, 429]"),
    ] {
        let seen = with(&[("RATELIMIT_MODE", mode)]);
        assert_eq!((&*seen.statuses, &*seen.from_env), (statuses, "ok"), "{mode}");
    }
    for (name, value) in [
        ("RATELIMIT_REDIS_URL", "localhost:6379"),
        ("RATELIMIT_REDIS_URL", "redis://S3cr3t:S3cr3t@h:port"),
        ("RATELIMIT_REDIS_URL", "http://S3cr3t@h"),
        ("RATELIMIT_REDIS_URL", "redis-sentinel://S3cr3t@h"),
        ("RATELIMIT_MODE", "of"),
        ("RATELIMIT_REPLICAS", "0"),
        ("RATELIMIT_KEY_SECRET_FILE", "/no/such/S3cr3t"),
        // With the URL beside it.
        ("RATELIMIT_REDIS_CA", "/no/such/S3cr3t"),
    ] {
        let url = [(name, value), ("RATELIMIT_REDIS_URL", "rediss://localhost:1")];
        let seen = with(if name == "RATELIMIT_REDIS_CA" { &url } else { &url[..1] });
        assert_eq!(seen.statuses, "[500, 500, 500] [500, 500, 500]", "{name}={value}");
        // Rules of a layer, and functions: one line of all six calls.
        let [error] = &seen.errors[..] else { panic!("{name}={value}: {:#?}", seen.errors) };
        for text in [error, &seen.from_env] {
            assert!(text.contains(&format!("{name}: ")), "{name}={value}: {text}");
        }
        assert!(!seen.log.contains("S3cr3t"), "{}", seen.log);
        assert!(!seen.from_env.contains("S3cr3t"), "{}", seen.from_env);
    }
}

fn with(environment: &[(&str, &str)]) -> Seen {
    let mut node = Node::builder(TEST);
    for (name, value) in environment {
        node = node.env(name, value);
    }
    let mut node = node.start();
    let (statuses, from_env) = (node.recv(), node.recv());
    let lines: usize = node.recv().parse().unwrap();
    let errors = (0..lines).map(|_| node.recv()).collect();
    let log = node.recv();
    Seen { statuses, from_env, errors, log }
}

#[rate_limit(name = "environment-function", capacity = 2, refill = "1/h")]
fn limited() -> Result<(), RateLimitError> {
    Ok(())
}

/// Three requests for a limited function, and three for a service with a rule of its layer.
fn service(mut link: Link) {
    let log = Log::start();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ask = |layer: RateLimitLayer, is_limited: bool| {
        let handler = service_fn(move |_: hyper::Request<()>| {
            let status = match limited() {
                Err(error) if is_limited => error.http_status(),
                _ => 200,
            };
            let response = hyper::Response::builder().status(status).body(String::new());
            std::future::ready(Ok::<_, Infallible>(response.unwrap()))
        });
        let service = layer.layer(handler);
        runtime.block_on(async {
            let mut statuses = Vec::new();
            for _ in 0..3 {
                let asked = service.clone().oneshot(hyper::Request::default()).await;
                statuses.push(asked.unwrap().status().as_u16());
            }
            statuses
        })
    };
    let of_function = ask(RateLimitLayer::new(), true);
    let rule = Rule::new(
        "environment-layer",
        Algorithm::TokenBucket { capacity: 2, refill: Rate::per_hour(1) },
    );
    let of_layer = ask(RateLimitLayer::new().limit(rule, |_| "all".into()), false);
    link.send(format!("{of_function:?} {of_layer:?}"));
    let errors = log.lines("ERROR");
    link.send(match Limiter::from_env() {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string(),
    });
    link.send(errors.len());
    for line in errors {
        link.send(line);
    }
    link.send(log.text().replace('\n', " | "));
}
