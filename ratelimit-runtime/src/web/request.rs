//! [`Request`]: what a layer may look at.

use std::any::Any;
use std::fmt;
use std::net::IpAddr;

use crate::context::ContextBuilder;

/// The head of a request, in whatever types the framework has it.
pub struct Request<'r> {
    head: Head<'r>,
}

#[derive(Clone, Copy)]
enum Head<'r> {
    Http(&'r http::request::Parts),
    #[cfg(feature = "actix")]
    Actix(&'r actix_web::HttpRequest),
}

impl<'r> Request<'r> {
    pub(crate) const fn of_http(parts: &'r http::request::Parts) -> Self {
        Self { head: Head::Http(parts) }
    }

    #[cfg(feature = "actix")]
    pub(crate) const fn of_actix(request: &'r actix_web::HttpRequest) -> Self {
        Self { head: Head::Actix(request) }
    }

    /// The first header of this name, if it is text.
    pub fn header(&self, name: &str) -> Option<&'r str> {
        std::str::from_utf8(self.headers(name).next()?).ok()
    }

    /// The values of all headers of this name.
    pub(crate) fn headers(&self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let values: Box<dyn Iterator<Item = &'r [u8]> + 'r> = match self.head {
            Head::Http(parts) => {
                Box::new(parts.headers.get_all(name).into_iter().map(http::HeaderValue::as_bytes))
            }
            #[cfg(feature = "actix")]
            Head::Actix(request) => Box::new(
                request.headers().get_all(name).map(actix_web::http::header::HeaderValue::as_bytes),
            ),
        };
        values
    }

    /// The path, all of it: routers inside of routers do not cut it.
    pub fn path(&self) -> &'r str {
        match self.head {
            Head::Http(parts) => crate::frameworks::path(parts),
            #[cfg(feature = "actix")]
            Head::Actix(request) => request.uri().path(),
        }
    }

    /// The method.
    pub fn method(&self) -> &'r str {
        match self.head {
            Head::Http(parts) => parts.method.as_str(),
            #[cfg(feature = "actix")]
            Head::Actix(request) => request.method().as_str(),
        }
    }

    /// Something that another layer has left in the request's extensions, such as who has logged in.
    pub fn extension<T: Any + Clone + Send + Sync>(&self) -> Option<T> {
        match self.head {
            Head::Http(parts) => parts.extensions.get().cloned(),
            #[cfg(feature = "actix")]
            Head::Actix(request) => actix_web::HttpMessage::extensions(request).get::<T>().cloned(),
        }
    }

    /// The other end of the connection, where the framework tells it.
    pub fn peer(&self) -> Option<IpAddr> {
        match self.head {
            Head::Http(parts) => crate::frameworks::peer(&parts.extensions),
            #[cfg(feature = "actix")]
            Head::Actix(request) => request.peer_addr().map(|peer| peer.ip()),
        }
    }

    /// Puts all headers into a context.
    pub(crate) fn copy_headers(&self, context: ContextBuilder) -> ContextBuilder {
        match self.head {
            Head::Http(parts) => context.headers(parts.headers.clone()),
            #[cfg(feature = "actix")]
            Head::Actix(request) => {
                request.headers().iter().fold(context, |context, (name, value)| {
                    context.header(name.as_str(), value.as_bytes())
                })
            }
        }
    }
}

/// The method and the path: headers hold secrets.
impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method())
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
