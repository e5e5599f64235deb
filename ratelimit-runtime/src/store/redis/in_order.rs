//! Checks of one call that lie in different slots of a cluster.
//!
//! No script can decide them together. They are decided one slot after the other, and when one
//! refuses, what was charged before is given back. In the meantime other calls find less than there
//! is: too much may be refused, and never too much admitted. Calls that are refused again and again
//! would hold down a budget that others share for as long as they go on, so the slots are not asked
//! in the order of the checks: the key that refused last comes first, and rules without a key, which
//! everybody shares, come last. The answer has the order of the checks.
//!
//! A refusal is final, whether or not the servers of the other checks answer then.

use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::Value;
use smallvec::SmallVec;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::timeout;

use super::Redis;
use super::executor::Servers;
use super::node::Request;
use super::refusers::Mark;
use super::slot::Slot;
use super::{reply, script};
use crate::algo::{self, Answer};
use crate::driver;
use crate::error::StoreError;
use crate::rule::Check;
use crate::store::{Answers, Charges};

/// How long giving back may take. Nobody waits for it longer than for the decision, but it is done
/// also when the caller has gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Decides checks, wherever they lie.
pub(super) async fn decide(
    store: &Redis,
    checks: &[Check<'_>],
) -> Result<(Answers, Charges), StoreError> {
    let parts = match checks {
        // Nearly all calls, which need not be sorted.
        [_] => SmallVec::new(),
        checks => by_slot(store, checks),
    };
    if parts.len() <= 1 {
        let reply = store.together(checks).await?;
        return Ok((reply::answers(&reply, checks)?, reply::charges(&reply, checks)?));
    }
    let mut charges: Charges = checks.iter().map(|_| None).collect();
    let started = Instant::now();
    let mut charged = Charged { servers: store.servers()?, requests: Vec::new() };
    let mut answers: SmallVec<[Option<_>; 4]> = checks.iter().map(|_| None).collect();
    let mut refused = false;
    for Part { places, .. } in &parts {
        let part: SmallVec<[Check<'_>; 2]> =
            places.iter().filter_map(|(place, _)| checks.get(*place)).cloned().collect();
        let reply = store.together(&part).await?;
        let told = reply::answers(&reply, &part)?;
        refused = part.iter().zip(&told).any(|(check, told)| !told.allowed && !check.is_shadow());
        let of_part = reply::charges(&reply, &part)?;
        for (((place, mark), answer), charge) in places.iter().zip(told).zip(of_part) {
            store.refusers.note(*mark, !answer.allowed);
            if let Some(instant) = charge {
                charged.add(store, *place, checks, instant)?;
            }
            if let Some(slot) = charges.get_mut(*place) {
                *slot = charge;
            }
            if let Some(slot) = answers.get_mut(*place) {
                *slot = Some(answer);
            }
        }
        if refused {
            break;
        }
    }
    if !refused {
        charged.requests.clear();
        return Ok((answers.into_iter().flatten().collect(), charges));
    }

    // The refusal stands. What is left of the others, now that they are given back or because they
    // were not asked, is found out in what remains of the time.
    let mut looks = charged.undo(store, checks, &answers)?;
    let left = (store.deadline / 4 * 3).saturating_sub(started.elapsed());
    let waiting = async {
        while let Some((place, reply)) = looks.recv().await {
            if let Some((check, slot)) = checks.get(place).zip(answers.get_mut(place))
                && let Ok(answer) = reply::looked(&reply, check)
            {
                *slot = Some(answer);
            }
        }
    };
    driver::with_deadline(left, waiting).await?;
    let all = checks.iter().zip(answers);
    let answers: Result<Answers, StoreError> =
        all.map(|(check, answer)| answer.map_or_else(|| reply::unused(check), Ok)).collect();
    Ok((answers?, checks.iter().map(|_| None).collect()))
}

/// What would be decided of checks, wherever they lie.
pub(super) async fn look(store: &Redis, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
    let mut answers: SmallVec<[Option<Answer>; 4]> = checks.iter().map(|_| None).collect();
    for Part { places, .. } in by_slot(store, checks) {
        let part: SmallVec<[Check<'_>; 2]> =
            places.iter().filter_map(|(place, _)| checks.get(*place)).cloned().collect();
        for ((place, _), answer) in places.iter().zip(store.look(&part).await?) {
            if let Some(slot) = answers.get_mut(*place) {
                *slot = Some(answer);
            }
        }
    }
    answers.into_iter().map(|answer| answer.ok_or(StoreError::Reply)).collect()
}

/// The checks that lie in one slot.
struct Part {
    slot: Slot,
    /// Their places in the list.
    places: SmallVec<[(usize, Mark); 2]>,
    /// Whether one of them refused when it was last asked.
    refused: bool,
    /// Whether one of them has no key.
    is_shared: bool,
}

/// The checks by their slots, in the order in which they are asked.
fn by_slot(store: &Redis, checks: &[Check<'_>]) -> SmallVec<[Part; 2]> {
    let mut parts: SmallVec<[Part; 2]> = SmallVec::new();
    for (place, check) in checks.iter().enumerate() {
        let names = store.names();
        let name = names.of(check);
        let (slot, mark) = (names.slot(&name), store.refusers.mark(&name));
        let refused = !check.is_shadow() && store.refusers.contains(mark);
        let is_shared = check.key().as_str().is_empty();
        if let Some(part) = parts.iter_mut().find(|part| part.slot == slot) {
            part.places.push((place, mark));
            part.refused |= refused;
            part.is_shared |= is_shared;
        } else {
            let places = SmallVec::from_elem((place, mark), 1);
            parts.push(Part { slot, places, refused, is_shared });
        }
    }
    parts.sort_by_key(|part| (!part.refused, part.is_shared));
    parts
}

/// What was charged so far. Dropped with something in it, it gives that back: the call has failed,
/// or its caller has gone.
struct Charged<'s> {
    servers: &'s Arc<Servers>,
    /// With the place of the check.
    requests: Vec<(usize, Request)>,
}

impl Charged<'_> {
    fn add(
        &mut self,
        store: &Redis,
        place: usize,
        checks: &[Check<'_>],
        instant: algo::Instant,
    ) -> Result<(), StoreError> {
        if let Some(check) = checks.get(place) {
            let at = instant.to_le_bytes();
            let request = script::give_back(store.names(), store.now_us(), check, at, None)?;
            self.requests.push((place, request));
        }
        Ok(())
    }

    /// Gives all of it back, and then looks at what is left of these checks, and of those without
    /// an answer: their places and the replies, as they come in.
    fn undo(
        &mut self,
        store: &Redis,
        checks: &[Check<'_>],
        answers: &[Option<Answer>],
    ) -> Result<UnboundedReceiver<(usize, Value)>, StoreError> {
        let mut looks = SmallVec::<[_; 4]>::new();
        for (place, (check, answer)) in checks.iter().zip(answers).enumerate() {
            if answer.is_none() || self.requests.iter().any(|(charged, ..)| *charged == place) {
                let look =
                    script::call(store.names(), store.now_us(), &[check.clone().with_cost(0)])?;
                looks.push((place, look));
            }
        }
        let driver = driver::handle()?;
        let (tell, replies) = mpsc::unbounded_channel();
        for (place, look) in looks {
            let charged = self.requests.iter().position(|(charged, ..)| *charged == place);
            let back = charged.map(|charged| self.requests.swap_remove(charged).1);
            let (servers, tell) = (self.servers.clone(), tell.clone());
            driver.spawn(async move {
                if let Some(back) = back {
                    give_back(&servers, &back).await;
                }
                if let Ok(Ok(reply)) = timeout(PATIENCE, servers.run(&look)).await {
                    // Without a receiver nobody waits for it any more.
                    let _ = tell.send((place, reply));
                }
            });
        }
        Ok(replies)
    }
}

/// One that fails leaves the charge: too little is left, and never too much.
async fn give_back(servers: &Servers, request: &Request) {
    let _ = timeout(PATIENCE, servers.run(request)).await;
}

/// Gives charges back, without waiting for it.
pub(super) fn undo(servers: &Arc<Servers>, requests: impl IntoIterator<Item = Request>) {
    let Ok(driver) = driver::handle() else { return };
    for request in requests {
        let servers = servers.clone();
        driver.spawn(async move { give_back(&servers, &request).await });
    }
}

impl Drop for Charged<'_> {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            undo(self.servers, self.requests.drain(..).map(|(_, request)| request));
        }
    }
}
