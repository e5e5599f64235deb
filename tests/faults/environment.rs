//! What the environment says, where the code is silent.

use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::time::Duration;

use ratelimit_kit::{
    Algorithm, Check, ConfigError, Limiter, LimiterBuilder, OnError, Rule, rate_limit,
};
use test_support::{Flavor, Link, Log, Node, NodeBuilder, Server, unique};

use crate::support::calls::{Told, block_on, call};
use crate::support::wait::secs;

const CHOSEN_BY_CODE: &str = "as the code says";
const CHOSEN_BY_URL: &str = "as RATELIMIT_REDIS_URL says";
const NOT_USED: &str = "RATELIMIT_REDIS_URL is set and not used";
const ALONE: &str = "limits hold for this process only";
const NO_SERVICE: &str = "rate limits have no service name";

fn rule(limit: u64) -> Rule {
    Rule::new("login", Algorithm::FixedWindow { limit, window: Duration::from_hours(1) })
}

/// A process of its own with these variables.
fn node<'a>(test: &'a str, variables: &[(&str, &str)]) -> NodeBuilder<'a> {
    variables.iter().fold(Node::builder(test), |node, (name, value)| node.env(name, value))
}

/// What a process of its own answers.
fn answers(test: &str, variables: &[(&str, &str)], question: &str) -> String {
    let mut node = node(test, variables).start();
    node.send(question);
    node.recv()
}

/// Answers one question of the test.
fn answer(mut link: Link, answer: impl FnOnce(&str) -> String) {
    let question = link.recv().unwrap();
    link.send(answer(&question));
}

/// Waits for the server, if there is one.
fn patient(builder: LimiterBuilder) -> Limiter {
    let limiter = builder.deadline(secs(5)).on_error(OnError::Closed).build().unwrap();
    block_on(limiter.ready()).unwrap();
    limiter
}

/// How many of some calls pass.
fn passed(limiter: &Limiter, rule: &Rule, calls: usize) -> usize {
    (0..calls).filter(|_| limiter.check_blocking(&Check::new(rule, "alice")).is_ok()).count()
}

/// Two processes whose code says something, but not which store, share their limits by the variable.
#[test]
fn a_builder_without_a_source_takes_that_of_the_environment() {
    const TEST: &str = "environment::a_builder_without_a_source_takes_that_of_the_environment";
    if let Some(link) = Link::attach() {
        return answer(link, |prefix| {
            let limiter = patient(Limiter::builder().prefix(prefix));
            passed(&limiter, &rule(5), 5).to_string()
        });
    }
    let server = Server::start(Flavor::Installed);
    let prefix = unique("environment");
    let url = server.url();
    let admitted = [(); 2].map(|()| answers(TEST, &[("RATELIMIT_REDIS_URL", &url)], &prefix));
    assert_eq!(admitted, ["5", "0"]);
}

/// One line says who has chosen the store, and that something is left aside.
#[test]
fn one_line_says_who_has_chosen_the_store() {
    const TEST: &str = "environment::one_line_says_who_has_chosen_the_store";
    if let Some(link) = Link::attach() {
        return answer(link, |how| {
            let log = Log::start();
            let builder = Limiter::builder().service("shop");
            let limiter = match how {
                "redis" => builder.redis("redis://127.0.0.1:1").build(),
                "embedded" => builder.embedded().build(),
                "nothing" => builder.build(),
                "from_env" => Limiter::from_env(),
                _ => Limiter::installed().cloned().map_err(|_| ConfigError::Thread),
            };
            drop(limiter.unwrap());
            log.text().replace('\n', " | ")
        });
    }
    let url = [("RATELIMIT_REDIS_URL", "redis://127.0.0.1:1"), ("RATELIMIT_SERVICE", "shop")];
    let all = [CHOSEN_BY_CODE, CHOSEN_BY_URL, NOT_USED, ALONE];
    for (how, variables, expected) in [
        ("redis", &[][..], &[CHOSEN_BY_CODE][..]),
        ("redis", &url, &[CHOSEN_BY_CODE, NOT_USED]),
        ("embedded", &[], &[CHOSEN_BY_CODE]),
        ("embedded", &url, &[CHOSEN_BY_CODE, NOT_USED]),
        ("nothing", &[], &[ALONE]),
        ("nothing", &url, &[CHOSEN_BY_URL]),
        ("from_env", &[], &[ALONE]),
        ("from_env", &url, &[CHOSEN_BY_URL]),
        ("installed", &[], &[ALONE]),
        ("installed", &url, &[CHOSEN_BY_URL]),
    ] {
        let log = answers(TEST, variables, how);
        let said: Vec<_> = all.into_iter().filter(|text| log.contains(text)).collect();
        assert_eq!(said, expected, "{how} with {variables:?}: {log}");
        let about_the_store = log.matches("rate limits are decided").count();
        assert_eq!(about_the_store + log.matches(ALONE).count(), 1, "{how}: {log}");
        assert!(!log.contains(NO_SERVICE), "{log}");
    }
}

/// A rule in Redis that is called after its function: the first is told, once, and nothing of that in process.
#[test]
fn f48_the_first_rule_without_a_name_is_told_once_on_redis() {
    const TEST: &str = "environment::f48_the_first_rule_without_a_name_is_told_once_on_redis";
    const CALLED_AFTER: &str = "a rule in Redis is called after its function";
    static LIMITER: OnceLock<Limiter> = OnceLock::new();

    #[rate_limit(name = "named", capacity = 9, refill = 1, limiter = LIMITER.get().unwrap())]
    fn named() -> Option<()> {
        Some(())
    }

    #[rate_limit(capacity = 9, refill = 1, limiter = LIMITER.get().unwrap())]
    fn unnamed() -> Option<()> {
        Some(())
    }

    #[rate_limit(capacity = 9, refill = 1, limiter = LIMITER.get().unwrap())]
    fn another() -> Option<()> {
        Some(())
    }

    if let Some(link) = Link::attach() {
        return answer(link, |url| {
            let log = Log::start();
            let builder = Limiter::builder().service("shop").on_error(OnError::Open);
            let builder = if url.is_empty() { builder.embedded() } else { builder.redis(url) };
            LIMITER.set(builder.build().unwrap()).unwrap();
            let before = [named(), named()].map(|_| log.lines(CALLED_AFTER).len());
            let calls = [unnamed(), another(), unnamed()];
            assert_eq!(calls, [Some(()); 3]);
            let lines = log.lines(CALLED_AFTER);
            let is_first = lines.iter().all(|line| line.contains("::unnamed"));
            format!("{before:?} {} {is_first}", lines.len())
        });
    }
    assert_eq!(answers(TEST, &[], "redis://127.0.0.1:1"), "[0, 0] 1 true");
    assert_eq!(answers(TEST, &[], ""), "[0, 0] 0 true");
}

/// On Redis without a service name, one warning says what can happen; nowhere else.
#[test]
fn a_missing_service_name_is_one_warning_on_redis() {
    const TEST: &str = "environment::a_missing_service_name_is_one_warning_on_redis";
    if let Some(link) = Link::attach() {
        return answer(link, |_| {
            let log = Log::start();
            Limiter::builder().build().unwrap();
            log.lines(NO_SERVICE).len().to_string()
        });
    }
    let url = ("RATELIMIT_REDIS_URL", "redis://127.0.0.1:1");
    assert_eq!(answers(TEST, &[url], ""), "1");
    assert_eq!(answers(TEST, &[url, ("RATELIMIT_SERVICE", " ")], ""), "1");
    assert_eq!(answers(TEST, &[url, ("RATELIMIT_SERVICE", "shop")], ""), "0");
    assert_eq!(answers(TEST, &[], ""), "0");
}

/// The operator's settings count, and the code's win, each by itself.
#[test]
fn the_environment_fills_what_the_code_leaves_open() {
    const TEST: &str = "environment::the_environment_fills_what_the_code_leaves_open";
    if let Some(link) = Link::attach() {
        return answer(link, |question| {
            let builder = Limiter::builder();
            let builder = match question {
                "code" => builder.on_error(OnError::Open).replicas(NonZeroU32::MIN),
                _ => builder,
            };
            let limiter = builder.build().unwrap();
            let passed = passed(&limiter, &rule(9), 9);
            format!(
                "{passed} {}",
                ratelimit_kit::__private::key_secret(&limiter).map_or(0, <[u8]>::len)
            )
        });
    }
    let secret = std::env::temp_dir().join(unique("secret"));
    std::fs::write(&secret, "S3cr3t\n").unwrap();
    let closed = [
        ("RATELIMIT_REDIS_URL", "redis://127.0.0.1:1"),
        ("RATELIMIT_REPLICAS", " 3 "),
        ("RATELIMIT_KEY_SECRET_FILE", secret.to_str().unwrap()),
        ("RATELIMIT_ON_ERROR", "Closed"),
    ];
    assert_eq!(answers(TEST, &closed, "environment"), "0 6");
    assert_eq!(answers(TEST, &closed[..3], "environment"), "3 6", "a third of nine");
    assert_eq!(answers(TEST, &closed, "code"), "9 6");
    assert_eq!(answers(TEST, &closed[..1], "environment"), "9 0");
    std::fs::remove_file(secret).unwrap();
}

/// Services of one Redis, with names from code and from the environment.
#[test]
fn b161_one_redis_several_services() {
    const TEST: &str = "environment::b161_one_redis_several_services";
    if let Some(mut link) = Link::attach() {
        let [url, prefix, limit] = [(); 3].map(|()| link.recv().unwrap());
        let limiter = patient(Limiter::builder().redis(url).prefix(prefix));
        let rule = rule(limit.parse().unwrap());
        while let Some(key) = link.recv() {
            link.send(format!("{:?}", call(&limiter, &rule, &key)));
        }
        return;
    }
    let server = Server::start(Flavor::Installed);
    let prefix = unique("services");
    for by_code in [true, false] {
        let prefix = format!("{prefix}-{by_code}");
        let mut services = ["mail", "shop", "shop", ""].map(|service| {
            let limit = if service == "shop" { 3 } else { 1_000 };
            if by_code {
                let builder = Limiter::builder().redis(server.url()).prefix(&*prefix);
                let limiter = patient(builder.service(service));
                let rule = rule(limit);
                return Box::new(move || format!("{:?}", call(&limiter, &rule, "alice")))
                    as Box<dyn FnMut() -> String>;
            }
            let mut node = node(TEST, &[("RATELIMIT_SERVICE", service)]).start();
            for line in [server.url(), prefix.clone(), limit.to_string()] {
                node.send(line);
            }
            Box::new(move || {
                node.send("alice");
                node.recv()
            })
        });
        let admitted = |left: u64| format!("{:?}", Told::Admitted(left));
        let [mail, shop, also_shop, nameless] = &mut services;
        let of_mail: Vec<_> = (0..5).map(|_| mail()).collect();
        assert_eq!(of_mail.last(), Some(&admitted(995)), "{of_mail:?}");
        let of_shop: Vec<_> = (0..4).map(|_| shop()).collect();
        assert_eq!(of_shop[..3], [2, 1, 0].map(admitted));
        assert!(of_shop[3].starts_with("Refused"), "{of_shop:?}");
        assert!(also_shop().starts_with("Refused"), "one service in two processes");
        assert_eq!(nameless(), admitted(999));
        let mut keys: Vec<String> = server.command(&["KEYS", &format!("{prefix}:*")]);
        keys.sort();
        let expected = ["login:fw1:alice", "mail:login:fw1s:alice", "shop:login:fw1s:alice"];
        assert_eq!(keys, expected.map(|key| format!("{prefix}:{key}")));
    }
    // Names that hold what separates names, and the longest ones.
    let of = |service: &str, rule: &'static str| {
        let builder = Limiter::builder().redis(server.url()).prefix(&*prefix).service(service);
        let rule = Rule::new(rule, self::rule(5).algorithm().unwrap());
        call(&patient(builder), &rule, "bob")
    };
    let long = "s".repeat(600);
    for (service, rule) in
        [("a", "b:login"), ("a:b", "login"), ("a%3Ab", "login"), (&*long, "login")]
    {
        assert_eq!(of(service, rule), Told::Admitted(4), "{service} {rule}");
    }
    let keys: Vec<String> = server.command(&["KEYS", "*bob"]);
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert!(keys.iter().all(|key| key.len() <= 512), "{keys:?}");
}

/// Sharing is written: on a rule of the one service, or of both.
#[test]
fn a_rule_can_use_the_budgets_of_another_service() {
    let server = Server::start(Flavor::Installed);
    let of = |service: &str| {
        patient(Limiter::builder().redis(server.url()).prefix("shared").service(service))
    };
    let (shop, mail) = (of("shop"), of("mail"));
    let shared = rule(3).with_service("shop");
    assert_eq!(call(&shop, &rule(3), "alice"), Told::Admitted(2));
    assert_eq!(call(&mail, &rule(3), "alice"), Told::Admitted(2));
    assert_eq!(call(&mail, &shared, "alice"), Told::Admitted(1));
    // Two rules of one name in one call, which are not one rule.
    let own = rule(3);
    let both = [Check::new(&shared, "alice"), Check::new(&own, "alice")];
    let decision = mail.check_all_blocking(&both).unwrap();
    let left: Vec<u64> =
        decision.outcomes().iter().map(ratelimit_kit::Outcome::remaining).collect();
    assert_eq!(left, [0, 1]);
    // In one process they are two as well.
    let embedded = Limiter::builder().embedded().build().unwrap();
    assert_eq!((passed(&embedded, &shared, 5), passed(&embedded, &rule(3), 5)), (3, 3));
}
