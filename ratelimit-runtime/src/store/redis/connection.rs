//! A connection to a server, and what calls have found out about both.
//!
//! What a caller does says nothing about the server: one that leaves early has only stopped waiting. So a
//! call without a reply is a reason for a [probe](super::keeper), never a verdict.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ratelimit_lua::Script;
use redis::aio::MultiplexedConnection as Link;
use tokio::sync::Notify;
use tokio::time::timeout_at;

/// When a call ends without a reply, a server that has not replied to anybody for this long is probed: one
/// that never will looks just like one that is slow.
const NO_REPLY_THRESHOLD: Duration = Duration::from_millis(100);

/// A server that lacked its script for this many calls in a row keeps none.
const CALLS_WITHOUT_SCRIPT: u32 = 16;

/// A connection; clones are the same one.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    link: Link,
    health: Arc<Health>,
}

#[derive(Debug)]
struct Health {
    /// What to call the server in a message.
    name: String,
    since: Instant,
    /// Milliseconds from `since` to the latest reply.
    last_reply_ms: AtomicU32,
    /// Whether anything ever succeeded over it.
    succeeded: AtomicBool,
    lost: AtomicBool,
    suspected: AtomicBool,
    /// For the task that keeps the connection: it is lost or suspected.
    changed: Notify,
    /// Whether scripts can be uploaded; else each call carries its script.
    takes_uploads: AtomicBool,
    /// How many calls have carried their script since the server had one.
    carried: AtomicU32,
    /// How often each script of [`ratelimit_lua::ALL`] was uploaded.
    uploads: [AtomicU32; ratelimit_lua::ALL.len()],
}

/// What the task that keeps a connection reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The connection is of no use any more.
    Lost,
    /// A call had no reply, and the server has not replied to anybody for a while.
    Suspected,
    /// Nothing has happened for as long as the task wanted to wait.
    Timeout,
}

impl Connection {
    pub(super) fn new(link: Link, name: String, takes_uploads: bool) -> Self {
        let health = Health {
            name,
            since: Instant::now(),
            last_reply_ms: AtomicU32::new(0),
            succeeded: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            suspected: AtomicBool::new(false),
            changed: Notify::new(),
            takes_uploads: AtomicBool::new(takes_uploads),
            carried: AtomicU32::new(0),
            uploads: Default::default(),
        };
        Self { link, health: Arc::new(health) }
    }

    /// What to call the server in a message.
    pub(super) fn name(&self) -> &str {
        &self.health.name
    }

    /// For commands of the limiter's own, which are not watched.
    pub(super) fn link(&self) -> Link {
        self.link.clone()
    }

    /// Watches over one call. If it is dropped before [`InFlight::replied`], the call had no reply.
    pub(super) fn call(&mut self) -> (InFlight<'_>, &mut Link) {
        (InFlight { health: &self.health, replied: false }, &mut self.link)
    }

    /// The connection is of no use any more.
    pub(super) fn lose(&self) {
        self.health.lost.store(true, Ordering::Relaxed);
        self.health.changed.notify_one();
    }

    /// Waits until something happens to the connection, or until an instant.
    pub(super) async fn event(&self, until: Instant) -> Event {
        let health = &self.health;
        let _ = timeout_at(until.into(), health.changed.notified()).await;
        if health.lost.load(Ordering::Relaxed) {
            Event::Lost
        } else if health.suspected.swap(false, Ordering::Relaxed) {
            Event::Suspected
        } else {
            Event::Timeout
        }
    }

    /// How long ago the server has replied to anything.
    pub(super) fn since_last_reply(&self) -> Duration {
        self.health.since_last_reply()
    }

    /// The server has replied; `succeeded` if not by an error.
    pub(super) fn replied(&self, succeeded: bool) {
        self.health.replied(succeeded);
    }

    /// Whether anything ever succeeded over it.
    pub(super) fn has_succeeded(&self) -> bool {
        self.health.succeeded.load(Ordering::Relaxed)
    }

    /// Whether scripts can be uploaded over it.
    pub(super) fn takes_uploads(&self) -> bool {
        self.health.takes_uploads.load(Ordering::Relaxed)
    }

    /// The server has refused an upload.
    pub(super) fn refuses_uploads(&self) {
        self.health.takes_uploads.store(false, Ordering::Relaxed);
    }

    /// A call carries its script. `true` once: when it is certain that the server keeps no scripts.
    pub(super) fn carries_script(&self) -> bool {
        self.health.carried.fetch_add(1, Ordering::Relaxed) == CALLS_WITHOUT_SCRIPT
    }

    /// The server had the script of a call.
    pub(super) fn had_script(&self) {
        if self.health.carried.load(Ordering::Relaxed) != 0 {
            self.health.carried.store(0, Ordering::Relaxed);
        }
    }

    /// How often a script was uploaded.
    pub(super) fn uploads(&self, script: &'static Script) -> u32 {
        self.health.uploads(script).map_or(0, |uploads| uploads.load(Ordering::Acquire))
    }

    /// Whether this caller is to upload a script that the server lacked after `seen` uploads: of all callers
    /// that find that, one.
    pub(super) fn claims_upload(&self, script: &'static Script, seen: u32) -> bool {
        let next = seen.wrapping_add(1);
        self.health.uploads(script).is_some_and(|uploads| {
            uploads.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })
    }
}

impl Health {
    fn elapsed_ms(&self) -> u32 {
        u32::try_from(self.since.elapsed().as_millis()).unwrap_or(u32::MAX)
    }

    fn since_last_reply(&self) -> Duration {
        let last = self.last_reply_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.elapsed_ms().saturating_sub(last).into())
    }

    fn replied(&self, succeeded: bool) {
        // Under load nearly every call finds nothing to change. Then it writes nothing shared but the time,
        // once a millisecond.
        let now = self.elapsed_ms();
        if self.last_reply_ms.load(Ordering::Relaxed) != now {
            self.last_reply_ms.store(now, Ordering::Relaxed);
        }
        if succeeded && !self.succeeded.load(Ordering::Relaxed) {
            self.succeeded.store(true, Ordering::Relaxed);
        }
    }

    /// A call has ended without a reply.
    fn no_reply(&self) {
        let is_silent = self.since_last_reply() >= NO_REPLY_THRESHOLD;
        if is_silent && !self.suspected.swap(true, Ordering::Relaxed) {
            self.changed.notify_one();
        }
    }

    fn uploads(&self, script: &'static Script) -> Option<&AtomicU32> {
        // Scripts are statics, so an address is enough.
        let index = ratelimit_lua::ALL.iter().position(|known| ptr::eq(*known, script));
        index.and_then(|index| self.uploads.get(index))
    }
}

/// One call over a connection.
#[derive(Debug)]
pub(super) struct InFlight<'c> {
    health: &'c Health,
    replied: bool,
}

impl InFlight<'_> {
    /// The server has replied; `succeeded` if not by an error.
    pub(super) fn replied(mut self, succeeded: bool) {
        self.replied = true;
        self.health.replied(succeeded);
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.replied {
            self.health.no_reply();
        }
    }
}
