//! Which node owns which slot.

use std::sync::Arc;

use redis::Value;

use crate::error::StoreError;
use crate::store::redis::node::Node;
use crate::store::redis::slot::Slot;

/// The owners of all slots.
#[derive(Debug)]
pub(super) struct SlotMap {
    /// Sorted by their last slot.
    ranges: Vec<Range>,
}

#[derive(Debug)]
struct Range {
    first: u16,
    last: u16,
    owner: Arc<Node>,
}

impl SlotMap {
    /// Reads the reply to `CLUSTER SLOTS`: ranges, each with its first slot, its last one and its servers, the
    /// owner first. `replied_by` is the host of the node that replied.
    pub(super) fn parse(
        reply: &Value,
        replied_by: &str,
        node: impl Fn(&str, u16) -> Result<Arc<Node>, StoreError>,
    ) -> Result<Self, StoreError> {
        let Value::Array(ranges) = reply else { return Err(StoreError::Reply) };
        let mut map = Self { ranges: Vec::with_capacity(ranges.len()) };
        for range in ranges {
            let Value::Array(range) = range else { return Err(StoreError::Reply) };
            let [Value::Int(first), Value::Int(last), Value::Array(owner), ..] = &**range else {
                return Err(StoreError::Reply);
            };
            let [host, Value::Int(port), ..] = &**owner else { return Err(StoreError::Reply) };
            let host = match host {
                Value::BulkString(host) => std::str::from_utf8(host).unwrap_or_default(),
                Value::SimpleString(host) => host,
                _ => "",
            };
            let host = if is_own_host(host) { replied_by } else { host };
            let number = |number: i64| u16::try_from(number).map_err(|_| StoreError::Reply);
            let owner = node(host, number(*port)?)?;
            map.ranges.push(Range { first: number(*first)?, last: number(*last)?, owner });
        }
        map.ranges.sort_by_key(|range| range.last);
        if map.ranges.is_empty() {
            let reason = "CLUSTERDOWN: nobody owns a slot".to_owned();
            return Err(StoreError::Server { reason });
        }
        Ok(map)
    }

    pub(super) fn owner(&self, Slot(slot): Slot) -> Option<Arc<Node>> {
        let index = self.ranges.partition_point(|range| range.last < slot);
        let range = self.ranges.get(index).filter(|range| range.first <= slot)?;
        Some(range.owner.clone())
    }

    /// The owners, some of them several times.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.ranges.iter().map(|range| &range.owner)
    }
}

/// Whether a node names no host, and so means its own.
pub(super) fn is_own_host(host: &str) -> bool {
    matches!(host, "" | "?")
}
