//! Servers that lack commands, as managed services and proxies do.

use std::sync::Mutex;
use std::thread;

use ratelimit_kit::{Algorithm, Check, Limiter, Rate, RateLimitError, Rule};
use redis::Value;
use test_support::{Call, Flavor, Reply, Server, Stub, unique};

use crate::support::calls::{Told, block_on, call, connected, on, window};
use crate::support::wait::{secs, until};

/// A relay to a real server, but for what `own` answers itself.
fn relay(
    server: &Server,
    own: impl Fn(&str, &[Vec<u8>]) -> Option<Reply> + Send + Sync + 'static,
) -> Stub {
    let connection = Mutex::new(server.connect());
    Stub::start(move |words| {
        let name = String::from_utf8_lossy(&words[0]).to_uppercase();
        own(&name, words).unwrap_or_else(|| {
            let mut command = redis::cmd(&name);
            for word in &words[1..] {
                command.arg(word);
            }
            match command.query::<Value>(&mut connection.lock().unwrap()) {
                Ok(value) => reply(value),
                Err(error) => {
                    let (code, detail) = (error.code().unwrap_or("ERR"), error.detail());
                    Reply::error(&format!("{code} {}", detail.unwrap_or_default()))
                }
            }
        })
    })
}

fn reply(value: Value) -> Reply {
    match value {
        Value::Nil => Reply::Raw(b"$-1\r\n".to_vec()),
        Value::Int(number) => Reply::integer(number),
        Value::BulkString(text) => Reply::bulk(text),
        Value::Array(items) => Reply::array(items.into_iter().map(reply)),
        Value::SimpleString(text) => Reply::simple(&text),
        Value::Okay => Reply::simple("OK"),
        other => panic!("{other:?}"),
    }
}

fn unknown(name: &str) -> Reply {
    Reply::error(&format!("ERR unknown command '{name}', with args beginning with: 'x'"))
}

/// A rule of two for each algorithm.
fn rules() -> [Rule; 5] {
    let (limit, window) = (2, secs(600));
    [
        Algorithm::TokenBucket { capacity: 2, refill: Rate::new(1, secs(600)) },
        Algorithm::LeakyBucket { capacity: 2, leak: Rate::new(1, secs(600)) },
        Algorithm::FixedWindow { limit, window },
        Algorithm::SlidingLog { limit, window },
        Algorithm::SlidingCounter { limit, window, sub_windows: 1 },
    ]
    .map(|algorithm| Rule::named(unique("rule"), algorithm))
}

/// Whether checks are admitted, by the server.
fn admits(limiter: &Limiter, checks: &[Check<'_>]) -> bool {
    match block_on(limiter.check_all(checks)) {
        Ok(decision) => {
            assert_eq!(decision.degraded(), None);
            true
        }
        Err(RateLimitError::Limited(refusal)) => {
            assert_eq!(refusal.decision().degraded(), None);
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// Two calls of each rule and of two rules are admitted, and the third is not; a hundred keys are.
fn decides(limiter: &Limiter) {
    let (rules, other) = (rules(), window(1));
    for rule in &rules {
        let check = [Check::new(rule, "key")];
        let told = [(); 3].map(|()| admits(limiter, &check));
        assert_eq!(told, [true, true, false], "{:?}", rule.algorithm());
    }
    for key in 0..100 {
        let key = key.to_string();
        let check = Check::new(&rules[key.len() % 5], &key);
        assert!(admits(limiter, std::slice::from_ref(&check)), "{key}");
        let both = [check, Check::new(&other, &key)];
        assert!(admits(limiter, &both) && !admits(limiter, &both), "{key}");
    }
}

const ALL: u64 = ratelimit_lua::ALL.len() as u64;

/// What cannot be uploaded is sent along with a call, once for each script where the server keeps it.
#[test]
fn b130_a_user_without_script() {
    for flavor in Flavor::ALL {
        let rules = "~* &* +@all -script";
        let server = Server::builder(flavor).user("app", "w0rd", rules).start();
        let limiter = connected(on(server.url_of("app", "w0rd")));
        decides(&limiter);
        let (evals, uploads) = (server.calls("eval"), server.calls("script|load"));
        assert!((1..=ALL).contains(&evals), "{evals} scripts were sent along");
        assert_eq!(uploads, 0);
    }
}

/// The same where it forgets each script at once. Each is offered for upload once.
#[test]
fn b130_a_server_without_script_that_keeps_none() {
    let server = Server::start(Flavor::Installed);
    let stub = relay(&server, |name, _| match name {
        "SCRIPT" => Some(unknown(name)),
        "EVALSHA" => Some(Reply::error("NOSCRIPT No matching script. Please use EVAL.")),
        _ => None,
    });
    let limiter = connected(on(stub.url()));
    decides(&limiter);
    assert_eq!(stub.calls("SCRIPT").len() as u64, ALL);
    assert_eq!(stub.connections().len(), 1);
}

/// A server that takes scripts, and has lost each by the next call, decides too.
#[test]
fn a_server_that_forgets_scripts_at_once() {
    let server = Server::start(Flavor::Installed);
    let stub = relay(&server, |name, _| match name {
        "EVALSHA" => Some(Reply::error("NOSCRIPT No matching script. Please use EVAL.")),
        _ => None,
    });
    decides(&connected(on(stub.url())));
}

/// A call is sent along with its script only after an answer that proves that it did not run.
#[test]
fn a_lost_answer_is_no_reason_to_send_the_script_along() {
    for lost in [Reply::Close, Reply::Silence, Reply::error("ERR something else")] {
        let stub = Stub::start(move |words| match words[0].as_slice() {
            b"EVALSHA" if words[3].ends_with(b":probe") => Reply::bulk([1]),
            b"EVALSHA" => lost.clone(),
            _ => Reply::Usual,
        });
        let limiter = connected(on(stub.url()));
        assert!(matches!(call(&limiter, &window(5), "key"), Told::Failed(_)));
        let calls = stub.calls("EVALSHA");
        let calls = calls.iter().filter(|call| !call.words[3].ends_with(b":probe"));
        assert_eq!((stub.calls("EVAL").len(), calls.count()), (0, 1));
    }
}

/// Commands that are asked for good advice may be unknown.
#[test]
fn b131_what_is_not_needed_may_be_unknown() {
    let lacks: [&[&str]; 3] = [&["INFO"], &["INFO", "PING"], &["INFO", "PING", "CLIENT", "HELLO"]];
    let server = Server::start(Flavor::Installed);
    for lacking in lacks {
        let stub = relay(&server, |name, _| lacking.contains(&name).then(|| unknown(name)));
        // Whatever the URL says of the protocol.
        let limiter = connected(on(format!("{}?protocol=resp3", stub.url())));
        let rule = window(2);
        let told = [(); 3].map(|()| call(&limiter, &rule, "key"));
        assert_eq!(told[..2], [Told::Admitted(1), Told::Admitted(0)]);
        assert!(matches!(told[2], Told::Refused(_)), "{told:?}");
        thread::sleep(secs(3));
        assert!(matches!(call(&limiter, &rule, "key"), Told::Refused(_)));
        assert_eq!(stub.connections().len(), 1);
    }
}

/// Nor is it needed that `INFO` says which version or role it is, or that Sentinels know more than
/// the address.
#[test]
fn b131_answers_may_lack_what_is_not_needed() {
    let server = Server::start(Flavor::Installed);
    let stub = relay(&server, |name, _| (name == "INFO").then(|| Reply::bulk("# Nothing\r\n")));
    let port = stub.port().to_string();
    let sentinel = Stub::start(move |words| match words[0].as_slice() {
        b"SENTINEL" if words[1].eq_ignore_ascii_case(b"MASTER") => unknown("SENTINEL"),
        b"SENTINEL" => Reply::array([Reply::bulk("127.0.0.1"), Reply::bulk(&port)]),
        _ => Reply::Usual,
    });
    let url = format!("redis+sentinel://127.0.0.1:{}/main", sentinel.port());
    let limiter = connected(on(url));
    assert_eq!(call(&limiter, &window(5), "key"), Told::Admitted(4));
}

/// What is needed and unknown is named, with what it is for, and with the server's words where these
/// cannot quote a key.
#[test]
fn errors_name_the_command() {
    let says = |url: String, expected: &str| {
        let limiter = on(url).build().unwrap();
        let error = block_on(limiter.ready()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("with args"), "{error}");
    };
    let knows_nothing = Stub::start(|words| unknown(&String::from_utf8_lossy(&words[0])));
    let port = knows_nothing.port();
    says(knows_nothing.url(), "ERR unknown command: it needs EVALSHA, and SCRIPT LOAD or EVAL");
    let asked = "CLUSTER SLOTS (which node has which keys): ERR unknown command 'CLUSTER'";
    says(format!("redis+cluster://127.0.0.1:{port}"), asked);
    let asked = "SENTINEL GET-MASTER-ADDR-BY-NAME (which server is the primary): \
                 ERR unknown command 'SENTINEL'";
    says(format!("redis+sentinel://127.0.0.1:{port}/main"), asked);

    let denied = Stub::start(|words| match words[0].as_slice() {
        b"CLUSTER" => Reply::error("NOPERM this user has no permissions to run 'cluster|slots'"),
        _ => Reply::Usual,
    });
    let asked = "NOPERM: the user lacks CLUSTER SLOTS (which node has which keys)";
    says(format!("redis+cluster://127.0.0.1:{}", denied.port()), asked);

    let slow = Stub::start(|words| match words[0].as_slice() {
        b"SCRIPT" => Reply::Silence,
        b"EVALSHA" => Reply::bulk([1]),
        _ => Reply::Usual,
    });
    says(slow.url(), "SCRIPT LOAD (to upload the scripts): timed out");

    // As Redis 6.2 says, to a user who may not ask for INFO.
    let old = Stub::start(|words| match words[0].as_slice() {
        b"INFO" => Reply::error("NOPERM this user has no permissions to run the 'info' command"),
        b"SCRIPT" => Reply::error(
            "ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'",
        ),
        b"EVALSHA" => Reply::error("NOSCRIPT No matching script. Please use EVAL."),
        _ => Reply::Usual,
    });
    says(old.url(), "it cannot compile the scripts: Redis 7.0 or newer is needed");
}

/// A server that forgets its scripts while nobody calls has them again before somebody does.
#[test]
fn scripts_that_were_flushed_come_back_by_themselves() {
    let server = Server::start(Flavor::Installed);
    let limiter = connected(on(server.url()));
    server.command::<()>(&["SCRIPT", "FLUSH"]);
    let exists = || {
        let mut words = vec!["SCRIPT", "EXISTS"];
        words.extend(ratelimit_lua::ALL.iter().map(|script| script.sha1));
        server.command::<Vec<bool>>(&words).into_iter().all(|exists| exists)
    };
    until(secs(3), "the scripts", exists);
    assert_eq!(call(&limiter, &window(5), "key"), Told::Admitted(4));
}

/// What a user may not do is found out before the first call, for each command that a script uses.
#[test]
fn ready_names_the_command_of_a_script_that_is_not_permitted() {
    const COMMANDS: [&str; 11] = [
        "time", "get", "set", "del", "pttl", "pexpire", "lindex", "lrange", "lset", "ltrim",
        "rpush",
    ];
    for flavor in Flavor::ALL {
        let server = Server::start(flavor);
        let says = |lacks: &str, keys: &str| {
            let user = unique("user");
            let rules = format!("on >pw {keys} &* +@all {lacks}");
            let mut words = vec!["ACL", "SETUSER", &user];
            words.extend(rules.split_whitespace());
            server.command::<()>(&words);
            let limiter = on(server.url_of(&user, "pw")).build().unwrap();
            block_on(limiter.ready()).map_err(|error| error.to_string())
        };
        for command in COMMANDS {
            let error = says(&format!("-{command}"), "~*").unwrap_err();
            let expected =
                format!("NOPERM: the user lacks {}, which the scripts use", command.to_uppercase());
            assert!(error.ends_with(&expected), "{flavor:?}: {error}");
        }
        let error = says("-rpush -lset", "~*").unwrap_err();
        assert!(error.contains("lacks LSET, RPUSH,"), "{error}");
        // Which keys it may use is for calls to find out.
        assert_eq!(says("", "~other:*"), Ok(()));
    }
}

/// Each node is asked about a key of its own: without one a node of a cluster that is down answers as if
/// nothing were wrong.
#[test]
fn ready_asks_a_cluster_about_keys() {
    let node = Stub::start(|_| Reply::Usual);
    let port = i64::from(node.port());
    let about_keys = |answer: Reply| {
        node.answer(move |words| match words[0].as_slice() {
            b"CLUSTER" => {
                let owner = Reply::array([Reply::bulk("127.0.0.1"), Reply::integer(port)]);
                Reply::array([Reply::array([Reply::integer(0), Reply::integer(16_383), owner])])
            }
            b"EVALSHA" if words[2] != b"0" => answer.clone(),
            b"EVALSHA" => Reply::array([]),
            _ => Reply::Usual,
        });
        let limiter = on(format!("redis+cluster://127.0.0.1:{port}")).build().unwrap();
        block_on(limiter.ready()).map_err(|error| error.to_string())
    };
    let error = about_keys(Reply::error("CLUSTERDOWN The cluster is down")).unwrap_err();
    assert!(error.contains("CLUSTERDOWN"), "{error}");
    assert!(about_keys(Reply::Silence).unwrap_err().contains("timed out"));
    for fine in [
        Reply::bulk([1]),
        Reply::error("MOVED 1 127.0.0.1:1"),
        Reply::error("TRYAGAIN Multiple keys request during rehashing of slot"),
        Reply::error("NOPERM No permissions to access a key"),
    ] {
        assert_eq!(about_keys(fine), Ok(()));
    }
}

/// A node that takes its time delays the others no more than itself.
#[test]
fn ready_asks_the_nodes_of_a_cluster_together() {
    let nodes = [(); 2].map(|()| Stub::start(|_| Reply::Usual));
    let owner = |node: &Stub, first, last| {
        let address = [Reply::bulk("127.0.0.1"), Reply::integer(node.port().into())];
        Reply::array([Reply::integer(first), Reply::integer(last), Reply::array(address)])
    };
    let slots = Reply::array([owner(&nodes[0], 0, 8_191), owner(&nodes[1], 8_192, 16_383)]);
    for node in &nodes {
        let slots = slots.clone();
        node.answer(move |words| match words[0].as_slice() {
            b"CLUSTER" => slots.clone(),
            b"EVALSHA" if words[2] != b"0" => Reply::Silence,
            b"EVALSHA" => Reply::array([]),
            _ => Reply::Usual,
        });
    }
    let limiter = on(format!("redis+cluster://127.0.0.1:{}", nodes[0].port())).build().unwrap();
    let error = block_on(limiter.ready()).unwrap_err().to_string();
    assert!(error.contains("timed out"), "{error}");
    for node in &nodes {
        let is_asked = |call: &Call| call.words[2] != b"0";
        assert!(node.calls("EVALSHA").iter().any(is_asked), "{}", node.url());
    }
}
