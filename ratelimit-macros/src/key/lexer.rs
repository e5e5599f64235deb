//! Characters to tokens.

use unicode_ident::{is_xid_continue, is_xid_start};

use super::token::{Kind, Punct, Token};
use super::{Problem, problem};
use crate::message::messages;

messages! {
    unclosed_quote() = "this quote is not closed: text in a key is written `'text'`";
    other_quote() = "text in a key is written in straight single quotes: `'text'`";
}

/// All tokens of a key, up to what cannot be one; the last is [`Kind::End`].
pub(super) fn lex(source: &str) -> (Vec<Token>, Option<Problem>) {
    let mut lexer = Lexer { source, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = match lexer.token() {
            Ok(token) => token,
            Err(problem) => {
                let at = problem.at.start..problem.at.start;
                tokens.push(Token { kind: Kind::End, at });
                return (tokens, Some(problem));
            }
        };
        let end = token.kind == Kind::End;
        tokens.push(token);
        if end {
            return (tokens, None);
        }
    }
}

struct Lexer<'s> {
    source: &'s str,
    /// Always on a character's border.
    at: usize,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Goes past the characters from here on that `belongs` accepts.
    fn skip(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let len = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    fn token(&mut self) -> Result<Token, Problem> {
        self.skip(char::is_whitespace);
        let start = self.at;
        let kind = self.kind()?;
        Ok(Token { kind, at: start..self.at })
    }

    fn kind(&mut self) -> Result<Kind, Problem> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Kind::End) };
        if first == '\'' {
            return self.text();
        }
        if first.is_ascii_digit() {
            return Ok(Kind::Number(self.skip(|c| c.is_ascii_digit()).to_owned()));
        }
        if let Some(raw) = rest.strip_prefix("r#").filter(|raw| raw.starts_with(is_name_start)) {
            self.at = self.source.len() - raw.len();
            return Ok(Kind::Name(self.skip(is_xid_continue).to_owned()));
        }
        if is_name_start(first) {
            return Ok(Kind::Name(self.skip(is_xid_continue).to_owned()));
        }
        if let Some(punct) = PUNCTS.iter().find(|punct| rest.starts_with(punct.as_str())) {
            self.at += punct.as_str().len();
            return Ok(Kind::Punct(*punct));
        }
        self.foreign(first)
    }

    /// `'text'`; a quote in it is doubled.
    fn text(&mut self) -> Result<Kind, Problem> {
        let open = self.at;
        let mut text = String::new();
        loop {
            self.at += 1;
            text.push_str(self.skip(|c| c != '\''));
            if self.rest().is_empty() {
                return Err(problem(open..open + 1, unclosed_quote()));
            }
            self.at += 1;
            if !self.rest().starts_with('\'') {
                return Ok(Kind::Text(text));
            }
            text.push('\'');
        }
    }

    /// A character that no token begins with: what it is here is for the parser to say.
    fn foreign(&mut self, first: char) -> Result<Kind, Problem> {
        let operator = OPERATORS.iter().find(|operator| self.rest().starts_with(**operator));
        let at = self.at..self.at + operator.map_or(first.len_utf8(), |operator| operator.len());
        if matches!(first, '"' | '`' | '‘' | '’' | '“' | '”') {
            return Err(problem(at, other_quote()));
        }
        self.at = at.end;
        Ok(Kind::Foreign(self.source.get(at).unwrap_or_default().to_owned()))
    }
}

fn is_name_start(c: char) -> bool {
    c == '_' || is_xid_start(c)
}

/// The longer ones first.
const PUNCTS: [Punct; 11] = [
    Punct::QuestionDot,
    Punct::Elvis,
    Punct::Plus,
    Punct::Dot,
    Punct::Comma,
    Punct::Hash,
    Punct::At,
    Punct::OpenParen,
    Punct::CloseParen,
    Punct::OpenBracket,
    Punct::CloseBracket,
];

/// What other languages have in more than one character.
const OPERATORS: [&str; 14] =
    ["??", "==", "!=", "<=", ">=", "&&", "&.", "||", "::", "->", "=>", "${", "{{", "%%"];
