//! Checks of one call that lie in different slots of a cluster.
//!
//! No script can decide them together. They are decided in their order, those of one slot at once,
//! and when one refuses, what was charged before is given back. In the meantime other calls find
//! less than there is: too much may be refused for a round trip, and never too much admitted.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;
use tokio::time::timeout;

use super::Redis;
use super::executor::Servers;
use super::node::Request;
use super::slot::Slot;
use super::{reply, script};
use crate::driver;
use crate::error::StoreError;
use crate::rule::Check;
use crate::store::Answers;

/// How long giving back may take. Nobody waits for it longer than for the decision, but it is done
/// also when the caller has gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Decides checks, wherever they lie.
pub(super) async fn decide(store: &Redis, checks: &[Check<'_>]) -> Result<Answers, StoreError> {
    let parts = by_slot(store, checks);
    if let [(slot, _)] = &*parts {
        return reply::answers(&store.together(*slot, checks).await?, checks);
    }
    let mut charged = Charged { servers: &store.servers, requests: Vec::new() };
    let mut answers: SmallVec<[Option<_>; 4]> = checks.iter().map(|_| None).collect();
    let mut refused = false;
    for (slot, places) in &parts {
        let part: SmallVec<[Check<'_>; 2]> =
            places.iter().filter_map(|place| checks.get(*place)).cloned().collect();
        let reply = store.together(*slot, &part).await?;
        let told = reply::answers(&reply, &part)?;
        refused = part.iter().zip(&told).any(|(check, told)| !told.allowed && !check.is_shadow());
        for ((place, answer), charge) in places.iter().zip(told).zip(reply::charges(&reply, &part)?)
        {
            if let Some(instant) = charge {
                charged.add(store, *slot, *place, checks, instant)?;
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
        return Ok(answers.into_iter().flatten().collect());
    }
    for place in charged.give_back().await {
        if let Some(answer) = answers.get_mut(place) {
            *answer = None;
        }
    }
    // What is left of the others, now that they were given back, or because they were not asked.
    let mut all = Answers::new();
    for (check, answer) in checks.iter().zip(answers) {
        if let Some(answer) = answer {
            all.push(answer);
        } else {
            let slot = Slot::of(&store.names().of(check));
            let look = store.together(slot, &[check.with_cost(0)]).await?;
            all.push(reply::looked(&look, check)?);
        }
    }
    Ok(all)
}

/// The places of the checks of each slot, in the order in which the slots come up.
fn by_slot(store: &Redis, checks: &[Check<'_>]) -> SmallVec<[(Slot, SmallVec<[usize; 2]>); 2]> {
    let mut parts: SmallVec<[(Slot, SmallVec<[usize; 2]>); 2]> = SmallVec::new();
    for (place, check) in checks.iter().enumerate() {
        let slot = Slot::of(&store.names().of(check));
        match parts.iter_mut().find(|(other, _)| *other == slot) {
            Some((_, places)) => places.push(place),
            None => parts.push((slot, SmallVec::from_elem(place, 1))),
        }
    }
    parts
}

/// What was charged so far. Dropped with something in it, it gives that back: the call has failed,
/// or its caller has gone.
struct Charged<'s> {
    servers: &'s Arc<Servers>,
    /// With the place of the check.
    requests: Vec<(usize, Slot, Request)>,
}

impl Charged<'_> {
    fn add(
        &mut self,
        store: &Redis,
        slot: Slot,
        place: usize,
        checks: &[Check<'_>],
        instant: [u8; 8],
    ) -> Result<(), StoreError> {
        if let Some(check) = checks.get(place) {
            let request = script::give_back(store.names(), store.now_us(), check, instant)?;
            self.requests.push((place, slot, request));
        }
        Ok(())
    }

    /// Gives all of it back; the places of the checks.
    async fn give_back(&mut self) -> SmallVec<[usize; 2]> {
        let places = self.requests.iter().map(|(place, ..)| *place).collect();
        for task in self.start() {
            // One that fails leaves the charge: too little is left, and never too much.
            let _ = task.await;
        }
        places
    }

    fn start(&mut self) -> Vec<tokio::task::JoinHandle<()>> {
        let Ok(driver) = driver::handle() else { return Vec::new() };
        let spawn = |(_, slot, request): (usize, Slot, Request)| {
            let servers = self.servers.clone();
            driver.spawn(async move {
                let _ = timeout(PATIENCE, servers.run(slot, &request)).await;
            })
        };
        self.requests.drain(..).map(spawn).collect()
    }
}

impl Drop for Charged<'_> {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            drop(self.start());
        }
    }
}
