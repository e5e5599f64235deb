//! An expansion as text that can be read, for `RATELIMIT_MACROS_DEBUG=1`.
//!
//! By tokens, without a syntax tree: half-typed code is shown as well, and users need not compile a
//! formatter. What is shown is the same code as before, in other lines.

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::quote;

use crate::body::Front;

/// How long a line may be before the arguments of a call get lines of their own.
const WIDTH: usize = 100;
/// How long the inside of braces may be to stay in the line.
const SHORT: usize = 40;

/// Code in lines, indented.
pub(crate) fn show(code: TokenStream) -> String {
    let mut text = String::new();
    lines(&tokens(code), 0, &mut text);
    text
}

/// The function with an item that makes cargo remember the variable: a build without it compiles
/// anew, instead of showing again what it has kept of the last one.
pub(crate) fn remembered(expanded: TokenStream) -> TokenStream {
    let mut all = tokens(expanded);
    let Some(TokenTree::Group(body)) = all.last() else { return all.into_iter().collect() };
    let (Front { inner_attributes, items }, rest) = Front::split(body.stream());
    let mut block = Group::new(
        body.delimiter(),
        quote! {
            #inner_attributes
            const _: ::core::option::Option<&::core::primitive::str> =
                ::core::option_env!("RATELIMIT_MACROS_DEBUG");
            #items
            #rest
        },
    );
    block.set_span(body.span());
    all.pop();
    all.into_iter().chain([TokenTree::Group(block)]).collect()
}

fn tokens(code: TokenStream) -> Vec<TokenTree> {
    code.into_iter().collect()
}

/// Statements, arms or fields: a line each.
fn lines(tokens: &[TokenTree], indent: usize, text: &mut String) {
    let mut begins = true;
    for (index, token) in tokens.iter().enumerate() {
        if begins {
            text.push_str(&" ".repeat(indent));
        } else if has_blank(tokens, index) {
            text.push(' ');
        }
        write(token, indent, text);
        begins = ends_line(tokens, index);
        if begins {
            text.push('\n');
        }
    }
    if !begins && !tokens.is_empty() {
        text.push('\n');
    }
}

/// Whether a line of a block ends behind a token.
fn ends_line(tokens: &[TokenTree], index: usize) -> bool {
    let after = tokens.get(index + 1);
    match tokens.get(index) {
        Some(TokenTree::Punct(punct)) => match punct.as_char() {
            ';' => true,
            ',' => !is_in_generics(tokens, index),
            _ => false,
        },
        Some(TokenTree::Group(group)) => match (group.delimiter(), after) {
            (Delimiter::Brace, Some(TokenTree::Punct(punct))) => {
                matches!(punct.as_char(), '#' | ':')
            }
            (Delimiter::Brace, Some(TokenTree::Ident(word))) => word != "else" && word != "as",
            (Delimiter::Brace, Some(TokenTree::Group(after))) => {
                after.delimiter() != Delimiter::Brace
            }
            (Delimiter::Brace, _) => true,
            (Delimiter::Bracket, _) => {
                let before = back(tokens, index, 1);
                is_sign(before, '#') || is_sign(before, '!') && is_sign(back(tokens, index, 2), '#')
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_in_generics(tokens: &[TokenTree], index: usize) -> bool {
    let opened = (0..index).filter(|at| opens_generics(tokens, *at)).count();
    opened > (0..index).filter(|at| closes_generics(tokens, *at)).count()
}

fn write(token: &TokenTree, indent: usize, text: &mut String) {
    let TokenTree::Group(group) = token else {
        text.push_str(&token.to_string());
        return;
    };
    let inner = tokens(group.stream());
    let (open, close) = match group.delimiter() {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::None => ("", ""),
    };
    let in_line = in_line(&inner, indent);
    let column = text.len() - text.rfind('\n').map_or(0, |end| end + 1);
    let is_long = column + in_line.lines().next().unwrap_or_default().len() > WIDTH;
    text.push_str(open);
    if group.delimiter() == Delimiter::Brace {
        let is_short = in_line.len() <= SHORT && !in_line.contains([';', '\n', '{']);
        if inner.is_empty() {
        } else if is_short {
            text.push(' ');
            text.push_str(&in_line);
            text.push(' ');
        } else {
            text.push('\n');
            lines(&inner, indent + 4, text);
            text.push_str(&" ".repeat(indent));
        }
    } else if is_long && in_line.contains(", ") {
        text.push('\n');
        lines(&inner, indent + 4, text);
        text.push_str(&" ".repeat(indent));
    } else {
        text.push_str(&in_line);
    }
    text.push_str(close);
}

/// Tokens one behind the other; only blocks among them have lines.
fn in_line(tokens: &[TokenTree], indent: usize) -> String {
    let mut text = String::new();
    for (index, token) in tokens.iter().enumerate() {
        if has_blank(tokens, index) {
            text.push(' ');
        }
        write(token, indent, &mut text);
    }
    text
}

/// Whether a blank stands in front of a token.
fn has_blank(tokens: &[TokenTree], index: usize) -> bool {
    let (Some(before), Some(token)) = (back(tokens, index, 1), tokens.get(index)) else {
        return false;
    };
    if let Some(sign) = sign(before) {
        let is_glued = match sign {
            '.' | '#' | '\'' => true,
            ':' => is_sign(back(tokens, index, 2), ':'),
            '<' => opens_generics(tokens, index - 1),
            '&' | '*' | '-' | '!' => {
                let first = tokens.get(..index - 1).unwrap_or_default();
                let joint =
                    first.iter().rev().take_while(|token| is_sign(Some(token), sign)).count();
                is_joint(before) && sign_of(token)
                    || !is_value(back(tokens, index - 1 - joint, 1))
                    || sign == '!' && matches!(token, TokenTree::Group(_))
            }
            '|' => opens_closure(tokens, index - 1) || is_joint(before),
            '>' => {
                matches!(token, TokenTree::Group(group) if group.delimiter() != Delimiter::Brace)
                    && closes_generics(tokens, index - 1)
            }
            _ => is_joint(before) && sign_of(token),
        };
        if is_glued {
            return false;
        }
    }
    let is_name = matches!(before, TokenTree::Ident(word) if !is_keyword(&word.to_string()));
    match token {
        TokenTree::Punct(punct) => match punct.as_char() {
            ',' | ';' | '.' | '?' => false,
            // Of a path or behind a name, unless a path begins.
            ':' => {
                let is_first = !is_sign(Some(before), ':') || !is_joint(before);
                let is_end = is_value(Some(before)) || closes_generics(tokens, index - 1);
                is_first && !is_end
            }
            '!' => !is_name || is_joint(token),
            '<' => !opens_generics(tokens, index) || sign_of(before) && !is_sign(Some(before), ':'),
            '>' => !(closes_generics(tokens, index) || is_joint(before) && sign_of(before)),
            '|' => !closes_closure(tokens, index),
            _ => !(is_joint(before) && sign_of(before)),
        },
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Brace => true,
            _ => !is_name && !matches!(before, TokenTree::Group(_)),
        },
        TokenTree::Ident(_) | TokenTree::Literal(_) => true,
    }
}

fn back(tokens: &[TokenTree], index: usize, by: usize) -> Option<&TokenTree> {
    index.checked_sub(by).and_then(|index| tokens.get(index))
}

fn sign(token: &TokenTree) -> Option<char> {
    match token {
        TokenTree::Punct(punct) => Some(punct.as_char()),
        _ => None,
    }
}

fn sign_of(token: &TokenTree) -> bool {
    sign(token).is_some()
}

fn is_sign(token: Option<&TokenTree>, wanted: char) -> bool {
    token.and_then(sign) == Some(wanted)
}

fn is_joint(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint)
}

/// Something that a sign can stand behind, as in `a - b`, and not `-b`.
fn is_value(token: Option<&TokenTree>) -> bool {
    match token {
        Some(TokenTree::Ident(word)) => !is_keyword(&word.to_string()),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => true,
        Some(TokenTree::Punct(_)) | None => false,
    }
}

/// Whether `<` is that of `Type<..>`, `f::<..>` or `fn f<..>`, and not of a comparison.
fn opens_generics(tokens: &[TokenTree], index: usize) -> bool {
    if !is_sign(tokens.get(index), '<') {
        return false;
    }
    match back(tokens, index, 1) {
        Some(TokenTree::Ident(word)) => {
            let is_function =
                matches!(back(tokens, index, 2), Some(TokenTree::Ident(word)) if word == "fn");
            is_function
                || word == "impl"
                || word == "for"
                || word.to_string().starts_with(char::is_uppercase)
        }
        Some(TokenTree::Punct(_)) | None => true,
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => false,
    }
}

fn closes_generics(tokens: &[TokenTree], index: usize) -> bool {
    let is_close = |at: usize| {
        is_sign(tokens.get(at), '>')
            && !back(tokens, at, 1).is_some_and(|before| matches!(sign(before), Some('-' | '=')))
    };
    let opened = (0..index).filter(|at| opens_generics(tokens, *at)).count();
    is_close(index) && opened > (0..index).filter(|at| is_close(*at)).count()
}

fn opens_closure(tokens: &[TokenTree], index: usize) -> bool {
    let before = back(tokens, index, 1);
    let is_second = is_sign(before, '|') && before.is_some_and(is_joint);
    is_sign(tokens.get(index), '|') && !is_value(before) && !is_second
}

fn closes_closure(tokens: &[TokenTree], index: usize) -> bool {
    let earlier = (0..index).rev().find(|at| is_sign(tokens.get(*at), '|'));
    earlier.is_some_and(|earlier| opens_closure(tokens, earlier))
}

/// Words that are no name, and stand apart from what follows.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "as", "async", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "loop",
        "match", "move", "mut", "ref", "return", "static", "unsafe", "use", "where", "while",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(code: &str) -> String {
        show(code.parse().unwrap())
    }

    #[test]
    fn code_reads_as_people_write_it() {
        let code = "#[inline]
pub fn f<'a, T: Into<u8>>(&'a self, mut list: Vec<Option<T>>, _: [u8; 2]) -> Option<&'a u8> {
    use std::{ cmp, mem };
    const MOST: usize = 2 - 1;
    if list.len() < MOST && !self.is_empty() || *self.n != -1 {
        return ::kit::reject(|error| <T as Error>::of(error));
    }
    let [a, b] = [1, list[0]?];
    match list.pop() {
        Some(first) => first.into(),
        None => panic!(\"{}\", a),
    }
}
";
        assert_eq!(shown(code), code);
    }

    #[test]
    fn long_calls_have_a_line_for_each_argument() {
        let argument = "a".repeat(50);
        let code = format!("fn f() {{ g({argument}, {argument}); }}");
        let lines =
            format!("fn f() {{\n    g(\n        {argument},\n        {argument}\n    );\n}}\n");
        assert_eq!(shown(&code), lines);
    }

    #[test]
    fn the_variable_is_remembered_behind_inner_attributes() {
        let code = remembered(quote!(
            fn f() {
                #![allow(unused)]
                g()
            }
        ));
        let text = show(code);
        assert!(text.starts_with("fn f() {\n    #![allow(unused)]\n    const _: "), "{text}");
        assert!(text.contains("option_env!(\"RATELIMIT_MACROS_DEBUG\");\n    g()\n}"), "{text}");
    }
}
