//! The arguments of one `#[rate_limit(..)]`, as written: names and values, each argument once.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Ident, Token};

use crate::error::{Errors, error, error_at};
use crate::message::{Message, messages};
use crate::symbol::{Arg, listed};

messages! {
    not_an_argument() = "expected an argument, like `key = \"phone\"` or `capacity = 20`";
    no_value(arg) = "`{arg}` has no value: write `{arg} = ..`";
    equals_missing(arg) = "`{arg}` takes its value after `=`: write `{arg} = ..`";
    comma_missing() = "a comma is missing between two arguments";
    given_twice(arg) = "`{arg}` is given twice: remove one";
    unknown_argument(name, names) = "unknown argument `{name}`: there are {names}";
    unknown_argument_like(name, near, names) =
        "unknown argument `{name}`, did you mean `{near}`? there are {names}";
}

/// The arguments of one attribute.
pub(crate) struct Args {
    given: Vec<Given>,
    /// What was written, for errors about something that was not.
    tokens: TokenStream,
    /// Where an error goes when nothing was written.
    place: Span,
    /// Arguments that were given in a form that could not be read: they are not missing.
    misread: Vec<Arg>,
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

    /// Whether the argument was given in a form that could not be read, which was reported.
    pub(crate) fn was_misread(&self, arg: Arg) -> bool {
        self.misread.contains(&arg)
    }

    /// Whether every argument has a name at least: only then can one be missing.
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
        let start = input.fork();
        match parse_argument(input) {
            Ok((name, value)) => self.add(name, value, errors),
            Err(error) => {
                let name = start.call(Ident::parse_any).ok().map(|name| name.to_string());
                match name.and_then(|name| Arg::find(&name)) {
                    Some(arg) => self.misread.push(arg),
                    None => self.was_read = false,
                }
                errors.push(error);
                skip_to_comma(input);
            }
        }
        if input.is_empty() {
            return;
        }
        if !input.peek(Token![,]) {
            errors.at_span(input.span(), comma_missing());
            // `capacity = 5 refill = 1`: the next argument can be read all the same.
            if !starts_argument(input) {
                skip_to_comma(input);
            }
        }
        // The comma, which is there now unless the next argument is.
        let _: syn::Result<Token![,]> = input.parse();
    }

    fn add(&mut self, name: Ident, value: Expr, errors: &mut Errors) {
        let word = name.to_string();
        let Some(arg) = Arg::find(&word) else {
            let names = listed(Arg::names(), "and");
            let message = match Arg::meant_by(&word) {
                Some(near) => {
                    self.misread.extend(Arg::find(near));
                    unknown_argument_like(word, near, names)
                }
                None => unknown_argument(word, names),
            };
            errors.at(name, message);
            return;
        };
        if self.get(arg).is_some() {
            errors.at(name, given_twice(word));
            return;
        }
        self.given.push(Given { arg, name, value });
    }
}

/// `name = value`.
fn parse_argument(input: ParseStream<'_>) -> syn::Result<(Ident, Expr)> {
    if !input.peek(Ident::peek_any) {
        return Err(error(input.span(), not_an_argument()));
    }
    let name = input.call(Ident::parse_any)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(error(name.span(), no_value(&name)));
    }
    if !input.peek(Token![=]) || input.peek(Token![==]) {
        return Err(error(input.span(), equals_missing(&name)));
    }
    input.parse::<Token![=]>()?;
    if input.is_empty() || input.peek(Token![,]) {
        return Err(error(name.span(), no_value(&name)));
    }
    Ok((name, input.parse()?))
}

fn starts_argument(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any) && input.peek2(Token![=]) && !input.peek2(Token![==])
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
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
