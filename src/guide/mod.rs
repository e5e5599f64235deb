//! Guides, from the same files as `docs/` in the repository.
//!
//! They are compiled for the documentation only, and their examples run as tests.

/// A page, behind the targets of its links: the files name each other by path, which leads nowhere here,
/// and of two definitions of a link the first counts.
macro_rules! pages {
    ($($(#[$needs:meta])* $name:ident = $file:literal;)*) => {$(
        $(#[$needs])*
        #[doc = include_str!("links.md")]
        #[doc = ""]
        #[doc = include_str!(concat!("../../docs/", $file))]
        pub mod $name {}
    )*};
}

pages! {
    choosing = "choosing.md";
    keys = "key-language.md";
    functions = "functions.md";
    #[cfg(any(not(doctest), all(feature = "actix", feature = "axum", feature = "tonic")))]
    http = "http.md";
    #[cfg(any(not(doctest), all(feature = "metrics", feature = "testing")))]
    direct = "direct.md";
    redis = "redis.md";
    gateway = "gateway.md";
    one_person_one_key = "one-person-one-key.md";
    errors = "errors.md";
    reliability = "reliability.md";
    performance = "performance.md";
}
