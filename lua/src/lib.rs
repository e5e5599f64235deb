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
    "token_bucket", "4ac176274999a50fb5d8561aab0e99ae4ea8ed8f",
    needs "time" "muldiv" "commit" "token_bucket"
);

/// Decides one call on a leaky bucket.
pub static LEAKY_BUCKET: Script = script!(
    "leaky_bucket", "52d89422802d1362376b5a9994dac3702333cb51",
    needs "time" "muldiv" "commit" "leaky_bucket"
);

/// Decides one call on a fixed window.
pub static FIXED_WINDOW: Script = script!(
    "fixed_window", "652ef10eb173ce2a04725503f788b809a8292f3b",
    needs "time" "commit" "fixed_window"
);

/// Decides one call on a sliding log.
pub static SLIDING_LOG: Script = script!(
    "sliding_log", "2836afc9f5a074edb06b181d5e938f2c7ec4fd36",
    needs "time" "commit" "sliding_log"
);

/// Decides one call on a sliding counter.
pub static SLIDING_COUNTER: Script = script!(
    "sliding_counter", "ffe6a957665db8f85e138c98984bd1058640d326",
    needs "time" "muldiv" "commit" "sliding_counter"
);

/// Decides a list of calls of any algorithms, all or nothing.
pub static ACQUIRE_ALL: Script = script!(
    "acquire_all", "5ea0dd9254be420b9e78a9c2aab855539973224d",
    needs "time" "muldiv" "commit"
        "token_bucket" "leaky_bucket" "fixed_window" "sliding_log" "sliding_counter"
);

/// Gives back what one call was charged.
pub static GIVE_BACK: Script = script!(
    "give_back", "b9a52b86022f1650e485aed72ddf07f0b09453b8",
    needs "time" "muldiv" "expiry"
        "give_back_buckets" "give_back_fixed_window" "give_back_sliding_log"
        "give_back_sliding_counter"
);

/// Tells which commands of the other scripts the user may not run.
pub static PERMISSIONS: Script =
    script!("permissions", "82607bc236dbd6d80af9b57e5779ecc408563728", needs);

/// Every script.
pub static ALL: [&Script; 8] = [
    &TOKEN_BUCKET,
    &LEAKY_BUCKET,
    &FIXED_WINDOW,
    &SLIDING_LOG,
    &SLIDING_COUNTER,
    &ACQUIRE_ALL,
    &GIVE_BACK,
    &PERMISSIONS,
];

#[cfg(test)]
mod tests;
