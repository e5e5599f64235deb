//! What expansions look like. A case is a file in `expand/`; beside it stands its expansion, which
//! must read like code that a person would write. `BLESS=1` writes the expansions anew.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::{Attribute, Meta};

#[test]
fn expansions_are_as_shown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/expand");
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut cases = 0;
    let mut different = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_str().unwrap().ends_with(".expanded.rs") {
            continue;
        }
        cases += 1;
        let expanded = expand(&fs::read_to_string(&path).unwrap());
        let shown: TokenStream = crate::show::show(expanded.clone()).parse().unwrap();
        let all = |code: &TokenStream| code.to_string().replace(char::is_whitespace, "");
        assert_eq!(all(&shown), all(&expanded), "{} is shown as it is", path.display());
        let expanded = pretty(expanded);
        let snapshot = path.with_extension("expanded.rs");
        if bless {
            fs::write(&snapshot, &expanded).unwrap();
        } else if fs::read_to_string(&snapshot).unwrap_or_default() != expanded {
            different.push(format!("{}:\n{expanded}", path.display()));
        }
    }
    assert!(cases > 10, "only {cases} cases");
    assert!(different.is_empty(), "BLESS=1 accepts these:\n{}", different.join("\n"));
}

/// Applies the attribute to a file with one function, which may have other attributes above.
fn expand(source: &str) -> TokenStream {
    let item: syn::File = syn::parse_str(source).unwrap();
    let [item] = &item.items[..] else { panic!("one item per case: {source}") };
    let tokens = quote::ToTokens::to_token_stream(item);
    let (mut attributes, rest) = (|input: syn::parse::ParseStream<'_>| {
        Ok((input.call(Attribute::parse_outer)?, input.parse::<TokenStream>()?))
    })
    .parse2(tokens)
    .unwrap();
    let ours = attributes.iter().position(|attr| attr.path().is_ident("rate_limit")).unwrap();
    let args = match attributes.remove(ours).meta {
        Meta::List(list) => list.tokens,
        _ => TokenStream::new(),
    };
    crate::limited(None, args, &quote::quote!(#(#attributes)* #rest))
}

fn pretty(expanded: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(expanded).unwrap())
}
