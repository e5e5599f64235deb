//! The path of a request that a router may have cut.

use http::{Extensions, Uri};

pub(super) fn of<'r>(uri: &'r Uri, extensions: &'r Extensions) -> &'r str {
    #[cfg(feature = "axum")]
    if let Some(axum::extract::OriginalUri(whole)) = extensions.get() {
        return whole.path();
    }
    #[cfg(not(feature = "axum"))]
    let _ = extensions;
    uri.path()
}

/// The template of the route that a router of axum has matched, or that none has.
pub(super) fn route(extensions: &Extensions) -> Option<&str> {
    #[cfg(feature = "axum")]
    {
        use axum::extract::{MatchedPath, OriginalUri};

        if let Some(matched) = extensions.get::<MatchedPath>() {
            return Some(matched.as_str());
        }
        // A router leaves this with whatever it looks at.
        extensions.get::<OriginalUri>().map(|_| crate::context::RequestContext::UNMATCHED)
    }
    #[cfg(not(feature = "axum"))]
    {
        let _ = extensions;
        None
    }
}
