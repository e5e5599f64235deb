//! Whether Rust can have another value at another call.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::ext::IdentExt;

use crate::function::Scope;

/// Macros of the standard library that make text of what stands in them.
const FORMAT: &[&str] = &["format", "format_args"];
/// Those whose text is known to the compiler.
const CONSTANT: &[&str] =
    &["concat", "env", "file", "include_str", "line", "module_path", "option_env", "stringify"];
/// Functions and methods that give what they take in another form.
const CONVERSIONS: &[&str] =
    &["as_ref", "as_str", "clone", "from", "into", "len", "to_owned", "to_string", "trim", "Some"];
/// Words in front of parentheses that are called by nothing.
const KEYWORDS: &[&str] =
    &["as", "else", "if", "in", "match", "mut", "ref", "return", "unsafe", "while"];

/// Whether they name an argument, `self` or what is generic, or call something.
pub(super) fn differs(tokens: TokenStream, scope: &Scope<'_>) -> bool {
    any(tokens, scope, false)
}

/// `in_format`: between the parentheses of `format!`, in whose text names can stand.
fn any(tokens: TokenStream, scope: &Scope<'_>, in_format: bool) -> bool {
    let is_argument = |word: &str| scope.names.iter().any(|name| name.ident.unraw() == word);
    let mut before = Before::Other;
    for token in tokens {
        let is_macro = matches!(before, Before::Macro(_));
        before = match token {
            TokenTree::Ident(ident) => {
                let word = ident.unraw().to_string();
                // One large letter: what the `impl` around is generic over is not in sight.
                let is_generic = scope.generics.iter().any(|generic| **generic == ident)
                    || word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
                if is_argument(&word) || word == "self" || word == "Self" || is_generic {
                    return true;
                }
                if KEYWORDS.contains(&word.as_str()) { Before::Other } else { Before::Name(word) }
            }
            TokenTree::Punct(punct) => match (punct.as_char(), before) {
                ('!', Before::Name(name)) => Before::Macro(name),
                // `f::<T>(..)`
                ('>', _) => Before::Callee,
                _ => Before::Other,
            },
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let mut names = text.split('{').skip(1);
                let mut names = names.by_ref().filter_map(|rest| rest.split(['}', ':']).next());
                if in_format && names.any(|name| is_argument(name.trim())) {
                    return true;
                }
                Before::Other
            }
            TokenTree::Group(group) => {
                let is_list = group.delimiter() == Delimiter::Parenthesis;
                let (is_call, is_format, is_constant) = match &before {
                    Before::Name(name) => {
                        (is_list && !CONVERSIONS.contains(&name.as_str()), false, false)
                    }
                    Before::Callee => (is_list, false, false),
                    Before::Macro(name) => {
                        let (format, constant) =
                            (FORMAT.contains(&name.as_str()), CONSTANT.contains(&name.as_str()));
                        (!format && !constant, format, constant)
                    }
                    Before::Other => (false, false, false),
                };
                if is_call || !is_constant && any(group.stream(), scope, is_format) {
                    return true;
                }
                if is_macro { Before::Other } else { Before::Callee }
            }
        };
    }
    false
}

/// What stands in front of a token.
enum Before {
    Name(String),
    /// The name and `!` of a macro.
    Macro(String),
    /// The end of something that may be called.
    Callee,
    Other,
}
