//! Checks of one call whose keys lie in different slots of a cluster.
//!
//! No script can decide them together. They are decided slot by slot, and if one refuses, what was charged
//! before is refunded. Until then other calls find less than there is: too many of them may be refused, but
//! never too many admitted.
//!
//! A caller who is refused again and again would hold down a budget that others share, for as long as it
//! goes on. So the slots are not asked in the order of the checks: keys that refused last come first, and
//! rules without a key, which everybody shares, come last. The answers have the order of the checks.
//!
//! A refusal is final, whether or not the servers of the other checks answer then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;
use smallvec::{SmallVec, smallvec};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::timeout;

use super::command::{self, Request};
use super::executor::Servers;
use super::prepared::{Prepared, PreparedChecks};
use super::recent_refusals::{KeyHash, RecentRefusals};
use super::reply::{self, Reply};
use super::session::Session;
use super::slot::Slot;
use crate::algo::{self, Answer};
use crate::driver;
use crate::error::StoreError;
use crate::store::{Answers, Charges};

/// How long a refund may take. It is made even if the caller has left, and nobody waits for it longer than
/// for the decision.
const REFUND_TIMEOUT: Duration = Duration::from_secs(1);

/// Whether checks lie in one slot, as those of nearly all calls do: then one script decides them.
pub(super) fn is_one_slot(checks: &[Prepared<'_>]) -> bool {
    checks.windows(2).all(|pair| matches!(pair, [one, other] if one.slot == other.slot))
}

/// Decides checks of any slots. If one refuses, the others are read again within a part of the deadline.
pub(super) async fn decide(
    session: Session<'_>,
    refusals: &RecentRefusals,
    deadline: Duration,
    checks: PreparedChecks<'_>,
) -> Result<(Answers, Charges), StoreError> {
    let uncharged: Charges = smallvec![None; checks.len()];
    let mut charges = uncharged.clone();
    let mut answers: PartialAnswers = smallvec![None; checks.len()];
    let slots = by_slot(checks, refusals);
    let started = Instant::now();
    let mut refunds = Refunds { session, requests: Vec::new() };
    let mut is_refused = false;
    for InSlot { checks, positions, .. } in &slots {
        let reply = session.decide(checks).await?;
        let reply = Reply::parse(&reply, checks)?;
        let decided = reply.answers()?.into_iter().zip(reply.charges());
        for ((check, position), (answer, charge)) in checks.iter().zip(positions).zip(decided) {
            is_refused |= !answer.admitted && !check.is_shadow();
            refusals.note(position.hash, !answer.admitted);
            if let Some(charged_at) = charge {
                refunds.add(position.index, check, charged_at);
            }
            if let Some(entry) = charges.get_mut(position.index) {
                *entry = charge;
            }
            if let Some(entry) = answers.get_mut(position.index) {
                *entry = Some(answer);
            }
        }
        if is_refused {
            break;
        }
    }
    if !is_refused {
        refunds.requests.clear();
        return Ok((answers.into_iter().flatten().collect(), charges));
    }

    // The refusal stands. In what remains of the time, the other keys are read: what is left there after the
    // refunds, and where nobody has asked yet.
    let limit = (deadline / 4 * 3).saturating_sub(started.elapsed());
    let mut reads = refunds.make_and_read(&slots, &answers)?;
    let reading = async {
        while let Some((index, reply)) = reads.recv().await {
            if let Some(check) = find(&slots, index)
                && let Ok(answer) = reply::evaluate(&reply, check)
                && let Some(entry) = answers.get_mut(index)
            {
                *entry = Some(answer);
            }
        }
    };
    driver::with_deadline(limit, reading).await?;
    let answers = answers.into_iter().enumerate().map(|(index, answer)| match answer {
        Some(answer) => Ok(answer),
        None => reply::unused(find(&slots, index).ok_or(StoreError::Reply)?),
    });
    Ok((answers.collect::<Result<_, StoreError>>()?, uncharged))
}

/// What would be decided of checks of any slots.
pub(super) async fn preview(
    session: Session<'_>,
    refusals: &RecentRefusals,
    checks: PreparedChecks<'_>,
) -> Result<Answers, StoreError> {
    let mut answers: PartialAnswers = smallvec![None; checks.len()];
    for InSlot { checks, positions, .. } in by_slot(checks, refusals) {
        for (position, answer) in positions.iter().zip(session.preview(&checks).await?) {
            if let Some(entry) = answers.get_mut(position.index) {
                *entry = Some(answer);
            }
        }
    }
    answers.into_iter().map(|answer| answer.ok_or(StoreError::Reply)).collect()
}

/// Answers in the order of the checks, as far as there are any.
type PartialAnswers = SmallVec<[Option<Answer>; 4]>;

/// Checks that lie in one slot, so that one script decides them.
struct InSlot<'c> {
    slot: Slot,
    checks: PreparedChecks<'c>,
    /// One for each of these checks.
    positions: SmallVec<[Position; 2]>,
    /// Whether one of them refused when it was last asked.
    has_refused: bool,
    /// Whether one of them has no key, so that everybody shares it.
    is_shared: bool,
}

/// A check in the list of all.
#[derive(Clone, Copy)]
struct Position {
    index: usize,
    /// Of its key.
    hash: KeyHash,
}

/// The checks by their slots, in the order in which they are asked.
fn by_slot<'c>(checks: PreparedChecks<'c>, refusals: &RecentRefusals) -> SmallVec<[InSlot<'c>; 2]> {
    let mut slots: SmallVec<[InSlot<'c>; 2]> = SmallVec::new();
    for (index, check) in checks.into_iter().enumerate() {
        let position = Position { index, hash: refusals.hash(&check.key) };
        let has_refused = !check.is_shadow() && refusals.contains(position.hash);
        let is_shared = check.is_shared();
        if let Some(known) = slots.iter_mut().find(|known| known.slot == check.slot) {
            known.has_refused |= has_refused;
            known.is_shared |= is_shared;
            known.checks.push(check);
            known.positions.push(position);
        } else {
            let (slot, positions) = (check.slot, SmallVec::from_elem(position, 1));
            let checks = SmallVec::from_iter([check]);
            slots.push(InSlot { slot, checks, positions, has_refused, is_shared });
        }
    }
    slots.sort_by_key(|slot| (!slot.has_refused, slot.is_shared));
    slots
}

/// The check at an index in the list of all.
fn find<'s, 'c>(slots: &'s [InSlot<'c>], index: usize) -> Option<&'s Prepared<'c>> {
    all(slots).find(|(position, _)| position.index == index).map(|(_, check)| check)
}

fn all<'s, 'c>(slots: &'s [InSlot<'c>]) -> impl Iterator<Item = (Position, &'s Prepared<'c>)> {
    slots.iter().flat_map(|slot| slot.positions.iter().copied().zip(&slot.checks))
}

/// The refunds of what was charged so far. If it is dropped with something in it, because the call has failed
/// or its caller has left, it makes them.
struct Refunds<'s> {
    session: Session<'s>,
    /// With the index of the check.
    requests: Vec<(usize, Request)>,
}

impl Refunds<'_> {
    fn add(&mut self, index: usize, check: &Prepared<'_>, charged_at: algo::Timestamp) {
        let request = command::refund(check, self.session.now_us(), charged_at, None);
        self.requests.push((index, request));
    }

    /// Makes the refunds, and then reads the keys of these checks, and those of checks without an answer. Sends
    /// the index of each with the reply, as they come in.
    fn make_and_read(
        &mut self,
        slots: &[InSlot<'_>],
        answers: &[Option<Answer>],
    ) -> Result<UnboundedReceiver<(usize, Value)>, StoreError> {
        let driver = driver::handle()?;
        let (sender, replies) = mpsc::unbounded_channel();
        for (Position { index, .. }, check) in all(slots) {
            let refund = self.requests.iter().position(|(charged, _)| *charged == index);
            let refund = refund.map(|at| self.requests.swap_remove(at).1);
            let has_answer = answers.get(index).is_some_and(Option::is_some);
            if has_answer && refund.is_none() {
                continue;
            }
            let read = command::read(check, self.session.now_us());
            let (servers, sender) = (self.session.servers.clone(), sender.clone());
            driver.spawn(async move {
                if let Some(refund) = refund {
                    make(&servers, &refund).await;
                }
                if let Ok(Ok(reply)) = timeout(REFUND_TIMEOUT, servers.run(&read)).await {
                    // Without a receiver nobody waits for it any more.
                    let _ = sender.send((index, reply));
                }
            });
        }
        Ok(replies)
    }
}

impl Drop for Refunds<'_> {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            refund(self.session.servers, self.requests.drain(..).map(|(_, request)| request));
        }
    }
}

/// Makes refunds without waiting for them.
pub(super) fn refund(servers: &Arc<Servers>, requests: impl IntoIterator<Item = Request>) {
    let Ok(driver) = driver::handle() else { return };
    for request in requests {
        let servers = servers.clone();
        driver.spawn(async move { make(&servers, &request).await });
    }
}

/// If it fails, the charge stands: too little is left, and never too much.
async fn make(servers: &Servers, refund: &Request) {
    let _ = timeout(REFUND_TIMEOUT, servers.run(refund)).await;
}
