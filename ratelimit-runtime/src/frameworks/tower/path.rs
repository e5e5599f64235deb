//! The path of a request that a router may have cut.

use http::{Extensions, Uri};

pub(crate) fn of<'r>(uri: &'r Uri, extensions: &'r Extensions) -> &'r str {
    #[cfg(feature = "axum")]
    if let Some(axum::extract::OriginalUri(whole)) = extensions.get() {
        return whole.path();
    }
    #[cfg(not(feature = "axum"))]
    let _ = extensions;
    uri.path()
}
