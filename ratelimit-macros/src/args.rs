//! The arguments of one `#[rate_limit(..)]`, as written: names and values, each argument once.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprAssign, ExprLit, Ident, Lit, LitStr, Member, Token};

use crate::error::{Errors, error, error_at};
use crate::foreign::{self, no_value_of};
use crate::message::{Message, messages};
use crate::quantity::unwrapped;
use crate::spelling;
use crate::symbol::{Algo, Arg, listed, meant_by};
use crate::words;
use crate::written::{Kind, line, pieces};

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
    nameless(instead) = "expected an argument, which has a name: write {instead}";
    quoted_name(arg) = "expected an argument, whose name has no quotes: write `{arg} = ..`";
    in_brackets() = "expected an argument: there are no brackets around arguments";
    stray_comma() = "expected an argument: remove this comma";
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
    /// The function's arguments, which somebody may have written alone.
    names: Vec<String>,
    /// Whether something in it was a mistake of form.
    is_mistaken: bool,
    /// Whether a word of another limiter was in it.
    is_translated: bool,
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
    /// `place` is the attribute's, and `names` are the
    /// function's arguments.
    pub(crate) fn parse(
        tokens: TokenStream,
        place: Span,
        names: &[String],
        errors: &mut Errors,
    ) -> Self {
        let before = errors.len();
        let mut args = Self {
            given: Vec::new(),
            tokens: tokens.clone(),
            place,
            misread: Vec::new(),
            misnamed_algo: None,
            forms: Vec::new(),
            names: names.to_vec(),
            is_mistaken: false,
            is_translated: false,
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
        args.is_mistaken = errors.len() > before;
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
        self.was_read && !self.is_translated
    }

    /// Whether something in it was a mistake of form, which was reported.
    pub(crate) const fn is_mistaken(&self) -> bool {
        self.is_mistaken
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
        let mut is_right = false;
        match self.parse_argument(input) {
            Ok((name, word, value)) => {
                is_right = true;
                self.add(name, &word, value, errors);
            }
            Err(mistake) => {
                let arg = name.as_ref().and_then(|name| Arg::find(&name.to_string()));
                match (mistake, name, arg) {
                    (Mistake::Sign(sign, error), _, Some(arg)) => {
                        self.misread.push(arg);
                        // `limiter.Rate { .. }` is another limiter's, and `(5) refill(1)` swallows an argument.
                        self.is_translated |= sign == "." || sign == "(";
                        self.form(sign, error, errors);
                    }
                    (Mistake::Name(word, None), Some(name), _)
                        if let Some(instead) = algo_with_numbers(&word, input) =>
                    {
                        self.misread.push(Arg::Algo);
                        self.was_read = false;
                        self.is_translated = true;
                        self.forms.push("a name".to_owned());
                        errors.at(name, unknown_argument_instead(&word, instead));
                    }
                    (Mistake::Name(word, value), Some(name), _) => {
                        self.unknown(&name, &word, value.map(|value| *value), errors);
                    }
                    (Mistake::Comma(error), _, Some(arg)) => {
                        self.misread.push(arg);
                        self.form(",".to_owned(), error, errors);
                    }
                    (mistake, _, Some(arg)) => {
                        self.misread.push(arg);
                        // It may hold the time as well, `limit = 5 per min`.
                        self.is_translated |= matches!(arg, Arg::Capacity | Arg::Limit);
                        errors.push(mistake.into_error());
                    }
                    // The name is the mistake, whatever follows it.
                    (_, Some(name), None) => {
                        let word = name.unraw().to_string();
                        self.unknown(&name, &word, None, errors);
                    }
                    (mistake, None, None) => {
                        self.was_read = false;
                        self.form("a name".to_owned(), mistake.into_error(), errors);
                    }
                }
                skip_value(input);
            }
        }
        if input.is_empty() {
            return;
        }
        if input.peek(Token![;]) {
            self.form(";".to_owned(), error(input.span(), comma_missing()), errors);
            let _: syn::Result<Token![;]> = input.parse();
            let _: syn::Result<Option<Token![,]>> = input.parse();
            return;
        }
        if !input.peek(Token![,]) && is_right {
            // `capacity = 5 refill = 1`: the next argument can be read all the same.
            self.form(",".to_owned(), error(input.span(), comma_missing()), errors);
        }
        // The comma, which is there now unless the next argument is.
        let _: syn::Result<Token![,]> = input.parse();
    }

    /// `name = value`, with the name as a word.
    fn parse_argument(&self, input: ParseStream<'_>) -> Result<(Ident, String, Expr), Mistake> {
        if !input.peek(Ident::peek_any) {
            return Err(self.nameless(input).into());
        }
        let name = input.call(Ident::parse_any)?;
        let word = whole_name(&name, input);
        if input.is_empty() || input.peek(Token![,]) {
            return Err(without_value(&name, word));
        }
        if !input.peek(Token![=]) || input.peek(Token![==]) || input.peek(Token![=>]) {
            return Err(sign_after(&name, word, input)?);
        }
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(without_value(&name, word));
        }
        let ahead = input.fork();
        let value = ahead.parse::<Expr>();
        let ends = ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(Token![;]);
        let Some(arg) = Arg::find(&word) else {
            let value = value.ok().filter(|_| ends || starts_argument(&ahead));
            return match value {
                Some(value) => {
                    input.advance_to(&ahead);
                    Err(Mistake::Name(word, Some(Box::new(value))))
                }
                None => Err(Mistake::Name(word, None)),
            };
        };
        match value {
            Ok(Expr::Assign(assign)) => Err(assignment(arg, &assign, &ahead, input).into()),
            Ok(value) if ends || starts_argument(&ahead) => {
                input.advance_to(&ahead);
                Ok((name, word, value))
            }
            value => {
                let rest = value_tokens(&input.fork());
                if let Some(mistake) = foreign::mistake(arg, rest) {
                    return Err(mistake.into());
                }
                Err(match value {
                    Ok(_) => Mistake::Comma(error(ahead.span(), comma_missing())),
                    Err(why) => error(why.span(), no_value_of(arg.name(), why)).into(),
                })
            }
        }
    }

    /// What stands where a name should, with what to write.
    fn nameless(&self, input: ParseStream<'_>) -> syn::Error {
        let ahead = input.fork();
        let Ok(token) = ahead.parse::<TokenTree>() else {
            return error(input.span(), not_an_argument());
        };
        let instead = match &token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => {
                return error(token.span(), stray_comma());
            }
            TokenTree::Punct(sign) if "@#$".contains(sign.as_char()) => {
                let Ok(word) = ahead.call(Ident::parse_any) else {
                    return error(token.span(), not_an_argument());
                };
                let word = word.unraw().to_string();
                let is_argument = self.names.contains(&word);
                if !is_argument && !crate::key::CONTEXT.contains(&word.as_str()) {
                    return error(token.span(), not_an_argument());
                }
                let at = if is_argument { "" } else { "@" };
                Some(format!("`key = \"{at}{word}\"`"))
            }
            TokenTree::Punct(_) | TokenTree::Ident(_) => None,
            TokenTree::Group(_) => return error(token.span(), in_brackets()),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<LitStr>(&literal.to_string()).ok();
                let text = text.map(|text| text.value());
                let last = self.given.last().map(|given| &given.value).and_then(number);
                match (text, last, literal.to_string()) {
                    (Some(name), ..) if ahead.peek(Token![=]) => {
                        return error(token.span(), quoted_name(name));
                    }
                    (Some(text), ..) => Some(self.nameless_text(&text)),
                    // `1,000`: a comma begins another argument.
                    (None, Some(before), digits)
                        if digits.len() == 3 && digits.chars().all(|c| c.is_ascii_digit()) =>
                    {
                        return error(
                            token.span(),
                            foreign::digits_apart(format!("{before}_{digits}")),
                        );
                    }
                    (None, ..) => {
                        Some("`capacity = 20, refill = 5` or `limit = 5, window = 60`".to_owned())
                    }
                }
            }
        };
        match instead {
            Some(instead) => error(token.span(), nameless(instead)),
            None => error(token.span(), not_an_argument()),
        }
    }

    /// `"5/min"`, `"phone"` without a name.
    fn nameless_text(&self, text: &str) -> String {
        if let Some(rate) = spelling::rate(text) {
            let count = rate.split('/').next().unwrap_or_default();
            return format!("`capacity = {count}, refill = \"{rate}\"`");
        }
        let count: String = text.chars().take_while(char::is_ascii_digit).collect();
        if !count.is_empty() {
            let time = text.get(count.len()..).unwrap_or_default();
            let time = time.trim_start_matches([' ', '/']).trim_start_matches("per ").trim();
            let unit = words::unit(time).map_or(time, |(unit, _)| unit);
            let rate = if crate::scan::unit(unit).is_some() {
                format!("{count}/{unit}")
            } else {
                format!("{count}/min")
            };
            return format!("`capacity = {count}, refill = \"{rate}\"`");
        }
        let root = text.trim_start_matches(['@', '#']).split('.').next().unwrap_or_default();
        if self.names.iter().any(|name| name == root) || text.starts_with(['@', '#', '\'', '[']) {
            return format!("`key = \"{text}\"`");
        }
        format!("`name = \"{text}\"`, or a key, `key = ..`")
    }

    /// Reports a mistake of form, once.
    fn form(&mut self, form: String, error: syn::Error, errors: &mut Errors) {
        if !self.forms.contains(&form) {
            self.forms.push(form);
            errors.push(error);
        }
    }

    fn add(&mut self, name: Ident, word: &str, value: Expr, errors: &mut Errors) {
        let Some(arg) = Arg::find(word) else {
            self.unknown(&name, word, Some(value), errors);
            return;
        };
        if self.get(arg).is_some() {
            errors.at(name, given_twice(word));
            return;
        }
        self.given.push(Given { arg, name, value });
    }

    /// A name that is none of ours, and what was meant by it.
    fn unknown(&mut self, name: &Ident, word: &str, value: Option<Expr>, errors: &mut Errors) {
        let foreign = words::argument(word);
        let field = word.rsplit_once('.').and_then(|(_, field)| Arg::find(field));
        let near = field.or_else(|| Arg::near(word)).filter(|near| {
            // `create(5)` is not about the crate.
            !DECLARATIONS.contains(&word) && (*near != Arg::Crate || value.is_some())
        });
        let mut args = match (near, &foreign) {
            (_, Some(foreign)) => foreign.args,
            (Some(near), None) => &[near][..],
            (None, None) => &[],
        };
        let before = self.given.last().filter(|given| given.arg == Arg::Key && value.is_none());
        let algo = algo_in(word, value.as_ref(), args);
        if let Some((_, None)) = algo {
            // Its numbers may stand in its parentheses.
            self.was_read = false;
        }
        let message = match (foreign.as_ref(), near, before) {
            _ if let Some((algo, _)) = algo => {
                args = &[Arg::Algo];
                unknown_argument_instead(word, format!("write `algo = {algo}`"))
            }
            _ if word == "rate"
                && let Some(algo) = self.window_algo() =>
            {
                args = &[Arg::Limit, Arg::Window];
                let written = value.as_ref().and_then(text).map(LitStr::value);
                let rate = written.and_then(|written| spelling::rate(&written));
                let rate = rate.unwrap_or_else(|| "5/min".to_owned());
                let (count, time) = rate.split_once('/').unwrap_or_default();
                let one = if time.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
                let instead = format!(
                    "`{algo}` has two numbers for it: write `limit = {count}, window = \"{one}{time}\"`"
                );
                unknown_argument_instead(word, instead)
            }
            (Some(words::Foreign { instead, .. }), ..) if !instead.is_empty() => {
                let written = value.as_ref().and_then(number);
                let instead = instead.replace("{n}", written.as_deref().unwrap_or("300"));
                unknown_argument_instead(word, instead)
            }
            (Some(_), ..) | (_, Some(_), _) => {
                unknown_argument_like(word, listed(args.iter().map(|arg| arg.name()), "or"))
            }
            (.., Some(key)) if is_short(&key.value) => {
                several_parts(key.value.to_token_stream(), word)
            }
            _ if DECLARATIONS.contains(&word) => unknown_argument_instead(word, "remove it"),
            _ => {
                self.was_read = false;
                self.unknown_alone(word, value.is_none())
            }
        };
        if args == [Arg::Algo] {
            self.misnamed_algo = value.or_else(|| {
                let (algo, _) = algo?;
                syn::parse_str(algo).ok()
            });
        }
        // The words of another limiter are reported first, and not what is missing because of them.
        if foreign.is_some() || DECLARATIONS.contains(&word) {
            self.is_translated = true;
        }
        self.misread.extend(args);
        errors.at(name, message);
    }

    /// The algorithm that was given, if it has a window.
    fn window_algo(&self) -> Option<&'static str> {
        let word = last_word(&self.get(Arg::Algo)?.value)?;
        let algo = Algo::find(&word)?;
        algo.needs().contains(&Arg::Window).then_some(algo.name())
    }

    /// What to say about a name of which nothing is known.
    fn unknown_alone(&self, word: &str, is_alone: bool) -> Message {
        let is_alone = is_alone && self.get(Arg::Key).is_none();
        if is_alone && self.names.iter().any(|name| name == word) {
            return unknown_argument_instead(word, format!("write `key = {word}`"));
        }
        if is_alone && crate::key::CONTEXT.contains(&word) {
            return unknown_argument_instead(word, format!("write `key = \"@{word}\"`"));
        }
        unknown_argument(word, listed(Arg::usable(), "and"))
    }
}

/// What to write for `fixed_window, 5, 60`, `fixed_window(5, 60)` and `fixed_window(limit = 5, ..)`.
fn algo_with_numbers(word: &str, input: ParseStream<'_>) -> Option<String> {
    let algo = Algo::find(&words::snake_case(word))?;
    let ahead = input.fork();
    let group = ahead.parse::<proc_macro2::Group>().ok().map(|group| group.stream());
    let is_named =
        |tokens: &TokenStream| tokens.clone().into_iter().any(|token| token.to_string() == "=");
    if let Some(tokens) = group.as_ref().filter(|tokens| is_named(tokens)) {
        return Some(format!("write `algo = {}, {}`", algo.name(), line(&pieces(tokens.clone()))));
    }
    let literals = |input: ParseStream<'_>| -> syn::Result<Vec<Lit>> {
        let mut numbers = Vec::new();
        while input.peek(Lit) {
            numbers.push(input.parse()?);
            let _: syn::Result<Token![,]> = input.parse();
        }
        // What follows them is read later.
        let _: syn::Result<TokenStream> = input.parse();
        Ok(numbers)
    };
    let tokens = if let Some(tokens) = group {
        tokens
    } else {
        ahead.parse::<Token![,]>().ok()?;
        ahead.parse().ok()?
    };
    let numbers = literals.parse2(tokens).ok()?;
    let needs = algo.needs();
    if numbers.len() != needs.len() {
        return None;
    }
    let numbers = needs.iter().zip(numbers);
    let named: Vec<String> = numbers
        .map(|(arg, number)| format!("{} = {}", arg.name(), number.to_token_stream()))
        .collect();
    Some(format!("write `algo = {}, {}`", algo.name(), named.join(", ")))
}

/// Words that begin a declaration, and no argument.
const DECLARATIONS: &[&str] = &["let", "mut", "const", "static", "var", "val", "final", "pub"];

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
    /// The name is none of ours; its value, if that can be read.
    Name(String, Option<Box<Expr>>),
    /// Something follows the value.
    Comma(syn::Error),
    Other(syn::Error),
}

impl Mistake {
    fn into_error(self) -> syn::Error {
        match self {
            Self::NoValue(error)
            | Self::Sign(_, error)
            | Self::Comma(error)
            | Self::Other(error) => error,
            Self::Name(..) => error(Span::call_site(), not_an_argument()),
        }
    }
}

impl From<syn::Error> for Mistake {
    fn from(error: syn::Error) -> Self {
        Self::Other(error)
    }
}

/// A name alone.
fn without_value(name: &Ident, word: String) -> Mistake {
    if Arg::find(&word).is_some() {
        Mistake::NoValue(error(name.span(), no_value(name)))
    } else {
        Mistake::Name(word, None)
    }
}

/// The algorithm that an unknown argument names by its name or value.
fn algo_in(word: &str, value: Option<&Expr>, args: &[Arg]) -> Option<(&'static str, Option<Arg>)> {
    let meant = |word: &str| meant_by(Arg::Algo, word, Algo::names());
    let is_algo = |word: &str| Algo::find(&words::snake_case(word)).is_some();
    let value = value.filter(|value| {
        let is_ours = || last_word(value).is_some_and(|word| Algo::find(&word).is_some());
        args == [Arg::Algo] && !is_algo(word)
            || args == [Arg::Name] && matches!(value, Expr::Path(_))
            || args.is_empty() && matches!(value, Expr::Path(_)) && is_ours()
    });
    match value {
        Some(value) => {
            last_word(value).and_then(|word| meant(&word)).map(|algo| (algo, Some(Arg::Algo)))
        }
        None => is_algo(word).then(|| meant(word)).flatten().map(|algo| (algo, None)),
    }
}

/// `on-error` and `bucket.capacity` as one word; `let capacity` stays apart.
fn whole_name(name: &Ident, input: ParseStream<'_>) -> String {
    let first = name.unraw().to_string();
    let mut word = first.clone();
    let ahead = input.fork();
    loop {
        let sign = if ahead.peek(Token![-]) && !ahead.peek(Token![->]) {
            "-"
        } else if ahead.peek(Token![.]) {
            "."
        } else {
            return first;
        };
        let _: syn::Result<TokenTree> = ahead.parse();
        let Ok(next) = ahead.call(Ident::parse_any) else { return first };
        word.push_str(sign);
        word.push_str(&next.to_string());
        if ahead.peek(Token![=]) && !ahead.peek(Token![==]) {
            input.advance_to(&ahead);
            return word;
        }
    }
}

/// What is wrong with a name that no `=` follows.
fn sign_after(name: &Ident, word: String, input: ParseStream<'_>) -> syn::Result<Mistake> {
    if Arg::find(&word).is_none() {
        // `bare fixed_window`.
        let next = input.fork().call(Ident::parse_any).ok();
        let algo = next.filter(|next| Algo::find(&next.to_string()).is_some());
        let value = algo.and_then(|algo| syn::parse_str(&algo.to_string()).ok());
        let value = value.map(Box::new);
        return Ok(Mistake::Name(word, value));
    }
    let sign = input.fork().parse::<TokenTree>()?;
    let sign = match sign {
        TokenTree::Group(_) => "(".to_owned(),
        TokenTree::Punct(sign) => sign.to_string(),
        TokenTree::Ident(_) | TokenTree::Literal(_) => "a value".to_owned(),
    };
    Ok(Mistake::Sign(sign, error(input.span(), equals_missing(name))))
}

/// `capacity = 20 && refill = 5`, `when = user.vip = true`: to rustc, an assignment.
fn assignment(
    arg: Arg,
    assign: &ExprAssign,
    ahead: ParseStream<'_>,
    input: ParseStream<'_>,
) -> syn::Error {
    let left = pieces(assign.left.to_token_stream());
    let is_next = left.len() > 1
        && left
            .last()
            .is_some_and(|last| last.kind == Kind::Word && Arg::find(&last.text).is_some());
    if let (true, Some(sign)) = (is_next, left.iter().rev().nth(1)) {
        return error(sign.span, comma_missing());
    }
    input.advance_to(ahead);
    if matches!(arg, Arg::Key | Arg::Group) {
        return error_at(assign.eq_token, foreign::one_value(arg.name()));
    }
    let (left, right) = (line(&left), line(&pieces(assign.right.to_token_stream())));
    let value = format!("{} = {left} == {right}", arg.name());
    error_at(assign.eq_token, foreign::assigned(value))
}

/// A number as it was written.
fn number(value: &Expr) -> Option<String> {
    match unwrapped(value) {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Some(number.to_string()),
        _ => None,
    }
}

/// The tokens up to the next argument.
fn value_tokens(input: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !ends_value(input) {
        match input.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    tokens
}

fn skip_value(input: ParseStream<'_>) {
    value_tokens(input);
}

fn ends_value(input: ParseStream<'_>) -> bool {
    let is_known = || {
        let word = input.fork().call(Ident::parse_any).map(|name| name.unraw().to_string());
        word.is_ok_and(|word| Arg::near(&word).is_some() || words::argument(&word).is_some())
    };
    input.is_empty()
        || input.peek(Token![,])
        || input.peek(Token![;])
        || starts_argument(input) && is_known()
}

fn starts_argument(input: ParseStream<'_>) -> bool {
    input.peek(Ident::peek_any)
        && input.peek2(Token![=])
        && !input.peek2(Token![==])
        && !input.peek2(Token![=>])
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
        let args = Args::parse(source.parse().unwrap(), Span::call_site(), &[], &mut errors);
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
        assert_eq!(messages.len(), 6, "{messages:#?}");
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
