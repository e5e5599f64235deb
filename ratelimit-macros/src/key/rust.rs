//! Keys that are written in Rust: one value, or `[a, b]` for several parts.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, ExprBinary, ExprLit, Lit};

use super::{CONTEXT, differs, foreign, placeholder, rust_text};
use crate::error::Errors;
use crate::foreign::{key_language, not_rust};
use crate::function::Scope;
use crate::message::messages;
use crate::quantity::{literal_int, unwrapped};
use crate::written::{Kind, key_line, line, pieces};

messages! {
    joined_text() =
        "this is Rust, in which texts are not joined by `+`: one pair of quotes around all of it \
         makes it a key, as in `\"'sms:' + phone\"`";
    empty_array() = "the list is empty: `[a, b]` has one part for each entry";
    tuple() = "several parts are written as a list: `[a, b]`";
    closure() = "a key is a value and no closure: write what it returns, as in `key = user.id`";
    constant_key(example) =
        "this key names no argument, no `self` and no function of yours, so all callers would share \
         one budget: name what differs, as in `key = {example}`, or leave `key` out";
    constant_group(example) =
        "this group names no argument, no `self` and no function of yours, so every call would be in \
         one slot: name what differs, as in `group = {example}`; one slot for all is a text, \
         `group = \"'all'\"`";
    merged(op, list) =
        "`{op}` makes one value of many pairs, whose callers would share one budget: several parts are \
         a list, `{list}`";
    new_each_time(found) =
        "`{found}` is another value at each call, so nothing would be limited: name what callers have \
         in common, like an argument";
    condition(written) =
        "this is true or false, so all callers would share two budgets: a condition stands in \
         `when = {written}`, and two budgets that are meant have names, as in \
         `key = if {written} {{ \"yes\" }} else {{ \"no\" }}`";
    no_argument(name, instead) = "`{name}` is no argument of the function: {instead}";
}

/// The parts of a key, as written. `arg` is `key` or `group`.
pub(super) fn parts<'e>(
    arg: &str,
    key: &'e Expr,
    scope: &Scope<'_>,
    errors: &mut Errors,
) -> Option<Vec<&'e Expr>> {
    let parts = match key {
        Expr::Array(array) => array.elems.iter().collect(),
        key => vec![key],
    };
    if let Expr::Binary(ExprBinary { left, op: op @ BinOp::Or(_), right, .. }) = key
        && is_text(right)
    {
        let line = |side: &Expr| key_line(&pieces(side.to_token_stream()));
        let instead = format!(
            "a default is `?:` in the key language, in quotes, `{arg} = \"{} ?: {}\"`",
            line(left),
            line(right)
        );
        errors.at(op, not_rust("||", instead));
        return None;
    }
    if let Some(text) = parts.iter().find_map(|part| joined(part)) {
        errors.at(text, joined_text());
        return None;
    }
    match key {
        _ if parts.is_empty() => errors.at(key, empty_array()),
        Expr::Tuple(_) => errors.at(key, tuple()),
        Expr::Closure(_) => errors.at(key, closure()),
        Expr::Macro(list) if list.mac.path.is_ident("vec") => errors.at(key, tuple()),
        _ if parts.iter().all(|part| is_constant(part, scope)) => {
            let text = texts(arg, key, scope).map(|(span, message)| errors.at_span(span, message));
            if text.is_none() {
                errors.at(key, constant(arg, key, scope));
            }
        }
        _ => {
            if let Some((span, message)) = texts(arg, key, scope) {
                errors.at_span(span, message);
            } else if let Some(sum) = parts.iter().find_map(|part| sum_of_arguments(part, scope)) {
                let mut all = Vec::new();
                operands(sum, &mut all);
                let all: Vec<String> =
                    all.iter().map(|one| line(&pieces(one.to_token_stream()))).collect();
                let op = pieces(sum.op.to_token_stream());
                let list = format!("{arg} = [{}]", all.join(", "));
                errors.at(sum.op, merged(line(&op), list));
            } else if let Some(found) = parts.iter().find_map(|part| new_each_time_in(part)) {
                let written = line(&pieces(found.to_token_stream()));
                errors.at(found, new_each_time(written));
            } else if let ("key", [one]) = (arg, &*parts)
                && is_condition(one)
            {
                errors.at(one, condition(line(&pieces(one.to_token_stream()))));
            } else {
                return Some(parts);
            }
        }
    }
    None
}

fn texts(
    arg: &str,
    key: &Expr,
    scope: &Scope<'_>,
) -> Option<(proc_macro2::Span, crate::message::Message)> {
    let arguments: Vec<String> =
        scope.names.iter().map(|name| name.ident.unraw().to_string()).collect();
    rust_text::check(arg, &pieces(key.to_token_stream()), &arguments)
}

/// Functions that give what they are given in another form.
const CONSTRUCTORS: &[&str] =
    &["Borrowed", "Owned", "Some", "from", "from_static", "new", "to_owned", "to_string"];
/// Types of the standard library that hold a value.
const HOLDERS: &[&str] = &["Arc", "Box", "Cow", "Rc", "String", "Wrapping"];

/// Whether a value is made of literals and constants alone, by whatever of the standard library.
fn is_constant(expr: &Expr, scope: &Scope<'_>) -> bool {
    !differs::differs(expr.to_token_stream(), scope) || is_made_of_constants(expr, scope)
}

fn is_made_of_constants(expr: &Expr, scope: &Scope<'_>) -> bool {
    match unwrapped(expr) {
        Expr::MethodCall(call) => {
            is_literal(&call.receiver, scope)
                && call.args.iter().all(|value| is_constant(value, scope))
        }
        Expr::Reference(inner) => is_constant(&inner.expr, scope),
        Expr::Cast(inner) => is_constant(&inner.expr, scope),
        // `user.id * 0`.
        Expr::Binary(binary) => {
            let number = literal_int(&binary.right).map(|number| number.base10_digits().to_owned());
            match (&binary.op, number.as_deref()) {
                (BinOp::Mul(_) | BinOp::BitAnd(_), Some("0")) | (BinOp::Rem(_), Some("1")) => true,
                _ => is_constant(&binary.left, scope) && is_constant(&binary.right, scope),
            }
        }
        Expr::Call(call) => {
            let Expr::Path(function) = unwrapped(&call.func) else { return false };
            let mut names =
                function.path.segments.iter().rev().map(|segment| segment.ident.to_string());
            let last = names.next().unwrap_or_default();
            let holder = names.next().unwrap_or_default();
            let is_holder = HOLDERS.contains(&holder.as_str());
            let is_known = ["type_name", "size_of"].contains(&last.as_str())
                || CONSTRUCTORS.contains(&last.as_str()) && (is_holder || last != "new")
                || is_holder && last == "default"
                || [("env", "var"), ("process", "id")].contains(&(&*holder, &*last));
            is_known
                && call.args.iter().all(|value| is_constant(value, scope))
                && !differs::differs(function.path.to_token_stream(), scope)
        }
        _ => false,
    }
}

/// A literal, perhaps with methods, or text of one.
fn is_literal(expr: &Expr, scope: &Scope<'_>) -> bool {
    match unwrapped(expr) {
        Expr::Lit(_) => true,
        Expr::MethodCall(_) | Expr::Call(_) | Expr::Macro(_) => is_constant(expr, scope),
        Expr::Reference(inner) => is_literal(&inner.expr, scope),
        _ => false,
    }
}

/// `tenant + user`: arithmetic on nothing but arguments and their fields.
fn sum_of_arguments<'e>(expr: &'e Expr, scope: &Scope<'_>) -> Option<&'e ExprBinary> {
    let Expr::Binary(binary) = unwrapped(expr) else { return None };
    let mut all = Vec::new();
    operands(binary, &mut all);
    (merges(&binary.op) && all.iter().all(|one| is_place(one, scope))).then_some(binary)
}

const fn merges(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
    )
}

fn operands<'e>(binary: &'e ExprBinary, all: &mut Vec<&'e Expr>) {
    for side in [&*binary.left, &*binary.right] {
        match unwrapped(side) {
            Expr::Binary(inner) if merges(&inner.op) => operands(inner, all),
            side => all.push(side),
        }
    }
}

/// An argument, `self`, or a field of one, perhaps as a text of its own.
fn is_place(expr: &Expr, scope: &Scope<'_>) -> bool {
    match unwrapped(expr) {
        Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| name == "self" || scope.binds(&name.to_string())),
        Expr::Field(field) => is_place(&field.base, scope),
        Expr::Cast(inner) => is_place(&inner.expr, scope),
        Expr::Reference(inner) => is_place(&inner.expr, scope),
        Expr::Unary(inner) => is_place(&inner.expr, scope),
        // `phone.to_owned() + &user.name`
        Expr::MethodCall(call) => {
            let is_same = ["as_str", "clone", "to_owned", "to_string"];
            is_same.iter().any(|name| call.method == name) && is_place(&call.receiver, scope)
        }
        _ => false,
    }
}

/// Whether a value is true or false, by what it is written with.
fn is_condition(expr: &Expr) -> bool {
    match unwrapped(expr) {
        Expr::Binary(binary) => matches!(
            binary.op,
            BinOp::Eq(_)
                | BinOp::Ne(_)
                | BinOp::Lt(_)
                | BinOp::Le(_)
                | BinOp::Gt(_)
                | BinOp::Ge(_)
                | BinOp::And(_)
                | BinOp::Or(_)
        ),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Not(_)),
        Expr::Macro(call) => call.mac.path.is_ident("matches"),
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            name.starts_with("is_") || ["contains", "ends_with", "starts_with"].contains(&&*name)
        }
        _ => false,
    }
}

/// Functions that never give the same twice, by their last two names.
const NEVER_TWICE: &[&str] = &[
    "Instant::now",
    "Ulid::new",
    "Uuid::new_v4",
    "Uuid::now_v1",
    "Uuid::now_v6",
    "Uuid::now_v7",
    "fastrand::u32",
    "fastrand::u64",
    "rand::random",
    "rand::rng",
    "rand::thread_rng",
];
/// The same for what is called by one name: a function, a macro, or a method.
const NEVER_TWICE_ALONE: &[&str] = &["fetch_add", "nanoid", "thread_rng"];
/// Methods that give all of an instant.
const INSTANT: &[&str] = &["timestamp", "timestamp_micros", "timestamp_millis", "to_rfc3339"];

/// `Uuid::new_v4()`, perhaps with methods behind it.
fn new_each_time_in(expr: &Expr) -> Option<&Expr> {
    let is_known = |name: &syn::Ident| NEVER_TWICE_ALONE.iter().any(|known| name == known);
    match unwrapped(expr) {
        Expr::MethodCall(call) if is_known(&call.method) => Some(expr),
        Expr::MethodCall(call) if INSTANT.iter().any(|name| call.method == name) => {
            let Expr::Call(now) = unwrapped(&call.receiver) else { return None };
            let Expr::Path(function) = unwrapped(&now.func) else { return None };
            function.path.segments.last().is_some_and(|last| last.ident == "now").then_some(expr)
        }
        Expr::MethodCall(call) => new_each_time_in(&call.receiver),
        Expr::Reference(inner) => new_each_time_in(&inner.expr),
        Expr::Macro(call) => {
            call.mac.path.segments.last().is_some_and(|last| is_known(&last.ident)).then_some(expr)
        }
        Expr::Call(call) => {
            let Expr::Path(function) = unwrapped(&call.func) else { return None };
            let segments = &function.path.segments;
            let names: Vec<String> =
                segments.iter().map(|segment| segment.ident.to_string()).collect();
            let last = names.get(names.len().saturating_sub(2)..).unwrap_or_default().join("::");
            let is_known = segments.last().is_some_and(|last| is_known(&last.ident));
            (is_known || NEVER_TWICE.contains(&last.as_str())).then_some(expr)
        }
        _ => None,
    }
}

/// What to say about a key that is the same for all calls.
fn constant(arg: &str, key: &Expr, scope: &Scope<'_>) -> crate::message::Message {
    let arguments: Vec<String> =
        scope.names.iter().map(|name| name.ident.unraw().to_string()).collect();
    let name = match key {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    if let Some(name) = name.filter(|name| name.starts_with(char::is_lowercase)) {
        if let Some(near) = super::near(&name, &arguments) {
            return no_argument(name, format!("did you mean `{near}`?"));
        }
        if CONTEXT.contains(&name.as_str()) {
            let value = placeholder::in_context(&name);
            return no_argument(&name, format!("did you mean `{arg} = \"{value}\"`?"));
        }
        if let Some(instead) = foreign::name(&name, None) {
            return no_argument(name, in_quotes(instead, arg));
        }
        let small = name.to_lowercase();
        if ["remote_addr", "ipaddr", "ip_addr", "by_ip"].iter().any(|word| small.contains(word)) {
            return no_argument(name, in_quotes("did you mean `@ip`?", arg));
        }
        let instead = format!(
            "arguments: {}; a function is called, `{arg} = {name}(..)`, and text is written \
             `{arg} = \"'{name}'\"`",
            if arguments.is_empty() {
                "none".to_owned()
            } else {
                crate::symbol::listed(arguments.iter().map(String::as_str), "and")
            }
        );
        return no_argument(name, instead);
    }
    // `args[0].id`, `request.remote_addr`.
    let written = pieces(key.to_token_stream());
    if let [root, next, rest @ ..] = written.as_slice()
        && root.kind == Kind::Word
        && !scope.binds(&root.text)
    {
        if root.text == "args" && next.text == "[" {
            let key = key_line(&written);
            return key_language(&key, arg, &key);
        }
        let field = rest.first().filter(|_| next.is_sign(".")).map(|field| field.text.as_str());
        if let Some(instead) = field.and_then(|field| foreign::name(&root.text, Some(field))) {
            return no_argument(&root.text, in_quotes(instead, arg));
        }
    }
    let argument = arguments.first().map_or("\"@ip\"", String::as_str);
    let example = match key {
        Expr::Path(path) if !arguments.is_empty() => {
            format!("[{}, {argument}]", path.to_token_stream().to_string().replace(' ', ""))
        }
        _ => argument.to_owned(),
    };
    if arg == "group" { constant_group(argument) } else { constant_key(example) }
}

/// An answer about a key in quotes, with the argument in front: `key = "@ip"`.
fn in_quotes(instead: &str, arg: &str) -> String {
    let (mut all, mut rest) = (String::new(), instead);
    while let Some((before, found)) = rest.split_once("`@")
        && let Some((value, after)) = found.split_once('`')
    {
        all.extend([before, "`", arg, " = \"@", value, "\"`"]);
        rest = after;
    }
    all + rest
}

/// The text literal of `"text" + value` and of `value + "text"`. Rust has no such `+`, and other languages do. What
/// begins with a call, `value.to_owned() + "text"`, is Rust.
fn joined(expr: &Expr) -> Option<&Expr> {
    let (mut first, mut text) = (expr, None);
    while let Expr::Binary(ExprBinary { left, op: BinOp::Add(_), right, .. }) = first {
        if is_text(right) {
            text = Some(&**right);
        }
        first = left;
        if is_text(first) {
            return Some(first);
        }
    }
    text.filter(|_| matches!(first, Expr::Path(_) | Expr::Field(_) | Expr::Reference(_)))
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}
