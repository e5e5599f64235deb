//! Whatever is written in the attribute, the result is the function with its check, or the function
//! with errors: never a panic, and never less than the function.

use proc_macro2::TokenStream;
use proptest::prelude::*;
use quote::quote;

use crate::stack::MARKER;

/// What arguments are made of, in any order.
const PIECES: &[&str] = &[
    "key",
    "name",
    "algo",
    "capacity",
    "refill",
    "leak",
    "limit",
    "window",
    "sub_windows",
    "cost",
    "when",
    "mode",
    "on_error",
    "on_limited",
    "on_unavailable",
    "wait",
    "priority",
    "group",
    "limiter",
    "crate",
    "capcity",
    "x",
    "=",
    "=",
    "=",
    "=",
    "==",
    ",",
    ",",
    ",",
    ",",
    "5",
    "0",
    "-1",
    "1.5",
    "60s",
    "18446744073709551616",
    "\"300/min\"",
    "\"1h\"",
    "\"0/s\"",
    "\"é\"",
    "\"\"",
    "\"id\"",
    "\"'a\"",
    "id",
    "id?",
    "(id)",
    "[id, 1]",
    "[]",
    "|error| 1",
    "|| 1",
    "{ return }",
    "token_bucket",
    "leaky_bucket",
    "\"sliding_log\"",
    "sliding_counter",
    "shadow",
    "closed",
    "::kit",
    "self",
    "&",
    "true",
    "'c'",
    "b\"x\"",
    "f(id).await",
    "format!(\"{id}\")",
    "#",
    "..",
    "5 / s",
    "!",
];

/// Arguments that are nearly right: each is likely to be there, with a likely value.
const LIKELY: &[(&str, &[&str])] = &[
    ("key", &["\"id\"", "\"'a:' + id\"", "id", "[id, id]", "\"idd\""]),
    ("name", &["\"n\"", "\"\"", "n"]),
    ("algo", &["token_bucket", "\"fixed_window\"", "leaky_bucket", "sliding_counter", "gcra"]),
    ("capacity", &["5", "0", "id", "\"5\""]),
    ("refill", &["5", "\"1/15s\"", "\"1/15\"", "0.5", "id"]),
    ("leak", &["5", "\"1/15s\""]),
    ("limit", &["5", "9007199254740992"]),
    ("window", &["60", "\"1h\"", "\"1 fortnight\"", "id"]),
    ("sub_windows", &["6", "0"]),
    ("cost", &["1", "0", "9", "-1", "id"]),
    ("when", &["id > 0", "id?"]),
    ("on_limited", &["0", "|e| e", "|a, b| a"]),
    ("wait", &["\"2s\"", "id"]),
];

fn items() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "fn f(id: u64) -> Result<u64, E> { Ok(id) }",
        "async fn f(&self, (id, _): (u64, u8)) -> Option<u64> { Some(id) }",
        "fn f(id: u64) -> Pin<Box<dyn Future<Output = u64>>> { Box::pin(async move { id }) }",
        "fn f(id: u64) -> impl Future { g(id) }",
        "const fn f(id: u64) {}",
        "fn f(id: u64);",
        "struct F { id: u64 }",
        "fn f(id: u64) -> ! { loop {} }",
        "#[rate_limit] fn f(id: u64) -> E { E }",
        "fn f(",
        "",
    ])
}

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..14).prop_map(|pieces| pieces.join(" "))
}

fn nearly_right() -> impl Strategy<Value = String> {
    prop::collection::vec((prop::sample::select(LIKELY), any::<prop::sample::Index>()), 0..7)
        .prop_map(|arguments| {
            let written = arguments.iter().map(|((name, values), index)| {
                format!("{name} = {}", values[index.index(values.len())])
            });
            written.collect::<Vec<_>>().join(", ")
        })
}

fn holds(args: &str, item: &str) {
    let (Ok(args), Ok(item)) = (args.parse::<TokenStream>(), item.parse::<TokenStream>()) else {
        return;
    };
    let expanded = crate::limited(None, args.clone(), &item);
    let text = expanded.to_string();
    let has_errors = text.contains("compile_error !");
    let has_check = text.contains(MARKER);
    assert!(has_errors != has_check, "`{args}` on `{item}` gives `{text}`");
    if has_check {
        let parsed: Result<syn::File, _> = syn::parse2(expanded);
        assert!(parsed.is_ok(), "`{args}` on `{item}` gives no Rust: `{text}`");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_tokens(args in soup(), item in items()) {
        holds(&args, item);
    }

    #[test]
    fn arguments_that_are_nearly_right(args in nearly_right(), item in items()) {
        holds(&args, item);
    }
}

#[test]
fn nearly_right_is_often_right() {
    let item = quote!(
        fn f(id: u64) -> Result<u64, E> {
            Ok(id)
        }
    );
    let right = "key = \"id\", capacity = 5, refill = \"1/15s\", cost = id";
    holds(right, &item.to_string());
    assert!(crate::limited(None, right.parse().unwrap(), &item).to_string().contains(MARKER));
}
