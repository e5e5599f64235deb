//! The arguments of one `#[rate_limit(..)]`, as written: names and values, each argument once.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, Ident, Lit, LitStr, Member, Token};

use crate::error::{Errors, error, error_at};
use crate::message::{Message, messages};
use crate::quantity::unwrapped;
use crate::symbol::{Algo, Arg, listed, meant_by};
use crate::words;

messages! {
    not_an_argument() = "expected an argument, like `key = \"phone\"` or `capacity = 20`";
    no_value(arg) = "`{arg}` has no value: write `{arg} = ..`";
    equals_missing(arg) = "`{arg}` takes its value after `=`: write `{arg} = ..`";
    comma_missing() = "a comma is missing between two arguments";
    given_twice(arg) = "`{arg}` is given twice: remove one";
    unknown_argument(name, names) = "unknown argument `{name}`: there are {names}";
    unknown_argument_like(name, near) = "unknown argument `{name}`: did you mean {near}?";
    unknown_argument_instead(name, instead) = "unknown argument `{name}`: {instead}";
    several_parts(key, part) =
        "unknown argument `{part}`: a key of several parts is a list, `key = [{key}, {part}]`";
    key_language(found, arg, example) =
        "`{found}` belongs to the key language: quotes go around the whole key, as in \
         `{arg} = \"{example}\"`";
}

/// The arguments of one attribute.
pub(crate) struct Args {
    given: Vec<Given>,
    /// What was written, for errors about something that was not.
    tokens: TokenStream,
    /// Where an error goes when nothing was written.
    place: Span,
    /// Arguments that were given in a form that could not be read, or by another name: they are
    /// not missing.
    misread: Vec<Arg>,
    /// The value of `algo`, if it was given by another name.
    misnamed_algo: Option<Expr>,
    /// Mistakes of form that were reported. Each is once: what is wrong with one argument is wrong
    /// with all of them, when somebody writes `:` for `=`.
    forms: Vec<String>,
    /// Whether all of it could be read, if only to find that it is wrong.
    was_read: bool,
}

/// An argument that was given.
pub(crate) struct Given {
    pub(crate) arg: Arg,
    /// Its name as written.
    pub(crate) name: Ident,
    pub(crate) value: Expr,
}

impl Args {
    /// Reads all arguments, past every mistake: each is reported, and the rest is still read.
    /// `place` is the attribute's.
    pub(crate) fn parse(tokens: TokenStream, place: Span, errors: &mut Errors) -> Self {
        let mut args = Self {
            given: Vec::new(),
            tokens: tokens.clone(),
            place,
            misread: Vec::new(),
            misnamed_algo: None,
            forms: Vec::new(),
            was_read: true,
        };
        let parsed = (|input: ParseStream<'_>| {
            while !input.is_empty() {
                args.parse_one(input, errors);
            }
            Ok(())
        })
        .parse2(tokens);
        if let Err(error) = parsed {
            errors.push(error);
        }
        args
    }

    /// The argument, if it was given.
    pub(crate) fn get(&self, arg: Arg) -> Option<&Given> {
        self.given.iter().find(|given| given.arg == arg)
    }

    /// All arguments in the order in which they were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Given> {
        self.given.iter()
    }

    /// What was given in a form that could not be read, or by another name, which was reported.
    pub(crate) fn misread(&self) -> &[Arg] {
        &self.misread
    }

    /// The value of `algo`, if it was given by another name, which was reported.
    pub(crate) const fn misnamed_algo(&self) -> Option<&Expr> {
        self.misnamed_algo.as_ref()
    }

    /// Whether it is clear what each argument was meant to be: only then can one be missing.
    pub(crate) const fn was_read(&self) -> bool {
        self.was_read
    }

    /// An error about the attribute as a whole.
    pub(crate) fn error(&self, message: Message) -> syn::Error {
        if self.tokens.is_empty() {
            error(self.place, message)
        } else {
            error_at(&self.tokens, message)
        }
    }

    fn parse_one(&mut self, input: ParseStream<'_>, errors: &mut Errors) {
        let name = input.fork().call(Ident::parse_any).ok();
        match (parse_argument(input), name) {
            (Ok((name, value)), _) => self.add(name, value, errors),
            (Err(mistake), name) => {
                let arg = name.as_ref().and_then(|name| Arg::find(&name.to_string()));
                match (mistake, name, arg) {
                    (Mistake::Sign(sign, error), _, Some(arg)) => {
                        self.misread.push(arg);
                        self.form(sign, error, errors);
                    }
                    (mistake, _, Some(arg)) => {
                        self.misread.push(arg);
                        errors.push(mistake.into_error());
                    }
                    // The name is the mistake, whatever follows it.
                    (Mistake::NoValue(_) | Mistake::Sign(..), Some(name), None) => {
                        self.unknown(&name, None, errors);
                    }
                    (mistake, ..) => {
                        self.was_read = false;
                        self.form("a name".to_owned(), mistake.into_error(), errors);
                    }
                }
                skip_to_comma(input);
            }
        }
        if input.is_empty() {
            return;
        }
        if input.peek(Token![;]) {
            self.form(";".to_owned(), error(input.span(), comma_missing()), errors);
            let _: syn::Result<Token![;]> = input.parse();
            return;
        }
        if !input.peek(Token![,]) {
            self.form(",".to_owned(), error(input.span(), comma_missing()), errors);
            // `capacity = 5 refill = 1`: the next argument can be read all the same.
            if !starts_argument(input) {
                skip_to_comma(input);
            }
        }
        // The comma, which is there now unless the next argument is.
        let _: syn::Result<Token![,]> = input.parse();
    }

    /// Reports a mistake of form, once.
    fn form(&mut self, form: String, error: syn::Error, errors: &mut Errors) {
        if !self.forms.contains(&form) {
            self.forms.push(form);
            errors.push(error);
        }
    }

    fn add(&mut self, name: Ident, value: Expr, errors: &mut Errors) {
        let word = name.unraw().to_string();
        let Some(arg) = Arg::find(&word) else {
            self.unknown(&name, Some(value), errors);
            return;
        };
        if self.get(arg).is_some() {
            errors.at(name, given_twice(word));
            return;
        }
        self.given.push(Given { arg, name, value });
    }

    /// A name that is none of ours, and what was meant by it.
    fn unknown(&mut self, name: &Ident, value: Option<Expr>, errors: &mut Errors) {
        let word = name.unraw().to_string();
        let foreign = words::argument(&word);
        let near = Arg::near(&word);
        let args = match (near, &foreign) {
            (_, Some(foreign)) => foreign.args,
            (Some(near), None) => &[near][..],
            (None, None) => &[],
        };
        let before = self.given.last().filter(|given| given.arg == Arg::Key && value.is_none());
        let algo = value.as_ref().filter(|_| args == [Arg::Algo]).and_then(last_word);
        let algo = algo.and_then(|algo| meant_by(Arg::Algo, &algo, Algo::names()));
        let message = match (foreign.as_ref(), near, before) {
            _ if algo.is_some() => unknown_argument_instead(
                &word,
                format!("write `algo = {}`", algo.unwrap_or_default()),
            ),
            (Some(words::Foreign { instead, .. }), ..) if !instead.is_empty() => {
                unknown_argument_instead(&word, instead)
            }
            (Some(_), ..) | (_, Some(_), _) => {
                unknown_argument_like(&word, listed(args.iter().map(|arg| arg.name()), "or"))
            }
            (.., Some(key)) if is_short(&key.value) => {
                several_parts(key.value.to_token_stream(), &word)
            }
            _ => {
                self.was_read = false;
                unknown_argument(&word, listed(Arg::usable(), "and"))
            }
        };
        if args == [Arg::Algo] {
            self.misnamed_algo = value;
        }
        self.misread.extend(args);
        errors.at(name, message);
    }
}

/// A name or a field, which reads well in a message.
fn is_short(value: &Expr) -> bool {
    matches!(value, Expr::Path(_) | Expr::Field(_))
}

/// Why an argument could not be read.
enum Mistake {
    /// There is a name and no `=` with a value.
    NoValue(syn::Error),
    /// There is another sign where `=` should be.
    Sign(String, syn::Error),
    Other(syn::Error),
}

impl Mistake {
    fn into_error(self) -> syn::Error {
        match self {
            Self::NoValue(error) | Self::Sign(_, error) | Self::Other(error) => error,
        }
    }
}

impl From<syn::Error> for Mistake {
    fn from(error: syn::Error) -> Self {
        Self::Other(error)
    }
}

/// `name = value`.
fn parse_argument(input: ParseStream<'_>) -> Result<(Ident, Expr), Mistake> {
    if !input.peek(Ident::peek_any) {
        return Err(error(input.span(), not_an_argument()).into());
    }
    let name = input.call(Ident::parse_any)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Mistake::NoValue(error(name.span(), no_value(&name))));
    }
    if !input.peek(Token![=]) || input.peek(Token![==]) || input.peek(Token![=>]) {
        let sign = input.fork().parse::<TokenTree>()?;
        let sign = match sign {
            TokenTree::Group(_) => "(".to_owned(),
            sign => sign.to_string(),
        };
        return Err(Mistake::Sign(sign, error(input.span(), equals_missing(&name))));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(Mistake::NoValue(error(name.span(), no_value(&name))));
    }
    if let Some(error) = key_language_outside(&name, input) {
        return Err(error.into());
    }
    Ok((name, input.parse()?))
}

/// `#phone`, `@ip` or `?:` in a key without quotes. In Rust none of them begins or joins a value.
fn key_language_outside(name: &Ident, input: ParseStream<'_>) -> Option<syn::Error> {
    if !["key", "group"].iter().any(|arg| name == arg) {
        return None;
    }
    let ahead = input.fork();
    let mut after_question = None;
    while !ahead.is_empty() && !ahead.peek(Token![,]) {
        let token: TokenTree = ahead.parse().ok()?;
        let sign = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match (sign, after_question) {
            ('#' | '@', _) => {
                let word = ahead.call(Ident::parse_any).ok();
                let written =
                    format!("{sign}{}", word.map(|word| word.to_string()).unwrap_or_default());
                return Some(error(token.span(), key_language(&written, name, &written)));
            }
            (':', Some(question)) => {
                return Some(error(question, key_language("?:", name, "user ?: 'anonymous'")));
            }
            _ => {}
        }
        after_question = (sign == '?').then(|| token.span());
    }
    None
}

fn starts_argument(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==])
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) && !input.peek(Token![;]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// The last word of a value, `fixed_window` of `Algo.fixed_window`.
pub(crate) fn last_word(value: &Expr) -> Option<String> {
    match unwrapped(value) {
        Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => None,
        },
        Expr::Struct(value) => Some(value.path.segments.last()?.ident.to_string()),
        Expr::Call(call) => match unwrapped(&call.func) {
            Expr::Path(path) => Some(path.path.segments.first()?.ident.to_string()),
            _ => None,
        },
        Expr::Lit(ExprLit { lit: Lit::Bool(word), .. }) => Some(word.value.to_string()),
        value => text(value).map(LitStr::value),
    }
}

/// A string literal.
pub(crate) fn text(value: &Expr) -> Option<&LitStr> {
    match unwrapped(value) {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> (Args, Vec<String>) {
        let mut errors = Errors::new();
        let args = Args::parse(source.parse().unwrap(), Span::call_site(), &mut errors);
        let messages = errors.messages();
        let _ = errors.finish();
        (args, messages)
    }

    #[test]
    fn arguments_are_read_in_order() {
        let (args, messages) = parse(r#"key = "a", capacity = 5, crate = ::kit,"#);
        assert_eq!(messages, [""; 0]);
        let read: Vec<Arg> = args.iter().map(|given| given.arg).collect();
        assert_eq!(read, [Arg::Key, Arg::Capacity, Arg::Crate]);
    }

    #[test]
    fn nothing_is_no_mistake_of_syntax() {
        assert_eq!(parse("").1, [""; 0]);
    }

    #[test]
    fn every_mistake_is_reported_and_the_rest_is_read() {
        let (args, messages) =
            parse(r#"5, key, capcity = 1, name("x"), cost == 2, key = a b, key = c, limit = 3"#);
        assert_eq!(messages.len(), 7, "{messages:#?}");
        let (_, messages) = parse(r#"key: "a", capacity: 2, refill: 3"#);
        assert_eq!(messages.len(), 1, "{messages:#?}");
        assert!(args.get(Arg::Limit).is_some());
        assert!(args.get(Arg::Key).is_some());
    }

    #[test]
    fn a_missing_comma_does_not_hide_the_next_argument() {
        let (args, messages) = parse("capacity = 5 refill = 1");
        assert_eq!(messages, [comma_missing().to_string()]);
        assert!(args.get(Arg::Refill).is_some());
    }
}
