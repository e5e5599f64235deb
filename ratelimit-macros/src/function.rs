//! The annotated function, and the names in it.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::visit::Visit;
use syn::{
    Attribute, Expr, FnArg, GenericParam, Ident, Local, Pat, ReturnType, Signature, Stmt, Token,
    Type, Visibility, braced, parse_quote, token,
};

use crate::body::Body;
use crate::error::error;
use crate::message::messages;
use crate::output;
use crate::place;

messages! {
    no_function() = "`#[rate_limit]` is for functions and methods, and there is none here";
    not_a_function(what) = "`#[rate_limit]` is for functions and methods, and this is {what}";
    not_a_function_but_holds_some(what) =
        "`#[rate_limit]` is for functions and methods, and this is {what}: \
         put it on a function inside";
    no_body() = "there is no body to limit here: put `#[rate_limit]` where the function is implemented";
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
            return Err(error(Span::call_site(), no_body()));
        }
        let content;
        let brace = braced!(content in input);
        let tokens: TokenStream = content.parse()?;
        let body = Body::new(&sig, tokens);
        Ok(Self { attrs, vis, defaultness, sig, brace, body })
    }

    /// The body, if it builds a future in its own way.
    pub(crate) const fn built_future(&self) -> Option<&TokenStream> {
        match &self.body {
            Body::Built(body, _) => Some(body),
            _ => None,
        }
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
            Body::Block(_) | Body::Built(..) => {
                Some(output::future_output(output).unwrap_or(output))
            }
            Body::AsyncTrait(_) => self.body.async_trait_output(),
        }
    }

    /// The names that a key may use.
    pub(crate) fn scope(&self) -> Scope<'_> {
        Scope::new(&self.sig, self.body.async_trait())
    }

    /// Whether the tokens of the body contain `name`, in nested groups as well.
    pub(crate) fn body_mentions(&self, name: &str) -> bool {
        self.body.mentions(name)
    }

    /// Whether the function returns a web framework's response without saying which.
    pub(crate) fn hides_response(&self) -> bool {
        self.returned().is_some_and(output::hides_response)
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
        place::in_front(self, uses)
    }

    /// Gives a name of ours to each argument without one, `_` or an unused `_name`, so that it can move
    /// into a future with the others. Those names.
    pub(crate) fn name_all(&mut self, is_used: impl Fn(&Ident) -> bool) -> Vec<Ident> {
        let mut names = Vec::new();
        for (index, input) in self.sig.inputs.iter_mut().enumerate() {
            let FnArg::Typed(typed) = input else { continue };
            let is_unused = match &*typed.pat {
                Pat::Wild(_) => true,
                Pat::Ident(pat) => pat.ident.to_string().starts_with('_') && !is_used(&pat.ident),
                _ => false,
            };
            if is_unused && typed.attrs.is_empty() && !matches!(&*typed.ty, Type::Reference(_)) {
                let ident = Ident::new(&format!("_arg{index}"), Span::mixed_site());
                *typed.pat = parse_quote!(#ident);
                names.push(ident);
            }
        }
        names
    }

    /// What stands in front of the body, the place of the body, and the body.
    pub(crate) fn into_parts(self) -> (TokenStream, Group, Body) {
        let Self { attrs, vis, defaultness, sig, brace, body } = self;
        let mut block = Group::new(Delimiter::Brace, TokenStream::new());
        block.set_span(brace.span.join());
        (quote!(#(#attrs)* #vis #defaultness #sig), block, body)
    }
}

/// What a key may name, in the order of the parameters.
pub(crate) struct Scope<'a> {
    /// What the function is called.
    pub(crate) function: &'a Ident,
    /// The `self` of a method. A key writes it as `self`, with this token's hygiene.
    pub(crate) receiver: Option<&'a Token![self]>,
    /// The parameters without `self`.
    pub(crate) params: Vec<Param<'a>>,
    /// The names that the parameters bind, also inside patterns.
    pub(crate) names: Vec<Name<'a>>,
    /// The types and constants that the function is generic over.
    pub(crate) generics: Vec<&'a Ident>,
}

/// One parameter.
#[derive(Clone, Copy)]
pub(crate) struct Param<'a> {
    /// Its pattern as written.
    pub(crate) pat: &'a Pat,
    /// It stands under `#[cfg(..)]`, which is not decided yet when attributes expand.
    pub(crate) maybe_absent: bool,
    /// Its type as written.
    pub(crate) ty: &'a Type,
    /// Its type is a reference, so that nothing happens when it is dropped.
    pub(crate) is_reference: bool,
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
    /// Whether a word is an argument of the function.
    pub(crate) fn binds(&self, word: &str) -> bool {
        self.names.iter().any(|name| name.ident == word)
    }

    /// `renamed`: the statements of an `#[async_trait]` body, which take patterns apart.
    fn new(sig: &'a Signature, renamed: &'a [Stmt]) -> Self {
        let generics = sig.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
            GenericParam::Lifetime(_) => None,
        });
        let generics = generics.collect();
        let mut scope = Self {
            function: &sig.ident,
            receiver: None,
            params: Vec::new(),
            names: Vec::new(),
            generics,
        };
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
            let is_reference = matches!(&*typed.ty, Type::Reference(_));
            scope.params.push(Param { pat, maybe_absent, ty: &typed.ty, is_reference });
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

/// Whether the item is a statement.
pub(crate) fn is_let(item: &TokenStream) -> bool {
    matches!(item.clone().into_iter().next(), Some(TokenTree::Ident(word)) if word == "let")
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

/// As written, without a check: what is emitted beside errors, so that editors keep working.
impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, defaultness, sig, brace, body } = self;
        tokens.extend(quote!(#(#attrs)* #vis #defaultness #sig));
        brace.surround(tokens, |tokens| body.to_tokens(tokens));
    }
}
