//! Tokens to a [`Key`].
//!
//! ```text
//! key     = "[" join { "," join } [ "," ] "]" | join
//! join    = default { "+" default }
//! default = value { "?:" value }
//! value   = text | number | "true" | "false" | "(" join ")" | call | context | path
//! call    = name "(" [ join { "," join } [ "," ] ] ")"
//! context = "@" name [ "[" text "]" ]
//! path    = [ "#" ] ( name | "args" "[" number "]" ) { ( "." | "?." ) ( name | number ) }
//! ```

use std::ops::Range;

use super::ast::{Call, Context, Expr, ExprKind, Field, FieldName, Key, Path, Root};
use super::lexer::lex;
use super::resolve::{FUNCTIONS, context_has_no_index, one_argument, unknown_context_instead};
use super::token::{Kind, Punct, Token};
use super::{CONTEXT, Problem, foreign, problem};
use crate::message::messages;

messages! {
    empty_key() =
        "the key is empty: name an argument, or leave `key` out for one budget for all callers";
    value_missing_before(found) = "a value is missing before {found}";
    value_missing_after(found) = "a value is missing after {found}";
    plus_missing(found) = "`+` is missing before {found}";
    not_open(close) = "unmatched `{close}`";
    parts_without_brackets() = "several parts are written as a list: `[a, b]`";
    not_closed(open) = "this `{open}` is not closed";
    list_inside() = "a list must be the whole key: `[a, b]`";
    empty_list() = "the list is empty: `[a, b]` has one part for each entry";
    name_missing(after) = "a name is missing after `{after}`";
    foreign_sign(sign, instead) = "`{sign}` is not part of the key language: {instead}";
    foreign_key(message) = "{message}";
    quote_in_text() = "this quote ends the text: a quote in a text is doubled, as in `'it''s'`";
    foreign_name(name, instead) = "unknown argument `{name}` in the key: {instead}";
    field_of_value() = "only an argument has fields: put the `.` after a name";
    field_of_text() = "text has no fields, and `+` joins, as in `'sms:' + phone`";
    field_of_context(name, field) = "`@{name}` is one text: remove `{field}`";
    context_of_ours(name) =
        "unknown context value `@{name}`: what a function of yours gives is a key in Rust, without the \
         quotes around it";
    method_call(name, instead) =
        "`{name}` is called as a method, and the key language has none: {instead}";
    header_unquoted(name) =
        "a header's name stands in brackets and quotes: write `@header['{name}']`";
    index_of_value() =
        "only `args` takes an index here, as in `args[0]`: to index anything else, write the key in \
         Rust, without the quotes around it";
    index_missing() = "`args` needs the number of an argument, as in `args[0]`";
    header_missing() = "this needs the name of a header, as in `@header['x-api-key']`";
    fraction() = "numbers in a key are whole";
    number_too_big() = "this number has more digits than a key takes";
    key_waits() = "a key is computed before the function runs and cannot wait: remove `.await`";
    too_deep(limit) = "the key is nested too deep: more than {limit} levels";
    too_many(limit) = "the key has too many parts: more than {limit}";
}

/// How deep parentheses and functions may be nested, and how many parts a key may have. Both are
/// far beyond any key, and keep the recursion here and in rustc small.
const LIMIT: usize = 64;
/// The digits of `u128::MAX`.
const DIGITS: usize = 39;

/// Reads a key. `is_name` knows the names of the function's arguments.
pub(super) fn parse(source: &str, is_name: &dyn Fn(&str) -> bool) -> Result<Key, Problem> {
    let (tokens, problem) = lex(source);
    let mut parser = Parser { source, is_name, tokens: &tokens, before: None, depth: 0, parts: 0 };
    let key = parser.key();
    let Some(problem) = problem else { return key };
    // `format!("{phone}")`: what is foreign in front of a foreign quote comes first.
    let foreign = tokens.iter().rfind(|token| matches!(token.kind, Kind::Foreign(_)));
    let before = |mistake: &Problem| foreign.is_some_and(|token| mistake.at.end <= token.at.end);
    Err(key.err().filter(before).unwrap_or(problem))
}

struct Parser<'t> {
    source: &'t str,
    is_name: &'t dyn Fn(&str) -> bool,
    /// What is left. The last one is [`Kind::End`] and stays.
    tokens: &'t [Token],
    /// The last one that was read.
    before: Option<&'t Token>,
    depth: usize,
    parts: usize,
}

impl<'t> Parser<'t> {
    fn kind(&self) -> &'t Kind {
        self.tokens.first().map_or(&Kind::End, |token| &token.kind)
    }

    /// Where the next token stands.
    fn at(&self) -> Range<usize> {
        let end = self.source.len();
        self.tokens.first().map_or(end..end, |token| token.at.clone())
    }

    /// Goes on to the next token; the place of this one.
    fn advance(&mut self) -> Range<usize> {
        let at = self.at();
        if let [token, rest @ ..] = self.tokens
            && !rest.is_empty()
        {
            self.before = Some(token);
            self.tokens = rest;
        }
        at
    }

    fn is(&self, punct: Punct) -> bool {
        *self.kind() == Kind::Punct(punct)
    }

    fn is_foreign(&self, sign: &str) -> bool {
        matches!(self.kind(), Kind::Foreign(found) if found == sign)
    }

    /// Goes past `punct` if it is next; its place.
    fn eat(&mut self, punct: Punct) -> Option<Range<usize>> {
        self.is(punct).then(|| self.advance())
    }

    fn key(&mut self) -> Result<Key, Problem> {
        if *self.kind() == Kind::End {
            return Err(problem(0..self.source.len(), empty_key()));
        }
        let Some(open) = self.eat(Punct::OpenBracket) else {
            let parts = vec![self.join()?];
            return self.end(parts);
        };
        let (parts, end) = self.comma_separated(&open, "[", Punct::CloseBracket)?;
        if parts.is_empty() {
            return Err(problem(open.start..end, empty_list()));
        }
        self.end(parts)
    }

    /// There must be nothing left.
    fn end(&self, parts: Vec<Expr>) -> Result<Key, Problem> {
        match self.kind() {
            Kind::End => Ok(Key { parts }),
            Kind::Punct(Punct::Plus | Punct::Elvis) => Err(problem(self.at(), list_inside())),
            _ => Err(self.operator_missing()),
        }
    }

    /// A value stands here, and something that does not go on with it.
    fn operator_missing(&self) -> Problem {
        // `'it's:'`
        if let Some(Token { kind: Kind::Text(_), at }) = self.before
            && at.end == self.at().start
            && matches!(self.kind(), Kind::Name(_))
            && self.source.matches('\'').count() % 2 == 1
        {
            return problem(at.end - 1..at.end, quote_in_text());
        }
        // `new Key`, `if phone`, `lower phone`
        if let Some(Token { kind: Kind::Name(word), at }) = self.before
            && !(self.is_name)(word)
        {
            if let Some(instead) = foreign::beginning(word) {
                return problem(at.clone(), foreign_sign(word, self.spelled_out(instead)));
            }
            if FUNCTIONS.contains(&word.as_str()) {
                return problem(at.clone(), one_argument(word));
            }
        }
        let message = match self.kind() {
            Kind::Punct(Punct::Comma) => parts_without_brackets(),
            Kind::Punct(close @ (Punct::CloseParen | Punct::CloseBracket)) => {
                not_open(close.as_str())
            }
            Kind::Foreign(sign) if sign == "!" && self.opens(1) => {
                let instead = "macros stand in a key in Rust, without the quotes around it";
                foreign_sign(sign, self.spelled_out(instead))
            }
            Kind::Foreign(sign) if self.after_text() && foreign::after_a_text(sign).is_some() => {
                foreign_sign(sign, foreign::after_a_text(sign).unwrap_or_default())
            }
            Kind::Foreign(sign) => match self.before {
                // `x-api-key`: nothing is subtracted from what is no argument.
                Some(Token { kind: Kind::Name(name), .. })
                    if matches!(sign.as_str(), "-" | "/") && !(self.is_name)(name) =>
                {
                    foreign_sign(sign, foreign::TEXT_OR_HEADER)
                }
                _ => foreign_sign(sign, self.spelled_out(foreign::sign_after_a_value(sign))),
            },
            Kind::Name(word) => match foreign::after_a_value(word) {
                Some(instead) => foreign_sign(word, self.spelled_out(instead)),
                None => plus_missing(self.kind()),
            },
            found => plus_missing(found),
        };
        problem(self.at(), message)
    }

    fn after_text(&self) -> bool {
        matches!(self.before, Some(Token { kind: Kind::Text(_), .. }))
    }

    fn spelled_out(&self, instead: &str) -> String {
        foreign::spelled_out(instead, self.source)
    }

    /// Whether the token that is so many further on opens parentheses or brackets.
    fn opens(&self, further: usize) -> bool {
        let kind = self.tokens.get(further).map(|token| &token.kind);
        matches!(kind, Some(Kind::Punct(Punct::OpenParen | Punct::OpenBracket)))
    }

    /// The name that is so many tokens further on.
    fn name_at(&self, further: usize) -> Option<&'t str> {
        match self.tokens.get(further).map(|token| &token.kind) {
            Some(Kind::Name(name)) => Some(name),
            _ => None,
        }
    }

    /// A value should stand here.
    fn value_missing(&self) -> Problem {
        if let Kind::Foreign(sign) = self.kind() {
            let next = self.name_at(1).and_then(|name| foreign::name(name, self.name_at(3)));
            let instead = match sign.as_str() {
                "$" => next.unwrap_or_else(|| foreign::before_a_value(sign)),
                "-" if matches!(self.tokens, [_, Token { kind: Kind::Number(_), .. }, _]) => {
                    "a number is the same for all calls: name an argument, as in `phone`"
                }
                "*" if self.tokens.len() == 2 => "one budget for all callers needs no `key`",
                sign => foreign::before_a_value(sign),
            };
            return problem(self.at(), foreign_sign(sign, self.spelled_out(instead)));
        }
        match self.before {
            Some(Token { kind: before @ Kind::Punct(_), at }) => {
                problem(at.clone(), value_missing_after(before))
            }
            _ => problem(self.at(), value_missing_before(self.kind())),
        }
    }

    /// What stands between `open` and `close`, and where `close` ends.
    fn comma_separated(
        &mut self,
        open: &Range<usize>,
        open_name: &str,
        close: Punct,
    ) -> Result<(Vec<Expr>, usize), Problem> {
        let mut entries = Vec::new();
        loop {
            if let Some(close) = self.eat(close) {
                return Ok((entries, close.end));
            }
            if *self.kind() == Kind::End {
                return Err(problem(open.clone(), not_closed(open_name)));
            }
            entries.push(self.join()?);
            if self.eat(Punct::Comma).is_none() && !self.is(close) {
                return Err(match self.kind() {
                    Kind::End => problem(open.clone(), not_closed(open_name)),
                    _ => self.operator_missing(),
                });
            }
        }
    }

    fn join(&mut self) -> Result<Expr, Problem> {
        self.chain(Punct::Plus, ExprKind::Join, Self::default)
    }

    fn default(&mut self) -> Result<Expr, Problem> {
        self.chain(Punct::Elvis, ExprKind::First, Self::value)
    }

    /// `operand { operator operand }`.
    fn chain(
        &mut self,
        operator: Punct,
        kind: fn(Vec<Expr>) -> ExprKind,
        operand: fn(&mut Self) -> Result<Expr, Problem>,
    ) -> Result<Expr, Problem> {
        let first = operand(self)?;
        if !self.is(operator) {
            return Ok(first);
        }
        let start = first.at.start;
        let mut end = first.at.end;
        let mut operands = vec![first];
        while self.eat(operator).is_some() {
            let next = operand(self)?;
            end = next.at.end;
            operands.push(next);
        }
        Ok(Expr { kind: kind(operands), at: start..end })
    }

    fn value(&mut self) -> Result<Expr, Problem> {
        if !self.is(Punct::OpenParen) {
            self.count_part()?;
        }
        let value = match self.kind() {
            Kind::Text(text) => {
                let at = self.advance();
                Expr { kind: ExprKind::Text(text.clone()), at }
            }
            Kind::Number(digits) => self.number(digits)?,
            Kind::Name(name) if name == "true" || name == "false" => {
                let at = self.advance();
                Expr { kind: ExprKind::Constant(name.clone()), at }
            }
            Kind::Name(name) => self.name(name)?,
            Kind::Punct(Punct::Hash) => {
                let hash = self.advance();
                let name = match self.kind() {
                    Kind::Name(name) => name,
                    Kind::Foreign(sign) if sign == "{" => {
                        let at = hash.start..self.at().end;
                        return Err(problem(at, foreign_sign("#{", foreign::before_a_value("#{"))));
                    }
                    _ => return Err(problem(hash, name_missing("#"))),
                };
                let mut expr = self.path(name)?;
                expr.at.start = hash.start;
                expr
            }
            Kind::Punct(Punct::At) => self.context()?,
            Kind::Punct(Punct::OpenParen) => self.group()?,
            Kind::Punct(Punct::OpenBracket) => return Err(problem(self.at(), list_inside())),
            _ => return Err(self.value_missing()),
        };
        match self.kind() {
            Kind::Punct(Punct::Dot | Punct::QuestionDot) => Err(self.field_of(&value)),
            Kind::Punct(Punct::OpenBracket) => Err(problem(self.at(), index_of_value())),
            Kind::Punct(Punct::OpenParen) if matches!(value.kind, ExprKind::Context(_)) => {
                Err(self.field_of(&value))
            }
            _ => Ok(value),
        }
    }

    /// A `.` after something that has no fields.
    fn field_of(&self, value: &Expr) -> Problem {
        let dot = self.at();
        match &value.kind {
            ExprKind::Text(_) => problem(dot, field_of_text()),
            ExprKind::Context(context) => {
                let end = self.tokens.get(1).map_or(dot.end, |token| token.at.end);
                let field = self.source.get(dot.start..end).unwrap_or_default();
                problem(dot.start..end, field_of_context(&context.name, field))
            }
            _ => problem(dot, field_of_value()),
        }
    }

    fn count_part(&mut self) -> Result<(), Problem> {
        self.parts += 1;
        if self.parts > LIMIT { Err(problem(self.at(), too_many(LIMIT))) } else { Ok(()) }
    }

    fn number(&mut self, digits: &str) -> Result<Expr, Problem> {
        let at = self.advance();
        if self.is(Punct::Dot) {
            return Err(problem(at.start..self.at().end, fraction()));
        }
        let digits = significant(digits);
        if digits.len() > DIGITS {
            return Err(problem(at, number_too_big()));
        }
        Ok(Expr { kind: ExprKind::Constant(digits.to_owned()), at })
    }

    /// `(a + b)`.
    fn group(&mut self) -> Result<Expr, Problem> {
        let open = self.advance();
        let inner = self.nested(&open, Self::join)?;
        match self.eat(Punct::CloseParen) {
            Some(close) => Ok(Expr { kind: inner.kind, at: open.start..close.end }),
            None => Err(match self.kind() {
                Kind::End => problem(open, not_closed("(")),
                _ => self.operator_missing(),
            }),
        }
    }

    /// Counts one level of nesting while `inside` reads it.
    fn nested<T>(
        &mut self,
        open: &Range<usize>,
        inside: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.depth += 1;
        if self.depth > LIMIT {
            return Err(problem(open.clone(), too_deep(LIMIT)));
        }
        let inner = inside(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    /// A function or an argument.
    fn name(&mut self, name: &str) -> Result<Expr, Problem> {
        let [_, Token { kind: Kind::Punct(Punct::OpenParen), .. }, ..] = self.tokens else {
            return self.path(name);
        };
        let name_at = self.advance();
        if name == "T" {
            return Err(problem(
                name_at.start..self.at().end,
                foreign_sign("T(..)", foreign::RUST),
            ));
        }
        let open = self.advance();
        let (arguments, end) =
            self.nested(&open, |this| this.comma_separated(&open, "(", Punct::CloseParen))?;
        let at = name_at.start..end;
        let call = Call { name: name.to_owned(), name_at, arguments };
        Ok(Expr { kind: ExprKind::Call(call), at })
    }

    fn context(&mut self) -> Result<Expr, Problem> {
        let at = self.advance();
        let Kind::Name(name) = self.kind() else {
            return Err(problem(at, name_missing("@")));
        };
        let mut end = self.advance().end;
        let mut index = None;
        let is_header = matches!(name.as_str(), "header" | "headers");
        if let Some(open) = self.eat(Punct::OpenBracket) {
            let Kind::Text(text) = self.kind() else {
                return Err(match self.header_name() {
                    _ if (self.is_name)(name) || name == "args" => {
                        let index = self.source.get(open.start..).unwrap_or_default();
                        let len = index.find(']').map_or(index.len(), |close| close + 1);
                        let written = format!("{name}{}", index.get(..len).unwrap_or_default());
                        let message = unknown_context_instead(name, foreign::argument(&written));
                        problem(at.start..end, message)
                    }
                    _ if CONTEXT.contains(&name.as_str()) && !is_header => {
                        problem(at.start..end, context_has_no_index(name))
                    }
                    Some((at, header)) if is_header => problem(at, header_unquoted(header)),
                    _ if is_header => problem(open.start..self.at().end, header_missing()),
                    _ => problem(at.start..end, context_of_ours(name)),
                });
            };
            let text = text.clone();
            index = Some((text, self.advance()));
            let Some(close) = self.eat(Punct::CloseBracket) else {
                return Err(problem(open, not_closed("[")));
            };
            end = close.end;
        } else if is_header {
            let dot = self.eat(Punct::Dot);
            return Err(match dot.and_then(|_| self.header_name()) {
                Some((at, header)) => problem(at, header_unquoted(header)),
                None => problem(at.start..end, header_missing()),
            });
        } else if !CONTEXT.contains(&name.as_str()) && self.is(Punct::Dot) {
            // `@request.ip`, `@keyBuilder.build(..)`
            let is_call = matches!(self.tokens.get(2), Some(token) if token.kind == Kind::Punct(Punct::OpenParen));
            let instead = foreign::name(name, self.name_at(1)).filter(|_| !is_call);
            let message = match instead {
                Some(instead) => foreign_sign(format!("@{name}"), instead),
                None => context_of_ours(name),
            };
            return Err(problem(at.start..end, message));
        }
        let context = Context { name: name.clone(), index };
        Ok(Expr { kind: ExprKind::Context(context), at: at.start..end })
    }

    /// The name of a header that stands here without quotes.
    fn header_name(&self) -> Option<(Range<usize>, &'t str)> {
        let start = self.at().start;
        let rest = self.source.get(start..)?;
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
        let header = rest.get(..len.unwrap_or(rest.len())).filter(|header| !header.is_empty())?;
        Some((start..start + header.len(), header))
    }

    fn path(&mut self, name: &str) -> Result<Expr, Problem> {
        let root_at = self.at();
        self.known_path(name).map_err(|problem| self.foreign_root(name, root_at).unwrap_or(problem))
    }

    /// What to say about a path of another language, whatever else is wrong with it.
    fn foreign_root(&self, name: &str, at: Range<usize>) -> Option<Problem> {
        let rest = self.source.get(at.end..)?.trim_start_matches(['?', '.', ' ']);
        let field = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        let instead = foreign::name(name, field).filter(|_| !(self.is_name)(name))?;
        Some(problem(at, foreign_name(name, instead)))
    }

    fn known_path(&mut self, name: &str) -> Result<Expr, Problem> {
        let mut root_at = self.advance();
        let root = if name == "args" && self.is(Punct::OpenBracket) {
            let (index, end) = self.index()?;
            root_at.end = end;
            Root::Argument(index)
        } else {
            Root::Name(name.to_owned())
        };
        let mut at = root_at.clone();
        let mut fields = Vec::new();
        loop {
            let optional = self.is(Punct::QuestionDot);
            let Some(dot) = self.eat(Punct::Dot).or_else(|| self.eat(Punct::QuestionDot)) else {
                break;
            };
            self.count_part()?;
            let (name, end) = self.field(&dot, if optional { "?." } else { "." })?;
            at.end = end;
            fields.push(Field { name, optional });
        }
        if self.is(Punct::OpenBracket) {
            return Err(problem(self.at(), index_of_value()));
        }
        Ok(Expr { kind: ExprKind::Path(Path { root, root_at, fields }), at })
    }

    /// `[0]` after `args`; the number, and where it ends.
    fn index(&mut self) -> Result<(usize, usize), Problem> {
        let open = self.advance();
        let Kind::Number(digits) = self.kind() else {
            return Err(problem(open.start..self.at().end, index_missing()));
        };
        let at = self.advance();
        let Ok(index) = digits.parse() else { return Err(problem(at, number_too_big())) };
        match self.eat(Punct::CloseBracket) {
            Some(close) => Ok((index, close.end)),
            None => Err(problem(open, not_closed("["))),
        }
    }

    /// What stands after `.`, and where it ends.
    fn field(&mut self, dot: &Range<usize>, after: &str) -> Result<(FieldName, usize), Problem> {
        let name = match self.kind() {
            Kind::Name(name) => name,
            Kind::Number(digits) => {
                let at = self.advance();
                let Ok(index) = significant(digits).parse() else {
                    return Err(problem(at, number_too_big()));
                };
                return Ok((FieldName::Indexed(index), at.end));
            }
            _ => return Err(problem(dot.clone(), name_missing(after))),
        };
        let at = self.advance();
        match name.as_str() {
            "await" => Err(problem(dot.start..at.end, key_waits())),
            // No field has these names, not even with `r#`.
            "self" | "Self" | "super" | "crate" | "_" => Err(problem(at, name_missing(after))),
            _ if self.is(Punct::OpenParen) || self.is_foreign("::") => {
                Err(problem(at, method_call(name, self.spelled_out(foreign::method(name)))))
            }
            _ => Ok((FieldName::Named(name.clone()), at.end)),
        }
    }
}

/// Digits without zeros in front.
fn significant(digits: &str) -> &str {
    match digits.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    }
}
