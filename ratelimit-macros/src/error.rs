//! How mistakes are collected and where they point.

use std::ops::Range;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::LitStr;

use crate::message::Message;

/// Collects errors until [`finish`](Self::finish): several mistakes are reported together.
///
/// Must be finished: one that is dropped unchecked fails in debug builds, so that forgetting to
/// report is a test failure and not a silent bug.
#[derive(Debug)]
#[must_use]
pub(crate) struct Errors {
    list: Vec<syn::Error>,
    finished: bool,
}

impl Errors {
    pub(crate) const fn new() -> Self {
        Self { list: Vec::new(), finished: false }
    }

    /// Reports `message` at `tokens`, from the first to the last of them.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: Message) {
        self.push(error_at(tokens, message));
    }

    /// Reports `message` at `span`.
    pub(crate) fn at_span(&mut self, span: Span, message: Message) {
        self.push(error(span, message));
    }

    /// Reports `message` at a part of a string literal; see [`key_error`].
    pub(crate) fn in_key(&mut self, literal: &LitStr, at: Range<usize>, message: &Message) {
        self.push(key_error(literal, at, message));
    }

    /// Takes over an error that was made elsewhere, by the Rust parser for example.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.list.push(error);
    }

    /// Whether something was reported so far.
    pub(crate) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many mistakes were reported so far.
    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// The texts so far.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.list.iter().map(ToString::to_string).collect()
    }

    /// All errors as `compile_error!` items; nothing when there are none.
    pub(crate) fn finish(mut self) -> Result<(), TokenStream> {
        self.finished = true;
        let mut all = TokenStream::new();
        for error in &self.list {
            all.extend(error.to_compile_error());
        }
        if self.list.is_empty() { Ok(()) } else { Err(all) }
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        debug_assert!(self.finished || std::thread::panicking(), "errors were not reported");
    }
}

/// One error at `span`.
pub(crate) fn error(span: Span, message: Message) -> syn::Error {
    syn::Error::new(span, message)
}

/// One error at `tokens`, from the first to the last of them.
pub(crate) fn error_at(tokens: impl ToTokens, message: Message) -> syn::Error {
    syn::Error::new_spanned(tokens, message)
}

/// One error about a part of a string literal: `at` is in bytes of `literal.value()`.
///
/// Stable Rust cannot point into a literal. Nightly gets an exact span; elsewhere the place is
/// drawn under the literal, which lines up because rustc indents all lines of a message alike:
///
/// ```text
/// error: unknown argument `phnoe` in the key
///          |
///          | "'sms:' + phnoe"
///          |           ^^^^^
/// ```
pub(crate) fn key_error(literal: &LitStr, at: Range<usize>, message: &Message) -> syn::Error {
    let token = literal.token();
    let source = token.to_string();
    let offset = |index| source_offset(&source, index);
    let (Some(start), Some(end)) = (offset(at.start), offset(at.end)) else {
        return error(literal.span(), message.clone());
    };
    if let Some(span) = token.subspan(start..end) {
        return error(span, message.clone());
    }
    match draw(&source, start..end) {
        Some(drawing) => syn::Error::new(literal.span(), format!("{message}\n{drawing}")),
        None => error(literal.span(), message.clone()),
    }
}

/// The literal with `^^^` under a part of it; `None` when it has several lines.
fn draw(source: &str, at: Range<usize>) -> Option<String> {
    if source.contains('\n') {
        return None;
    }
    let pad = columns(source.get(..at.start)?);
    let len = columns(source.get(at)?).max(1);
    Some(format!("  |\n  | {source}\n  | {:pad$}{:^<len$}", "", ""))
}

/// How many columns a terminal needs for `text`. Wide scripts (CJK) take two, and rustc prints a
/// tab as four blanks.
fn columns(text: &str) -> usize {
    let width = |c| match c {
        '\t' => 4,
        '\u{1100}'.. => 2,
        _ => 1,
    };
    text.chars().map(width).sum()
}

/// Where byte `index` of a string literal's value stands in the literal as typed: past the quotes,
/// the `r#`, and every escape before it. `None` when the value has no such byte.
fn source_offset(source: &str, index: usize) -> Option<usize> {
    let open = source.find('"')? + 1;
    let close = source.rfind('"')?;
    let body = source.get(open..close)?;
    if source.starts_with('r') {
        return (index <= body.len()).then_some(open + index);
    }
    let mut value = 0;
    let mut rest = body;
    while value < index {
        let (typed, meant) = first_char(rest)?;
        value += meant;
        rest = rest.get(typed..)?;
    }
    // A continued line (`\` at its end) means nothing: what follows it begins after it.
    while let Some((typed, 0)) = first_char(rest) {
        rest = rest.get(typed..)?;
    }
    (value == index).then_some(close - rest.len())
}

/// How many bytes the first character of a literal's body has as typed, and how many as meant.
fn first_char(body: &str) -> Option<(usize, usize)> {
    let mut chars = body.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some((first.len_utf8(), first.len_utf8()));
    }
    match chars.next()? {
        'x' => Some((4, 1)),
        'u' => {
            let end = body.find('}')?;
            let digits: String = body.get(3..end)?.chars().filter(|c| *c != '_').collect();
            let meant = char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?;
            Some((end + 1, meant.len_utf8()))
        }
        '\n' | '\r' => {
            let blank = chars.as_str().bytes().take_while(u8::is_ascii_whitespace);
            Some((2 + blank.count(), 0))
        }
        _ => Some((2, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(source: &str) -> LitStr {
        syn::parse_str(source).unwrap()
    }

    fn drawn(source: &str, at: Range<usize>) -> String {
        let message = Message::from_macro("m".to_owned());
        key_error(&literal(source), at, &message).to_string()
    }

    #[test]
    fn every_offset_of_a_value_is_found_in_its_literal() {
        let literals = [
            r#""'sms:' + phone""#,
            "r#\"say \"hi\"\"#",
            r#""a\nb\t\"c\"\\d""#,
            r#""\x41b\u{77ed}\u{4_2}c""#,
            "\"短信 + x\"",
            "\"one \\\n   two\"",
        ];
        for source in literals {
            let value = literal(source).value();
            for (index, c) in value.char_indices() {
                let at = source_offset(source, index).unwrap();
                let (typed, meant) = if source.starts_with('r') {
                    (c.len_utf8(), c.len_utf8())
                } else {
                    first_char(&source[at..]).unwrap()
                };
                assert_eq!(meant, c.len_utf8(), "{source} at {index}");
                let one: LitStr = match &source[at..at + typed] {
                    "\"" => continue,
                    text => literal(&format!("\"{text}\"")),
                };
                assert_eq!(one.value(), c.to_string(), "{source} at {index}");
            }
            assert!(source_offset(source, value.len()).is_some(), "{source}");
            assert_eq!(source_offset(source, value.len() + 1), None, "{source}");
        }
    }

    #[test]
    fn the_place_is_drawn_under_the_literal() {
        assert_eq!(
            drawn(r#""'sms:' + phnoe""#, 9..14),
            "m\n  |\n  | \"'sms:' + phnoe\"\n  |           ^^^^^"
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(drawn("\"短信+x\"", 7..8), "m\n  |\n  | \"短信+x\"\n  |       ^");
    }

    #[test]
    fn the_end_of_the_literal_can_be_pointed_at() {
        assert_eq!(drawn(r#""a""#, 1..1), "m\n  |\n  | \"a\"\n  |   ^");
    }

    #[test]
    fn literals_of_several_lines_are_not_drawn() {
        assert_eq!(drawn("\"a\nb\"", 2..3), "m");
    }

    #[test]
    fn errors_must_be_finished() {
        let dropped = std::panic::catch_unwind(|| drop(Errors::new()));
        assert!(dropped.is_err());
        assert!(Errors::new().finish().is_ok());
    }

    #[test]
    fn all_errors_are_reported() {
        let mut errors = Errors::new();
        errors.at_span(Span::call_site(), Message::from_macro("one".to_owned()));
        errors.at_span(Span::call_site(), Message::from_macro("two".to_owned()));
        assert_eq!(errors.len(), 2);
        let tokens = errors.finish().unwrap_err().to_string();
        assert!(tokens.contains("one") && tokens.contains("two"), "{tokens}");
    }
}
