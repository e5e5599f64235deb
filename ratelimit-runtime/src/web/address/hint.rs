//! A hint for operators: all clients seem to be one.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// So many requests from one private address and no other are a proxy, and not a client.
const ENOUGH: u32 = 1_000;

/// Counts the requests that seem to come from one address. Once there was another, or the hint was
/// given, it looks no more.
#[derive(Debug, Default)]
pub(super) struct Hint {
    first: OnceLock<IpAddr>,
    seen: AtomicU32,
}

impl Hint {
    pub(super) fn look(&self, found: IpAddr, trusts_nobody: bool) {
        if self.seen.load(Ordering::Relaxed) > ENOUGH {
            return;
        }
        if *self.first.get_or_init(|| found) != found || !is_private(found) {
            self.seen.store(ENOUGH + 1, Ordering::Relaxed);
        } else if self.seen.fetch_add(1, Ordering::Relaxed) == ENOUGH {
            let what =
                if trusts_nobody { "no proxy is trusted" } else { "check which are trusted" };
            // The address is the operator's own, and no client's.
            tracing::warn!(
                address = %found,
                "all requests seem to come from one private address, which is one budget for all: {what}"
            );
        }
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback() || v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unique_local() || v6.is_loopback() || v6.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(addresses: impl Iterator<Item = &'static str>) -> bool {
        let hint = Hint::default();
        let mut last = 0;
        for address in addresses {
            hint.look(address.parse().unwrap(), true);
            last = hint.seen.load(Ordering::Relaxed);
        }
        last == ENOUGH + 1 && hint.first.get().is_some_and(|first| is_private(*first))
    }

    #[test]
    fn one_private_address_is_a_hint() {
        assert!(given(std::iter::repeat_n("10.0.0.5", 1_001)));
        assert!(!given(std::iter::repeat_n("10.0.0.5", 1_000)));
        assert!(!given(std::iter::repeat_n("203.0.113.5", 5_000)));
    }
}
