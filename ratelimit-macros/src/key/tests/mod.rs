//! Tables of keys with what becomes of them, and what holds for any text.
//!
//! In `*.key`, a line that begins with `> ` is a key on the function below. What follows, up to the
//! next empty line, is the Rust of it, or in the files that begin with `err_` the mistakes, each
//! under its place. `KEY_TESTS=overwrite cargo test -p ratelimit-macros` writes what comes out.

mod any_text;
mod documented;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse_quote;

use super::{Problem, Target, compile_source};
use crate::function::Function;

/// The function that the keys in the tables are on.
fn on() -> Function {
    let function = quote! {
        fn f(
            &self,
            phone: &str,
            user: Option<User>,
            Json(req): Json<Req>,
            r#type: u8,
            (from, to): (Ip, Ip),
            _: Unused,
            短信: &str,
        ) {}
    };
    Function::parse(function).unwrap()
}

fn compile_on(function: &Function, source: &str) -> Result<TokenStream, Vec<Problem>> {
    let target = Target {
        arg: "key",
        krate: &parse_quote!(kit),
        secret: &quote!(secret()),
        at: Span::call_site(),
    };
    compile_source(source, &function.scope(), &target)
}

#[test]
fn keys_become_what_the_tables_say() {
    let function = on();
    for (path, table) in tables() {
        let expects_errors = path.file_name().unwrap().to_str().unwrap().starts_with("err_");
        let mut found = String::new();
        for case in table.split("\n\n").filter(|case| !case.trim().is_empty()) {
            let source = case.lines().next().unwrap().strip_prefix("> ").unwrap();
            let _ = writeln!(found, "> {source}");
            match compile_on(&function, source) {
                Ok(tokens) => {
                    assert!(!expects_errors, "{}: {source} is no error", path.display());
                    syn::parse2::<syn::Expr>(tokens.clone()).unwrap();
                    let _ = writeln!(found, "{}", rust(tokens));
                }
                Err(problems) => {
                    assert!(expects_errors, "{}: {source}: {problems:?}", path.display());
                    for Problem { at, message } in problems {
                        let pad = source[..at.start].chars().count() + 2;
                        let len = source[at].chars().count().max(1);
                        let _ = writeln!(found, "{:pad$}{:^<len$}\n{message}", "", "");
                    }
                }
            }
            found.push('\n');
        }
        let found = found.trim_end().to_owned() + "\n";
        if std::env::var_os("KEY_TESTS").is_some_and(|what| what == "overwrite") {
            std::fs::write(&path, found).unwrap();
        } else {
            assert_eq!(table, found, "in {}", path.display());
        }
    }
}

fn tables() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/key/tests");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = files.filter(|path| path.extension().is_some_and(|ext| ext == "key"));
    let tables: Vec<_> =
        tables.map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap())).collect();
    assert!(tables.len() > 5);
    tables
}

/// All keys in the tables that compile.
fn valid_keys() -> Vec<String> {
    let valid = tables()
        .into_iter()
        .filter(|(path, _)| !path.file_name().unwrap().to_str().unwrap().starts_with("err_"));
    valid
        .flat_map(|(_, table)| {
            let keys = table.lines().filter_map(|line| line.strip_prefix("> "));
            keys.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

/// Tokens as a person would write them, without the path of the runtime.
fn rust(tokens: TokenStream) -> String {
    let mut text = String::new();
    write_rust(tokens, &mut text);
    text.replace("kit::__private::", "").replace(',', ", ").replace("|it|", "|it| ")
}

fn write_rust(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                text.push('(');
                write_rust(group.stream(), text);
                text.push(')');
            }
            token => {
                let _ = write!(text, "{token}");
            }
        }
    }
}
