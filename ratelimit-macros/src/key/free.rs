//! The macro `key!`: a key outside of an attribute, over the names in scope.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Path, Token};

use super::ast::{self, ExprKind, Root};
use super::{Problem, parser, problem};
use crate::error::Errors;
use crate::function::Function;
use crate::message::messages;

messages! {
    no_arguments() =
        "`key!` stands on no function whose arguments it could count: write the name of a value, as in \
         `'sms:' + phone`";
    text_without_name(name) =
        "`{name}` in quotes is text, so all callers would share one budget: names stand outside, as in \
         `'sms:' + phone`";
    not_in_quotes() =
        "`key!` takes a key in quotes, as in `key!(\"'sms:' + phone\")`: a value alone is `LimitKey::from(value)`";
}

/// What stands in the brackets: a key, and perhaps `crate = path`.
struct Input {
    key: LitStr,
    krate: Option<Path>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(LitStr) {
            return Err(input.error(not_in_quotes()));
        }
        let key = input.parse()?;
        let mut krate = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = Some(input.call(Path::parse_mod_style)?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(Self { key, krate })
    }
}

/// The key as an expression, or the errors.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let Input { key, krate } = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let krate = krate.unwrap_or_else(crate::krate::path);
    let mut errors = Errors::new();
    let secret = quote!(#krate::__private::secret().as_deref());
    let tokens = match scope_of(&key.value(), key.span()) {
        Ok(function) => {
            super::compile("key", &key, &function.scope(), &krate, &secret, &mut errors)
        }
        Err(Problem { at, message }) => {
            errors.in_key(&key, at, &message);
            None
        }
    };
    match errors.finish() {
        Ok(()) => tokens.unwrap_or_default(),
        Err(errors) => quote!({ #errors #krate::LimitKey::whole_rule() }),
    }
}

/// A function with the names in the key as arguments. Whether they are there is for rustc to say.
fn scope_of(source: &str, span: Span) -> Result<Function, Problem> {
    let key = parser::parse(source, &|_| true)?;
    let at = Span::call_site().located_at(span);
    let mut names = Names { at, found: Vec::new(), takes_self: false };
    for part in &key.parts {
        names.look(part)?;
    }
    let (receiver, found) = (names.takes_self.then(|| quote!(&self,)), names.found);
    let function = quote!(fn key(#receiver #(#found: ()),*) {});
    // Names of a key are identifiers, so this is a function.
    Function::parse(function).map_err(|_| problem(0..source.len(), not_in_quotes()))
}

struct Names {
    at: Span,
    found: Vec<Ident>,
    takes_self: bool,
}

impl Names {
    fn look(&mut self, expr: &ast::Expr) -> Result<(), Problem> {
        match &expr.kind {
            ExprKind::Path(path) => match &path.root {
                Root::Argument(_) => Err(problem(path.root_at.clone(), no_arguments())),
                Root::Name(name) => {
                    self.name(name);
                    Ok(())
                }
            },
            ExprKind::Call(call) => {
                call.arguments.iter().try_for_each(|argument| self.look(argument))
            }
            ExprKind::First(all) | ExprKind::Join(all) => {
                all.iter().try_for_each(|one| self.look(one))
            }
            ExprKind::Text(text) => match braced(text) {
                Some(name) => Err(problem(expr.at.clone(), text_without_name(name))),
                None => Ok(()),
            },
            ExprKind::Constant(_) | ExprKind::Context(_) => Ok(()),
        }
    }

    fn name(&mut self, name: &str) {
        if name == "self" {
            self.takes_self = true;
        } else if !self.found.iter().any(|found| found == name) {
            let raw = syn::parse_str::<Ident>(name).is_err();
            let new = if raw { Ident::new_raw } else { Ident::new };
            self.found.push(new(name, self.at));
        }
    }
}

/// `{name}` in a text.
fn braced(text: &str) -> Option<&str> {
    let open = text.find('{')?;
    let close = open + text.get(open..)?.find('}')?;
    let name = text.get(open + 1..close)?;
    let name = name.trim_start_matches('#').trim();
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    is_name.then(|| text.get(open..=close))?
}
