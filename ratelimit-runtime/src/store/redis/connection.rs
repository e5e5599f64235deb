//! A connection to a server, and what is known of both.
//!
//! Nothing that a caller does says anything about the server: who leaves early has only not waited.
//! A call without an answer raises a suspicion, and a question of the limiter's own settles it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ratelimit_lua::Script;
use redis::aio::MultiplexedConnection as Link;
use tokio::sync::Notify;
use tokio::time::timeout_at;

/// A server that has said nothing for so long is asked when a call ends without an answer: a black
/// hole looks just like a slow server.
const SILENCE: Duration = Duration::from_millis(100);

/// A server that has had no script for so many calls in a row keeps none.
const KEPT_NONE: u32 = 16;

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
    /// Milliseconds after `since` of the latest answer.
    answered_ms: AtomicU32,
    /// Whether it was ever asked something with success.
    worked: AtomicBool,
    lost: AtomicBool,
    suspected: AtomicBool,
    /// For who keeps the connection: it is lost or suspected.
    news: Notify,
    /// Whether scripts can be uploaded; else they are sent along with a call.
    takes_uploads: AtomicBool,
    /// How often a script was sent along with a call since the server had one.
    sent_along: AtomicU32,
    /// How often each script was sent, of [`ratelimit_lua::ALL`].
    brought: [AtomicU32; ratelimit_lua::ALL.len()],
}

/// What who keeps a connection learns of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// It is of no use any more.
    Lost,
    /// A call had no answer, and there has been none for a while.
    Suspected,
    /// None, for as long as one wanted to wait.
    None,
}

impl Connection {
    pub(super) fn new(link: Link, name: String, takes_uploads: bool) -> Self {
        let health = Health {
            name,
            since: Instant::now(),
            answered_ms: AtomicU32::new(0),
            worked: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            suspected: AtomicBool::new(false),
            news: Notify::new(),
            takes_uploads: AtomicBool::new(takes_uploads),
            sent_along: AtomicU32::new(0),
            brought: Default::default(),
        };
        Self { link, health: Arc::new(health) }
    }

    /// What to call the server in a message.
    pub(super) fn name(&self) -> &str {
        &self.health.name
    }

    /// For questions of the limiter's own, of which nobody else needs to hear.
    pub(super) fn link(&self) -> Link {
        self.link.clone()
    }

    /// Watches over one call: dropped before [`Call::answered`], it has had no answer.
    pub(super) fn call(&mut self) -> (Call<'_>, &mut Link) {
        (Call { health: &self.health, answered: false }, &mut self.link)
    }

    /// It is of no use any more.
    pub(super) fn lose(&self) {
        self.health.lost.store(true, Ordering::Relaxed);
        self.health.news.notify_one();
    }

    /// What there is to know, or nothing until then.
    pub(super) async fn news(&self, until: Instant) -> News {
        let health = &self.health;
        let _ = timeout_at(until.into(), health.news.notified()).await;
        if health.lost.load(Ordering::Relaxed) {
            News::Lost
        } else if health.suspected.swap(false, Ordering::Relaxed) {
            News::Suspected
        } else {
            News::None
        }
    }

    /// How long ago the latest answer was.
    pub(super) fn silent_for(&self) -> Duration {
        self.health.silent_for()
    }

    /// The server has answered: what was asked for, if it `worked`.
    pub(super) fn answered(&self, worked: bool) {
        self.health.answered(worked);
    }

    /// Whether it was ever asked something with success.
    pub(super) fn has_worked(&self) -> bool {
        self.health.worked.load(Ordering::Relaxed)
    }

    /// Whether scripts can be uploaded over it.
    pub(super) fn takes_uploads(&self) -> bool {
        self.health.takes_uploads.load(Ordering::Relaxed)
    }

    /// Scripts cannot be uploaded over it.
    pub(super) fn refuses_uploads(&self) {
        self.health.takes_uploads.store(false, Ordering::Relaxed);
    }

    /// A script is sent along with a call. Whether it is certain from now on that the server keeps
    /// none.
    pub(super) fn sends_along(&self) -> bool {
        self.health.sent_along.fetch_add(1, Ordering::Relaxed) == KEPT_NONE
    }

    /// The server had a script.
    pub(super) fn has_kept(&self) {
        if self.health.sent_along.load(Ordering::Relaxed) != 0 {
            self.health.sent_along.store(0, Ordering::Relaxed);
        }
    }

    /// How often a script was sent.
    pub(super) fn brought(&self, script: &Script) -> u32 {
        self.health.brought(script).map_or(0, |brought| brought.load(Ordering::Acquire))
    }

    /// Whether it is for this call to send a script, which the server lacked after it had been sent
    /// `seen` times: of all calls that find that, for one.
    pub(super) fn is_first_to_bring(&self, script: &Script, seen: u32) -> bool {
        let next = seen.wrapping_add(1);
        self.health.brought(script).is_some_and(|brought| {
            brought.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })
    }
}

impl Health {
    fn elapsed_ms(&self) -> u32 {
        u32::try_from(self.since.elapsed().as_millis()).unwrap_or(u32::MAX)
    }

    fn silent_for(&self) -> Duration {
        let answered = self.answered_ms.load(Ordering::Relaxed);
        Duration::from_millis(self.elapsed_ms().saturating_sub(answered).into())
    }

    fn answered(&self, worked: bool) {
        // Under load nearly every call finds nothing to change, and then writes nothing shared but
        // the time, and that only as often as it changes.
        let now = self.elapsed_ms();
        if self.answered_ms.load(Ordering::Relaxed) != now {
            self.answered_ms.store(now, Ordering::Relaxed);
        }
        if worked && !self.worked.load(Ordering::Relaxed) {
            self.worked.store(true, Ordering::Relaxed);
        }
    }

    /// A call has ended without an answer.
    fn unanswered(&self) {
        if self.silent_for() >= SILENCE && !self.suspected.swap(true, Ordering::Relaxed) {
            self.news.notify_one();
        }
    }

    fn brought(&self, script: &Script) -> Option<&AtomicU32> {
        let place = ratelimit_lua::ALL.iter().position(|known| known.sha1 == script.sha1);
        place.and_then(|place| self.brought.get(place))
    }
}

/// One call over a connection.
#[derive(Debug)]
pub(super) struct Call<'c> {
    health: &'c Health,
    answered: bool,
}

impl Call<'_> {
    /// The server has said something: what was asked for, if it `worked`.
    pub(super) fn answered(mut self, worked: bool) {
        self.answered = true;
        self.health.answered(worked);
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.health.unanswered();
        }
    }
}
