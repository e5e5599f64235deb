//! What web frameworks are told when a body does not run, each behind a feature of its name.
//! Nothing else in this crate knows them.

#[cfg(feature = "actix")]
mod actix;
#[cfg(any(feature = "actix", feature = "axum"))]
mod answer;
#[cfg(feature = "axum")]
mod axum;
#[cfg(feature = "tonic")]
mod tonic;
