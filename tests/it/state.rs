//! What Redis keeps: it expires, never too early, and heals whatever it became.

use std::thread;

use futures_util::future::join_all;
use ratelimit_kit::{Check, Limiter, Rate, Rule};
use redis::{Cmd, Connection, FromRedisValue, cmd};
use test_support::{Flavor, Server, unique};

use crate::algorithms::{Kind, leaky_bucket, ms, rule, secs, sliding_counter, token_bucket};
use crate::real_time::{Late, Schedule, Watch, on_schedule};
use crate::stage::{block_on, on_redis, on_server, told};

/// The state of a limiter, which is under its prefix, for the key that tests use.
struct State {
    prefix: String,
    connection: Connection,
}

impl State {
    fn on(server: &Server, prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), connection: server.connect() }
    }

    fn keys(&mut self) -> Vec<String> {
        let pattern = format!("{}:*:key", self.prefix);
        self.ask(cmd("KEYS").arg(pattern))
    }

    fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> T {
        command.query(&mut self.connection).unwrap()
    }

    /// The milliseconds after which a key expires; -1 if it does not, -2 if it has.
    fn pttl(&mut self, key: &str) -> i64 {
        self.ask(cmd("PTTL").arg(key))
    }
}

fn admitted(limiter: &Limiter, rule: &Rule) -> bool {
    told(limiter.check_blocking(&Check::new(rule, "key"))).allowed
}

/// A key that was made to stay for ever lets calls in again as if it had not been, and then
/// expires again.
#[test]
fn b045_a_state_key_without_expiry_heals_itself() {
    thread::scope(|scope| {
        for kind in Kind::ALL {
            scope.spawn(move || on_schedule(|redis| persisted(redis, kind)));
        }
    });
}

fn persisted(redis: &mut Schedule, kind: Kind) -> Result<(), Late> {
    let mut state = State::on(Server::shared(Flavor::Installed), &redis.prefix);
    let rule = rule(kind.recovering(2, secs(1)));
    redis.watch.stay_clear_of_multiples_of(secs(1), ms(200));
    redis.begin_with(|limiter| {
        let calls = [(); 3].map(|()| admitted(limiter, &rule));
        assert_eq!(calls, [true, true, false], "{kind:?}");
    })?;
    redis.begin_with(|_| {
        let keys = state.keys();
        assert!(!keys.is_empty());
        for key in &keys {
            assert_eq!(state.ask::<u8>(cmd("PERSIST").arg(key)), 1, "{kind:?}");
        }
    })?;

    let mut first = None;
    for t in (100..=3_000).step_by(100) {
        redis.at(t);
        if redis.admits(&rule, 1)? == 1 {
            first.get_or_insert(t);
            for key in state.keys() {
                assert!(state.pttl(&key) > 0, "{kind:?} at {t}: {key}");
            }
        }
    }
    let latest = if kind == Kind::SlidingCounter { 2_100 } else { 1_100 };
    assert!(first.is_some_and(|first| first <= latest), "{kind:?}: first at {first:?}");
    Ok(())
}

/// State lives as long as it matters, and not a millisecond less.
#[test]
fn b047_ttl_is_never_shorter_than_the_recovery_time() {
    on_schedule(|redis| {
        let prefixes = [(); 3].map(|()| unique("it"));
        let server = Server::shared(Flavor::Installed);
        let [a, b, c] = prefixes.each_ref().map(|p| on_redis().prefix(p).build().unwrap());
        let (slow, fast) = (Rate::new(1, secs(15)), Rate::new(1, ms(250)));
        let rules = [
            rule(token_bucket(3, slow)),
            rule(leaky_bucket(1, Rate::new(1, secs(10)))),
            rule(token_bucket(1, fast)),
        ];
        for (limiter, rule) in [(&a, &rules[0]), (&b, &rules[1]), (&c, &rules[2])] {
            // Connected, on a key of its own that stays clear of what is measured.
            block_on_connected(limiter, rule);
        }
        let before = redis.watch.now();
        redis.begin_with(|_| {
            for _ in 0..3 {
                assert!(admitted(&a, &rules[0]));
            }
            assert!(admitted(&b, &rules[1]));
            assert!(admitted(&c, &rules[2]));
        })?;
        for (prefix, recovery) in prefixes.iter().zip([secs(45), secs(10), ms(250)]) {
            let mut state = State::on(server, prefix);
            let keys = state.keys();
            assert_eq!(keys.len(), 1, "{keys:?}");
            // When, by the server's clock; -1 if never.
            let expires: i64 = state.ask(cmd("PEXPIRETIME").arg(&keys[0]));
            let earliest = i64::try_from((before + recovery).as_millis()).unwrap();
            assert!(expires >= earliest, "{expires} is before {earliest}");
        }

        let mut call = |t, limiter, rule, expected| -> Result<(), Late> {
            redis.at(t);
            let admitted = admitted(limiter, rule);
            redis.in_time()?;
            assert_eq!(admitted, expected, "at {t}: {rule:?}");
            Ok(())
        };
        call(200, &c, &rules[2], false)?;
        call(260, &c, &rules[2], true)?;
        call(2_000, &b, &rules[1], false)?;
        call(5_000, &b, &rules[1], false)?;
        call(9_900, &b, &rules[1], false)?;
        call(10_050, &b, &rules[1], true)?;
        call(14_000, &a, &rules[0], false)?;
        call(15_050, &a, &rules[0], true)?;
        call(15_060, &a, &rules[0], false)
    });
}

fn block_on_connected(limiter: &Limiter, rule: &Rule) {
    let look = Check::new(rule, "another key").cost(0);
    assert!(told(limiter.check_blocking(&look)).allowed);
}

/// A sliding counter's window is kept until nothing of it is in sight.
#[test]
fn b050_the_previous_window_is_still_there_when_it_is_needed() {
    on_schedule(|redis| {
        let (a, b) = (rule(sliding_counter(10, secs(1))), rule(sliding_counter(10, secs(1))));
        redis.begin_at_multiple_of(secs(1));
        redis.at(0);
        assert_eq!(redis.admits(&a, 10)?, 10);
        redis.at(950);
        assert_eq!(redis.admits(&b, 10)?, 10);
        redis.at(1_500);
        let half_gone = redis.admits(&b, 12)?;
        redis.at(1_850);
        let nearly_gone = redis.admits(&a, 12)?;
        assert!((5..=6).contains(&half_gone), "{half_gone}");
        assert!((8..=9).contains(&nearly_gone), "{nearly_gone}");
        Ok(())
    });
}

/// Whatever stands where a limiter keeps its state, callers see no error, and the limit holds.
#[test]
fn b051_a_foreign_or_damaged_value_under_a_state_key() {
    let server = Server::start(Flavor::Installed);
    for kind in Kind::ALL {
        foreign(&server, kind);
    }
}

/// Something to put under a key.
pub(crate) struct Foreign {
    command: &'static str,
    values: Vec<Vec<u8>>,
    /// How many of the calls it has to let in.
    least: usize,
}

impl Foreign {
    fn new(command: &'static str, values: &[&[u8]]) -> Self {
        let values = values.iter().map(|value| value.to_vec()).collect();
        Self { command, values, least: 5 }
    }

    pub(crate) fn put(&self, key: &str) -> Cmd {
        let mut put = cmd(self.command);
        put.arg(key).arg(&self.values);
        put
    }
}

fn foreign(server: &Server, kind: Kind) {
    let prefix = unique("it");
    let limiter = on_server(server).prefix(&prefix).build().unwrap();
    let mut state = State::on(server, &prefix);
    let mut watch = Watch::of(server);
    let rule = rule(kind.recovering(5, secs(60)));
    let mut calls = |count| {
        watch.stay_clear_of_multiples_of(secs(60), ms(500));
        let check = Check::new(&rule, "key");
        let calls = (0..count).map(|_| limiter.check(&check));
        block_on(join_all(calls)).into_iter().filter(|call| told(call.clone()).allowed).count()
    };
    assert_eq!(calls(5), 5);
    let keys = state.keys();
    let [key] = keys.as_slice() else { panic!("{kind:?} has the keys {keys:?}") };
    let own_type: String = state.ask(cmd("TYPE").arg(key));
    let own: Vec<Vec<u8>> = match own_type.as_str() {
        "list" => state.ask(cmd("LRANGE").arg(key).arg(0).arg(-1)),
        "string" => vec![state.ask(cmd("GET").arg(key))],
        other => panic!("{kind:?} keeps a {other}"),
    };
    let put_own = if own_type == "list" { "RPUSH" } else { "SET" };
    server.flush();

    for foreign in foreign_values().chain(damaged(put_own, &own)) {
        let Foreign { command, values, least } = &foreign;
        foreign.put(key).exec(&mut state.connection).unwrap();
        let admitted = calls(8);
        let what = || {
            let values: Vec<&[u8]> =
                values.iter().map(|value| &value[..value.len().min(80)]).collect();
            format!("{kind:?} on top of {command} {values:?}")
        };
        assert!((*least..=5).contains(&admitted), "{}: {admitted} admitted", what());
        if admitted > 0 {
            assert_eq!(state.ask::<String>(cmd("TYPE").arg(key)), own_type, "{}", what());
            assert!(state.pttl(key) > 0, "{}", what());
        }
        let _: u8 = state.ask(cmd("DEL").arg(key));
    }
}

/// What somebody else might have put under a key.
pub(crate) fn foreign_values() -> impl Iterator<Item = Foreign> {
    let large = vec![b'x'; 1 << 20];
    let strings: [&[u8]; 7] =
        [b"", b"abc", b"1.5", b"-7", b"99999999999999999999", &large, &[0xFF; 32]];
    let mut values = vec![
        Foreign::new("RPUSH", &[b"x"]),
        Foreign::new("RPUSH", &[&[0xFF; 13][..]; 9]),
        Foreign::new("SADD", &[b"x"]),
        Foreign::new("ZADD", &[b"inf", b"x"]),
        Foreign::new("XADD", &[b"*", b"x", b"y"]),
        Foreign::new("HSET", &[b"zz", b"1"]),
    ];
    values.extend(strings.map(|string| Foreign::new("SET", &[string])));
    values.into_iter()
}

/// State of our own that was damaged. It may still be readable, and say that little is left.
pub(crate) fn damaged(command: &'static str, own: &[Vec<u8>]) -> impl Iterator<Item = Foreign> {
    let mut damaged = Vec::new();
    for (place, value) in own.iter().enumerate() {
        let mut replace = |new: Vec<u8>| {
            let mut values = own.to_vec();
            values[place] = new;
            damaged.push(Foreign { command, values, least: 0 });
        };
        for len in 0..value.len() {
            replace(value[..len].to_vec());
        }
        for bit in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            replace(flipped);
        }
    }
    damaged.into_iter()
}
