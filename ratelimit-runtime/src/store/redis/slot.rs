//! Slots of a Redis Cluster.

/// How many slots a cluster has.
pub(super) const SLOTS: u16 = 16_384;

/// Where a key lies in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot(pub(super) u16);

impl Slot {
    /// The slot of a key. What stands between its first `{` and the next `}` decides, if there is anything;
    /// else all of it.
    pub(super) fn of(key: &str) -> Self {
        let tag = key
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'))
            .map(|(tag, _)| tag)
            .filter(|tag| !tag.is_empty());
        let hash = crc16::State::<crc16::XMODEM>::calculate(tag.unwrap_or(key).as_bytes());
        Self(hash % SLOTS)
    }
}

#[cfg(test)]
mod tests {
    use super::Slot;

    /// As `CLUSTER KEYSLOT` of Redis 7.0 says.
    #[test]
    fn slots_are_those_of_the_server() {
        for (key, slot) in
            [("123456789", 12_739), ("foo", 12_182), ("x{foo}y", 12_182), ("a{}b", 13_694), ("", 0)]
        {
            assert_eq!(Slot::of(key), Slot(slot), "{key}");
        }
    }
}
