//! Keys of other languages in this one, where that can be said: `sms:{phone}` is `'sms:' + phone`, and
//! `req.user.id ?? req.ip` is `@user ?: @ip`.
//!
//! It is a guess for a message. Whoever asks tries it: what is no key is not shown.

use unicode_ident::{is_xid_continue, is_xid_start};

use super::placeholder::Names;
use super::resolve::FUNCTIONS;
use super::{foreign, identity};
use crate::words::snake_case;

/// Longer sources are no slip of one line.
const MOST: usize = 200;

/// What joins elsewhere, and what gives a default. The longer ones first.
const OPERATORS: [(&str, &str); 18] = [
    ("?:", " ?: "),
    ("??", " ?: "),
    ("||", " ?: "),
    ("//", " ?: "),
    (" or ", " ?: "),
    ("_or_", " ?: "),
    ("-or-", " ?: "),
    (" or_else ", " ?: "),
    (" else ", " ?: "),
    (" : ", " ?: "),
    (" | ", " ?: "),
    ("<>", " + "),
    ("..", " + "),
    (" . ", " + "),
    (" & ", " + "),
    (" ~ ", " + "),
    (" % ", " % "),
    ("+", " + "),
];

/// What opens a value within a text, and what closes it.
const BRACES: [(&str, &str); 12] = [
    ("${{", "}}"),
    ("{{", "}}"),
    ("${", "}"),
    ("#{", "}"),
    ("@{", "}"),
    ("%{", "}"),
    ("<%=", "%>"),
    ("$(", ")"),
    ("\\(", ")"),
    ("%(", ")s"),
    ("{", "}"),
    ("<", ">"),
];

/// The keys that `source` may be meant as, the likeliest first.
pub(super) fn candidates(source: &str, names: &Names<'_>) -> Vec<String> {
    if source.len() > MOST {
        return Vec::new();
    }
    let source = source
        .trim()
        .trim_end_matches(';')
        .replace("\\\"", "\"")
        .replace("->", ".")
        .replace("&.", "?.");
    let translator = Translator { names, values: None };
    let unquoted = source.replace(['‘', '’', '“', '”', '"', '`'], "'");
    let open = source.trim_matches(['(', ')', '{', '}', '[', ']', ' ']);
    let candidates = [
        Some(source.trim_matches(['"', '`']).to_owned()),
        Some(unquoted),
        open.contains(',').then(|| format!("[{open}]")),
        Some(source.split_whitespace().collect::<Vec<_>>().join(" + ")),
        source.starts_with("prefix(").then(|| source.replace('/', ", ")),
        piped(&source),
        translator.network(&source),
        translator.formatted(&source),
        translator.expression(&ternary(body(&source))),
    ];
    candidates.into_iter().flatten().collect()
}

/// `phone | lower`.
fn piped(source: &str) -> Option<String> {
    let (value, function) = source.split_once('|')?;
    let function = function.trim_matches(['>', '|', ' ']);
    FUNCTIONS.contains(&function).then(|| format!("{function}({})", value.trim()))
}

/// `user ? user.id : 'x'` as `user?.id ?: 'x'`.
fn ternary(source: &str) -> String {
    let parts = || {
        let (condition, rest) = source.split_once(" ? ")?;
        let (value, other) = rest.split_once(" : ")?;
        let field = value.trim().strip_prefix(condition.trim())?.trim_start_matches('?');
        Some(format!(
            "{}{}{field} ?: {other}",
            condition.trim(),
            if field.is_empty() { "" } else { "?" }
        ))
    };
    parts().unwrap_or_else(|| source.to_owned())
}

/// What a closure returns.
fn body(source: &str) -> &str {
    for (begins, ends) in [("", "=>"), ("lambda", ":"), ("|", "|")] {
        let behind = source.strip_prefix(begins).and_then(|rest| rest.split_once(ends));
        if let Some((arguments, body)) = behind
            && !arguments.contains(['"', '\'', '`'])
        {
            return body.trim();
        }
    }
    source
}

/// The keys that a text may be meant as: what stands in it as a key, or as a template.
pub(super) fn of_text(text: &str, names: &Names<'_>) -> Vec<String> {
    if text.len() > MOST {
        return Vec::new();
    }
    let translator = Translator { names, values: None };
    let is_path = text.contains(['.', '[', '(']) && !text.contains([':', ' ', '/']);
    let value = is_path.then(|| translator.value(text)).flatten();
    let is_expression =
        ["?:", "_or_", "-or-", " or ", " + "].iter().any(|sign| text.contains(sign));
    let expression = is_expression.then(|| translator.expression(text)).flatten();
    let template = translator.template(text, &mut 0).map(|pieces| pieces.join(" + "));
    [Some(text.trim().to_owned()), value, expression, template].into_iter().flatten().collect()
}

/// What is in front of a place in a text.
#[derive(Clone, Copy)]
struct Before {
    is: Option<char>,
    /// A value is there, or nothing.
    touches: bool,
    /// Names count without a sign.
    bare: bool,
}

struct Translator<'n> {
    names: &'n Names<'n>,
    /// What `%s` and `{}` stand for, where not for the function's arguments.
    values: Option<Vec<String>>,
}

impl Translator<'_> {
    /// `ip/24`.
    fn network(&self, source: &str) -> Option<String> {
        let (address, bits) = source.split_once('/')?;
        let bits: u8 = bits.trim().parse().ok()?;
        let value = self.value(address.trim())?;
        let snake = snake_case(&value);
        let is_word = |word: &str| ["ip", "addr", "address", "host", "peer"].contains(&word);
        if !snake.split(|c: char| !c.is_alphanumeric()).any(is_word) {
            return None;
        }
        let value = value.strip_suffix(" ?: @ip").unwrap_or(&value).to_owned();
        Some(format!("prefix({value}, {bits})"))
    }

    /// `format!("sms:{}", phone)`, `"sms:{}".format(phone)`.
    fn formatted(&self, source: &str) -> Option<String> {
        let (name, inside) = source.split_at_checked(source.rfind('(')?)?;
        let mut inside: Vec<&str> =
            inside.strip_prefix('(')?.strip_suffix(')')?.split(',').map(str::trim).collect();
        let name = name.trim_end_matches('!');
        let text = match name.strip_suffix(".format") {
            Some(text) if quoted(text).is_some() => text,
            _ if ["format", "printf"].iter().any(|word| name.to_lowercase().ends_with(word)) => {
                inside.remove(0)
            }
            _ => return None,
        };
        let values =
            inside.into_iter().map(|value| self.value(value)).collect::<Option<Vec<_>>>()?;
        let translator = Translator { values: Some(values), ..*self };
        Some(translator.template(quoted(text)?, &mut 0)?.join(" + "))
    }

    /// Values with operators between them.
    fn expression(&self, source: &str) -> Option<String> {
        let mut operands = Vec::new();
        let mut rest = source.trim();
        loop {
            let end = end_of_operand(rest);
            let operand = rest.get(..end)?.trim();
            let sign = rest.get(end..)?;
            let operator = OPERATORS.iter().find(|(sign_of, _)| sign.starts_with(sign_of));
            operands.push((operand, operator.map(|(_, ours)| *ours)));
            match operator {
                Some((sign_of, _)) => rest = sign.get(sign_of.len()..)?,
                None => break,
            }
        }
        let mut key = String::new();
        let mut unnamed = 0;
        for (operand, operator) in operands {
            let has_default = key.ends_with(" ?: ") || operator == Some(" ?: ");
            let pieces = match quoted(operand) {
                Some(text) => {
                    let texts = || vec![quote(text)];
                    self.template(text, &mut unnamed).unwrap_or_else(texts)
                }
                None => match self.value(operand) {
                    Some(value) => vec![value],
                    None if key.ends_with(" ?: ") && is_word(operand) => vec![quote(operand)],
                    None => self.template(operand, &mut unnamed).filter(|pieces| {
                        is_plain(operand) && !pieces.iter().any(|it| has_sign(it))
                    })?,
                },
            };
            if has_default && pieces.len() > 1 {
                return None;
            }
            let mut piece = pieces.join(" + ");
            if operator == Some(" ?: ") {
                piece = piece.strip_suffix(" ?: @ip").unwrap_or(&piece).to_owned();
            }
            // The format's values are in it.
            if operator == Some(" % ") && quoted(operand).is_none() {
                return None;
            }
            if operator == Some(" % ") {
                key.push_str(&piece);
                break;
            }
            if !key.ends_with(&format!("{piece} ?: ")) {
                key.push_str(&piece);
                key.push_str(operator.unwrap_or_default());
            }
        }
        Some(key.trim_end_matches([' ', '?', ':', '+']).to_owned())
    }

    /// A text with values in it; `None` when there are none. `unnamed` counts `%s` and `{}`.
    fn template(&self, text: &str, unnamed: &mut usize) -> Option<Vec<String>> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        // Names count without a sign where none has one.
        let bare = self.names.placeholder(text).is_none();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let before = text.get(..text.len() - rest.len())?.chars().next_back();
            let found = self.placed(
                rest,
                Before { is: before, touches: literal.is_empty(), bare },
                unnamed,
            );
            let Some((len, value)) = found else {
                let len = if is_xid_start(c) { word_len(rest) } else { c.len_utf8() };
                literal.push_str(rest.get(..len)?);
                rest = rest.get(len..)?;
                continue;
            };
            if !literal.is_empty() {
                pieces.push(quote(&std::mem::take(&mut literal)));
            }
            pieces.push(value);
            rest = rest.get(len..)?;
        }
        if pieces.is_empty() {
            return None;
        }
        if !literal.is_empty() {
            pieces.push(quote(&literal));
        }
        Some(pieces)
    }

    /// A value at the beginning of `text`, and how long it is there.
    fn placed(&self, text: &str, before: Before, unnamed: &mut usize) -> Option<(usize, String)> {
        let Before { is: before, touches, bare } = before;
        for (open, close) in BRACES {
            if let Some(inside) = text.strip_prefix(open) {
                let end = inside.find(close)?;
                let inner = inside.get(..end)?.trim().trim_start_matches(['#', '$', '@', ':']);
                let inner = inner.split([':', '!', '|']).next()?.trim_end_matches('?');
                let len = open.len() + end + close.len();
                let value = match inner.parse::<usize>() {
                    _ if open == "@{" && self.names.context.contains(&inner) => {
                        Some(in_request(inner))
                    }
                    Ok(index) => self.argument(index),
                    Err(_) if inner.is_empty() => self.next(unnamed),
                    Err(_) => self.value(inner),
                };
                return Some((len, value?));
            }
        }
        if !touches && before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let number = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        if let Some(rest) = text.strip_prefix('%') {
            let digits = number(rest);
            let behind = rest.get(digits..)?.trim_start_matches('$');
            if behind.starts_with(['s', 'd', 'v']) && word_len(behind) == 1 {
                let len = text.len() - behind.len() + 1;
                let value = match rest.get(..digits)?.parse::<usize>() {
                    Ok(index) => self.argument(index.checked_sub(1)?),
                    Err(_) => self.next(unnamed),
                };
                return Some((len, value?));
            }
        }
        if let Some(rest) = text.strip_prefix('$').filter(|rest| number(rest) > 0) {
            let digits = number(rest);
            let index = rest.get(..digits)?.parse::<usize>().ok()?.checked_sub(1)?;
            return Some((1 + digits, self.argument(index)?));
        }
        if let Some(name) = text.strip_prefix(':')
            && before.is_none_or(|c| c == '/')
            && self.is_argument(name.get(..word_len(name))?)
        {
            return Some((1 + word_len(name), name.get(..word_len(name))?.to_owned()));
        }
        let name = text.trim_start_matches(['#', '$', '@']);
        let sign = text.len() - name.len();
        if sign > 1 || sign == 0 && !bare || !name.starts_with(is_xid_start) {
            return None;
        }
        let len = path_len(name);
        let path = name.get(..len)?;
        let value = if text.starts_with('@') && self.names.context.contains(&root(path)) {
            Some(in_request(root(path)))
        } else if self.is_argument(root(path)) {
            Some(path.to_owned())
        } else if text.starts_with(['#', '$']) {
            self.value(path)
        } else {
            None
        };
        let len = sign + len;
        match value {
            Some(value) => Some((len, value)),
            None if sign == 0 => self.several(path).map(|value| (len, value)),
            None => None,
        }
    }

    /// `tenant_user` of two arguments.
    fn several(&self, word: &str) -> Option<String> {
        let words: Vec<&str> = word.split('_').collect();
        let all = words.len() > 1 && words.iter().all(|word| self.is_argument(word));
        all.then(|| words.join(" + '_' + "))
    }

    fn argument(&self, index: usize) -> Option<String> {
        self.values.as_deref().unwrap_or(self.names.arguments).get(index).cloned()
    }

    fn next(&self, unnamed: &mut usize) -> Option<String> {
        let argument = self.argument(*unnamed);
        *unnamed += 1;
        argument
    }

    fn is_argument(&self, name: &str) -> bool {
        name == "self" || self.names.arguments.iter().any(|argument| argument == name)
    }

    /// One value as it stands elsewhere: an argument, or what a request has.
    fn value(&self, source: &str) -> Option<String> {
        let bare = source.trim().trim_start_matches(['#', '$', '&', '*']);
        if source.starts_with('@')
            && self.names.context.contains(&root(bare.trim_start_matches('@')))
        {
            return Some(bare.to_owned());
        }
        let bare = bare.trim_start_matches('@');
        if !bare.starts_with(|c| is_xid_start(c) || c == '_') {
            return None;
        }
        if self.is_argument(root(bare)) {
            return Some(called(bare));
        }
        if let Some(argument) =
            self.names.arguments.iter().find(|it| is_called(it, &snake_case(bare)))
        {
            return Some(argument.clone());
        }
        if let Some(call) = self.call(bare) {
            return Some(call);
        }
        if let Some(header) = header(bare) {
            return Some(header);
        }
        let bare = bare.replace("?.", ".").replace("()", "").replace("&.", ".");
        if !bare.chars().all(|c| is_xid_continue(c) || c == '.') {
            return None;
        }
        let words: Vec<String> = bare.split('.').map(snake_case).collect();
        let words: Vec<&str> =
            words.iter().map(|word| word.strip_prefix("get_").unwrap_or(word)).collect();
        let who = |word: &str| {
            identity::of_segment(word).filter(|who| who.at.len() == word.len())?.instead
        };
        let (first, fields) = words.split_first()?;
        // `this.phone`, `req.body.email`
        let is_around = foreign::is_request(first) || ["this", "root"].contains(first);
        let parts: Vec<&str> = bare.split('.').collect();
        let is_meant = |part: &&str| self.is_argument(part) && foreign::field(part).is_none();
        if let Some(at) = parts.iter().position(is_meant).filter(|_| is_around) {
            return Some(parts.get(at..)?.join("."));
        }
        if foreign::is_request(first) {
            let field = |word: &&str| {
                foreign::field(word)
                    .and_then(foreign::written)
                    .map(str::to_owned)
                    .or_else(|| who(word))
            };
            return fields.iter().rev().find_map(field);
        }
        let instead = foreign::name(first, None).and_then(foreign::written).map(str::to_owned);
        let all = words.join("_");
        // `KeyByIP`
        let by = || who(all.rsplit_once("by_")?.1);
        instead.or_else(|| who(&all)).or_else(|| who(first)).or_else(by)
    }

    /// `toLowerCase(phone)`, `mask(ip, 24)`.
    fn call(&self, source: &str) -> Option<String> {
        let (name, arguments) = source.strip_suffix(')')?.split_once('(')?;
        let function = if FUNCTIONS.contains(&name) { Some(name) } else { None };
        let function = function.or_else(|| {
            let instead = foreign::function(name)?.strip_prefix("did you mean `")?;
            instead.split('`').next().filter(|name| FUNCTIONS.contains(name))
        })?;
        let argument = |argument: &str| {
            let argument = argument.trim();
            let is_number = !argument.is_empty() && argument.chars().all(|c| c.is_ascii_digit());
            if is_number { Some(argument.to_owned()) } else { self.value(argument) }
        };
        let arguments: Vec<String> = arguments.split(',').map(argument).collect::<Option<_>>()?;
        let arguments = arguments.join(", ");
        Some(match arguments.strip_suffix(" ?: @ip") {
            Some(value) => format!("{function}({value}) ?: @ip"),
            None => format!("{function}({arguments})"),
        })
    }
}

/// `@user` as it must be written.
/// Whether `name` is an argument's in another spelling, or `user` of `user_id`.
fn is_called(argument: &str, name: &str) -> bool {
    snake_case(argument) == name || super::is_id_of(argument, root(name))
}

fn in_request(name: &str) -> String {
    match name {
        "ip" | "path" | "route" | "method" => format!("@{name}"),
        _ => format!("@{name} ?: @ip"),
    }
}

/// `phone.trim().toLowerCase()` as `lower(trim(phone))`.
fn called(path: &str) -> String {
    let Some((value, method)) =
        path.trim_end().strip_suffix("()").and_then(|it| it.rsplit_once('.'))
    else {
        return path.to_owned();
    };
    let value = called(value.trim_end_matches('?'));
    match foreign::function_of_method(method) {
        Some("") => value,
        Some(function) => format!("{function}({value})"),
        None => path.to_owned(),
    }
}

/// `headers['X-Api-Key']`, `request.getHeader("x-api-key")`, `http_x_api_key`.
fn header(source: &str) -> Option<String> {
    let small = source.to_ascii_lowercase();
    let name = if let Some(name) = small.strip_prefix("http_") {
        name
    } else {
        let at = small.find("header").map(|at| at + "header".len());
        let at = at.or_else(|| Some(small.find("meta[")? + "meta".len()));
        let at = at.or_else(|| Some(small.find("env[")? + "env".len()));
        let is_request = foreign::is_request(root(&small));
        let at = at.or_else(|| Some(small.find(".get(").filter(|_| is_request)? + ".get".len()));
        let rest = small.get(at?..)?.trim_start_matches('s');
        let name = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let name = name.strip_prefix("get").unwrap_or(name);
        name.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_start_matches("http_")
    };
    let len = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let name = name.get(..len.unwrap_or(name.len()))?.replace('_', "-");
    match name.as_str() {
        "" => None,
        "x-forwarded-for" | "x-real-ip" | "forwarded" | "remote-addr" => Some("@ip".to_owned()),
        name => Some(format!("@header['{name}'] ?: @ip")),
    }
}

/// Where the operand at the beginning ends: at an operator outside of quotes and parentheses.
fn end_of_operand(source: &str) -> usize {
    let (mut quote, mut depth) = (None, 0_usize);
    for (at, c) in source.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => {
                let rest = source.get(at..).unwrap_or_default();
                if OPERATORS.iter().any(|(sign, _)| rest.starts_with(sign)) {
                    return at;
                }
            }
            _ => {}
        }
    }
    source.len()
}

/// What stands between quotes, also of `f"..."` and `$"..."`.
fn quoted(operand: &str) -> Option<&str> {
    let text = operand.trim_start_matches(|c: char| c.is_alphabetic() || c == '$');
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    if operand.len() - text.len() > 2 {
        return None;
    }
    text.strip_prefix(quote)?.strip_suffix(quote).filter(|text| !text.contains(quote))
}

/// Whether a text has a sign in it that names a value.
fn has_sign(piece: &str) -> bool {
    piece.starts_with('\'') && piece.contains(['@', '#', '$'])
}

fn is_word(text: &str) -> bool {
    text.starts_with(is_xid_start) && word_len(text) == text.len()
}

/// Whether nothing in it has a meaning of its own in an expression.
fn is_plain(template: &str) -> bool {
    let is_ours = |word: &str| FUNCTIONS.contains(&word);
    if template.contains(['\'', '"', '`', ','])
        || template.split(|c| !is_xid_continue(c)).any(is_ours)
    {
        return false;
    }
    let mut rest = template;
    while let Some((open, close)) = BRACES.iter().find(|(open, _)| rest.contains(open)) {
        let Some((before, inside)) = rest.split_once(open) else { return false };
        if !is_plain(before) {
            return false;
        }
        rest = inside.split_once(close).map_or("", |(_, behind)| behind);
    }
    let signs = |c: char| c.is_alphanumeric() || "_-:/|.~%@#$".contains(c);
    rest.chars().all(signs) && !rest.ends_with(['@', '#', '$', '%', '~'])
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn word_len(text: &str) -> usize {
    text.find(|c: char| !is_xid_continue(c)).unwrap_or(text.len())
}

/// The length of a name with its fields.
fn path_len(text: &str) -> usize {
    let mut len = word_len(text);
    while let Some(rest) = text.get(len..).and_then(|rest| rest.strip_prefix('.'))
        && rest.starts_with(is_xid_start)
    {
        len += 1 + word_len(rest);
    }
    len
}

fn root(path: &str) -> &str {
    path.split(['.', '?', '[', '(']).next().unwrap_or_default()
}
