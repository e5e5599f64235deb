//! Tokens as somebody wrote them, of which rustc can make no value: signs, words and groups, and how to
//! write them in a message.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// Signs of several characters, here or in another language.
const SIGNS: &[&str] = &[
    "===", "!==", "==", "!=", "<=", ">=", "<>", "=>", "->", "&&", "||", "??", "?:", "?.", "::",
    "..", "++", "!!",
];
/// Signs that stand between two values with a blank on each side.
const BETWEEN: &[&str] = &[
    "===", "!==", "==", "!=", "<=", ">=", "<>", "=>", "->", "&&", "||", "??", "?:", "++", "+", "-",
    "*", "/", "%", "<", ">", "=", "?", "|", "^",
];

/// A sign, a word, a literal or a group.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// As written; of a group, its opening bracket.
    pub(crate) text: String,
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    /// What stands in a group.
    pub(crate) inner: Vec<Self>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sign,
    Word,
    Literal,
    Group,
}

impl Piece {
    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == Kind::Sign && self.text == sign
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// The digits of a whole number.
    pub(crate) fn digits(&self) -> Option<String> {
        let is_number =
            self.kind == Kind::Literal && self.text.starts_with(|c: char| c.is_ascii_digit());
        let digits = self.text.replace('_', "");
        (is_number && digits.chars().all(|c| c.is_ascii_digit())).then_some(digits)
    }

    /// What stands between the double quotes of a text.
    pub(crate) fn quoted(&self) -> Option<&str> {
        (self.kind == Kind::Literal).then(|| self.text.strip_prefix('"')?.strip_suffix('"'))?
    }
}

/// The pieces of some tokens.
pub(crate) fn pieces(tokens: TokenStream) -> Vec<Piece> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut pieces = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let (text, kind, inner, used) = match first {
            TokenTree::Ident(word) => (word.to_string(), Kind::Word, Vec::new(), 1),
            TokenTree::Literal(literal) => (literal.to_string(), Kind::Literal, Vec::new(), 1),
            TokenTree::Group(group) => {
                let open = match group.delimiter() {
                    Delimiter::Parenthesis => "(",
                    Delimiter::Brace => "{",
                    Delimiter::Bracket => "[",
                    Delimiter::None => "",
                };
                (open.to_owned(), Kind::Group, self::pieces(group.stream()), 1)
            }
            TokenTree::Punct(_) => {
                let sign = sign(rest);
                let used = sign.chars().count();
                (sign, Kind::Sign, Vec::new(), used)
            }
        };
        pieces.push(Piece { text, span: first.span(), kind, inner });
        rest = rest.get(used..).unwrap_or(after);
    }
    pieces
}

/// The longest sign that begins here.
fn sign(tokens: &[TokenTree]) -> String {
    let mut all = String::new();
    for token in tokens.iter().take(3) {
        let TokenTree::Punct(punct) = token else { break };
        all.push(punct.as_char());
        if punct.spacing() == Spacing::Alone {
            break;
        }
    }
    let longest = SIGNS.iter().find(|sign| all.starts_with(**sign)).map(|sign| (*sign).to_owned());
    longest.unwrap_or_else(|| all.chars().take(1).collect())
}

/// The pieces as one line.
pub(crate) fn line(pieces: &[Piece]) -> String {
    line_with(pieces, &|piece| piece.text.clone())
}

/// The pieces as a key in quotes: texts stand in single ones.
pub(crate) fn key_line(pieces: &[Piece]) -> String {
    line_with(pieces, &|piece| match piece.quoted() {
        Some(text) => format!("'{text}'"),
        None => piece.text.clone(),
    })
}

fn line_with(pieces: &[Piece], text: &dyn Fn(&Piece) -> String) -> String {
    let mut line = String::new();
    let mut before: Option<&Piece> = None;
    for piece in pieces {
        let after_value = before.is_some_and(|before| before.kind != Kind::Sign);
        let is_between = piece.kind == Kind::Sign && BETWEEN.contains(&piece.text.as_str());
        let is_value = matches!(piece.kind, Kind::Word | Kind::Literal);
        let is_call = piece.kind == Kind::Group && matches!(piece.text.as_str(), "(" | "[");
        if after_value && (is_between || is_value || piece.kind == Kind::Group && !is_call)
            || before.is_some_and(|before| before.is_sign(","))
        {
            line.push(' ');
        }
        if piece.kind == Kind::Group {
            let close = match piece.text.as_str() {
                "(" => ")",
                "{" => " }",
                "[" => "]",
                _ => "",
            };
            line.push_str(if piece.text == "{" { "{ " } else { &piece.text });
            line.push_str(&line_with(&piece.inner, text));
            line.push_str(close);
        } else {
            line.push_str(&text(piece));
        }
        // `a - b`, and not `-b` alone.
        if is_between && after_value {
            line.push(' ');
        }
        before = Some(piece);
    }
    line.replace("  ", " ").trim_end().to_owned()
}

/// The pieces without any blank that is not between two words: `sms:send`.
pub(crate) fn close_line(pieces: &[Piece]) -> String {
    let mut line = String::new();
    let mut after_word = false;
    for piece in pieces {
        let is_word = matches!(piece.kind, Kind::Word | Kind::Literal);
        if is_word && after_word {
            line.push(' ');
        }
        line.push_str(piece.quoted().unwrap_or(&piece.text));
        after_word = is_word;
    }
    line
}

/// The first of these pieces and those in their groups that fits, with the pieces behind it.
pub(crate) fn find<'p>(
    pieces: &'p [Piece],
    fits: &dyn Fn(&Piece, &[Piece]) -> bool,
) -> Option<(&'p Piece, &'p [Piece])> {
    let mut rest = pieces;
    while let Some((first, after)) = rest.split_first() {
        if fits(first, after) {
            return Some((first, after));
        }
        if let Some(found) = find(&first.inner, fits) {
            return Some(found);
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: &str) -> Vec<Piece> {
        pieces(source.parse().unwrap())
    }

    #[test]
    fn lines_are_as_somebody_writes_them() {
        for source in [
            "user?.id ?? \"x\"",
            "[@ip, user]",
            "lower(#phone)",
            "!user.vip && a != b",
            "a - 1",
            "x => x.len()",
            "{ a }",
            "f(-1)",
            "texts.size()",
            "a ?: b",
        ] {
            assert_eq!(line(&all(source)), source);
        }
        assert_eq!(key_line(&all("\"sms:\" + phone")), "'sms:' + phone");
        assert_eq!(close_line(&all("sms:send now")), "sms:send now");
    }
}
