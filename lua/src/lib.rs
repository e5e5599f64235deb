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

/// The script of a file, after the pieces of `lib` that it needs. A digest is written down, since computing it
/// would take the compiler seconds; a test prints the right one.
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
    "token_bucket", "440ae20de1d6447a43a3d4434c90d69b5f910fac",
    needs "time" "muldiv" "commit" "bucket" "token_bucket"
);

/// Decides one call on a leaky bucket.
pub static LEAKY_BUCKET: Script = script!(
    "leaky_bucket", "7fd0dc0a267170df62e5fcad4ce350c1dfbaca3c",
    needs "time" "muldiv" "commit" "bucket" "leaky_bucket"
);

/// Decides one call on a fixed window.
pub static FIXED_WINDOW: Script = script!(
    "fixed_window", "f9cecb71b1193fcd7825bd65e376f6ca2504823c",
    needs "time" "commit" "fixed_window"
);

/// Decides one call on a sliding log.
pub static SLIDING_LOG: Script = script!(
    "sliding_log", "b36de07f2e34a1133e241cd7965096fc797ae376",
    needs "time" "commit" "sliding_log"
);

/// Decides one call on a sliding counter.
pub static SLIDING_COUNTER: Script = script!(
    "sliding_counter", "4aa9e6a5a0d82275a833eed596452270a436b1db",
    needs "time" "muldiv" "commit" "sliding_counter"
);

/// Decides a list of calls of any algorithms, all or nothing.
pub static ACQUIRE_ALL: Script = script!(
    "acquire_all", "b917b234febb5b89f4b8d6dab97a2ccc9e43e7cb",
    needs "time" "muldiv" "commit" "bucket"
        "token_bucket" "leaky_bucket" "fixed_window" "sliding_log" "sliding_counter"
);

/// Refunds what one call was charged.
pub static REFUND: Script = script!(
    "refund", "30724f69a8adc6cae9747510f9541f3fa1af2f13",
    needs "time" "muldiv" "expiry" "bucket"
        "refund_buckets" "refund_fixed_window" "refund_sliding_log" "refund_sliding_counter"
);

/// Names the commands of the other scripts that the user must not run.
pub static PERMISSIONS: Script =
    script!("permissions", "c9f77c60efcafa9a7f1830658cb50f751e405f7e", needs);

/// Every script.
pub static ALL: [&Script; 8] = [
    &TOKEN_BUCKET,
    &LEAKY_BUCKET,
    &FIXED_WINDOW,
    &SLIDING_LOG,
    &SLIDING_COUNTER,
    &ACQUIRE_ALL,
    &REFUND,
    &PERMISSIONS,
];

#[cfg(test)]
mod tests;
