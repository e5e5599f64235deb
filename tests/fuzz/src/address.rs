//! Whose request it is, whatever the headers say.

use std::net::IpAddr;
use std::sync::LazyLock;

use ratelimit_runtime::ClientIp;

use crate::input::{Input, NETWORKS, Trust, is_proxy};
use crate::reference;

/// The proxy that a request comes from, and one before that.
const PROXIES: [IpAddr; 2] = [of([10, 0, 0, 1]), of([10, 0, 0, 2])];

const fn of([a, b, c, d]: [u8; 4]) -> IpAddr {
    IpAddr::V4(std::net::Ipv4Addr::new(a, b, c, d))
}

static BEHIND: LazyLock<ClientIp> = LazyLock::new(|| match ClientIp::behind(NETWORKS) {
    Ok(how) => how,
    Err(error) => panic!("{error}"),
});

/// Panics if some request that these bytes tell of is taken for that of a wrong client.
pub fn address(bytes: &[u8]) {
    let input = Input::new(bytes);
    let how = match input.trust {
        Trust::Peer => ClientIp::of_peer(),
        Trust::Hops(hops) => ClientIp::behind_hops(hops),
        Trust::Everybody => ClientIp::dangerously_trusting_everybody(),
        Trust::Networks => BEHIND.clone(),
    };
    let how = if input.forwarded { how.with_forwarded() } else { how };
    let peer = ClientIp::of_peer().find(input.peer, []);
    let found = how.find(input.peer, input.lines.iter().copied());

    one_form(&how, found);
    one_form(&how, peer);
    only_the_trusted_are_believed(&input, peer, found);
    assert_eq!(found, reference::walk(&input, peer), "the reference finds another in {input:?}");
    nothing_before_the_client_counts(&input, &how, found);
    what_proxies_append_counts(&input, peer);
}

/// An address has one form, or one client would have several budgets.
fn one_form(how: &ClientIp, found: IpAddr) {
    assert_eq!(how.find(found, []), found);
    assert_eq!(found.to_canonical(), found);
    if let IpAddr::V6(v6) = found {
        let translated =
            [&[0x64, 0xff9b, 0, 0, 0, 0][..], &[0x64, 0xff9b, 1], &[0, 0, 0, 0, 0xffff, 0]];
        for prefix in translated {
            assert!(!v6.segments().starts_with(prefix), "it carries an IPv4 address: {found}");
        }
    }
}

/// Who is not trusted is the client, whatever the headers say.
fn only_the_trusted_are_believed(input: &Input<'_>, peer: IpAddr, found: IpAddr) {
    let believed = match input.trust {
        Trust::Peer => false,
        Trust::Networks => is_proxy(peer),
        Trust::Hops(_) | Trust::Everybody => true,
    };
    assert!(believed || found == peer, "{found} and not {peer} from {input:?}");
}

/// Left of an address that is not trusted, all is the client's invention.
fn nothing_before_the_client_counts(input: &Input<'_>, how: &ClientIp, found: IpAddr) {
    if input.trust != Trust::Networks || is_proxy(found) {
        return;
    }
    for invented in ["9.9.9.9", "10.0.0.9", "for=9.9.9.9", "for=\"", "\"", "\\", "nobody", ""] {
        let lines = [invented.as_bytes()].into_iter().chain(input.lines.iter().copied());
        assert_eq!(how.find(input.peer, lines), found, "{invented} in front of {input:?}");
    }
}

/// The way goes past proxies to whom the first of them saw, whatever that one wrote.
fn what_proxies_append_counts(input: &Input<'_>, peer: IpAddr) {
    // Any address that is no proxy's.
    let real = if is_proxy(peer) { of([203, 0, 113, 99]) } else { peer };
    let [last, before] = PROXIES;
    for (hops, how) in [(1, &*BEHIND), (2, &*BEHIND)]
        .into_iter()
        .chain([(1, &ClientIp::behind_hops(1)), (2, &ClientIp::behind_hops(2))])
    {
        let how = if input.forwarded { &how.clone().with_forwarded() } else { how };
        let mut appended = match (input.forwarded, real) {
            (false, real) => real.to_string(),
            (true, IpAddr::V4(v4)) => format!("for={v4};proto=http"),
            (true, IpAddr::V6(v6)) => format!("for=\"[{v6}]:80\";proto=http"),
        };
        if hops == 2 {
            let pair = if input.forwarded { "for=" } else { "" };
            appended = format!("{appended}, {pair}{before}");
        }
        // As a header of its own, and at the end of the client's.
        let appended = appended.as_bytes();
        let lines = input.lines.iter().copied();
        let found = how.find(last, lines.clone().chain([appended]));
        assert_eq!(found, real, "of its own, {hops} hops, {input:?}");

        let line = [input.lines.last().copied().unwrap_or_default(), b",", appended].concat();
        let lines = lines.take(input.lines.len().saturating_sub(1)).chain([&*line]);
        let found = how.find(last, lines);
        // A quote that the client leaves open may make a proxy the end of the way, and nobody else.
        let is_fine = found == real || (input.forwarded && PROXIES.contains(&found));
        assert!(is_fine, "{found} and not {real}, at the end, {hops} hops, {input:?}");
    }
}
