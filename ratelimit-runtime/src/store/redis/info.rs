//! What a server says about itself in `INFO`.

use crate::error::StoreError;

/// The lines of it that matter.
pub(super) struct Info<'i>(pub(super) &'i str);

/// Why a server cannot decide.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    TooOld(StoreError),
    Replica(StoreError),
}

impl<'i> Info<'i> {
    fn field(&self, name: &str) -> Option<&'i str> {
        let values = self.0.lines().filter_map(|line| line.split_once(':'));
        values
            .map(|(field, value)| (field, value.trim()))
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// Whether the server of this name can run the scripts.
    pub(super) fn check(&self, address: &str) -> Result<(), Unfit> {
        // The first line of the scripts is understood since 7.0. Valkey states the version of Redis that it
        // is compatible with.
        let major = |version: &str| version.split('.').next()?.parse::<u32>().ok();
        if let Some(version) = self.field("redis_version")
            && major(version).is_some_and(|major| major < 7)
        {
            let reason = format!("{address} is Redis {version}, and 7.0 or newer is needed");
            return Err(Unfit::TooOld(StoreError::Server { reason }));
        }
        if self.field("role") == Some("slave") {
            let reason = format!("{address} is a replica, and a primary is needed");
            return Err(Unfit::Replica(StoreError::Server { reason }));
        }
        Ok(())
    }

    /// Whether it is a node of a cluster: keys of one call have to lie in one slot.
    pub(super) fn is_sharded(&self) -> bool {
        self.field("cluster_enabled") == Some("1")
    }

    /// The policy by which it evicts keys when its memory is full, if it has a limit and such a policy. All of
    /// our keys have an expiry, so every such policy takes them.
    pub(super) fn evicts_by(&self) -> Option<&'i str> {
        let policy = self.field("maxmemory_policy").filter(|policy| *policy != "noeviction")?;
        (self.field("maxmemory") != Some("0")).then_some(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::{Info, Unfit};

    #[test]
    fn servers_that_cannot_decide_are_recognised() {
        let old = Info("# Server\r\nredis_version:6.2.14\r\n").check("host:1");
        let Err(Unfit::TooOld(old)) = old else { panic!("{old:?}") };
        assert!(old.to_string().contains("host:1 is Redis 6.2.14, and 7.0 or newer is needed"));
        let replica = Info("redis_version:7.0.15\r\nrole:slave\r\n").check("host:1");
        assert!(matches!(replica, Err(Unfit::Replica(_))), "{replica:?}");
        for fine in [
            "redis_version:7.0.15\r\nvalkey_version:8.1.1\r\nrole:master\r\n",
            "redis_version:10.0.0\r\n",
            "something else",
        ] {
            assert_eq!(Info(fine).check("host:1"), Ok(()));
        }
    }

    #[test]
    fn policies_that_evict_our_keys_are_recognised() {
        for (info, policy) in [
            ("maxmemory:4194304\r\nmaxmemory_policy:allkeys-lru\r\n", Some("allkeys-lru")),
            ("maxmemory:4194304\r\nmaxmemory_policy:volatile-ttl\r\n", Some("volatile-ttl")),
            ("maxmemory_policy:volatile-lru\r\n", Some("volatile-lru")),
            ("maxmemory:4194304\r\nmaxmemory_policy:noeviction\r\n", None),
            ("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n", None),
            ("role:master\r\n", None),
        ] {
            assert_eq!(Info(info).evicts_by(), policy, "{info}");
        }
    }
}
