//! The walk, the slow and plain way: first all entries of all headers, then one after the other from
//! the right.

use std::net::IpAddr;
use std::sync::LazyLock;

use ratelimit_runtime::ClientIp;

use crate::input::{Input, Trust, is_proxy};

/// So many entries are looked at.
const MOST: usize = 64;

/// Whose request it is; `peer` is the peer's address in the form in which addresses are compared.
pub(crate) fn walk(input: &Input<'_>, peer: IpAddr) -> IpAddr {
    let believed = |address: IpAddr, steps: usize| match input.trust {
        Trust::Peer => false,
        Trust::Hops(hops) => steps < hops,
        Trust::Everybody => true,
        Trust::Networks => is_proxy(address),
    };
    let mut entries: Vec<&[u8]> =
        input.lines.iter().flat_map(|line| entries(line, input.forwarded)).collect();
    entries.reverse();
    entries.truncate(MOST);
    if input.trust == Trust::Everybody {
        return entries.iter().rev().find_map(|of| entry(of, input.forwarded)).unwrap_or(peer);
    }
    let (mut last, mut steps) = (peer, 0);
    for of in entries {
        if !believed(last, steps) {
            break;
        }
        let Some(address) = entry(of, input.forwarded) else { break };
        (last, steps) = (address, steps + 1);
    }
    last
}

/// The parts of a header between commas; in `Forwarded`, between those that are in no quotes.
fn entries(line: &[u8], forwarded: bool) -> Vec<&[u8]> {
    let (mut entries, mut start, mut inside, mut at) = (Vec::new(), 0, false, 0);
    while let Some(byte) = line.get(at) {
        match byte {
            b'"' if forwarded => inside = !inside,
            // The next one stands for itself.
            b'\\' if inside => at += 1,
            b',' if !inside => {
                entries.extend(line.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    entries.extend(line.get(start..));
    entries
}

/// The address in one entry, alone: it is found behind whoever is asked.
fn entry(entry: &[u8], forwarded: bool) -> Option<IpAddr> {
    static BEHIND: LazyLock<[ClientIp; 2]> =
        LazyLock::new(|| [ClientIp::behind_hops(1), ClientIp::behind_hops(1).with_forwarded()]);
    let [x_forwarded_for, of_rfc_7239] = &*BEHIND;
    let how = if forwarded { of_rfc_7239 } else { x_forwarded_for };
    let [one, other] = [1, 2].map(|n| how.find(IpAddr::from([0, 0, 0, n]), [entry]));
    (one == other).then_some(one)
}
