//! [`RateLimitLayer`]: how a layer is set up. What it does is in `settings`.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::settings::{RouteRule, Settings};
use super::{ClientIp, LayerRule, RateLimitHeaders};
use crate::context::RequestContext;
#[cfg(doc)]
use crate::decision::RateLimitError;
use crate::key::LimitKey;
use crate::limiter::Limiter;
use crate::request::RequestInfo;
use crate::responses::ErrorResponses;
#[cfg(doc)]
use crate::rule::Rule;

/// One layer for three jobs: it makes the [`RequestContext`] of each request, it can limit all of them by
/// rules of its own, and it writes the header fields for what it and the handlers have decided.
///
/// ```
/// # use ratelimit_runtime::{ClientIp, ConfigError, RateLimitLayer};
/// # fn main() -> Result<(), ConfigError> {
/// let layer = RateLimitLayer::new()
///     .client_ip(ClientIp::behind(["10.0.0.0/8"])?)
///     .user(|request| request.header("x-user-id").map(str::to_owned));
/// # Ok(())
/// # }
/// ```
///
/// It is a layer of `tower`, for axum, tonic and all other services of the `http` crate's requests, and
/// with the feature `actix` also a middleware of actix-web.
///
/// Add it inside of what handles CORS: a preflight request is then none of its business, and a browser
/// may read its answers. Inside of what finds out who asks, if `@user` is to know that.
///
/// A layer inside of another one, around a single route for example, knows what the outer one knows,
/// and adds or replaces what it says itself; the headers are those that come to it. The outermost
/// writes the header fields, for what all of them and the handlers have decided.
#[derive(Clone)]
#[must_use = "a layer does nothing until a service has it"]
pub struct RateLimitLayer {
    pub(crate) settings: Arc<Settings>,
}

impl Default for RateLimitLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl RateLimitLayer {
    /// A layer that takes the peer for the client, and knows of no user.
    pub fn new() -> Self {
        let settings = Settings {
            client_ip: None,
            peer: None,
            user: None,
            tenant: None,
            device: None,
            route: None,
            responses: None,
            grpc: None,
            headers: vec![RateLimitHeaders::Draft11],
            rules: Vec::new(),
            skip: Vec::new(),
            wait: None,
            spread: 0,
            limiter: None,
        };
        Self { settings: Arc::new(settings) }
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// How the client's address is found: `@ip`.
    pub fn client_ip(self, client_ip: ClientIp) -> Self {
        self.with(|settings| settings.client_ip = Some(client_ip))
    }

    /// Who the peer is, if the [request](RequestInfo::peer) does not tell. axum tells it to services that
    /// were made by `into_make_service_with_connect_info::<SocketAddr>()`, tonic and actix-web always.
    /// Others can put a `SocketAddr` into the request's extensions.
    pub fn peer(
        self,
        peer: impl Fn(&RequestInfo<'_>) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.peer = Some(Arc::new(peer)))
    }

    /// Who makes a request: `@user`. Only what has been authenticated is worth a budget of its own.
    pub fn user(
        self,
        user: impl Fn(&RequestInfo<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.user = Some(Arc::new(user)))
    }

    /// For which tenant a request is: `@tenant`.
    pub fn tenant(
        self,
        tenant: impl Fn(&RequestInfo<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.tenant = Some(Arc::new(tenant)))
    }

    /// From which device a request is: `@device`.
    pub fn device(
        self,
        device: impl Fn(&RequestInfo<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.device = Some(Arc::new(device)))
    }

    /// Which route serves a request: `@route`. `None`: none does, and it is
    /// [`unmatched`](RequestContext::UNMATCHED). Without this it is what the [framework says](RequestInfo::route).
    ///
    /// ```
    /// # use ratelimit_runtime::RateLimitLayer;
    /// // For gRPC, where a route is a path. Only paths that there are: clients invent others.
    /// let layer = RateLimitLayer::new().route(|request| {
    ///     let methods = ["/shop.Orders/Place", "/shop.Orders/Cancel"];
    ///     methods.into_iter().find(|path| *path == request.path()).map(str::to_owned)
    /// });
    /// ```
    pub fn route(
        self,
        route: impl Fn(&RequestInfo<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.route = Some(Arc::new(route)))
    }

    /// What the body of an answer is when a request is not admitted; else a problem document.
    pub fn error_responses(self, answers: ErrorResponses) -> Self {
        self.with(|settings| settings.responses = Some(answers))
    }

    /// Which requests are for gRPC: a refusal is answered in it then, if the request speaks gRPC or gRPC-Web.
    /// All others are refused over HTTP, whatever they say of themselves. `|_| false` is right for a service that
    /// has none.
    ///
    /// ```
    /// # use ratelimit_runtime::RateLimitLayer;
    /// let layer = RateLimitLayer::new().grpc(|request| request.path().starts_with("/shop.Orders/"));
    /// ```
    ///
    /// Without this, gRPC is what speaks it as it stands in its specification: a `POST` over HTTP/2 with `te:
    /// trailers` and the media type `application/grpc`. gRPC-Web is not, because each page and each script can
    /// speak that. It needs the feature `tonic`; without that, every refusal is one of HTTP.
    pub fn grpc(self, is: impl Fn(&RequestInfo<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.grpc = Some(Arc::new(is)))
    }

    /// Which rate-limit headers responses carry: [`RateLimitHeaders::Draft11`] unless set, and none for an empty
    /// list. A rule can be [kept out](crate::Rule::hide_headers) of all of them.
    pub fn headers(self, headers: impl IntoIterator<Item = RateLimitHeaders>) -> Self {
        self.with(|settings| settings.headers = headers.into_iter().collect())
    }

    /// Limits all requests by a rule. The closure says whose budget it is; several rules are one
    /// check. A [`LayerRule`] has also what each request says of the rule.
    ///
    /// A rule shares its budgets with those of the same name, in other layers and on functions. One
    /// that is written elsewhere with other numbers is a
    /// [mistake in the configuration](crate::ConfigError::OtherNumbers), as it is between two functions.
    ///
    /// ```
    /// # use ratelimit_runtime::{Algorithm, RequestContext, Rate, RateLimitLayer, Rule};
    /// let rule = Rule::named("api", Algorithm::TokenBucket { capacity: 100, refill: Rate::per_second(20) });
    /// let layer = RateLimitLayer::new().limit(rule, RequestContext::ip_key);
    /// ```
    pub fn limit(
        self,
        rule: impl Into<LayerRule>,
        key: impl Fn(&RequestContext) -> LimitKey + Send + Sync + 'static,
    ) -> Self {
        let rule = RouteRule { rule: rule.into(), key: Arc::new(key) };
        self.with(|settings| settings.rules.push(rule))
    }

    /// Leaves requests out, for all rules of this layer: they are neither judged nor counted, and have no header
    /// fields of these rules. Of several closures, one is enough. Annotated handlers decide for themselves.
    ///
    /// By what the client cannot choose, such as its [address](RequestContext::ip), who it
    /// [is](RequestContext::user), the [route](RequestContext::route) or the [path](RequestContext::decoded_path). Never by a header that
    /// nobody has checked: whoever sends it is exempt.
    ///
    /// ```
    /// # use ratelimit_runtime::RateLimitLayer;
    /// let layer = RateLimitLayer::new()
    ///     .skip(|context| context.ip().is_some_and(|ip| ip.is_loopback()))
    ///     .skip(|context| context.route() == Some("/assets/{*file}"));
    /// ```
    pub fn skip(self, skip: impl Fn(&RequestContext) -> bool + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.skip.push(Arc::new(skip)))
    }

    /// Leaves requests with one of these paths out, whatever their methods are, as [`skip`](Self::skip) does: for
    /// probes. The whole path counts, as `@path` does: without its query, and decoded, so that `/%68ealth` is
    /// `/health`, and neither `/health/` nor `//health` is.
    ///
    /// ```
    /// # use ratelimit_runtime::RateLimitLayer;
    /// let layer = RateLimitLayer::new().skip_paths(["/health", "/ready"]);
    /// ```
    pub fn skip_paths<P: Into<String>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        let paths: Vec<String> = paths.into_iter().map(Into::into).collect();
        self.skip(move |context| {
            context.decoded_path().is_some_and(|path| paths.iter().any(|exempt| *exempt == path))
        })
    }

    /// How long a request may wait for its turn in the line of a leaky bucket, one of this layer's rules: its handler
    /// is called then, so handlers begin at a constant rate. Who would wait longer is refused at once, and takes no
    /// place. Whole milliseconds count.
    ///
    /// Without this, a leaky bucket does not pace: it admits as many at once as there is room for, and refuses
    /// the rest. A request whose client leaves while it waits is refunded.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratelimit_runtime::{Algorithm, RequestContext, Rate, RateLimitLayer, Rule};
    /// // One every 200 ms for each address, and nobody waits for more than two seconds.
    /// let line = Algorithm::LeakyBucket { capacity: 20, leak: Rate::per_second(5) };
    /// let layer = RateLimitLayer::new()
    ///     .limit(Rule::named("search", line), RequestContext::ip_key)
    ///     .wait(Duration::from_secs(2));
    /// ```
    pub fn wait(self, longest: Duration) -> Self {
        self.with(|settings| settings.wait = Some(longest))
    }

    /// Spreads the waits that are reported to refused clients, so that they do not come back all at once: each is the
    /// exact one and up to so many percent more, of which the second is chosen anew for each request. At most 100,
    /// and 0 if this is not set. It is about `Retry-After`, the header fields, the problem document and gRPC's
    /// `RetryInfo`, of this layer's rules and of all handlers behind it. What the [error](RateLimitError::retry_after)
    /// says stays exact.
    pub fn spread_waits(self, percent: u8) -> Self {
        self.with(|settings| settings.spread = percent.min(100))
    }

    /// On which limiter its own rules are decided, if it is not that of the process.
    pub fn limiter(self, limiter: Limiter) -> Self {
        self.with(|settings| settings.limiter = Some(limiter))
    }
}

impl fmt::Debug for RateLimitLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer")
            .field("client_ip", &self.settings.client_ip)
            .field("headers", &self.settings.headers)
            .field("rules", &self.settings.rules.len())
            .finish_non_exhaustive()
    }
}
