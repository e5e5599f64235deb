//! Keys of an address with a port: each connection has a port of its own, so none would ever be limited.

use std::ops::Range;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Expr, GenericArgument, Pat, PathArguments, Type};

use crate::args::text;
use crate::error::Errors;
use crate::function::Scope;
use crate::message::messages;
use crate::written::{Kind, Piece, pieces};

messages! {
    with_port(name, instead) =
        "`{name}` has a port, so each connection would have a budget of its own: write `{instead}`";
}

/// Types with an address and a port.
const TYPES: &[&str] = &["SocketAddr", "SocketAddrV4", "SocketAddrV6"];
/// Methods that give all of it, or the port alone.
const WHOLE: &[&str] = &["as_ref", "borrow", "clone", "into", "port", "to_owned", "to_string"];

/// Reports an address with its port in the key `value` of `arg`.
pub(crate) fn check(arg: &str, value: &Expr, scope: &Scope<'_>, errors: &mut Errors) {
    let names = names(scope);
    if names.is_empty() {
        return;
    }
    if let Some(literal) = text(value) {
        let key = literal.value();
        let found = names.iter().find_map(|name| Some((name, place(&key, &name.name)?)));
        if let Some((name, at)) = found {
            let instead =
                format!("{arg} = {}.ip()`, without quotes, or `{arg} = \"@ip\"", name.value());
            errors.in_key(literal, at, &with_port(&name.name, instead));
        }
        return;
    }
    if let Some((piece, name)) = whole(&pieces(value.to_token_stream()), &names) {
        errors.at_span(piece.span, with_port(name.value(), format!("{}.ip()", name.value())));
    }
}

/// An argument that is such an address, or has one as its field `0`.
struct Address {
    name: String,
    is_wrapped: bool,
}

impl Address {
    fn value(&self) -> String {
        if self.is_wrapped { format!("{}.0", self.name) } else { self.name.clone() }
    }
}

fn names(scope: &Scope<'_>) -> Vec<Address> {
    let mut names = Vec::new();
    for name in &scope.names {
        let Some(param) = scope.params.get(name.param) else { continue };
        let others = scope.names.iter().filter(|other| other.param == name.param).count();
        let is_pattern = !matches!(param.pat, Pat::Ident(_));
        let (direct, inner) = is_address(param.ty);
        let is_wrapped = match (direct, inner, is_pattern) {
            (true, _, false) => false,
            (_, true, true) if others == 1 => false,
            (_, true, false) => true,
            _ => continue,
        };
        names.push(Address { name: name.ident.unraw().to_string(), is_wrapped });
    }
    names
}

/// Whether a type is such an address, or `ConnectInfo` of one.
fn is_address(ty: &Type) -> (bool, bool) {
    match ty {
        Type::Reference(reference) => is_address(&reference.elem),
        Type::Group(group) => is_address(&group.elem),
        Type::Paren(paren) => is_address(&paren.elem),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return (false, false) };
            let inner = match &last.arguments {
                PathArguments::AngleBracketed(list) if last.ident == "ConnectInfo" => {
                    list.args.iter().any(|one| match one {
                        GenericArgument::Type(ty) => is_address(ty).0,
                        _ => false,
                    })
                }
                _ => false,
            };
            (TYPES.iter().any(|name| last.ident == name), inner)
        }
        _ => (false, false),
    }
}

/// Where all of an address is the key, or a part of it.
fn whole<'p, 'n>(all: &'p [Piece], names: &'n [Address]) -> Option<(&'p Piece, &'n Address)> {
    for (at, piece) in all.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| all.get(before));
        let follows_name =
            before.is_some_and(|before| before.kind == Kind::Word || before.is_sign(">"));
        let is_format = before.is_some_and(|before| before.is_sign("!"))
            && at
                .checked_sub(2)
                .and_then(|at| all.get(at))
                .is_some_and(|name| name.is_word("format"));
        if piece.kind == Kind::Group && piece.text != "{" && !follows_name {
            if let Some(found) = whole(&piece.inner, names) {
                return Some(found);
            }
            let template = piece.inner.first().filter(|_| is_format).and_then(Piece::quoted);
            let named = |name: &&Address| {
                let template = template.unwrap_or_default();
                let name = &name.name;
                template.contains(&format!("{{{name}}}"))
                    || template.contains(&format!("{{{name}:"))
            };
            if let Some(name) = names.iter().filter(|name| !name.is_wrapped).find(named) {
                return Some((piece, name));
            }
        }
        if before.is_some_and(|before| before.is_sign(".")) {
            continue;
        }
        let Some(name) = names.iter().find(|name| piece.is_word(&name.name)) else { continue };
        let mut rest = all.get(at + 1..).unwrap_or_default();
        if name.is_wrapped {
            match rest {
                [dot, zero, after @ ..] if dot.is_sign(".") && zero.text == "0" => rest = after,
                _ => continue,
            }
        }
        let is_whole = match rest {
            [dot, method, ..] if dot.is_sign(".") => WHOLE.contains(&method.text.as_str()),
            [next, ..] => next.is_sign(","),
            [] => true,
        };
        if is_whole {
            return Some((piece, name));
        }
    }
    None
}

/// Where a name stands alone in a key in quotes.
fn place(key: &str, name: &str) -> Option<Range<usize>> {
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut is_text = false;
    let mut before = ' ';
    for (at, c) in key.char_indices() {
        if c == '\'' {
            is_text = !is_text;
        }
        let rest = key.get(at..)?;
        if !is_text
            && !is_inside(before)
            && !matches!(before, '.' | '@')
            && let Some(after) = rest.strip_prefix(name)
            && !after.starts_with(|c: char| is_inside(c) || matches!(c, '.' | '?' | '('))
        {
            return Some(at..at + name.len());
        }
        before = c;
    }
    None
}
