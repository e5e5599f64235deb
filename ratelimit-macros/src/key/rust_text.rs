//! Texts in a key that is written in Rust: one that looks like a name is the same for all calls all the same.

use proc_macro2::Span;

use super::CONTEXT;
use super::placeholder::Names;
use crate::message::{Message, messages};
use crate::written::{Kind, Piece, key_line};

messages! {
    name_in_text(name, instead) =
        "`{name}` in quotes is text, the same for all calls: {instead}";
    quotes_in_text(text) = "the quotes inside of this text are a part of it: write `\"{text}\"`";
}

/// The macros whose text has names in braces.
const FORMAT: &[&str] = &["format", "format_args"];

/// The first text in the key that names something. `all` is the whole key, and `arguments` are the function's.
pub(super) fn check(arg: &str, all: &[Piece], arguments: &[String]) -> Option<(Span, Message)> {
    Texts { arg, all, arguments }.any(all, Place::List)
}

struct Texts<'k> {
    arg: &'k str,
    all: &'k [Piece],
    arguments: &'k [String],
}

/// Where a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// As a part of the key, or as all that a function is given.
    List,
    /// As one of several values that a function is given.
    Call,
    /// As the text of `format!`.
    Format,
}

impl Texts<'_> {
    fn any(&self, pieces: &[Piece], place: Place) -> Option<(Span, Message)> {
        for (at, piece) in pieces.iter().enumerate() {
            let back = |by: usize| at.checked_sub(by).and_then(|at| pieces.get(at));
            let found = match piece.kind {
                Kind::Literal => piece.quoted().and_then(|text| self.text(text, place, piece.span)),
                Kind::Group if piece.text == "{" => None,
                Kind::Group => match (back(2), back(1)) {
                    (Some(name), Some(sign)) if sign.is_sign("!") && name.kind == Kind::Word => {
                        self.in_macro(name, &piece.inner)
                    }
                    // What a method is given is for the value in front.
                    (Some(dot), Some(name)) if dot.is_sign(".") && name.kind == Kind::Word => None,
                    (_, Some(name)) if name.kind == Kind::Word || name.is_sign(">") => {
                        let is_literal =
                            |piece: &Piece| piece.kind == Kind::Literal || piece.kind == Kind::Sign;
                        let all = piece.inner.iter().all(is_literal);
                        self.any(&piece.inner, if all { Place::List } else { Place::Call })
                    }
                    (_, Some(value)) if value.kind != Kind::Sign => None,
                    _ => self.any(&piece.inner, Place::List),
                },
                Kind::Sign | Kind::Word => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn in_macro(&self, name: &Piece, inner: &[Piece]) -> Option<(Span, Message)> {
        let (first, rest) = inner.split_first().filter(|_| FORMAT.contains(&name.text.as_str()))?;
        let template = first.quoted().and_then(|text| self.text(text, Place::Format, first.span));
        template.or_else(|| self.any(rest, Place::List))
    }

    fn text(&self, text: &str, place: Place, span: Span) -> Option<(Span, Message)> {
        let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty() && !inner.contains(['\'', '{']))
        {
            return Some((span, quotes_in_text(inner)));
        }
        let known = Names { arguments: self.arguments, context: &CONTEXT };
        let shown = if place == Place::Format { escaped(text)? } else { text.to_owned() };
        let found = known.placeholder(&shown).and_then(|found| {
            let written = shown.get(found.at)?.to_owned();
            let inside = written.trim_matches(['{', '}', '#', '$', ' ']);
            let root = inside.split(['.', '?', '[']).next().unwrap_or_default();
            let is_named =
                self.arguments.iter().any(|name| name == root) || CONTEXT.contains(&root);
            (found.is_known || written.contains('{') && is_named).then_some((written, found.name))
        });
        let exact = self
            .arguments
            .iter()
            .find(|name| *name == text && place == Place::List && !names(self.all, name))
            .map(|name| (name.clone(), name.clone()));
        let (written, name) = found.or(exact)?;
        let arg = self.arg;
        let instead = if name.starts_with('@') {
            let key = match self.all {
                [list] if list.kind == Kind::Group && list.text == "[" => {
                    key_line(self.all).replace(&format!("'{text}'"), &name)
                }
                _ => name,
            };
            format!(
                "what a request has stands in a key in quotes as a whole, as in `{arg} = \"{key}\"`"
            )
        } else if place == Place::Format {
            format!("write `{{{name}}}`")
        } else {
            format!("write `{name}` without quotes")
        };
        Some((span, name_in_text(written, instead)))
    }
}

/// The text of `format!` as it comes out, without what stands in braces. `{{phone}}` is a text, and named at once.
fn escaped(text: &str) -> Option<String> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        shown.push_str(before);
        if after.starts_with("{{") {
            // A brace, and a value behind it.
            shown.push('{');
            rest = after.strip_prefix('{')?;
        } else if let Some(inner) = after.strip_prefix('{') {
            let (name, after) = inner.split_once("}}")?;
            shown.extend(["{", name, "}"]);
            rest = after;
        } else {
            // A value stands there, and what is next to it is a suffix.
            shown.push('x');
            rest = after.split_once('}')?.1;
        }
    }
    shown.push_str(rest);
    Some(shown)
}

/// Whether the key names the argument outside of this text as well: then the text is a label.
fn names(pieces: &[Piece], name: &str) -> bool {
    let mut after_dot = false;
    pieces.iter().any(|piece| {
        let is_field = std::mem::replace(&mut after_dot, piece.is_sign("."));
        let in_braces = || {
            let text = piece.quoted().unwrap_or_default();
            text.contains(&format!("{{{name}}}")) || text.contains(&format!("{{{name}:"))
        };
        piece.is_word(name) && !is_field || in_braces() || names(&piece.inner, name)
    })
}
