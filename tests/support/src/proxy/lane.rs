//! One direction of all connections of a proxy.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// One direction of all connections of a [`Proxy`](crate::Proxy). Whatever it is told holds for
/// everything that has not gone through yet, and never changes the order.
#[derive(Debug, Default)]
pub struct Lane {
    mode: watch::Sender<Mode>,
    bytes: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Mode {
    #[default]
    Pass,
    Delay(Duration),
    Hold,
    Lose,
}

/// What came at one time; no bytes are the end of the connection.
struct Piece {
    came: Instant,
    bytes: Vec<u8>,
}

impl Lane {
    /// Everything goes through at once, and what was held or delayed with it.
    pub fn pass(&self) {
        self.mode.send_replace(Mode::Pass);
    }

    /// Everything goes through so much after it came.
    pub fn delay(&self, delay: Duration) {
        self.mode.send_replace(Mode::Delay(delay));
    }

    /// Nothing goes through, and nothing is lost.
    pub fn hold(&self) {
        self.mode.send_replace(Mode::Hold);
    }

    /// Everything is lost, what was held included, and nobody is told: connections stay open on
    /// both sides, and that one side has closed them is told only when things go through again.
    pub fn lose(&self) {
        self.mode.send_replace(Mode::Lose);
    }

    /// How many bytes went through so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    /// Carries one direction of one connection, to its end.
    pub(super) async fn carry(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut mode = self.mode.subscribe();
        let mut kept: VecDeque<Piece> = VecDeque::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut ended = false;
        loop {
            let now = *mode.borrow_and_update();
            if matches!(now, Mode::Lose) {
                kept.retain(|piece| piece.bytes.is_empty());
            }
            let due = kept.front().and_then(|piece| now.due(piece.came));
            tokio::select! {
                // In this order: what a lane is told holds from the moment it is told.
                biased;
                _ = mode.changed() => {}
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let piece = kept.pop_front().expect("it is due");
                    if piece.bytes.is_empty() {
                        let _ = to.shutdown().await;
                        return;
                    }
                    // First: whoever has seen the bytes finds them counted.
                    self.bytes.fetch_add(piece.bytes.len() as u64, Ordering::SeqCst);
                    if to.write_all(&piece.bytes).await.is_err() {
                        return;
                    }
                }
                // A connection that was reset ends like any other.
                read = from.read(&mut buffer), if !ended => {
                    let bytes = buffer[..read.unwrap_or(0)].to_vec();
                    ended = bytes.is_empty();
                    kept.push_back(Piece { came: Instant::now(), bytes });
                }
            }
        }
    }
}

impl Mode {
    /// When what came then goes through, as things are.
    fn due(self, came: Instant) -> Option<Instant> {
        match self {
            Self::Pass => Some(came),
            Self::Delay(delay) => Some(came + delay),
            Self::Hold | Self::Lose => None,
        }
    }
}
