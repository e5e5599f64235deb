//! What is known of the request that is being served: for `@ip`, `@user` and the like in keys.

mod head;
mod key;
#[cfg(feature = "tower")]
mod report;
#[cfg_attr(not(feature = "tower"), path = "no_scope.rs")]
mod scope;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;

use crate::address::{self, V6_BITS};
use crate::key::{LimitKey, functions};

pub(crate) use self::head::Head;
pub use self::key::{Device, Header, Ip, Method, Path, Route, Tenant, User};
#[cfg(feature = "tower")]
pub(crate) use self::report::{Reports, RuleReport};
use self::scope::Scope;

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
    /// What layers keep with it.
    #[cfg_attr(not(feature = "tower"), expect(dead_code, reason = "there are no layers"))]
    scope: Scope,
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
