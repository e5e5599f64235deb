//! What is known of the request that is being served: for `@ip`, `@user` and the like in keys.

mod head;
mod key;
#[cfg(feature = "tower")]
mod told;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

#[cfg(feature = "tower")]
use tokio::task::futures::TaskLocalFuture;

use crate::address::{self, V6_BITS};
use crate::key::{LimitKey, functions};
use crate::rule::Check;
use crate::store::Answers;

pub(crate) use self::head::Head;
pub use self::key::{Device, Header, Ip, Method, Path, Route, Tenant, User};
#[cfg(feature = "tower")]
pub(crate) use self::told::Told;

tokio::task_local! {
    static CURRENT: RequestContext;
}

/// What is known of the request that is being served.
///
/// A layer or middleware of a web framework makes one of each request. Work of another kind can make
/// its own:
///
/// ```
/// # use ratelimit_runtime::RequestContext;
/// # fn handle_message() {}
/// # let sender = "ann";
/// let context = RequestContext::builder().user(sender).build();
/// context.scope_blocking(|| handle_message()); // here, a key can say `@user ?: 'nobody'`
/// ```
///
/// It belongs to the task that serves the request. Work that is spawned takes it along when told to:
///
/// ```
/// # use ratelimit_runtime::RequestContext;
/// # async fn later() {}
/// # fn spawn(_: impl Future<Output = ()>) {}
/// # let context = RequestContext::builder().build();
/// # context.scope_blocking(|| {
/// if let Some(context) = RequestContext::current() {
///     spawn(context.scope(later()));
/// }
/// # });
/// ```
///
/// Cheap to clone; clones are one context.
#[derive(Clone)]
pub struct RequestContext {
    inner: Arc<Inner>,
}

/// Makes a [`RequestContext`].
#[derive(Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct RequestContextBuilder {
    /// Nobody else has it yet. Too large to be moved with every call.
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    ip: Option<Address>,
    head: Head,
    user: Option<Box<str>>,
    tenant: Option<Box<str>>,
    device: Option<Box<str>>,
    /// What rules have said so far, if there is somebody to tell it to, and no outer layer keeps it.
    #[cfg(feature = "tower")]
    told: Option<parking_lot::Mutex<self::told::Kept>>,
    /// That of the layer around the one that made this, for the same request.
    #[cfg(feature = "tower")]
    outer: Option<RequestContext>,
    /// How much longer the reported waits are.
    #[cfg(feature = "tower")]
    spread: crate::web::Spread,
    /// How refusals are answered.
    #[cfg(feature = "tower")]
    answers: crate::web::ErrorResponses,
    /// Whether the request is for gRPC, where the application says.
    #[cfg(feature = "tower")]
    grpc: Option<bool>,
    /// Whether some call of the request was not admitted; kept by the outermost layer.
    #[cfg(feature = "tower")]
    turned_away: std::sync::atomic::AtomicBool,
}

/// An address, and how many bits of it count if it is one of IPv6.
#[derive(Clone, Copy)]
struct Address {
    ip: IpAddr,
    v6_bits: u8,
}

impl RequestContext {
    /// What `@route` is where no route matches: all such requests have it, whatever their paths are.
    pub const UNMATCHED: &str = "unmatched";

    /// Starts with nothing.
    pub fn builder() -> RequestContextBuilder {
        RequestContextBuilder::default()
    }

    /// The context of the request that this task serves.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// Runs a future in this context.
    pub async fn scope<F: Future>(self, future: F) -> F::Output {
        CURRENT.scope(self, future).await
    }

    /// Runs a closure in this context, and what it calls on its own thread.
    pub fn scope_blocking<R>(self, run: impl FnOnce() -> R) -> R {
        CURRENT.sync_scope(self, run)
    }

    /// As [`scope`](Self::scope), as a future that has a name.
    #[cfg(feature = "tower")]
    pub(crate) fn around<F: Future>(self, future: F) -> TaskLocalFuture<Self, F> {
        CURRENT.scope(self, future)
    }

    /// Keeps what a store answers, for the headers of the response.
    #[inline]
    #[cfg_attr(not(feature = "tower"), expect(clippy::missing_const_for_fn, reason = "as with it"))]
    pub(crate) fn tell(checks: &[Check<'_>], answers: &Answers) {
        #[cfg(feature = "tower")]
        let _ = CURRENT.try_with(|context| {
            let Some(kept) = &context.outermost().told else { return };
            let told = checks.iter().zip(answers);
            let shown =
                told.filter(|(check, _)| !check.is_shadow() && !check.rule().hides_headers());
            let mut kept = kept.lock();
            shown.for_each(|(check, answer)| {
                Told::new(check, answer, context).keep_in(&mut kept);
            });
        });
        #[cfg(not(feature = "tower"))]
        let _ = (checks, answers);
    }

    /// Forgets what was kept: no decision can be made for this request, so nothing holds.
    #[cold]
    #[cfg_attr(not(feature = "tower"), expect(clippy::missing_const_for_fn, reason = "as with it"))]
    pub(crate) fn untell() {
        #[cfg(feature = "tower")]
        let _ = CURRENT.try_with(|context| {
            if let Some(kept) = &context.outermost().told {
                kept.lock().clear();
            }
        });
    }

    /// A call of this request does not run, so what is answered is for this client and this moment.
    #[cold]
    #[cfg_attr(not(feature = "tower"), expect(clippy::missing_const_for_fn, reason = "as with it"))]
    pub(crate) fn turn_away() {
        #[cfg(feature = "tower")]
        let _ = CURRENT.try_with(|context| {
            context.outermost().turned_away.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    /// Whether some call of this request was not admitted.
    #[cfg(feature = "tower")]
    pub(crate) fn was_turned_away(&self) -> bool {
        self.outermost().turned_away.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Whether there is something to write into the header of the response.
    #[cfg(feature = "actix")]
    pub(crate) fn has_news(&self) -> bool {
        let kept = self.outermost().told.as_ref();
        self.was_turned_away() || kept.is_some_and(|kept| !kept.lock().is_empty())
    }

    /// Whether the request is for gRPC, where the application says.
    #[cfg(feature = "tower")]
    pub(crate) fn grpc(&self) -> Option<bool> {
        self.inner.grpc
    }

    /// What rules have said so far.
    #[cfg(feature = "tower")]
    pub(crate) fn told(&self) -> self::told::Kept {
        let kept = self.outermost().told.as_ref();
        kept.map(|kept| std::mem::take(&mut *kept.lock())).unwrap_or_default()
    }

    /// The one of all layers around this request that keeps what is told.
    #[cfg(feature = "tower")]
    fn outermost(&self) -> &Inner {
        let mut inner = &*self.inner;
        while let Some(outer) = &inner.outer {
            inner = &outer.inner;
        }
        inner
    }

    /// How much longer the reported waits are.
    #[cfg(feature = "tower")]
    pub(crate) fn spread(&self) -> crate::web::Spread {
        self.inner.spread
    }

    /// The same in the context of this task.
    #[cfg(feature = "tower")]
    pub(crate) fn current_spread() -> crate::web::Spread {
        CURRENT.try_with(Self::spread).unwrap_or_default()
    }

    /// How refusals are answered here.
    #[cfg(feature = "tower")]
    pub(crate) fn answers() -> crate::web::ErrorResponses {
        CURRENT.try_with(|context| context.inner.answers.clone()).unwrap_or_default()
    }

    /// The client's address. For a key there is [`ip_key`](Self::ip_key): a customer with IPv6 has
    /// more addresses than anybody can count.
    pub fn ip(&self) -> Option<IpAddr> {
        self.inner.ip.map(|address| address.ip)
    }

    /// What `@ip` is in a key: the client's address, or of IPv6 so many bits as stand for one client.
    /// Where the address is not known, a key that is not decided, but is the mistake
    /// [`NoClientIp`](crate::InvalidCall::NoClientIp): there is no budget for all whose address is not known.
    pub fn ip_key(&self) -> LimitKey {
        self.clone().scope_blocking(|| LimitKey::from(Ip))
    }

    /// What `prefix(@ip, v4_bits, v6_bits)` is in a key: the network of the client's address, for a rule beside one by
    /// address. Where the address is not known, as [`ip_key`](Self::ip_key).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratelimit_runtime::{Algorithm, RequestContext, RateLimitLayer, Rule};
    /// # let window = Duration::from_mins(1);
    /// # let [client, site] = [("client", 100), ("site", 1_000)]
    /// #     .map(|(name, limit)| Rule::named(name, Algorithm::FixedWindow { limit, window }));
    /// // 100 for an address or a /64, and 1,000 for a /24 or a /48.
    /// let layer = RateLimitLayer::new()
    ///     .limit(client, RequestContext::ip_key)
    ///     .limit(site, |context| context.ip_network_key(24, 48));
    /// ```
    pub fn ip_network_key(&self, v4_bits: u8, v6_bits: u8) -> LimitKey {
        self.clone().scope_blocking(|| LimitKey::from(functions::prefix(&Ip, v4_bits, v6_bits)))
    }

    /// The path of the request as `@path` counts it, without a query and decoded once: `/%68ealth` is `/health`. A `/` that
    /// is escaped stays so, because no router takes it for one. `None` if there is no path, or what it decodes to
    /// is no text.
    ///
    /// To compare it with paths that there are; for a key a client has a new one whenever it likes.
    pub fn decoded_path(&self) -> Option<Cow<'_, str>> {
        self::key::decoded_text(self.path()?)
    }

    /// What `@route` is in a key: one budget for each route, however many paths it has. Where no layer knows the
    /// routes, a key that is not decided, but is the mistake [`NoRoute`](crate::InvalidCall::NoRoute).
    pub fn route_key(&self) -> LimitKey {
        self.clone().scope_blocking(|| LimitKey::from(Route))
    }

    /// The path of the request.
    pub fn path(&self) -> Option<&str> {
        self.inner.head.path()
    }

    /// The template of the route that serves the request, such as `/users/{id}`, or
    /// [`UNMATCHED`](Self::UNMATCHED). `None` where nobody has said: only what a router has matched
    /// before the layer is asked is known here.
    pub fn route(&self) -> Option<&str> {
        self.inner.head.route()
    }

    /// The method of the request.
    pub fn method(&self) -> Option<&str> {
        self.inner.head.method()
    }

    /// The first header of this name, which is written in lower case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.inner.head.get(name)
    }

    /// The user, if the application has said who it is.
    pub fn user(&self) -> Option<&str> {
        self.inner.user.as_deref()
    }

    /// The tenant, if the application has said which one it is.
    pub fn tenant(&self) -> Option<&str> {
        self.inner.tenant.as_deref()
    }

    /// The device, if the application has said which one it is.
    pub fn device(&self) -> Option<&str> {
        self.inner.device.as_deref()
    }
}

impl RequestContextBuilder {
    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            change(inner);
        }
        self
    }

    /// The client's address: `@ip`. An IPv6 address stands for its /64, and one that carries an IPv4 address
    /// for that.
    pub fn ip(self, ip: IpAddr) -> Self {
        self.ip_within(ip, V6_BITS)
    }

    /// The client's address, of which so many bits count if it is one of IPv6.
    pub fn ip_within(self, ip: IpAddr, v6_bits: u8) -> Self {
        self.with(|inner| inner.ip = Some(Address { ip: address::canonical(ip), v6_bits }))
    }

    /// The path of the request: `@path`.
    pub fn path(self, path: impl AsRef<str>) -> Self {
        self.with(|inner| inner.head.set_path(path.as_ref()))
    }

    /// The template of the route that serves the request, such as `/users/{id}`: `@route`.
    pub fn route(self, route: impl AsRef<str>) -> Self {
        self.with(|inner| inner.head.set_route(route.as_ref()))
    }

    /// The method of the request: `@method`.
    pub fn method(self, method: impl AsRef<str>) -> Self {
        self.with(|inner| inner.head.set_method(method.as_ref()))
    }

    /// Who makes the request: `@user`.
    pub fn user(self, user: impl Into<Box<str>>) -> Self {
        self.with(|inner| inner.user = Some(user.into()))
    }

    /// For which tenant: `@tenant`.
    pub fn tenant(self, tenant: impl Into<Box<str>>) -> Self {
        self.with(|inner| inner.tenant = Some(tenant.into()))
    }

    /// From which device: `@device`.
    pub fn device(self, device: impl Into<Box<str>>) -> Self {
        self.with(|inner| inner.device = Some(device.into()))
    }

    /// A header: `@header['name']`. Of several with one name the first counts.
    pub fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.with(|inner| inner.head.push(&name.to_lowercase(), value.as_ref()))
    }

    /// Starts with what an outer layer knows of the same request, its head aside. What is decided is
    /// told to both.
    #[cfg(feature = "tower")]
    pub(crate) fn inside(outer: RequestContext) -> Self {
        let known = &*outer.inner;
        let inner = Inner {
            ip: known.ip,
            user: known.user.clone(),
            tenant: known.tenant.clone(),
            device: known.device.clone(),
            answers: known.answers.clone(),
            spread: known.spread,
            grpc: known.grpc,
            outer: Some(outer),
            ..Inner::default()
        };
        Self { inner: Arc::new(inner) }
    }

    /// The method, the path and all headers of a request.
    #[cfg(feature = "tower")]
    pub(crate) fn head(self, head: Head) -> Self {
        self.with(|inner| inner.head = head)
    }

    /// What is decided will be [asked for](RequestContext::told).
    #[cfg(feature = "tower")]
    pub(crate) fn telling(self) -> Self {
        self.with(|inner| inner.told = Some(parking_lot::Mutex::default()))
    }

    /// How much longer the reported waits are.
    #[cfg(feature = "tower")]
    pub(crate) fn spread(self, spread: crate::web::Spread) -> Self {
        self.with(|inner| inner.spread = spread)
    }

    /// How refusals are answered.
    #[cfg(feature = "tower")]
    pub(crate) fn answers(self, answers: crate::web::ErrorResponses) -> Self {
        self.with(|inner| inner.answers = answers)
    }

    /// Whether the request is for gRPC.
    #[cfg(feature = "tower")]
    pub(crate) fn grpc(self, is: bool) -> Self {
        self.with(|inner| inner.grpc = Some(is))
    }

    /// The finished context.
    pub fn build(self) -> RequestContext {
        RequestContext { inner: self.inner }
    }
}

/// What is known, and not what is: it names people.
impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// What is known, and not what is: it names people.
impl fmt::Debug for RequestContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("ip", &self.ip.is_some())
            .field("user", &self.user.is_some())
            .field("tenant", &self.tenant.is_some())
            .field("device", &self.device.is_some())
            .finish_non_exhaustive()
    }
}
