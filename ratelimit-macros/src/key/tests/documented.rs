//! Every example of `docs/key-language.md` compiles, and `tests/ui/pass/key_documented.rs` shows that it
//! gives the key that stands beside it.

use std::path::Path;

use quote::quote;

use super::compile_on;
use crate::function::Function;

/// The examples: lines `expression => key` in the page's blocks of text.
fn examples() -> Vec<(String, String)> {
    let page = read("docs/key-language.md");
    let mut blocks = page.split("```");
    let text = |block: &str| block.starts_with("text\n");
    let lines: Vec<&str> =
        blocks.by_ref().filter(|block| text(block)).flat_map(str::lines).collect();
    let examples = lines.iter().filter_map(|line| line.split_once(" => "));
    examples.map(|(key, gives)| (key.trim().to_owned(), gives.trim().to_owned())).collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

#[test]
fn documented_keys_compile() {
    let function = quote! {
        fn buy(
            &self,
            phone: &str,
            Json(order): Json<Order>,
            user: Option<User>,
            guest: Option<&User>,
            email: &str,
            ip: IpAddr,
            note: &str,
        ) {}
    };
    let function = Function::parse(function).unwrap();
    assert!(examples().len() > 30);
    for (key, _) in examples() {
        assert!(compile_on(&function, &key).is_ok(), "{key}");
    }
}

#[test]
fn documented_keys_are_built_by_a_program() {
    let program = read("tests/ui/pass/key_documented.rs");
    let built: Vec<&str> = program
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('"') && line.contains("\" => \""))
        .collect();
    let documented: Vec<String> =
        examples().iter().map(|(key, gives)| format!("\"{key}\" => \"{gives}\",")).collect();
    assert_eq!(built, documented);
}
