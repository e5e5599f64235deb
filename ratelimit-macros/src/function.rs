//! The annotated function: its names, and the place in its body where the check belongs.
//!
//! The body stays a pile of tokens wherever possible: half-typed code still expands, and nothing in
//! it can be misread. It is parsed only when the function returns a future that it builds itself.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, FnArg, GenericArgument, GenericParam, Ident, Item, Local, Pat,
    PathArguments, PathSegment, ReturnType, Signature, Stmt, Token, Type, TypeParamBound,
    Visibility, braced, token,
};

use crate::error::{error, error_at};
use crate::message::messages;

messages! {
    no_function() = "`#[rate_limit]` is for functions and methods, and there is none here";
    not_a_function(what) = "`#[rate_limit]` is for functions and methods, and this is {what}";
    not_a_function_but_holds_some(what) =
        "`#[rate_limit]` is for functions and methods, and this is {what}: \
         put it on a function inside";
    no_body() = "there is no body to limit here: put `#[rate_limit]` where the function is implemented";
    no_async_block() =
        "the function returns a future, and the check belongs inside it: \
         end the function in `async move {{ .. }}` or `Box::pin(async move {{ .. }})`, \
         or make it an `async fn`";
    early_return() =
        "this `return` leaves the function past its limit, which is checked inside the future at \
         its end: return from within that `async` block, or make it an `async fn`";
}

/// A function as the attribute sees it.
pub(crate) struct Function {
    /// All attributes that are still on it, docs included.
    pub(crate) attrs: Vec<Attribute>,
    vis: Visibility,
    defaultness: Option<Token![default]>,
    pub(crate) sig: Signature,
    brace: token::Brace,
    body: Body,
}

/// The body, and the way to the place for the check.
enum Body {
    /// The check goes to the top.
    Top(TokenStream),
    /// The function builds a future: the check goes inside its `async` block.
    Future(Vec<Stmt>),
    /// `#[async_trait]` has rewritten the function. The check goes into the block that holds the
    /// body as written, where destructured names exist, and `self` is `__self`.
    AsyncTrait(Vec<Stmt>),
}

impl Function {
    /// Reads the item below the attribute.
    pub(crate) fn parse(item: TokenStream) -> syn::Result<Self> {
        Self::parse_stream.parse2(item)
    }

    fn parse_stream(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let defaultness = if input.peek(Token![default]) { Some(input.parse()?) } else { None };
        check_item(input)?;
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(error(input.span(), no_body()));
        }
        let content;
        let brace = braced!(content in input);
        let tokens: TokenStream = content.parse()?;
        let body = if sig.asyncness.is_none() && returns_future(&sig.output) {
            Body::built_future(&sig, tokens)?
        } else {
            Body::Top(tokens)
        };
        Ok(Self { attrs, vis, defaultness, sig, brace, body })
    }

    /// Whether `.await` is allowed where the check stands.
    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some() || !matches!(self.body, Body::Top(_))
    }

    /// Whether `self` goes by the name `__self` where the check stands.
    pub(crate) const fn renames_self(&self) -> bool {
        matches!(self.body, Body::AsyncTrait(_))
    }

    /// The type that `return` takes where the check stands; `None` for a function without one.
    pub(crate) fn returned(&self) -> Option<&Type> {
        let ReturnType::Type(_, output) = &self.sig.output else { return None };
        match &self.body {
            Body::Top(_) => Some(output),
            Body::Future(_) => Some(future_output(output).unwrap_or(output)),
            Body::AsyncTrait(stmts) => {
                async_trait_stmts(stmts)?.iter().find_map(|stmt| match stmt {
                    Stmt::Local(local) if holds_written_body(local) => match &local.pat {
                        Pat::Type(pat) => Some(&*pat.ty),
                        _ => None,
                    },
                    _ => None,
                })
            }
        }
    }

    /// The names that a key may use.
    pub(crate) fn scope(&self) -> Scope<'_> {
        let renamed: &[Stmt] = match &self.body {
            Body::AsyncTrait(stmts) => async_trait_stmts(stmts).unwrap_or_default(),
            Body::Top(_) | Body::Future(_) => &[],
        };
        Scope::new(&self.sig, renamed)
    }

    /// Whether the tokens of the body contain `name`, in nested groups as well.
    pub(crate) fn body_mentions(&self, name: &str) -> bool {
        match &self.body {
            Body::Top(tokens) => mentions(tokens.clone(), name),
            Body::Future(stmts) | Body::AsyncTrait(stmts) => mentions(quote!(#(#stmts)*), name),
        }
    }

    /// Whether the function returns a web framework's response without saying which: `impl
    /// IntoResponse` and `impl Responder` hide a type that cannot say that a call was limited.
    pub(crate) fn hides_response(&self) -> bool {
        let Some(Type::ImplTrait(ty)) = self.returned() else { return false };
        ty.bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                bound.path.segments.last().is_some_and(|last| is_response_trait(&last.ident))
            }
            _ => false,
        })
    }

    /// The function without a check, beside errors. Its parameters count as used: rustc would warn
    /// of those that only the attribute uses, and there is nothing wrong with them.
    pub(crate) fn unlimited(self) -> TokenStream {
        let scope = self.scope();
        let is_there = |name: &&Name<'_>| {
            scope.params.get(name.param).is_some_and(|param| !param.maybe_absent)
        };
        let names: Vec<_> = scope.names.iter().filter(is_there).map(|name| name.ident).collect();
        let uses = if names.is_empty() { quote!() } else { quote!(let _ = (#(&#names,)*);) };
        self.with_check(uses, |body| body)
    }

    /// The function with `check` in its place, and what follows it in the body as `rest` makes it.
    pub(crate) fn with_check(
        self,
        check: TokenStream,
        rest: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let Self { attrs, vis, defaultness, sig, brace, body } = self;
        let body = body.with(check, rest);
        let mut block = Group::new(Delimiter::Brace, body);
        block.set_span(brace.span.join());
        quote!(#(#attrs)* #vis #defaultness #sig #block)
    }
}

impl Body {
    /// The body of a function that is not `async` and returns a future.
    fn built_future(sig: &Signature, tokens: TokenStream) -> syn::Result<Self> {
        let mut stmts = Block::parse_within.parse2(tokens)?;
        if is_async_trait(sig) && async_trait_stmts(&stmts).is_some() {
            return Ok(Self::AsyncTrait(stmts));
        }
        if tail_async_block(&mut stmts).is_some() {
            return match early_return_of(&stmts) {
                Some(place) => Err(error(place, early_return())),
                None => Ok(Self::Future(stmts)),
            };
        }
        Err(match &sig.output {
            ReturnType::Type(_, ty) => error_at(ty, no_async_block()),
            ReturnType::Default => error_at(&sig.ident, no_async_block()),
        })
    }

    fn with(
        mut self,
        check: TokenStream,
        rest: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let mut stmts = match self {
            Self::Top(tokens) => {
                let (inner_attributes, body) = split_inner_attributes(tokens);
                let (items, body) = split_items(body);
                let rest = rest(body);
                return quote!(#inner_attributes #items #check #rest);
            }
            Self::Future(ref mut stmts) | Self::AsyncTrait(ref mut stmts) => std::mem::take(stmts),
        };
        let block = match self {
            Self::AsyncTrait(_) => async_trait_block(&mut stmts),
            _ => tail_async_block(&mut stmts),
        };
        if let Some(block) = block {
            let items = block.stmts.iter().take_while(|stmt| is_plain_item(stmt)).count();
            let body = block.stmts.split_off(items);
            block.stmts.extend([verbatim(check), verbatim(rest(quote!(#(#body)*)))]);
        }
        quote!(#(#stmts)*)
    }
}

/// What a key may name, in the order of the parameters.
pub(crate) struct Scope<'a> {
    /// The `self` of a method. A key writes it as `self`, with this token's hygiene.
    pub(crate) receiver: Option<&'a Token![self]>,
    /// The parameters without `self`.
    pub(crate) params: Vec<Param<'a>>,
    /// The names that the parameters bind, also inside patterns.
    pub(crate) names: Vec<Name<'a>>,
}

/// One parameter.
#[derive(Clone, Copy)]
pub(crate) struct Param<'a> {
    /// Its pattern as written.
    pub(crate) pat: &'a Pat,
    /// It stands under `#[cfg(..)]`, which is not decided yet when attributes expand.
    pub(crate) maybe_absent: bool,
}

/// One name that a parameter binds.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    /// As written, so that it carries the parameter's place and hygiene.
    pub(crate) ident: &'a Ident,
    /// Index in [`Scope::params`].
    pub(crate) param: usize,
}

impl<'a> Scope<'a> {
    /// `renamed`: the statements of an `#[async_trait]` body, which take patterns apart.
    fn new(sig: &'a Signature, renamed: &'a [Stmt]) -> Self {
        let mut scope = Self { receiver: None, params: Vec::new(), names: Vec::new() };
        for input in &sig.inputs {
            let typed = match input {
                FnArg::Receiver(receiver) => {
                    scope.receiver = Some(&receiver.self_token);
                    continue;
                }
                FnArg::Typed(typed) => typed,
            };
            let pat = pattern_as_written(&typed.pat, renamed);
            let mut names = Names(Vec::new());
            names.visit_pat(pat);
            let param = scope.params.len();
            scope.names.extend(names.0.into_iter().map(|ident| Name { ident, param }));
            let maybe_absent = typed.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
            scope.params.push(Param { pat, maybe_absent });
        }
        scope
    }
}

/// Collects the names that a pattern binds.
struct Names<'a>(Vec<&'a Ident>);

impl<'a> Visit<'a> for Names<'a> {
    fn visit_pat_ident(&mut self, pat: &'a syn::PatIdent) {
        self.0.push(&pat.ident);
        if let Some((_, inner)) = &pat.subpat {
            self.visit_pat(inner);
        }
    }

    fn visit_pat_or(&mut self, pat: &'a syn::PatOr) {
        // All cases bind the same names.
        if let Some(first) = pat.cases.first() {
            self.visit_pat(first);
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}

    fn visit_type(&mut self, _: &'a Type) {}
}

/// Refuses what is not a function, at the word that says what it is instead.
fn check_item(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    while !ahead.is_empty() && !ahead.peek(token::Brace) && !ahead.peek(Token![;]) {
        if ahead.peek(Token![fn]) {
            return Ok(());
        }
        if ahead.peek(Token![=]) || ahead.peek(Token![!]) {
            break;
        }
        ahead.parse::<TokenTree>()?;
    }
    let words = input.fork();
    while words.peek(Token![unsafe]) || words.peek(Token![auto]) {
        words.parse::<TokenTree>()?;
    }
    let holds = |what| not_a_function_but_holds_some(what);
    let message = if words.peek(Token![impl]) {
        holds("an `impl` block")
    } else if words.peek(Token![trait]) {
        holds("a trait")
    } else if words.peek(Token![mod]) {
        holds("a module")
    } else if words.peek(Token![extern]) {
        holds("an `extern` block")
    } else if words.peek(Token![struct]) {
        not_a_function("a struct")
    } else if words.peek(Token![enum]) {
        not_a_function("an enum")
    } else if words.peek(Token![type]) {
        not_a_function("a type")
    } else if words.peek(Token![use]) {
        not_a_function("an import")
    } else if words.peek(Token![const]) {
        not_a_function("a constant")
    } else if words.peek(Token![static]) {
        not_a_function("a static")
    } else {
        no_function()
    };
    Err(error(words.span(), message))
}

/// A trait of the frameworks for which the runtime was built: it has a type then that implements
/// it and can hold a refusal.
fn is_response_trait(name: &Ident) -> bool {
    (cfg!(any(test, feature = "axum")) && name == "IntoResponse")
        || (cfg!(any(test, feature = "actix")) && name == "Responder")
}

/// Whether a return type is a future by its looks: an alias cannot be seen through.
fn returns_future(output: &ReturnType) -> bool {
    match output {
        ReturnType::Default => false,
        ReturnType::Type(_, ty) => is_future(ty),
    }
}

/// The `T` of `Future<Output = T>` and of `BoxFuture<'_, T>`.
fn future_output(ty: &Type) -> Option<&Type> {
    let last = match ty {
        Type::ImplTrait(ty) => ty.bounds.iter().find_map(future_bound)?,
        Type::TraitObject(ty) => ty.bounds.iter().find_map(future_bound)?,
        Type::Paren(ty) => return future_output(&ty.elem),
        Type::Group(ty) => return future_output(&ty.elem),
        Type::Path(ty) => ty.path.segments.last()?,
        _ => return None,
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().rev().find_map(|argument| match argument {
        GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(&assoc.ty),
        GenericArgument::Type(ty) if last.ident == "Pin" || last.ident == "Box" => {
            future_output(ty)
        }
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The `Future<..>` of `dyn Future<..> + Send`.
fn future_bound(bound: &TypeParamBound) -> Option<&PathSegment> {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().filter(|segment| segment.ident == "Future")
        }
        _ => None,
    }
}

fn is_future(ty: &Type) -> bool {
    match ty {
        Type::ImplTrait(ty) => ty.bounds.iter().any(|bound| future_bound(bound).is_some()),
        Type::TraitObject(ty) => ty.bounds.iter().any(|bound| future_bound(bound).is_some()),
        Type::Paren(ty) => is_future(&ty.elem),
        Type::Group(ty) => is_future(&ty.elem),
        Type::Path(ty) => {
            let Some(last) = ty.path.segments.last() else { return false };
            if last.ident == "BoxFuture" || last.ident == "LocalBoxFuture" {
                return true;
            }
            if last.ident != "Pin" && last.ident != "Box" {
                return false;
            }
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return false;
            };
            arguments.args.iter().any(|argument| match argument {
                GenericArgument::Type(ty) => is_future(ty),
                _ => false,
            })
        }
        _ => false,
    }
}

/// The `async` block in which a body ends, through `Box::pin(..)`, `.boxed()` and the like.
fn tail_async_block(stmts: &mut [Stmt]) -> Option<&mut Block> {
    match stmts.last_mut()? {
        Stmt::Expr(tail, _) => async_block_of(tail),
        _ => None,
    }
}

/// Where a function that ends in a future returns another one: that would be without the check.
fn early_return_of(stmts: &[Stmt]) -> Option<Span> {
    let mut early = EarlyReturn(None);
    let (last, before) = stmts.split_last()?;
    for stmt in before {
        early.visit_stmt(stmt);
    }
    match last {
        Stmt::Expr(Expr::Return(tail), _) => visit::visit_expr_return(&mut early, tail),
        last => early.visit_stmt(last),
    }
    early.0
}

/// Looks for a `return` of the function itself.
struct EarlyReturn(Option<Span>);

impl<'ast> Visit<'ast> for EarlyReturn {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // A `return` in these leaves them alone.
            Expr::Closure(_) | Expr::Async(_) => {}
            Expr::Return(expr) => self.0 = self.0.or(Some(expr.return_token.span)),
            expr => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast Item) {}
}

fn async_block_of(expr: &mut Expr) -> Option<&mut Block> {
    match expr {
        Expr::Async(expr) => Some(&mut expr.block),
        Expr::Call(call) => async_block_of(call.args.last_mut()?),
        Expr::MethodCall(call) => async_block_of(&mut call.receiver),
        Expr::Paren(expr) => async_block_of(&mut expr.expr),
        Expr::Group(expr) => async_block_of(&mut expr.expr),
        Expr::Cast(expr) => async_block_of(&mut expr.expr),
        Expr::Return(expr) => async_block_of(expr.expr.as_mut()?),
        Expr::Block(expr) => tail_async_block(&mut expr.block.stmts),
        _ => None,
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
fn async_trait_block(stmts: &mut [Stmt]) -> Option<&mut Block> {
    let block = tail_async_block(stmts)?;
    block.stmts.iter_mut().find_map(|stmt| match stmt {
        Stmt::Local(local) if holds_written_body(local) => match &mut *local.init.as_mut()?.expr {
            Expr::Block(expr) => Some(&mut expr.block),
            _ => None,
        },
        _ => None,
    })
}

/// The statements around [`async_trait_block`].
fn async_trait_stmts(stmts: &[Stmt]) -> Option<&[Stmt]> {
    let Some(Stmt::Expr(Expr::Call(call), _)) = stmts.last() else { return None };
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

/// The pattern that the user wrote for a parameter: `#[async_trait]` calls a destructured one
/// `__arg1` and takes it apart in a statement `let pattern = { let __arg1 = __arg1; __arg1 };`.
fn pattern_as_written<'a>(pat: &'a Pat, renamed: &'a [Stmt]) -> &'a Pat {
    let Pat::Ident(param) = pat else { return pat };
    renamed
        .iter()
        .find_map(|stmt| {
            let Stmt::Local(Local { pat, init: Some(init), .. }) = stmt else { return None };
            let Expr::Block(block) = &*init.expr else { return None };
            let Some(Stmt::Expr(Expr::Path(tail), None)) = block.block.stmts.last() else {
                return None;
            };
            tail.path.is_ident(&param.ident).then_some(pat)
        })
        .unwrap_or(pat)
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

/// The items at the front of a body. Where they stand means nothing to rustc; but clippy wants them
/// in front of all statements, and the check is one.
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
const fn is_plain_item(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Item(item) => !matches!(item, Item::Macro(_) | Item::Verbatim(_)),
        _ => false,
    }
}

fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

fn verbatim(check: TokenStream) -> Stmt {
    Stmt::Expr(Expr::Verbatim(check), None)
}

/// As written, without a check: what is emitted beside errors, so that editors keep working.
impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, defaultness, sig, brace, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #defaultness #sig));
        brace.surround(tokens, |tokens| match body {
            Body::Top(body) => body.to_tokens(tokens),
            Body::Future(stmts) | Body::AsyncTrait(stmts) => {
                tokens.append_all(stmts);
            }
        });
    }
}
