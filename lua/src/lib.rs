#![doc = include_str!("../README.md")]

/// A script: its text, and the digest by which a server knows it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Script {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// The SHA-1 of the text in hexadecimal digits, for `EVALSHA`.
    pub sha1: &'static str,
    /// The text for `SCRIPT LOAD`. It begins with `#!lua`: a server that became a replica then
    /// answers with an error, where it would go on refusing calls by what it remembers.
    pub source: &'static str,
}

/// The script of a file, behind the pieces of `lib` that it needs. A digest is written down and not
/// computed, which would take the compiler seconds; a test knows the right one.
macro_rules! script {
    ($name:literal, $sha1:literal, needs $($piece:literal)*) => {{
        const SOURCE: &str = concat!(
            "#!lua\n",
            $(include_str!(concat!("../lib/", $piece, ".lua")),)*
            include_str!(concat!("../", $name, ".lua")),
        );
        const _: () = assert!(matches!(SOURCE.as_bytes(), [b'#', b'!', b'l', b'u', b'a', b'\n', ..]));
        Script { name: $name, sha1: $sha1, source: SOURCE }
    }};
}

/// Decides one call on a token bucket.
pub static TOKEN_BUCKET: Script = script!(
    "token_bucket", "c62a5a4ffe2a30baa0015585444e2cc803cea8dc",
    needs "time" "muldiv" "expiry" "reply" "commit" "token_bucket"
);

/// Decides one call on a leaky bucket.
pub static LEAKY_BUCKET: Script = script!(
    "leaky_bucket", "3c27021eab09b929f39044dafd6f6aa5dc096f0c",
    needs "time" "muldiv" "expiry" "reply" "commit" "leaky_bucket"
);

/// Decides one call on a fixed window.
pub static FIXED_WINDOW: Script = script!(
    "fixed_window", "05fa4f2d3d7428a358ce731c2aa4dc3ff4447746",
    needs "time" "expiry" "reply" "commit" "fixed_window"
);

/// Decides one call on a sliding log.
pub static SLIDING_LOG: Script = script!(
    "sliding_log", "989519b6eb74a0125803bb71e0ad02e8a5fab5ef",
    needs "time" "expiry" "reply" "sliding_log"
);

/// Decides one call on a sliding counter.
pub static SLIDING_COUNTER: Script = script!(
    "sliding_counter", "5e32ab2c15d460d4002f9268c9d6c71007310a2f",
    needs "time" "muldiv" "expiry" "reply" "commit" "sliding_counter"
);

/// Decides a list of calls of any algorithms, all or nothing.
pub static ACQUIRE_ALL: Script = script!(
    "acquire_all", "8a46597c0541e0768e844512d559d375a06790ad",
    needs "time" "muldiv" "expiry" "reply" "commit"
        "token_bucket" "leaky_bucket" "fixed_window" "sliding_log" "sliding_counter"
);

/// Every script.
pub static ALL: [&Script; 6] =
    [&TOKEN_BUCKET, &LEAKY_BUCKET, &FIXED_WINDOW, &SLIDING_LOG, &SLIDING_COUNTER, &ACQUIRE_ALL];

#[cfg(test)]
mod tests;
