//! The tokens of the key language.

use std::fmt;
use std::ops::Range;

/// A token and its place, in bytes of the literal's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) at: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `'text'`, without the quotes.
    Text(String),
    /// Decimal digits as written.
    Number(String),
    /// A name, without `r#`.
    Name(String),
    Punct(Punct),
    /// What belongs to other languages.
    Foreign(String),
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Punct {
    Plus,
    Dot,
    QuestionDot,
    Elvis,
    Comma,
    Hash,
    At,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
}

impl Punct {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Dot => ".",
            Self::QuestionDot => "?.",
            Self::Elvis => "?:",
            Self::Comma => ",",
            Self::Hash => "#",
            Self::At => "@",
            Self::OpenParen => "(",
            Self::CloseParen => ")",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
        }
    }
}

/// As messages name it.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "`'{}'`", text.replace('\'', "''")),
            Self::Number(digits) => write!(f, "`{digits}`"),
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Punct(punct) => write!(f, "`{}`", punct.as_str()),
            Self::Foreign(sign) => write!(f, "`{sign}`"),
            Self::End => f.write_str("the end"),
        }
    }
}
