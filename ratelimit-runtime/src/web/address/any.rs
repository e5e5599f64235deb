//! Whatever stands in the headers: there is an address, and it is one that somebody who is trusted has
//! seen.

use std::net::IpAddr;

use proptest::prelude::*;
use proptest::sample::select;

use super::{ClientIp, forwarded};
use crate::address::{canonical, parse};

/// 20,000 on every run; `ADDRESS_CASES=1000000 cargo test -p ratelimit-runtime --all-features any::` for
/// more.
fn cases() -> ProptestConfig {
    let cases = std::env::var("ADDRESS_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases.unwrap_or(20_000))
    }
}

/// What headers are made of, right or wrong.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&[u8]> = vec![
        b"for=",
        b"For = ",
        b"FOR=",
        b"by=",
        b"proto=https",
        b"=",
        b";",
        b",",
        b" , ",
        b"\"",
        b"\\",
        b"\\\"",
        b"[",
        b"]",
        b":",
        b":80",
        b"%eth0",
        b"_hidden",
        b"unknown",
        b"10.0.0.1",
        b"10.9.9.9",
        b"203.0.113.7",
        b"::ffff:10.0.0.1",
        b"2001:db8::1",
        b"[2001:db8::1]:443",
        b"64:ff9b::102:304",
        b"64:ff9b:1::a00:1",
        b"::ffff:0:10.0.0.1",
        b"2002:a00:1::1",
        b"2002:cb00:7107::1",
        b"2001:0:4136:e378:8000:63bf:f5ff:fffa",
        b"fe80::1",
        b"::",
        b" ",
        b"\t",
        b"\xff",
        b"\xc3\xa9",
        b"0",
        b"1.2.3.4.5",
    ];
    let words = select(words).prop_map(<[u8]>::to_vec);
    prop_oneof![9 => words, 1 => prop::collection::vec(any::<u8>(), 0..4)]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(fragment(), 0..12).prop_map(|fragments| fragments.concat())
}

fn values() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop_oneof![
        9 => prop::collection::vec(value(), 0..4),
        1 => prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..4),
    ]
}

fn address() -> impl Strategy<Value = IpAddr> {
    let known = [
        "10.0.0.1",
        "::ffff:10.0.0.1",
        "203.0.113.7",
        "2001:db8::1",
        "64:ff9b::a00:1",
        "2002:a00:1::1",
        "2002:cb00:7107::1",
    ];
    let known = select(known.to_vec()).prop_map(|text| text.parse().unwrap());
    prop_oneof![known, any::<IpAddr>()]
}

fn ways() -> impl Strategy<Value = ClientIp> {
    let way = prop_oneof![
        Just(ClientIp::of_peer()),
        Just(ClientIp::behind(["10.0.0.0/8", "2001:db8::/32"]).unwrap()),
        (0..5_usize).prop_map(ClientIp::behind_hops),
        Just(ClientIp::dangerously_trusting_everybody()),
    ];
    (way, any::<bool>())
        .prop_map(|(way, forwarded)| if forwarded { way.with_forwarded() } else { way })
}

fn find(how: &ClientIp, peer: IpAddr, values: &[Vec<u8>]) -> IpAddr {
    how.find(peer, values.iter().map(Vec::as_slice))
}

/// `Forwarded`, read the slow way: first every byte is marked as quoted or not, then the marks are used.
fn reference(value: &[u8]) -> Vec<Option<IpAddr>> {
    let mut marked: Vec<(u8, bool)> = Vec::new();
    let mut bytes = value.iter().copied();
    let mut inside = false;
    while let Some(byte) = bytes.next() {
        let quote = byte == b'"';
        marked.push((byte, inside || quote));
        if inside && byte == b'\\' {
            marked.extend(bytes.next().map(|next| (next, true)));
        } else if quote {
            inside = !inside;
        }
    }
    let cut = |text: &[(u8, bool)], at: u8| -> Vec<Vec<(u8, bool)>> {
        text.split(|marked| *marked == (at, false)).map(<[_]>::to_vec).collect()
    };
    let mut found = Vec::new();
    for element in cut(&marked, b',') {
        let mut asked = None;
        let mut in_place = true;
        for pair in cut(&element, b';') {
            let plain: Vec<u8> = pair.iter().map(|(byte, _)| *byte).collect();
            in_place &= quotes_are_in_place(&plain);
            let Some(at) = plain.iter().position(|byte| *byte == b'=') else { continue };
            if asked.is_none() && plain[..at].trim_ascii().eq_ignore_ascii_case(b"for") {
                asked = Some(plain[at + 1..].trim_ascii().to_vec());
            }
        }
        let asked = asked.filter(|_| in_place);
        found.push(asked.and_then(|value| parse(&bare(&value))));
    }
    found.reverse();
    found.truncate(64);
    found
}

/// Whether what is quoted is a whole value, and ends.
fn quotes_are_in_place(pair: &[u8]) -> bool {
    let Some(first) = pair.iter().position(|byte| *byte == b'"') else { return true };
    let Some(at) = pair.iter().position(|byte| *byte == b'=') else { return false };
    let value = pair[at + 1..].trim_ascii();
    let mut rest = match value {
        [b'"', rest @ ..] if first > at => rest,
        _ => return false,
    };
    loop {
        rest = match rest {
            [b'"'] => return true,
            [b'"', ..] | [] | [b'\\'] => return false,
            [b'\\', _, rest @ ..] | [_, rest @ ..] => rest,
        };
    }
}

fn bare(value: &[u8]) -> Vec<u8> {
    let [b'"', inner @ .., b'"'] = value else { return value.to_vec() };
    let mut bare = Vec::new();
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        bare.extend(if byte == b'\\' { bytes.next() } else { Some(byte) });
    }
    bare
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn there_is_an_address(how in ways(), peer in address(), values in values()) {
        let found = find(&how, peer, &values);
        prop_assert_eq!(found, canonical(found), "one form of each address");
        let again = find(&how, found, &[]);
        prop_assert_eq!(again, found);
    }

    #[test]
    fn nobody_who_is_not_trusted_is_believed(peer in address(), values in values()) {
        let peer = canonical(peer);
        let networks = ClientIp::behind(["10.0.0.0/8"]).unwrap();
        let is_trusted = matches!(peer, IpAddr::V4(v4) if v4.octets()[0] == 10);
        prop_assert_eq!(find(&ClientIp::of_peer(), peer, &values), peer);
        if !is_trusted {
            prop_assert_eq!(find(&networks, peer, &values), peer);
            prop_assert_eq!(find(&networks.with_forwarded(), peer, &values), peer);
        }
    }

    #[test]
    fn what_clients_write_counts_for_nothing(mut values in values(), hops in 0..3_usize) {
        let proxy = "10.0.0.1".parse().unwrap();
        let networks = ClientIp::behind(["10.0.0.0/8"]).unwrap();
        let real: IpAddr = "203.0.113.99".parse().unwrap();
        let between = ", 10.0.0.2".repeat(hops);
        // The first proxy appends to the last header, or adds one.
        let appended = format!("{real}{between}");
        values.push(appended.into_bytes());
        prop_assert_eq!(find(&networks, proxy, &values), real);
        prop_assert_eq!(find(&ClientIp::behind_hops(hops + 1), proxy, &values), real);
        let last = values.pop().unwrap();
        let line = values.pop().unwrap_or_default();
        values.push([&line[..], b",", &last].concat());
        prop_assert_eq!(find(&networks, proxy, &values), real);

        let between = ", for=10.0.0.2".repeat(hops);
        let appended = format!("for=\"{real}:80\";proto=http{between}");
        let networks = networks.with_forwarded();
        values.push(appended.clone().into_bytes());
        prop_assert_eq!(find(&networks, proxy, &values), real);
        // On the client's own line, a quote that it leaves open may make a proxy the end of the way, and
        // nobody else.
        values.pop();
        let line = values.pop().unwrap_or_default();
        values.push([&line[..], b",", appended.as_bytes()].concat());
        let found = find(&networks, proxy, &values);
        let proxies: [IpAddr; 2] = [proxy, "10.0.0.2".parse().unwrap()];
        prop_assert!(found == real || proxies.contains(&found), "{found}");
    }

    #[test]
    fn forwarded_is_read_as_by_the_reference(value in value()) {
        let shown = String::from_utf8_lossy(&value).into_owned();
        prop_assert_eq!(forwarded::list([&*value], 64), reference(&value), "{}", shown);
    }
}
