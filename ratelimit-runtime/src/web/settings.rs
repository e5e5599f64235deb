//! [`Settings`]: what a layer does with a request and with its response.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http::HeaderName;

use super::caching::{CACHE_CONTROL, Caching, NO_STORE};
use super::{ClientIp, LayerRule, RateLimitHeaders};
use crate::context::{RequestContext, RequestContextBuilder};
use crate::key::LimitKey;
use crate::limiter::Limiter;
use crate::request::RequestInfo;
use crate::responses::{ErrorResponses, Spread};

/// For layers that do not say how the client is found.
static OF_PEER: LazyLock<ClientIp> = LazyLock::new(ClientIp::of_peer);

/// Something that is so for a request, or is not.
type Is = Arc<dyn Fn(&RequestInfo<'_>) -> bool + Send + Sync>;

/// Finds something in a request, if it is there.
type Find<T> = Arc<dyn Fn(&RequestInfo<'_>) -> Option<T> + Send + Sync>;

/// Whether a request is left out.
type Skip = Arc<dyn Fn(&RequestContext) -> bool + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Settings {
    /// What is not set here is as an outer layer says, or else as by default.
    pub(super) client_ip: Option<ClientIp>,
    pub(super) peer: Option<Find<IpAddr>>,
    pub(super) user: Option<Find<String>>,
    pub(super) tenant: Option<Find<String>>,
    pub(super) device: Option<Find<String>>,
    pub(super) route: Option<Find<String>>,
    pub(super) responses: Option<ErrorResponses>,
    pub(super) grpc: Option<Is>,
    pub(super) headers: Vec<RateLimitHeaders>,
    pub(super) rules: Vec<RouteRule>,
    /// Which requests the rules leave out.
    pub(super) skip: Vec<Skip>,
    /// How long a request may wait for its turn.
    pub(super) wait: Option<Duration>,
    /// By how many percent, at most, the reported waits are longer.
    pub(super) spread: u8,
    pub(super) limiter: Option<Limiter>,
}

/// A rule for requests, and the key of each.
#[derive(Clone)]
pub(super) struct RouteRule {
    pub(super) rule: LayerRule,
    pub(super) key: Arc<dyn Fn(&RequestContext) -> LimitKey + Send + Sync>,
}

impl Settings {
    /// What is known of a request, by itself and by the layer around this one.
    pub(crate) fn context(
        &self,
        request: &RequestInfo<'_>,
        outer: Option<RequestContext>,
    ) -> RequestContext {
        let is_outermost = outer.is_none();
        let route = self.route_of(request);
        let mut context = if let Some(outer) = outer {
            // A router may have cut the path, and whoever rewrites the method knows why.
            let known = outer.method().zip(outer.path());
            let (method, path) = known.unwrap_or((request.method(), request.path()));
            let head = request.head(method, path, route.as_deref().or(outer.route()));
            RequestContextBuilder::inside(outer).head(head)
        } else {
            let head = request.head(request.method(), request.path(), route.as_deref());
            RequestContext::builder().head(head)
        };
        if is_outermost && self.writes_headers() {
            context = context.with_reports();
        }
        if self.spread > 0 {
            context = context.spread(Spread::choose(self.spread));
        }
        if let Some(responses) = &self.responses {
            context = context.responses(responses.clone());
        }
        if let Some(grpc) = &self.grpc {
            context = context.grpc(grpc(request));
        }
        if is_outermost || self.client_ip.is_some() || self.peer.is_some() {
            context = self.find_client(request, context);
        }
        let found = |find: &Option<Find<String>>| find.as_ref().and_then(|find| find(request));
        if let Some(user) = found(&self.user) {
            context = context.user(user);
        }
        if let Some(tenant) = found(&self.tenant) {
            context = context.tenant(tenant);
        }
        if let Some(device) = found(&self.device) {
            context = context.device(device);
        }
        context.build()
    }

    fn route_of<'r>(&self, request: &RequestInfo<'r>) -> Option<Cow<'r, str>> {
        let Some(route) = &self.route else { return request.route() };
        Some(route(request).map_or(Cow::Borrowed(RequestContext::UNMATCHED), Cow::Owned))
    }

    fn find_client(
        &self,
        request: &RequestInfo<'_>,
        context: RequestContextBuilder,
    ) -> RequestContextBuilder {
        let peer = match &self.peer {
            Some(peer) => peer(request),
            None => request.peer(),
        };
        let how = self.client_ip.as_ref().unwrap_or(&OF_PEER);
        let values = request.headers(how.header());
        let found = match peer {
            Some(peer) => Some(how.find(peer, values)),
            None => how.find_without_peer(values),
        };
        // None: a key with `@ip` says what is to be set.
        match found {
            Some(ip) => context.ip_within(ip, how.bits()),
            None => context,
        }
    }

    /// Whether there are headers to write.
    pub(crate) fn writes_headers(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Whether it says itself what the body of an answer is.
    #[cfg(feature = "actix")]
    pub(crate) fn says_responses(&self) -> bool {
        self.responses.is_some()
    }

    /// Hands out the header fields for what was decided. What is there already, from a service
    /// behind, gives way: it is about budgets of its own.
    ///
    /// Where a call was rejected, the response is for this client and this moment, also one that a handler
    /// has made instead; unless that says something of caches itself. A response that says that all clients may
    /// share it has no fields, for those are of one client. Nothing else is said of caches: that is the
    /// application's.
    pub(crate) fn finish(
        &self,
        context: &RequestContext,
        caching: Caching,
        mut put: impl FnMut(&'static HeaderName, &str),
    ) {
        let reports = context.take_reports();
        if caching == Caching::Unsaid && context.had_rejection() {
            put(&CACHE_CONTROL, NO_STORE);
        }
        if caching == Caching::Shared {
            return;
        }
        for fields in &self.headers {
            fields.write(&reports, &mut put);
        }
    }
}
