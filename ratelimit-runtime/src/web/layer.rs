//! [`RateLimitLayer`]: what a service's requests are told of, and what its responses tell.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use super::fields::Field;
use super::{Answers, ClientIp, Fields, Request};
use crate::context::Context;
use crate::error::RateLimitError;
use crate::key::Key;
use crate::limiter::Limiter;
use crate::rule::{Check, Rule};

/// Something that a request tells, or does not.
type Told<T> = Arc<dyn Fn(&Request<'_>) -> Option<T> + Send + Sync>;

/// One layer for three jobs: it makes the [`Context`] of each request, it can limit all of them by
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
/// Add it outside of all that may refuse, but inside of what handles CORS: a preflight request is
/// then none of its business, and a browser may read its answers.
#[derive(Clone)]
#[must_use = "a layer does nothing until a service has it"]
pub struct RateLimitLayer {
    pub(crate) settings: Arc<Settings>,
}

#[derive(Clone)]
pub(crate) struct Settings {
    client_ip: ClientIp,
    peer: Told<IpAddr>,
    user: Option<Told<String>>,
    tenant: Option<Told<String>>,
    device: Option<Told<String>>,
    answers: Answers,
    fields: Vec<Fields>,
    rules: Vec<RouteRule>,
    limiter: Option<Limiter>,
}

/// A rule for all requests, and whose budget it is.
#[derive(Clone)]
struct RouteRule {
    rule: Arc<Rule>,
    key: Arc<dyn Fn(&Context) -> Key + Send + Sync>,
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
            client_ip: ClientIp::of_peer(),
            peer: Arc::new(|request: &Request<'_>| request.peer()),
            user: None,
            tenant: None,
            device: None,
            answers: Answers::problems(),
            fields: vec![Fields::Draft11],
            rules: Vec::new(),
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
        self.with(|settings| settings.client_ip = client_ip)
    }

    /// Who the peer is, if the [request](Request::peer) does not tell. axum tells it to services that
    /// were made by `into_make_service_with_connect_info::<SocketAddr>()`, tonic and actix-web always.
    /// Others can put a `SocketAddr` into the request's extensions.
    pub fn peer(
        self,
        peer: impl Fn(&Request<'_>) -> Option<IpAddr> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.peer = Arc::new(peer))
    }

    /// Who makes a request: `@user`. Only what has been authenticated is worth a budget of its own.
    pub fn user(
        self,
        user: impl Fn(&Request<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.user = Some(Arc::new(user)))
    }

    /// For which tenant a request is: `@tenant`.
    pub fn tenant(
        self,
        tenant: impl Fn(&Request<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.tenant = Some(Arc::new(tenant)))
    }

    /// From which device a request is: `@device`.
    pub fn device(
        self,
        device: impl Fn(&Request<'_>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.device = Some(Arc::new(device)))
    }

    /// What the body of an answer is when a request is not admitted; else a problem document.
    pub fn answers(self, answers: Answers) -> Self {
        self.with(|settings| settings.answers = answers)
    }

    /// Which header fields tell what is left; else [`Fields::Draft11`]. None for none.
    pub fn fields(self, fields: impl IntoIterator<Item = Fields>) -> Self {
        self.with(|settings| settings.fields = fields.into_iter().collect())
    }

    /// Limits all requests by a rule. The closure says whose budget it is; several rules are one
    /// check.
    ///
    /// ```
    /// # use ratelimit_runtime::{Algorithm, KeyBuilder, Rate, RateLimitLayer, Rule};
    /// let rule = Rule::named("api", Algorithm::TokenBucket { capacity: 100, refill: Rate::per_second(20) });
    /// let layer = RateLimitLayer::new().limit(rule, |context| match context.ip() {
    ///     Some(ip) => ip.into(),
    ///     None => "unknown".into(),
    /// });
    /// ```
    pub fn limit(self, rule: Rule, key: impl Fn(&Context) -> Key + Send + Sync + 'static) -> Self {
        let rule = RouteRule { rule: Arc::new(rule), key: Arc::new(key) };
        self.with(|settings| settings.rules.push(rule))
    }

    /// On which limiter its own rules are decided, if it is not that of the process.
    pub fn limiter(self, limiter: Limiter) -> Self {
        self.with(|settings| settings.limiter = Some(limiter))
    }
}

impl Settings {
    /// What is known of a request.
    pub(crate) fn context(&self, request: &Request<'_>) -> Context {
        let mut context = request
            .copy_headers(Context::builder())
            .path(request.path())
            .method(request.method())
            .answers(self.answers.clone());
        if let Some(peer) = (self.peer)(request) {
            let ip = self.client_ip.find(peer, request.headers(self.client_ip.header()));
            context = context.ip_within(ip, self.client_ip.bits());
        }
        let told = |told: &Option<Told<String>>| told.as_ref().and_then(|told| told(request));
        if let Some(user) = told(&self.user) {
            context = context.user(user);
        }
        if let Some(tenant) = told(&self.tenant) {
            context = context.tenant(tenant);
        }
        if let Some(device) = told(&self.device) {
            context = context.device(device);
        }
        context.build()
    }

    /// Whether there is something to decide before a handler is asked.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Decides by the layer's own rules.
    pub(crate) async fn decide(&self, context: &Context) -> Result<(), RateLimitError> {
        let checks: Vec<Check<'_>> =
            self.rules.iter().map(|of| Check::new(&of.rule, (of.key)(context))).collect();
        let limiter = match &self.limiter {
            Some(limiter) => limiter,
            None => Limiter::installed()?,
        };
        limiter.check_all(&checks).await.map(|_| ())
    }

    /// The header fields for what was decided. What is there already, from a service behind, gives
    /// way: it is about budgets of its own.
    pub(crate) fn fields(&self, context: &Context) -> impl Iterator<Item = Field> {
        let told = context.told();
        self.fields.iter().flat_map(move |fields| fields.write(&told))
    }
}

impl fmt::Debug for RateLimitLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer")
            .field("client_ip", &self.settings.client_ip)
            .field("fields", &self.settings.fields)
            .field("rules", &self.settings.rules.len())
            .finish_non_exhaustive()
    }
}
