//! For tests: a store that charges at once, and answers late.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;

use super::{Answers, BoxFuture, Charged, Charges, Embedded, Store};
use crate::clock::{Clock, ManualClock};
use crate::error::StoreError;
use crate::rule::Check;

/// Answers as soon as it is let.
#[derive(Clone)]
pub(crate) struct Late {
    pub(crate) store: Arc<Embedded>,
    answers: Arc<Semaphore>,
}

impl Late {
    pub(crate) fn new() -> Self {
        let clock = Clock::Manual(ManualClock::new());
        let store = Arc::new(Embedded::new().with_clock(clock));
        Self { store, answers: Arc::new(Semaphore::new(0)) }
    }

    /// Lets it answer a question.
    pub(crate) fn answer(&self) {
        self.answers.add_permits(1);
    }

    async fn is_let(&self) {
        if let Ok(permit) = self.answers.acquire().await {
            permit.forget();
        }
    }
}

impl fmt::Debug for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Late").finish_non_exhaustive()
    }
}

impl Store for Late {
    fn decide<'a>(&'a self, checks: &'a [Check<'a>]) -> BoxFuture<'a, Result<Answers, StoreError>> {
        Box::pin(async move {
            let answers = self.store.decide(checks).await;
            self.is_let().await;
            answers
        })
    }

    fn charge<'a>(
        &'a self,
        checks: &'a [Check<'a>],
    ) -> BoxFuture<'a, Result<(Answers, Charges), StoreError>> {
        Box::pin(async move {
            let charged = self.store.charge(checks).await;
            self.is_let().await;
            charged
        })
    }

    fn charge_now(&self, _: &[Check<'_>]) -> Option<Result<(Answers, Charges), StoreError>> {
        None
    }

    fn refund(&self, charged: &[Charged<'_>]) {
        self.store.refund(charged);
    }

    fn reset<'a>(&'a self, check: &'a Check<'a>) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.store.reset(check)
    }
}
