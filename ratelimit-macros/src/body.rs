//! The body of a function, and the place in it where the check belongs.
//!
//! It stays a pile of tokens wherever possible: half-typed code still expands, and nothing in it can be
//! misread. It is parsed only when `#[async_trait]` has rewritten the function.

use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Block, Expr, GenericParam, Item, Local, Pat, Signature, Stmt, Type};

use crate::output::{self, Holder};

/// The body, and the way to the place for the check.
pub(crate) enum Body {
    /// The check goes to the top.
    Top(TokenStream),
    /// The function is one `async move` block: the check goes to the top of that.
    Block(AsyncBlock),
    /// The function builds a future in its own way. Nothing of it may run before the check, so all of
    /// it goes into a future that checks first.
    Built(TokenStream, Holder),
    /// `#[async_trait]` has rewritten the function. The check goes into the block that holds the
    /// body as written, where destructured names exist, and `self` is `__self`.
    AsyncTrait(Vec<Stmt>),
}

/// `async move { .. }` or `Box::pin(async move { .. })`, behind items.
pub(crate) struct AsyncBlock {
    /// Items of the function.
    before: Front,
    /// `Box::pin`, and its parentheses.
    pin: Option<(TokenStream, Group)>,
    /// `async move`
    keywords: TokenStream,
    block: Group,
}

/// What has to stay in front of the check.
#[derive(Default)]
pub(crate) struct Front {
    /// `#![..]`, in front of everything else.
    pub(crate) inner_attributes: TokenStream,
    /// Where items stand means nothing to rustc; but clippy wants them in front of all statements, and
    /// the check is one.
    pub(crate) items: TokenStream,
}

impl Body {
    pub(crate) fn new(sig: &Signature, tokens: TokenStream) -> Self {
        let holder = if sig.asyncness.is_some() { None } else { output::holder(&sig.output) };
        let Some(holder) = holder else { return Self::Top(tokens) };
        if is_async_trait(sig)
            && let Ok(stmts) = Block::parse_within.parse2(tokens.clone())
            && async_trait_stmts(&stmts).is_some()
        {
            return Self::AsyncTrait(stmts);
        }
        match AsyncBlock::find(&tokens) {
            Some(block) => Self::Block(block),
            None => Self::Built(tokens, holder),
        }
    }

    /// Whether the tokens of the body contain `name`, in nested groups as well.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        contains(&self.to_token_stream(), name)
    }

    /// The statements that `#[async_trait]` has written.
    pub(crate) fn async_trait(&self) -> &[Stmt] {
        match self {
            Self::AsyncTrait(stmts) => async_trait_stmts(stmts).unwrap_or_default(),
            _ => &[],
        }
    }

    /// The type of the body as written, where `#[async_trait]` has put that.
    pub(crate) fn async_trait_output(&self) -> Option<&Type> {
        self.async_trait().iter().find_map(|stmt| match stmt {
            Stmt::Local(local) if holds_written_body(local) => match &local.pat {
                Pat::Type(pat) => Some(&*pat.ty),
                _ => None,
            },
            _ => None,
        })
    }
}

/// As written.
impl ToTokens for Body {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Top(body) | Self::Built(body, _) => body.to_tokens(tokens),
            Self::Block(block) => tokens.extend(block.with(&block.block)),
            Self::AsyncTrait(stmts) => stmts.iter().for_each(|stmt| stmt.to_tokens(tokens)),
        }
    }
}

impl AsyncBlock {
    fn find(body: &TokenStream) -> Option<Self> {
        let (before, rest) = Front::split(body.clone());
        let rest: Vec<TokenTree> = rest.into_iter().collect();
        if let Some((keywords, block)) = async_move(&rest) {
            return Some(Self { before, pin: None, keywords, block });
        }
        let (TokenTree::Group(parentheses), path) = rest.split_last()? else { return None };
        if parentheses.delimiter() != Delimiter::Parenthesis || !is_box_pin(path) {
            return None;
        }
        let inner: Vec<TokenTree> = parentheses.stream().into_iter().collect();
        let inner = match inner.split_last()? {
            (TokenTree::Punct(comma), inner) if comma.as_char() == ',' => inner,
            _ => &inner,
        };
        let (keywords, block) = async_move(inner)?;
        let pin = Some((path.iter().cloned().collect(), parentheses.clone()));
        Some(Self { before, pin, keywords, block })
    }

    /// What runs inside.
    pub(crate) fn body(&self) -> TokenStream {
        self.block.stream()
    }

    /// The same with another body.
    pub(crate) fn with_body(&self, body: TokenStream) -> TokenStream {
        self.with(&like(&self.block, body))
    }

    fn with(&self, block: &Group) -> TokenStream {
        let Self { before: Front { inner_attributes, items }, pin, keywords, .. } = self;
        let block = quote!(#keywords #block);
        let future = match pin {
            None => block,
            Some((path, parentheses)) => {
                let argument = like(parentheses, block);
                quote!(#path #argument)
            }
        };
        quote!(#inner_attributes #items #future)
    }
}

/// `async move` and the block behind it.
fn async_move(tokens: &[TokenTree]) -> Option<(TokenStream, Group)> {
    match tokens {
        [TokenTree::Ident(first), TokenTree::Ident(second), TokenTree::Group(block)]
            if first == "async" && second == "move" && block.delimiter() == Delimiter::Brace =>
        {
            Some((quote!(#first #second), block.clone()))
        }
        _ => None,
    }
}

/// Whether tokens are `Box::pin`, or a path that ends in it.
fn is_box_pin(path: &[TokenTree]) -> bool {
    let is_path = path.iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    });
    let mut names = path.iter().rev().filter_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident),
        _ => None,
    });
    is_path
        && names.next().is_some_and(|last| last == "pin")
        && names.next().is_some_and(|of| of == "Box")
}

/// The same delimiters around something else. A block keeps its place, and with it the edition that it
/// was written for, which says when its temporaries are dropped.
pub(crate) fn like(group: &Group, inner: TokenStream) -> Group {
    let mut new = Group::new(group.delimiter(), inner);
    new.set_span(group.span());
    new
}

impl Front {
    /// Takes it off a body.
    pub(crate) fn split(body: TokenStream) -> (Self, TokenStream) {
        let (inner_attributes, body) = split_inner_attributes(body);
        let (items, body) = split_items(body);
        (Self { inner_attributes, items }, body)
    }
}

/// `#[async_trait]` adds a lifetime of this name to every function that it rewrites.
fn is_async_trait(sig: &Signature) -> bool {
    sig.generics.params.iter().any(|param| match param {
        GenericParam::Lifetime(param) => param.lifetime.ident == "async_trait",
        _ => false,
    })
}

/// The block with the body as written, inside of what `#[async_trait]` makes of it.
///
/// ```text
/// // Input                                        // Output
/// async fn f(&self, (a, b): (A, B)) -> Ret {      Box::pin(async move {
///     body                                            let __self = self;
/// }                                                   let (a, b) = { let __arg1 = __arg1; __arg1 };
///                                                     let __ret: Ret = { body };
///                                                     __ret
///                                                 })
/// ```
///
/// A function without a return type has `let _: () = { body };`.
pub(crate) fn async_trait_block(stmts: &mut [Stmt]) -> Option<&mut Block> {
    let [Stmt::Expr(Expr::Call(call), _)] = stmts else { return None };
    let Some(Expr::Async(expr)) = call.args.last_mut() else { return None };
    expr.block.stmts.iter_mut().find_map(|stmt| match stmt {
        Stmt::Local(local) if holds_written_body(local) => match &mut *local.init.as_mut()?.expr {
            Expr::Block(expr) => Some(&mut expr.block),
            _ => None,
        },
        _ => None,
    })
}

/// The statements around [`async_trait_block`].
fn async_trait_stmts(stmts: &[Stmt]) -> Option<&[Stmt]> {
    let [Stmt::Expr(Expr::Call(call), _)] = stmts else { return None };
    let Some(Expr::Async(expr)) = call.args.last() else { return None };
    let is_written_body = |stmt: &Stmt| match stmt {
        Stmt::Local(local) => holds_written_body(local),
        _ => false,
    };
    expr.block.stmts.iter().any(is_written_body).then_some(&expr.block.stmts)
}

fn holds_written_body(local: &Local) -> bool {
    let Pat::Type(pat) = &local.pat else { return false };
    let named = match &*pat.pat {
        Pat::Ident(pat) => pat.ident == "__ret",
        Pat::Wild(_) => matches!(&*pat.ty, Type::Tuple(unit) if unit.elems.is_empty()),
        _ => false,
    };
    named && matches!(&local.init, Some(init) if matches!(*init.expr, Expr::Block(_)))
}

/// `#![..]` must stay in front of everything else.
fn split_inner_attributes(body: TokenStream) -> (TokenStream, TokenStream) {
    let tokens: Vec<TokenTree> = body.into_iter().collect();
    let is_inner_attribute = |three: &&[TokenTree]| {
        matches!(three, [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(_)]
            if hash.as_char() == '#' && bang.as_char() == '!')
    };
    let attributes = tokens.chunks(3).take_while(is_inner_attribute).count();
    let mut tokens = tokens.into_iter();
    (tokens.by_ref().take(attributes * 3).collect(), tokens.collect())
}

/// The items at the front of a body.
fn split_items(body: TokenStream) -> (TokenStream, TokenStream) {
    let skip_items = |input: ParseStream<'_>| {
        loop {
            let ahead = input.fork();
            match ahead.parse().map(Stmt::Item) {
                Ok(item) if is_plain_item(&item) => input.advance_to(&ahead),
                _ => return input.parse::<TokenStream>(),
            }
        }
    };
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    let rest = skip_items.parse2(body).map_or(tokens.len(), |rest| rest.into_iter().count());
    let items = tokens.len().saturating_sub(rest);
    let mut tokens = tokens.into_iter();
    (tokens.by_ref().take(items).collect(), tokens.collect())
}

/// Whether the place of an item means nothing. That of a macro does.
pub(crate) const fn is_plain_item(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Item(item) => !matches!(item, Item::Macro(_) | Item::Verbatim(_)),
        _ => false,
    }
}

/// Whether tokens contain a word, in nested groups as well.
fn contains(tokens: &TokenStream, word: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => contains(&group.stream(), word),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Whether code mentions the variable `name`, as a word or in a format string: `"{name}"`.
pub(crate) fn mentions(code: &TokenStream, name: &Ident) -> bool {
    let mut tokens = code.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_mentioned = match token {
            TokenTree::Ident(ident) if ident == *name => {
                // `self::path` is something else.
                let is_path = matches!(tokens.peek(),
                    Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
                ident != "self" || !is_path
            }
            TokenTree::Group(group) => mentions(&group.stream(), name),
            TokenTree::Literal(literal) => formats(&literal, &name.to_string()),
            TokenTree::Ident(_) | TokenTree::Punct(_) => false,
        };
        if is_mentioned {
            return true;
        }
    }
    false
}

/// Whether a format string shows `name`, or takes a width or precision from it: `{name:?}`, `{:name$}`.
fn formats(literal: &Literal, name: &str) -> bool {
    let name = name.trim_start_matches("r#");
    let text = literal.to_string();
    text.match_indices(name).any(|(start, _)| {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let after = text.get(start + name.len()..).and_then(|after| after.chars().next());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        match after {
            Some('$') => before.is_some_and(|before| !is_word(before)),
            Some('}' | ':') => before == Some('{'),
            Some(blank) => before == Some('{') && blank.is_whitespace(),
            None => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_block(body: &str) -> bool {
        AsyncBlock::find(&body.parse().unwrap()).is_some()
    }

    #[test]
    fn a_function_that_is_one_async_block() {
        for body in [
            "async move { 1 }",
            "use x::y; const N: u8 = 1; async move { 1 }",
            "#![allow(unused)] async move { 1 }",
            "Box::pin(async move { 1 })",
            "Box::pin(async move { 1 },)",
            "::std::boxed::Box::pin(async move { 1 })",
        ] {
            assert!(is_block(body), "{body}");
        }
    }

    #[test]
    fn a_function_that_does_something_else() {
        for body in [
            "async { 1 }",
            "let a = 1; async move { 1 }",
            "log!(); async move { 1 }",
            "return async move { 1 }",
            "async move { 1 }.boxed()",
            "async move { 1 }.then(f)",
            "Box::pin(async move { 1 }) as Boxed",
            "Box::pin(async move { 1 }.map(f))",
            "Box::pin(f(async move { 1 }))",
            "Box::new(async move { 1 })",
            "Other::pin(async move { 1 })",
            "boxed().Box::pin(async move { 1 })",
            "{ async move { 1 } }",
            "join(async move { 1 }, async move { 2 })",
            "ready(1)",
            "",
        ] {
            assert!(!is_block(body), "{body}");
        }
    }

    #[test]
    fn what_code_mentions() {
        let id = Ident::new("id", proc_macro2::Span::call_site());
        let mentioned = |code: &str| mentions(&code.parse().unwrap(), &id);
        for code in [
            "id",
            "f(&[id])",
            "id.len()",
            "m!(id)",
            "f!(\"{id}\")",
            "f!(\"a {id:?}\")",
            "f!(\"{id }\")",
            "f!(\"{:>id$}\")",
            "f!(\"{:.id$}\")",
            "f!(r\"{id}\")",
        ] {
            assert!(mentioned(code), "{code}");
        }
        for code in ["ids", "\"id\"", "f!(\"{ids}\")", "f!(\"{}\", ids)", "f!(\"{:uid$}\")", "'i'"]
        {
            assert!(!mentioned(code), "{code}");
        }
        let this: Ident = syn::parse_str::<syn::Token![self]>("self").map(Ident::from).unwrap();
        assert!(mentions(&quote!(self.id), &this));
        assert!(!mentions(&quote!(self::id()), &this));
    }
}
