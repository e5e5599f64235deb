//! Values that are no Rust: what the habit of another language writes in an argument, and what to
//! write here instead.

use proc_macro2::{Span, TokenStream};
use syn::LitStr;

use crate::error::error;
use crate::message::{Message, messages};
use crate::quantity::{
    Quantity, closure, no_placeholders, no_suffix, not_a_count, not_a_duration, not_a_rate,
    quotes_missing, rate_as_count,
};
use crate::scan::unit;
use crate::symbol::{Algo, Arg, HEADERS, MODES, ON_ERRORS, listed, meant_by};
use crate::words;
use crate::written::{Kind, Piece, close_line, find, key_line, line, pieces};

messages! {
    not_rust(found, instead) = "`{found}` is not Rust: {instead}";
    no_value_of(arg, says) = "the value of `{arg}` is not Rust: {says}";
    key_language(found, arg, example) =
        "`{found}` belongs to the key language: quotes go around the whole key, as in \
         `{arg} = \"{example}\"`";
    text_without_quotes(arg, text) = "`{arg}` takes a text in quotes: write `{arg} = \"{text}\"`";
    digits_apart(number) = "digits are grouped by `_`: write `{number}`";
    assigned(value) = "`=` assigns, and `==` compares: write `{value}`";
    not_one_word(arg, values) = "`{arg}` takes one of {values}";
    one_word_like(arg, near) = "`{arg}` takes one word: write `{arg} = {near}`";
    not_a_local(arg) =
        "`{arg}` takes a name under which the body finds the decision, as in `decision = decision`";
    not_a_handler(arg) = "a closure in `{arg}` takes one argument, the error: write `|error| ..`";
    one_value(arg) = "`{arg}` is one value: several parts are a list, as in `{arg} = [phone, user]`";
}

/// Words that begin a function without a name elsewhere.
const LAMBDAS: &[&str] = &["lambda", "function", "func", "fn", "def"];
/// Letters in front of a text that make a template of it.
const TEMPLATES: &[&str] = &["f", "F", "fr", "rf", "s", "$"];
/// Words between the number and the time of a rate.
const PER: &[&str] = &["per", "every", "each", "in", "a", "an", "within"];

/// What is wrong with a text that stands where Rust should: `"#texts.size()"`, `"not vip"`.
pub(crate) fn mistake_in_text(arg: Arg, text: &LitStr) -> Option<Message> {
    let all = pieces(text.value().parse().ok()?);
    let found = sign_of_a_name(arg, &all)
        .or_else(|| null(arg, &all))
        .or_else(|| choice(arg, &all))
        .or_else(|| operator(arg, &all));
    found.map(|(_, message)| message)
}

/// What is wrong with Rust that rustc can read: `phone != null`.
pub(crate) fn mistake_in_rust(arg: Arg, tokens: TokenStream) -> Option<syn::Error> {
    null(arg, &pieces(tokens)).map(|(span, message)| error(span, message))
}

/// What is wrong with `tokens`, of which rustc makes no value; `None` when nothing of it is known from elsewhere.
pub(crate) fn mistake(arg: Arg, tokens: TokenStream) -> Option<syn::Error> {
    let all = pieces(tokens);
    let found = sign_of_a_name(arg, &all)
        .or_else(|| statement(arg, &all))
        .or_else(|| function(arg, &all))
        .or_else(|| template(arg, &all))
        .or_else(|| word(arg, &all))
        .or_else(|| text(arg, &all))
        .or_else(|| default(arg, &all))
        .or_else(|| choice(arg, &all))
        .or_else(|| null(arg, &all))
        .or_else(|| operator(arg, &all))
        .or_else(|| number(arg, &all))
        .or_else(|| parts(arg, &all))
        .or_else(|| marked(arg, &all));
    found.map(|(span, message)| error(span, message))
}

type Found = Option<(Span, Message)>;

/// `#phone`, `@ip`, `$user` and `${limit}`.
fn sign_of_a_name(arg: Arg, all: &[Piece]) -> Found {
    let begins = |piece: &Piece, after: &[Piece]| {
        ["@", "#", "$"].iter().any(|sign| piece.is_sign(sign))
            && after.first().is_some_and(|next| {
                next.kind == Kind::Word || next.kind == Kind::Group && next.text == "{"
            })
    };
    let (sign, after) = find(all, &begins)?;
    let named = named(after);
    let written = format!("{}{}", sign.text, line(named));
    let bare = without_signs(all);
    let name = arg.name();
    let message = match arg {
        Arg::Key | Arg::Group if sign.is_sign("$") => {
            let word = words::snake_case(&close_line(named.get(..1).unwrap_or_default()));
            let instead = if word.contains("addr") || word.contains("ip") {
                format!("the client's address is `{name} = \"@ip\"`")
            } else if let Some(header) = word.strip_prefix("http_") {
                let header = header.replace('_', "-");
                format!("a header is `{name} = \"@header['{header}'] ?: 'none'\"`")
            } else {
                format!("names stand as they are, as in `{name} = {}`", line(&bare))
            };
            not_rust(written, instead)
        }
        Arg::Key | Arg::Group => key_language(&written, name, key_line(all)),
        Arg::Name | Arg::Service => text_without_quotes(name, close_line(&bare)),
        Arg::Algo | Arg::Mode | Arg::OnError | Arg::Headers => return word(arg, &bare),
        Arg::Decision => not_a_local(name),
        _ if after.first().is_some_and(|next| next.kind == Kind::Group) => {
            let written = written.replace(' ', "");
            if arg.quantity().is_some() || arg == Arg::Cost {
                no_placeholders(name, written)
            } else {
                let inner = line(after.first().map_or(&[], |group| &group.inner));
                let instead = format!(
                    "an argument of the function stands as it is, `{name} = {inner}`, and so does what a \
                     configuration gives"
                );
                not_rust(written, instead)
            }
        }
        _ => not_rust(
            written,
            format!(
                "an argument of the function stands as it is, `{name} = {}`, and what a request has is \
                 for `key` and `group`",
                line(&bare)
            ),
        ),
    };
    Some((sign.span, message))
}

/// A name with its fields and calls.
fn named(after: &[Piece]) -> &[Piece] {
    let mut len = 1;
    while let Some(next) = after.get(len) {
        let is_dot = next.is_sign(".") || next.is_sign("?.");
        let is_field = is_dot && after.get(len + 1).is_some_and(|next| next.kind == Kind::Word);
        let is_call = next.kind == Kind::Group && next.text != "{";
        len += match (is_field, is_call) {
            (true, _) => 2,
            (_, true) => 1,
            _ => break,
        };
    }
    after.get(..len).unwrap_or(after)
}

fn without_signs(all: &[Piece]) -> Vec<Piece> {
    all.iter()
        .filter(|piece| !["@", "#", "$"].iter().any(|sign| piece.is_sign(sign)))
        .map(|piece| Piece { inner: without_signs(&piece.inner), ..piece.clone() })
        .collect()
}

/// `throw new Error()`, `new Key(phone)`, `if user.vip`.
fn statement(arg: Arg, all: &[Piece]) -> Found {
    let (first, rest) = all.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let has_block = rest.iter().any(|piece| piece.kind == Kind::Group && piece.text == "{");
    let instead = match (first.text.as_str(), arg) {
        _ if first.kind != Kind::Word => return None,
        ("throw" | "raise", Arg::OnLimited | Arg::OnUnavailable) => {
            format!("write `{} = Err(..)`", arg.name())
        }
        ("new", Arg::Key | Arg::Group) => {
            format!("write the value itself, as in `{} = phone`", arg.name())
        }
        ("await", _) => "it is computed before the function runs, and cannot wait".to_owned(),
        ("new", _) => "a value is made by a function, as in `Name::new(..)`".to_owned(),
        ("if" | "unless", Arg::When) if !has_block => {
            let not = if first.is_word("unless") { "!" } else { "" };
            format!("write `when = {not}{}`", line(rest))
        }
        _ => return None,
    };
    Some((first.span, not_rust(&first.text, instead)))
}

/// `e => e.phone`, `lambda r: r.phone`, `function(req) { .. }`.
fn function(arg: Arg, all: &[Piece]) -> Found {
    let is_lambda = all
        .first()
        .filter(|first| LAMBDAS.iter().any(|lambda| first.is_word(lambda)) && all.len() > 1);
    let arrow = all.iter().find(|piece| piece.is_sign("=>") || piece.is_sign("->"));
    let begins_otherwise = all.first().is_some_and(|first| {
        ["match", "move", "async", "if"].iter().any(|word| first.is_word(word))
            || first.is_sign("|")
    });
    let at = is_lambda.or(arrow.filter(|_| !begins_otherwise))?;
    let message = match arg {
        Arg::OnLimited | Arg::OnUnavailable => not_a_handler(arg.name()),
        _ => closure(arg.name()),
    };
    Some((at.span, message))
}

/// `f"sms:{phone}"`, `$"sms:{phone}"`, and a literal behind `f`.
fn template(arg: Arg, all: &[Piece]) -> Found {
    let is_template = |piece: &Piece, after: &[Piece]| {
        TEMPLATES.contains(&piece.text.as_str())
            && piece.kind != Kind::Literal
            && after.first().is_some_and(|next| next.quoted().is_some())
    };
    let (prefix, after) = find(all, &is_template)?;
    let text = after.first()?.quoted()?;
    let instead = match arg {
        Arg::Key | Arg::Group => {
            format!("names stand outside of text, as in `{} = \"{}\"`", arg.name(), joined(text))
        }
        _ => format!("write `format!(\"{text}\")`"),
    };
    Some((prefix.span, not_rust(format!("{}\"..\"", prefix.text), instead)))
}

/// `sms:{phone}` as `'sms:' + phone`.
fn joined(template: &str) -> String {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((text, (name, after))) =
        rest.split_once('{').and_then(|(text, after)| Some((text, after.split_once('}')?)))
    {
        if !text.is_empty() {
            parts.push(format!("'{text}'"));
        }
        parts.push(name.trim().to_owned());
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(format!("'{rest}'"));
    }
    parts.join(" + ")
}

/// `algo = fixed window`, `mode = shadow mode`.
fn word(arg: Arg, all: &[Piece]) -> Found {
    let values: Vec<&'static str> = match arg {
        Arg::Algo => Algo::names().collect(),
        Arg::Mode => MODES.iter().map(|(word, _)| *word).collect(),
        Arg::OnError => ON_ERRORS.iter().map(|(word, _)| *word).collect(),
        Arg::Headers => HEADERS.iter().map(|(word, _)| *word).collect(),
        _ => return None,
    };
    let first = all.first()?;
    // `!enforce` is none of them.
    let is_not = first.is_sign("!");
    let words: Vec<&str> = all
        .iter()
        .filter(|piece| piece.kind == Kind::Word)
        .map(|piece| piece.text.as_str())
        .collect();
    let near = meant_by(arg, &words.join("_"), values.iter().copied())
        .or_else(|| words.iter().find_map(|word| meant_by(arg, word, values.iter().copied())));
    let message = match near.filter(|_| !is_not) {
        Some(near) => one_word_like(arg.name(), near),
        None => not_one_word(arg.name(), listed(values.into_iter(), "and")),
    };
    Some((first.span, message))
}

/// `name = sms:send`.
fn text(arg: Arg, all: &[Piece]) -> Found {
    let first = all.first().filter(|_| matches!(arg, Arg::Name | Arg::Service))?;
    Some((first.span, text_without_quotes(arg.name(), close_line(all))))
}

/// `user?.id ?? "x"`, `phone ?: "x"`, `phone or "x"`.
fn default(arg: Arg, all: &[Piece]) -> Found {
    let is_key = matches!(arg, Arg::Key | Arg::Group);
    let is_value = is_key || arg.quantity().is_some() || arg == Arg::Cost;
    let is_default = |piece: &Piece| {
        piece.is_sign("??") || piece.is_sign("?:") || is_value && piece.is_word("or")
    };
    let at = all.iter().position(is_default);
    let Some(at) = at else {
        let dot = all.iter().find(|piece| piece.is_sign("?.")).filter(|_| is_key)?;
        let example = format!("{} ?: 'anonymous'", key_line(all));
        return Some((dot.span, key_language("?.", arg.name(), example)));
    };
    let sign = all.get(at)?;
    let (value, default) = (all.get(..at)?, all.get(at + 1..)?);
    let message = if is_key {
        key_default(sign, arg, &format!("{} ?: {}", key_line(value), key_line(default)))
    } else {
        let has_path = value.iter().any(|piece| piece.is_sign("?."));
        let (value, default) = (line(value), line(default));
        if has_path {
            let root = value.split('?').next().unwrap_or_default();
            let instead = format!("write `{} = {root}.map_or({default}, |it| ..)`", arg.name());
            return Some((sign.span, not_rust(&sign.text, instead)));
        }
        not_rust(&sign.text, format!("write `{} = {value}.unwrap_or({default})`", arg.name()))
    };
    Some((sign.span, message))
}

fn key_default(sign: &Piece, arg: Arg, example: &str) -> Message {
    if sign.is_sign("?:") {
        return key_language("?:", arg.name(), example);
    }
    let instead = format!(
        "a default is `?:` in the key language, in quotes, `{} = \"{example}\"`",
        arg.name()
    );
    not_rust(&sign.text, instead)
}

/// `n ? a : b` and `a if n else b`.
fn choice(arg: Arg, all: &[Piece]) -> Found {
    let place = |fits: &dyn Fn(&Piece) -> bool| all.iter().position(fits);
    let (found, condition, yes, no, at) =
        match (place(&|piece| piece.is_sign("?")), place(&|piece| piece.is_sign(":"))) {
            (Some(question), Some(colon)) if question < colon => (
                "? :",
                all.get(..question)?,
                all.get(question + 1..colon)?,
                all.get(colon + 1..)?,
                question,
            ),
            _ => {
                let then = place(&|piece| piece.is_word("if")).filter(|at| *at > 0)?;
                let other = place(&|piece| piece.is_word("else")).filter(|at| *at > then)?;
                (
                    "if .. else",
                    all.get(then + 1..other)?,
                    all.get(..then)?,
                    all.get(other + 1..)?,
                    then,
                )
            }
        };
    let (condition, yes, no) = (line(condition), line(yes), line(no));
    let instead = format!("write `{} = if {condition} {{ {yes} }} else {{ {no} }}`", arg.name());
    Some((all.get(at)?.span, not_rust(found, instead)))
}

/// `phone != null`, `user is None`.
fn null(arg: Arg, all: &[Piece]) -> Found {
    let is_null = |piece: &Piece| ["null", "nil", "NULL"].iter().any(|word| piece.is_word(word));
    let at = all.iter().position(|piece| {
        is_null(piece) || piece.is_word("None") && all.iter().any(|piece| piece.is_word("is"))
    })?;
    let sign = all.get(at.checked_sub(1)?)?;
    let (end, is_not) = match sign.text.as_str() {
        "==" | "===" | "is" => (at - 1, false),
        "!=" | "!==" | "<>" => (at - 1, true),
        "not" => (at.checked_sub(2)?, true),
        _ => return None,
    };
    let before = all.get(..end)?;
    let begin = before.iter().rposition(|piece| {
        ["&&", "||"].iter().any(|sign| piece.is_sign(sign))
            || ["and", "or"].iter().any(|word| piece.is_word(word))
    });
    let value = line(before.get(begin.map_or(0, |begin| begin + 1)..)?);
    let is_there = if is_not { "is_some" } else { "is_none" };
    let instead = match arg {
        Arg::When => {
            format!("an `Option` is asked by `{value}.{is_there}()`, and everything else is there")
        }
        _ => format!("a value that may be missing is an `Option`, as in `{value}.{is_there}()`"),
    };
    let word = all.get(at)?;
    Some((word.span, not_rust(&word.text, instead)))
}

/// `not n`, `n and m`, `a === b`.
fn operator(arg: Arg, all: &[Piece]) -> Found {
    let here = |piece: &Piece| {
        Some(match (piece.kind, piece.text.as_str()) {
            (Kind::Word, "not") => "!",
            (Kind::Word, "and" | "AND") => "&&",
            (Kind::Word, "or" | "OR") => "||",
            (Kind::Sign, "===") | (Kind::Word, "is" | "eq") => "==",
            (Kind::Sign, "!==" | "<>") | (Kind::Word, "ne") => "!=",
            (Kind::Word, "lt") => "<",
            (Kind::Word, "gt") => ">",
            (Kind::Word, "le") => "<=",
            (Kind::Word, "ge") => ">=",
            _ => return None,
        })
    };
    let others = ["matches", "instanceof", "like", "between", "contains", "has"];
    let is_other = |piece: &&Piece| others.iter().any(|word| piece.is_word(word));
    if let Some(piece) = all.iter().skip(1).find(is_other).filter(|_| arg == Arg::When)
        && !all.iter().any(|piece| piece.is_sign("."))
    {
        let instead = "a condition is Rust, as in `when = phone.len() > 3`";
        return Some((piece.span, not_rust(&piece.text, instead)));
    }
    if let Some(piece) = all.iter().skip(1).find(|piece| piece.is_word("in") && arg == Arg::When) {
        let instead = "write `.contains(..)`, as in `when = names.contains(&name)`";
        return Some((piece.span, not_rust("in", instead)));
    }
    let at = all.iter().position(|piece| here(piece).is_some())?;
    let piece = all.get(at)?;
    let is_alone = all.len() == 1 || at + 1 == all.len();
    if is_alone {
        return None;
    }
    let rust: Vec<Piece> = all
        .iter()
        .map(|piece| match here(piece) {
            Some(sign) => Piece { text: sign.to_owned(), kind: Kind::Sign, ..piece.clone() },
            None => piece.clone(),
        })
        .collect();
    let instead = match arg {
        Arg::Key | Arg::Group => "conditions stand in `when = ..`".to_owned(),
        _ => format!("write `{} = {}`", arg.name(), line(&rust)),
    };
    Some((piece.span, not_rust(&piece.text, instead)))
}

/// `5 per min`, `1 hour`, `5 000`, `20 tokens`.
fn number(arg: Arg, all: &[Piece]) -> Found {
    let quantity = match arg {
        Arg::Cost => Quantity::Count,
        Arg::Wait => Quantity::Duration,
        arg => arg.quantity()?,
    };
    let (first, rest) = all.split_first()?;
    let is_sign = |piece: &Piece| piece.is_sign("+") || piece.is_sign("~") || piece.is_sign("<");
    if is_sign(first)
        && let Some(digits) = rest.first().and_then(Piece::digits)
    {
        return Some((first.span, not_rust(&first.text, format!("write `{digits}`"))));
    }
    let digits = first.digits()?;
    let second = rest.first()?;
    // `capacity = 20 and refill = 5`.
    if second.is_word("and") {
        return None;
    }
    let groups: Vec<&str> =
        all.iter().map_while(|piece| piece.digits().map(|_| piece.text.as_str())).collect();
    if groups.len() == all.len() {
        return Some((second.span, digits_apart(groups.join("_"))));
    }
    let mut rest = rest;
    let mut is_rate = false;
    while let Some((next, after)) = rest.split_first()
        && (next.is_sign("/") || PER.iter().any(|per| next.is_word(per)))
    {
        (rest, is_rate) = (after, true);
    }
    let (times, time) = match rest.split_first() {
        Some((times, after)) if times.digits().is_some() => (times.digits()?, after.first()),
        Some((time, _)) => match with_suffix(&time.text) {
            Some((times, suffix)) => {
                return Some(rated(arg, quantity, first.span, &digits, &times, suffix));
            }
            None => (String::new(), Some(time)),
        },
        None => (String::new(), None),
    };
    let word = time.map_or("s", |time| time.text.as_str());
    let unit = known_unit(word);
    match (quantity, unit) {
        (_, Some(unit)) if is_rate || quantity != Quantity::Count => {
            Some(rated(arg, quantity, first.span, &digits, &times, unit))
        }
        (Quantity::Count | Quantity::Parts, _) => match second.kind {
            Kind::Group => Some((second.span, not_a_count(arg.name()))),
            Kind::Sign if !second.is_sign("%") => None,
            _ => Some((second.span, no_suffix(line(std::slice::from_ref(second)), digits))),
        },
        (Quantity::Rate, _) => Some((second.span, not_a_rate(arg.name()))),
        (Quantity::Duration, _) => Some((second.span, not_a_duration(arg.name()))),
    }
}

fn rated(
    arg: Arg,
    quantity: Quantity,
    at: Span,
    digits: &str,
    times: &str,
    unit: &str,
) -> (Span, Message) {
    let message = match (quantity, arg) {
        (Quantity::Rate, _) => quotes_missing(format!("{digits}/{times}{unit}")),
        (Quantity::Duration, _) => quotes_missing(format!("{digits}{unit}")),
        (_, Arg::Limit) => {
            let times = if times.is_empty() { "1" } else { times };
            rate_as_count(arg.name(), digits, format!("window = \"{times}{unit}\""))
        }
        (_, Arg::Capacity) => {
            rate_as_count(arg.name(), digits, format!("refill = \"{digits}/{times}{unit}\""))
        }
        _ => no_suffix(unit, digits),
    };
    (at, message)
}

/// `1min` as one token.
fn with_suffix(text: &str) -> Option<(String, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).filter(|end| *end > 0)?;
    let (digits, suffix) = text.split_at_checked(end)?;
    Some((digits.to_owned(), known_unit(suffix)?))
}

fn known_unit(word: &str) -> Option<&str> {
    if unit(word).is_some() {
        return Some(word);
    }
    words::unit(word).map(|(unit, _)| unit).filter(|unit| !unit.is_empty())
}

/// `<phone>`, `%phone%`, `:phone`; and `mut d` for a name.
fn marked(arg: Arg, all: &[Piece]) -> Found {
    let first = all.first()?;
    if arg == Arg::Decision {
        return Some((first.span, not_a_local(arg.name())));
    }
    let signs = ["<", ">", "%", ":", "?", "~", "."];
    let [next, ..] = all.get(1..)? else { return None };
    if next.kind != Kind::Word || !signs.iter().any(|sign| first.is_sign(sign)) {
        return None;
    }
    let rest = all.get(1..)?;
    let len =
        rest.iter().position(|piece| signs.iter().any(|sign| piece.is_sign(sign) && *sign != "."));
    let bare = line(rest.get(..len.unwrap_or(rest.len()))?);
    let instead = format!("names stand as they are, as in `{} = {bare}`", arg.name());
    Some((first.span, not_rust(&first.text, instead)))
}

/// `phone:user`, `[phone user]`.
fn parts(arg: Arg, all: &[Piece]) -> Found {
    let value = all.first().filter(|_| matches!(arg, Arg::Key | Arg::Group))?;
    let list = |parts: &[&[Piece]]| {
        let parts: Vec<String> = parts.iter().map(|part| line(part)).collect();
        format!("several parts are a list, `{} = [{}]`", arg.name(), parts.join(", "))
    };
    let split: Vec<&[Piece]> =
        all.split(|piece| piece.is_sign(":") || piece.is_sign("++")).collect();
    if split.len() > 1
        && split.iter().all(|part| !part.is_empty())
        && let Some(sign) = all.iter().find(|piece| piece.is_sign(":") || piece.is_sign("++"))
    {
        return Some((sign.span, not_rust(&sign.text, list(&split))));
    }
    let inside = if all.len() == 1 { &value.inner } else { all };
    let mut before: Option<&Piece> = None;
    for piece in inside {
        let is_value = |piece: &Piece| matches!(piece.kind, Kind::Word | Kind::Literal);
        if is_value(piece) && before.is_some_and(is_value) {
            return Some((piece.span, one_value(arg.name())));
        }
        before = Some(piece);
    }
    None
}
