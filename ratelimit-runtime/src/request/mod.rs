//! [`RequestInfo`]: the head of a request, in whatever types the framework has it. What a layer does with it is in
//! `web`, which names no framework.

mod path;
mod peer;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use crate::context::Head;
#[cfg(feature = "actix")]
use crate::context::RequestContext;

/// The head of a request, in whatever types the framework has it.
pub struct RequestInfo<'r> {
    of: Of<'r>,
}

#[derive(Clone, Copy)]
enum Of<'r> {
    Http(Http<'r>),
    #[cfg(feature = "actix")]
    Actix(&'r actix_web::HttpRequest),
}

/// What there is of it in the types of the `http` crate, whatever its body is.
#[derive(Clone, Copy)]
struct Http<'r> {
    method: &'r http::Method,
    uri: &'r http::Uri,
    headers: &'r http::HeaderMap,
    extensions: &'r http::Extensions,
}

impl<'r> RequestInfo<'r> {
    pub(crate) fn of_http<B>(request: &'r http::Request<B>) -> Self {
        let (method, uri) = (request.method(), request.uri());
        let (headers, extensions) = (request.headers(), request.extensions());
        Self { of: Of::Http(Http { method, uri, headers, extensions }) }
    }

    #[cfg(feature = "actix")]
    pub(crate) const fn of_actix(request: &'r actix_web::HttpRequest) -> Self {
        Self { of: Of::Actix(request) }
    }

    /// The first header of this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&'r str> {
        std::str::from_utf8(self.headers(name).next()?).ok()
    }

    /// The values of all headers of this name.
    pub(crate) fn headers(&self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let values: Box<dyn Iterator<Item = &'r [u8]> + 'r> = match self.of {
            Of::Http(http) => {
                Box::new(http.headers.get_all(name).into_iter().map(http::HeaderValue::as_bytes))
            }
            #[cfg(feature = "actix")]
            Of::Actix(request) => Box::new(
                request.headers().get_all(name).map(actix_web::http::header::HeaderValue::as_bytes),
            ),
        };
        values
    }

    /// The path, all of it: routers inside of routers do not cut it.
    pub fn path(&self) -> &'r str {
        match self.of {
            Of::Http(http) => path::of(http.uri, http.extensions),
            #[cfg(feature = "actix")]
            Of::Actix(request) => request.uri().path(),
        }
    }

    /// The template of the route that was matched, as the framework has it: `/users/{id}` of axum and of
    /// actix-web, or [`RequestContext::UNMATCHED`] where none is. `None` where nothing says: outside of a router of
    /// axum, and in services that have no router.
    ///
    /// [`RequestContext::UNMATCHED`]: crate::RequestContext::UNMATCHED
    pub fn route(&self) -> Option<Cow<'r, str>> {
        match self.of {
            Of::Http(http) => path::route(http.extensions).map(Cow::Borrowed),
            #[cfg(feature = "actix")]
            Of::Actix(request) => {
                let template = request.match_pattern().map(Cow::Owned);
                Some(template.unwrap_or(Cow::Borrowed(RequestContext::UNMATCHED)))
            }
        }
    }

    /// The method.
    pub fn method(&self) -> &'r str {
        match self.of {
            Of::Http(http) => http.method.as_str(),
            #[cfg(feature = "actix")]
            Of::Actix(request) => request.method().as_str(),
        }
    }

    /// Something that another layer has left in the request's extensions, such as who has logged in.
    pub fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<T> {
        match self.of {
            Of::Http(http) => http.extensions.get().cloned(),
            #[cfg(feature = "actix")]
            Of::Actix(request) => actix_web::HttpMessage::extensions(request).get::<T>().cloned(),
        }
    }

    /// The other end of the connection, where the framework tells it.
    pub fn peer(&self) -> Option<IpAddr> {
        match self.of {
            Of::Http(http) => peer::of(http.extensions),
            #[cfg(feature = "actix")]
            Of::Actix(request) => request.peer_addr().map(|peer| peer.ip()),
        }
    }

    /// A copy of what keys may ask for, with this method and path.
    pub(crate) fn head(&self, method: &str, path: &str, route: Option<&str>) -> Head {
        match self.of {
            Of::Http(http) => copy(method, path, route, || {
                http.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
            }),
            #[cfg(feature = "actix")]
            Of::Actix(request) => copy(method, path, route, || {
                request.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
            }),
        }
    }
}

fn copy<'h, I>(method: &str, path: &str, route: Option<&str>, headers: impl Fn() -> I) -> Head
where
    I: Iterator<Item = (&'h str, &'h [u8])>,
{
    let (mut count, mut bytes) = (0, 0);
    for (name, value) in headers() {
        count += 1;
        bytes += name.len() + value.len();
    }
    let mut head = Head::with_room(count, bytes, method, path, route);
    headers().for_each(|(name, value)| head.push(name, value));
    head
}

/// The method and the path: headers hold secrets.
impl fmt::Debug for RequestInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestInfo")
            .field("method", &self.method())
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
