//! tonic: gRPC.

use std::time::Duration;

use tonic::metadata::MetadataValue;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::context::RequestContext;
use crate::decision::RateLimitError;

/// `RESOURCE_EXHAUSTED` with a `RetryInfo` in its details, `UNAVAILABLE`, `INVALID_ARGUMENT` or
/// `INTERNAL`. No message names a rule, and `cache-control` is `no-store`.
impl From<RateLimitError> for Status {
    fn from(error: RateLimitError) -> Self {
        let mut status = match &error {
            RateLimitError::Limited(refusal) => {
                let mut details = ErrorDetails::new();
                // At least a second, as over HTTP: clients come back at once from less.
                let spread = RequestContext::current_spread();
                let wait = refusal.retry_after().map(|wait| spread.exactly(wait));
                let wait = wait.map(|wait| wait.max(Duration::from_secs(1)));
                if wait.is_some() {
                    details.set_retry_info(wait);
                }
                Self::with_error_details(Code::ResourceExhausted, "rate limit exceeded", details)
            }
            RateLimitError::Unavailable(_) => Self::unavailable("the rate limit cannot be decided"),
            RateLimitError::Invalid(mistake) if mistake.is_client_error() => {
                Self::invalid_argument("the request cannot be rate limited")
            }
            RateLimitError::Invalid(_) => Self::internal("the rate limit is not set up"),
        };
        // As over HTTP: a status without messages is a response of headers alone, with a 200.
        status.metadata_mut().insert("cache-control", MetadataValue::from_static("no-store"));
        status
    }
}
