//! The path of a request that a router may have cut.

use http::request::Parts;

pub(crate) fn of(parts: &Parts) -> &str {
    #[cfg(feature = "axum")]
    if let Some(axum::extract::OriginalUri(whole)) = parts.extensions.get() {
        return whole.path();
    }
    parts.uri.path()
}
