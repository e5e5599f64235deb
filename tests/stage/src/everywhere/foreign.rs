//! What a limiter did not write, where it keeps its state.

use futures_util::future::join_all;
use ratelimit_kit::Check;
use redis::{Cmd, cmd};
use test_support::unique;

use super::Kept;
use crate::algorithms::{Kind, ms, rule, secs};
use crate::place::Place;
use crate::real_time::Watch;
use crate::stage::{block_on, told};

/// Whatever stands where a limiter keeps its state, callers see no error, and the limit holds.
pub fn foreign(place: Place<'_>) {
    for kind in Kind::ALL {
        of_kind(place, kind);
    }
}

/// Something to put under a key.
pub struct Foreign {
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

    /// The command that puts it there.
    pub fn put(&self, key: &str) -> Cmd {
        let mut put = cmd(self.command);
        put.arg(key).arg(&self.values);
        put
    }
}

fn of_kind(place: Place<'_>, kind: Kind) {
    let prefix = unique("it");
    let limiter = place.limiter().prefix(&prefix).build().unwrap();
    let mut state = Kept::at(place, &prefix);
    let mut watch = Watch::of(place.servers()[0]);
    let rule = rule(kind.recovering(5, secs(60)));
    let mut calls = |count| {
        watch.stay_clear_of_multiples_of(secs(60), ms(500));
        let check = Check::new(&rule, "key");
        let calls = (0..count).map(|_| limiter.check(&check));
        block_on(join_all(calls))
            .into_iter()
            .filter(|call| told(call.clone()).is_admitted())
            .count()
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
    state.ask::<()>(cmd("DEL").arg(key));

    for foreign in foreign_values().chain(damaged(put_own, &own)) {
        let Foreign { command, values, least } = &foreign;
        state.ask::<()>(&foreign.put(key));
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
pub fn foreign_values() -> impl Iterator<Item = Foreign> {
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
pub fn damaged(command: &'static str, own: &[Vec<u8>]) -> impl Iterator<Item = Foreign> {
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
