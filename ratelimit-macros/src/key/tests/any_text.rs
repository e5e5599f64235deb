//! Whatever stands in a key: it compiles to Rust, or there is a message. Nothing else happens.

use proptest::prelude::*;
use proptest::sample::select;

use super::{compile_on, on, valid_keys};
use crate::function::Function;

/// 20,000 on every run; `KEY_CASES=1000000 cargo test -p ratelimit-macros any_` for more.
fn cases() -> ProptestConfig {
    let cases = std::env::var("KEY_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases.unwrap_or(20_000))
    }
}

/// What a key is made of, right or wrong.
fn fragment() -> impl Strategy<Value = String> {
    let words = [
        "phone",
        "user",
        "req",
        "self",
        "args",
        "type",
        "r#type",
        "to",
        "短信",
        "nobody",
        "'",
        "'a'",
        "'{phone}'",
        "''",
        "\"",
        "0",
        "7",
        "99999999999999999999",
        "true",
        "+",
        ".",
        "?.",
        "?:",
        "?",
        ":",
        ",",
        "(",
        ")",
        "[",
        "]",
        "[0]",
        "#",
        "@",
        "@ip",
        "lower(",
        "trim(",
        "hash(",
        "prefix(",
        ", 24)",
        ", 33)",
        " ",
        "\n",
        "\\",
        "{",
        "}",
        "await",
        "id",
        "_",
        "é",
        "\u{0}",
    ];
    prop_oneof![
        8 => select(words.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// A valid key with a few of its characters taken out, put in or swapped.
fn mutation() -> impl Strategy<Value = String> {
    let edit =
        (any::<prop::sample::Index>(), 0..3_usize, prop_oneof![Just(String::new()), fragment()]);
    (select(valid_keys()), prop::collection::vec(edit, 1..4)).prop_map(|(key, edits)| {
        let mut chars: Vec<char> = key.chars().collect();
        for (at, remove, insert) in edits {
            let at = at.index(chars.len() + 1);
            let end = (at + remove).min(chars.len());
            chars.splice(at..end, insert.chars());
        }
        chars.into_iter().collect()
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => mutation(),
        4 => prop::collection::vec(fragment(), 0..12).prop_map(|fragments| fragments.concat()),
        1 => any::<String>(),
    ]
}

fn check(function: &Function, source: &str) -> Result<bool, TestCaseError> {
    match compile_on(function, source) {
        Ok(tokens) => {
            let parsed = syn::parse2::<syn::Expr>(tokens.clone());
            prop_assert!(parsed.is_ok(), "{source:?} becomes {tokens}");
            // As text too: tokens that only a macro can make would parse as they are.
            let parsed = syn::parse_str::<syn::Expr>(&tokens.to_string());
            prop_assert!(parsed.is_ok(), "{source:?} becomes {tokens}");
            Ok(true)
        }
        Err(problems) => {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                let place = source.get(problem.at.clone());
                prop_assert!(place.is_some(), "{source:?}: {problem:?}");
                let message = problem.message.to_string();
                prop_assert!(!message.is_empty());
            }
            Ok(false)
        }
    }
}

#[test]
fn any_text_compiles_or_has_a_message() {
    let function = on();
    let mut runner = proptest::test_runner::TestRunner::new(cases());
    let counted = std::cell::Cell::new(0_u32);
    runner
        .run(&text(), |source| {
            counted.set(counted.get() + u32::from(check(&function, &source)?));
            Ok(())
        })
        .unwrap();
    let valid = counted.get();
    // Enough of them are valid, or the test would show little.
    assert!(valid > 500, "only {valid} were valid");
}

#[test]
fn no_key_is_too_deep_or_too_long_for_a_message() {
    let function = on();
    let check = |source: &str| check(&function, source);
    for unit in ["(", "lower(", "a+", "a?:", "a.", "a?.", "'", "[", "args[", "@", "#", "'{phone}'+"]
    {
        for count in [63, 64, 65, 100_000] {
            check(&unit.repeat(count)).unwrap();
            check(&format!("{}phone", unit.repeat(count))).unwrap();
            check(&format!("{0}phone{1}", unit.repeat(count), ")".repeat(count))).unwrap();
            check(&format!("{}phone", unit.replace('a', "phone").repeat(count))).unwrap();
        }
    }
}
