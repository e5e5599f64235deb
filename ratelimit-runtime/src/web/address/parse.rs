//! Lists of addresses as proxies write them.

use std::net::IpAddr;

use crate::address::parse as address;

/// The entries of a comma-separated list, the last one first, at most so many; `None` for one that is
/// no address.
pub(super) fn list<'h>(
    values: impl IntoIterator<Item = &'h [u8]>,
    most: usize,
) -> Vec<Option<IpAddr>> {
    let values: Vec<&[u8]> = values.into_iter().collect();
    let entries = values.iter().rev().flat_map(|value| value.rsplit(|byte| *byte == b','));
    entries.take(most).map(address).collect()
}
