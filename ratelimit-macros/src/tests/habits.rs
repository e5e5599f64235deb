//! What the tables of habits share: what the attribute says about arguments on a function.

use proc_macro2::{TokenStream, TokenTree};

/// What the attribute says about `arguments` on `function`: all its errors, without the drawings.
pub(super) fn errors(arguments: &str, function: &str) -> Vec<String> {
    let expanded = crate::limited(None, arguments.parse().unwrap(), &function.parse().unwrap());
    let mut errors = Vec::new();
    collect(expanded, &mut errors);
    errors
}

fn collect(tokens: TokenStream, errors: &mut Vec<String>) {
    let mut is_error = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => is_error = ident == "compile_error",
            TokenTree::Group(group) if is_error => {
                let message: syn::LitStr = syn::parse2(group.stream()).unwrap();
                errors.push(message.value().lines().next().unwrap().to_owned());
                is_error = false;
            }
            TokenTree::Group(group) => collect(group.stream(), errors),
            _ => {}
        }
    }
}

/// `MISTAKES=file cargo test -p ratelimit-macros written_in` shows what the attribute says about the
/// lines of a file: arguments, or arguments, ` ||| ` and a function.
#[test]
fn mistakes_that_are_written_in_a_file() {
    let file = std::env::var("MISTAKES").unwrap_or_default();
    let lines = std::fs::read_to_string(file).unwrap_or_default();
    for line in lines.lines().chain(["capcity = 20, refill = 5"]) {
        let (arguments, function) = line.split_once(" ||| ").unwrap_or((line, SEND));
        let errors = match arguments.parse::<TokenStream>() {
            Ok(_) => errors(arguments, function),
            Err(error) => vec![format!("no tokens: {error}")],
        };
        println!("{line}");
        for error in &errors {
            println!("    {error}");
        }
        assert!(line != "capcity = 20, refill = 5" || errors.len() == 1);
    }
}

/// Each case gives one error, and that has the text beside it.
pub(super) fn hold(function: &str, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (arguments, says) in cases {
        let errors = errors(arguments, function);
        if !matches!(&errors[..], [error] if error.contains(says)) {
            wrong.push(format!("{arguments}\n  should say {says}\n  says {errors:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each of these gives no error.
pub(super) fn compile(function: &str, cases: &[&str]) {
    for arguments in cases {
        assert_eq!(errors(arguments, function), [""; 0], "{arguments}");
    }
}

/// The function that most cases are on.
pub(super) const SEND: &str = "fn send(phone: &str, user: &User) -> Result<(), Error> { Ok(()) }";

/// The same for keys in quotes, with numbers that are right.
pub(super) fn hold_keys(function: &str, cases: &[(&str, &str)]) {
    let cases: Vec<(String, &str)> = cases
        .iter()
        .map(|(key, says)| (format!("key = {key:?}, capacity = 20, refill = 5"), *says))
        .collect();
    let cases: Vec<(&str, &str)> = cases.iter().map(|(key, says)| (key.as_str(), *says)).collect();
    hold(function, &cases);
}

/// Keys in quotes that are right.
pub(super) fn compile_keys(function: &str, keys: &[&str]) {
    for key in keys {
        compile(function, &[&format!("key = {key:?}, capacity = 20, refill = 5")]);
    }
}
