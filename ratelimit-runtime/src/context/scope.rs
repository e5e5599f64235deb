//! What layers keep with a request: what rules have said of it, and how its refusals are answered.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::task::futures::TaskLocalFuture;

use super::{CURRENT, Head, Inner, Reports, RequestContext, RequestContextBuilder, RuleReport};
use crate::algo::Answers;
use crate::responses::{ErrorResponses, Spread};
use crate::rule::Check;

#[derive(Default)]
pub(super) struct Scope {
    /// What rules have said so far, if a layer writes headers of it, and no outer layer keeps it.
    reports: Option<Mutex<Reports>>,
    /// The context of the layer around the one that made this, for the same request.
    outer: Option<RequestContext>,
    /// How much longer the reported waits are.
    spread: Spread,
    responses: ErrorResponses,
    /// Whether the request is for gRPC, where the application says.
    grpc: Option<bool>,
    /// Whether some call of the request was not admitted; kept by the outermost layer.
    had_rejection: AtomicBool,
}

impl RequestContext {
    /// As [`scope`](Self::scope), as a future that has a name.
    pub(crate) fn around<F: Future>(self, future: F) -> TaskLocalFuture<Self, F> {
        CURRENT.scope(self, future)
    }

    /// Keeps what a store answers, for the headers of the response.
    ///
    /// On the path of every decision: without a layer around, nothing is read but the task's own slot.
    #[inline]
    pub(crate) fn report(checks: &[Check<'_>], answers: &Answers) {
        let _ = CURRENT.try_with(|context| {
            let Some(reports) = &context.outermost().reports else { return };
            let shown = checks.iter().zip(answers);
            let shown =
                shown.filter(|(check, _)| !check.is_shadow() && !check.rule().hides_headers());
            let mut reports = reports.lock();
            shown.for_each(|(check, answer)| {
                RuleReport::new(check, answer, context.spread()).add_to(&mut reports);
            });
        });
    }

    /// Forgets what was reported: no decision can be made for this request, so nothing holds.
    #[cold]
    pub(crate) fn forget_reports() {
        let _ = CURRENT.try_with(|context| {
            if let Some(reports) = &context.outermost().reports {
                reports.lock().clear();
            }
        });
    }

    /// A call of this request was not admitted, so the response is for this client and this moment.
    #[cold]
    pub(crate) fn note_rejection() {
        let _ = CURRENT.try_with(|context| {
            context.outermost().had_rejection.store(true, Ordering::Relaxed);
        });
    }

    /// Whether some call of this request was not admitted.
    pub(crate) fn had_rejection(&self) -> bool {
        self.outermost().had_rejection.load(Ordering::Relaxed)
    }

    /// Whether there is something to write into the header of the response.
    #[cfg(feature = "actix")]
    pub(crate) fn has_news(&self) -> bool {
        let reports = self.outermost().reports.as_ref();
        self.had_rejection() || reports.is_some_and(|reports| !reports.lock().is_empty())
    }

    /// Whether the request is for gRPC, where the application says.
    pub(crate) fn grpc(&self) -> Option<bool> {
        self.inner.scope.grpc
    }

    /// What rules have said so far. There is nothing afterwards.
    pub(crate) fn take_reports(&self) -> Reports {
        let reports = self.outermost().reports.as_ref();
        reports.map(|reports| mem::take(&mut *reports.lock())).unwrap_or_default()
    }

    /// The scope of the outermost layer around this request.
    fn outermost(&self) -> &Scope {
        let mut scope = &self.inner.scope;
        while let Some(outer) = &scope.outer {
            scope = &outer.inner.scope;
        }
        scope
    }

    /// How much longer the reported waits are.
    pub(crate) fn spread(&self) -> Spread {
        self.inner.scope.spread
    }

    /// The same in the context of this task.
    pub(crate) fn current_spread() -> Spread {
        CURRENT.try_with(Self::spread).unwrap_or_default()
    }

    /// How refusals are answered in the context of this task.
    pub(crate) fn current_responses() -> ErrorResponses {
        CURRENT.try_with(|context| context.inner.scope.responses.clone()).unwrap_or_default()
    }
}

impl RequestContextBuilder {
    fn with_scope(self, change: impl FnOnce(&mut Scope)) -> Self {
        self.with(|inner| change(&mut inner.scope))
    }

    /// Starts with what an outer layer knows of the same request, its head aside. What is decided is
    /// reported to the outermost.
    pub(crate) fn inside(outer: RequestContext) -> Self {
        let known = &*outer.inner;
        let scope = Scope {
            responses: known.scope.responses.clone(),
            spread: known.scope.spread,
            grpc: known.scope.grpc,
            ..Scope::default()
        };
        let inner = Inner {
            ip: known.ip,
            user: known.user.clone(),
            tenant: known.tenant.clone(),
            device: known.device.clone(),
            scope: Scope { outer: Some(outer), ..scope },
            ..Inner::default()
        };
        Self { inner: Arc::new(inner) }
    }

    /// The method, the path and all headers of a request.
    pub(crate) fn head(self, head: Head) -> Self {
        self.with(|inner| inner.head = head)
    }

    /// What is decided will be [asked for](RequestContext::take_reports).
    pub(crate) fn with_reports(self) -> Self {
        self.with_scope(|scope| scope.reports = Some(Mutex::default()))
    }

    /// How much longer the reported waits are.
    pub(crate) fn spread(self, spread: Spread) -> Self {
        self.with_scope(|scope| scope.spread = spread)
    }

    /// How refusals are answered.
    pub(crate) fn responses(self, responses: ErrorResponses) -> Self {
        self.with_scope(|scope| scope.responses = responses)
    }

    /// Whether the request is for gRPC.
    pub(crate) fn grpc(self, is: bool) -> Self {
        self.with_scope(|scope| scope.grpc = Some(is))
    }
}
