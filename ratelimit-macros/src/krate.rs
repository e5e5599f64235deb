//! What the facade is called where the attribute stands, if the attribute does not say.
//!
//! A macro sees tokens and no crates: but whoever gives a dependency another name does so in the manifest, and
//! cargo tells where that is. It is read once for each crate that is compiled.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Ident, parse_quote};

const PACKAGE: &str = "ratelimit-kit";

/// The last folder with a manifest, and the name in it. A process may compile several crates.
static KNOWN: Mutex<Option<(OsString, Option<String>)>> = Mutex::new(None);

/// `::ratelimit_kit`, or what the manifest calls it.
pub(crate) fn path() -> syn::Path {
    let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else { return by_name() };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if known.as_ref().is_none_or(|(of, _)| *of != folder) {
        let name = name_in_folder(&folder);
        *known = Some((folder, name));
    }
    let name = known.as_ref().and_then(|(_, name)| name.as_ref());
    match name.map(|name| syn::parse_str::<Ident>(name)) {
        Some(Ok(name)) => parse_quote!(::#name),
        _ => by_name(),
    }
}

fn by_name() -> syn::Path {
    parse_quote!(::ratelimit_kit)
}

fn name_in_folder(folder: &OsStr) -> Option<String> {
    renamed(&fs::read_to_string(Path::new(folder).join("Cargo.toml")).ok()?)
}

/// The other name of the package in a manifest; `None` if it goes by its own, or is not there.
fn renamed(manifest: &str) -> Option<String> {
    let mut found = None;
    // A table `[dependencies]`, and that of one, `[dependencies.name]`.
    let (mut is_list, mut of_one) = (false, None);
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.split(']').next().unwrap_or_default();
            is_list = table.ends_with("dependencies");
            of_one = table.split_once("dependencies.").map(|(_, name)| bare(name));
            if of_one == Some(PACKAGE) {
                return None;
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let is_ours = value.contains("\"ratelimit-kit\"") || value.contains("'ratelimit-kit'");
        if is_list {
            let name = bare(key.split('.').next().unwrap_or_default());
            if name == PACKAGE {
                return None;
            }
            let is_renamed =
                is_ours && (value.contains("package") || key.trim_end().ends_with(".package"));
            if is_renamed {
                found = Some(name);
            }
        } else if let (Some(name), true, "package") = (of_one, is_ours, key.trim()) {
            found = Some(name);
        }
    }
    found.map(|name| name.replace('-', "_"))
}

/// A key without blanks and quotes.
fn bare(key: &str) -> &str {
    key.trim().trim_matches(['"', '\''])
}

/// The path, beginning at `span`. Its names stay where they are: if there is no such crate, rustc says so once.
pub(crate) fn at(span: Span, path: &syn::Path) -> TokenStream {
    let begin = |mut token: TokenTree| {
        if matches!(token, TokenTree::Punct(_)) {
            token.set_span(span);
        }
        token
    };
    path.to_token_stream().into_iter().map(begin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_name_in_the_manifest_is_found() {
        for manifest in [
            "[dependencies]\nrl = { package = \"ratelimit-kit\", version = \"0.1\" }",
            "[package]\nname = \"app\"\n\n[dependencies.rl]\nversion = \"0.1\"\npackage = \"ratelimit-kit\"\n",
            "[target.'cfg(unix)'.dependencies]\n\"rl\" = { version = \"0.1\", package = 'ratelimit-kit' }",
            "[dev-dependencies]\nrl.package = \"ratelimit-kit\"\nrl.version = \"0.1\"",
            "[workspace.dependencies]\nrl = { package=\"ratelimit-kit\", path = \"x\" }\n[dependencies]\nrl.workspace = true",
        ] {
            assert_eq!(renamed(manifest).as_deref(), Some("rl"), "{manifest}");
        }
        let hyphens =
            "[dependencies]\nmy-limits = { package = \"ratelimit-kit\", version = \"0.1\" }";
        assert_eq!(renamed(hyphens).as_deref(), Some("my_limits"));
    }

    #[test]
    fn its_own_name_and_other_packages_are_no_other_name() {
        for manifest in [
            "",
            "[package]\nname = \"ratelimit-kit\"\n[dependencies]\nsyn = \"3\"",
            "[dependencies]\nratelimit-kit = \"0.1\"",
            "[dependencies]\nratelimit-kit.workspace = true",
            "[dependencies.ratelimit-kit]\nversion = \"0.1\"",
            "[dependencies]\nold = { package = \"ratelimit-kit\", version = \"0.0\" }\nratelimit-kit = \"0.1\"",
            "[dependencies]\nrl = { package = \"ratelimit-runtime\", version = \"0.1\" }",
            "[package.metadata.docs]\npackage = \"ratelimit-kit\"",
        ] {
            assert_eq!(renamed(manifest), None, "{manifest}");
        }
    }
}
