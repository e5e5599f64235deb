//! The check in its place: where nothing of the body can run before it, and where what it returns is
//! what the function returns.
//!
//! In most functions it is one statement at the top, and the body is not wrapped: `?`, `return` and
//! opaque types keep their meaning. Two kinds are others. A function that returns `impl IntoResponse` or
//! `impl Responder` gives one value, in a type that can hold a refusal instead. And a function that
//! builds a future in its own way runs inside a future of ours:
//!
//! ```text
//! // Input
//! #[rate_limit(..)]
//! fn send(&self, phone: String) -> BoxFuture<'_, Result<(), Error>> { body }
//!
//! // Output, with `k` for `::ratelimit_kit`
//! fn send(&self, phone: String) -> BoxFuture<'_, Result<(), Error>> {
//!     static ..: k::Rule = ..;
//!     k::__private::Box::pin(async move {
//!         check
//!         let future = k::__private::build(move || -> BoxFuture<'_, Result<(), Error>> {
//!             let _ = (&phone, &self);
//!             body
//!         });
//!         future.await
//!     })
//! }
//! ```
//!
//! A closure, so that `return` still means the future. Its first statement mentions the arguments, last to
//! first: it takes all of them as a whole, and drops them in that order when it is done, which is what a
//! function does with its arguments. References that nobody uses stay out.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Receiver, Stmt};

use crate::body::{Body, Front, async_trait_block, is_plain_item, like, mentions};
use crate::check::Limits;
use crate::expand::{ends, local};
use crate::function::Function;
use crate::krate;
use crate::output::{self, Holder};

/// The function with `check` in its place, and `rules` in front of everything, if they are not in the check.
pub(crate) fn checked(
    mut function: Function,
    rules: Option<&TokenStream>,
    check: &TokenStream,
    limits: &Limits,
    is_hidden: bool,
) -> TokenStream {
    let krate = &limits.krate;
    let ours = match function.built_future().cloned() {
        Some(body) => function.name_all(|name| mentions(check, name) || mentions(&body, name)),
        None => Vec::new(),
    };
    let names = Names::of(&function, &ours);
    let is_async = function.is_async();
    let output = function.sig.output.clone().into_token_stream();
    let (head, block, body) = function.into_parts();
    let value = |block: &Group, body: TokenStream| match (is_hidden, is_async) {
        (false, _) => body,
        (true, true) => {
            let block = like(block, body);
            quote!(#krate::__private::OrLimited::Returned(async move #block.await))
        }
        (true, false) => {
            let block = like(block, body);
            quote!(#krate::__private::OrLimited::returned_by(move || #block))
        }
    };
    let body = match body {
        Body::Top(body) => {
            let (Front { inner_attributes, items }, body) = Front::split(body);
            let taken = is_hidden.then(|| names.used(check, &body));
            let value = value(&block, quote!(#taken #body));
            quote!(#inner_attributes #items #check #value)
        }
        Body::Block(future) => {
            let (Front { inner_attributes, items }, body) = Front::split(future.body());
            let dropped = names.dropped(check, &body);
            let value = value(&block, body);
            future.with_body(quote!(#inner_attributes #items #check #dropped #value))
        }
        Body::Built(body, holder) => {
            let (Front { inner_attributes, items }, body) = Front::split(body);
            let taken = names.taken(check, &body);
            let body = like(&block, quote!(#taken #body));
            let named = output::is_nameable(&output).then_some(&output);
            let future = local("future");
            let value = if is_hidden {
                quote!(#krate::__private::OrLimited::Returned(#future.await))
            } else {
                quote!(#future.await)
            };
            let checked = quote! {
                #check
                let #future = #krate::__private::build(move || #named #body);
                #value
            };
            let held = held(&output, holder, limits, checked);
            quote!(#inner_attributes #items #rules #held)
        }
        Body::AsyncTrait(mut stmts) => {
            if let Some(written) = async_trait_block(&mut stmts) {
                let items = written.stmts.iter().take_while(|stmt| is_plain_item(stmt)).count();
                let body = written.stmts.split_off(items);
                let value = value(&block, quote!(#(#body)*));
                written.stmts.push(Stmt::Expr(syn::Expr::Verbatim(quote!(#check #value)), None));
            }
            quote!(#(#stmts)*)
        }
    };
    let block = like(&block, body);
    quote!(#head #block)
}

/// A future of ours, as the function must return it: at the return type, where rustc says what keeps it
/// from being `Send` or from living long enough.
fn held(output: &TokenStream, holder: Holder, limits: &Limits, body: TokenStream) -> TokenStream {
    let (first, last) = ends(output.clone().into_iter().skip("->".len()).collect::<TokenStream>());
    let group = |delimiter, inner| {
        let mut group = Group::new(delimiter, inner);
        group.set_span(last);
        group
    };
    let block = group(Delimiter::Brace, body);
    let future = quote_spanned!(first=> async move #block);
    if holder == Holder::Bare {
        return future;
    }
    let krate = if limits.krate_is_written {
        limits.krate.to_token_stream()
    } else {
        krate::at(first, &limits.krate)
    };
    let pinned = group(Delimiter::Parenthesis, future);
    let pinned = quote_spanned!(first=> #krate::__private::Box::pin #pinned);
    if holder == Holder::Pinned {
        return pinned;
    }
    let boxed = group(Delimiter::Parenthesis, pinned);
    quote_spanned!(first=> #krate::__private::Box::new #boxed)
}

/// The function with a statement at its top, which is no check: nothing else of it changes.
pub(crate) fn in_front(function: Function, stmt: TokenStream) -> TokenStream {
    let (head, block, body) = function.into_parts();
    let body = match body {
        Body::AsyncTrait(mut stmts) => {
            if let Some(written) = async_trait_block(&mut stmts) {
                written.stmts.insert(0, Stmt::Expr(syn::Expr::Verbatim(stmt), None));
            }
            quote!(#(#stmts)*)
        }
        body => {
            let (Front { inner_attributes, items }, body) = Front::split(quote!(#body));
            quote!(#inner_attributes #items #stmt #body)
        }
    };
    let block = like(&block, body);
    quote!(#head #block)
}

/// The names of the arguments, last to first: the order in which a function drops them.
struct Names(Vec<Name>);

struct Name {
    ident: Ident,
    /// It must not be dropped before the body has run: it is there by value, and might guard something.
    is_kept: bool,
}

impl Names {
    /// `ours`: those that arguments without a name have got.
    fn of(function: &Function, ours: &[Ident]) -> Self {
        let scope = function.scope();
        let mut names = Vec::new();
        for name in scope.names.iter().rev() {
            let Some(param) = scope.params.get(name.param) else { continue };
            if !param.maybe_absent {
                let ident = name.ident.clone();
                // To mention a `_name` of the user's is to use it, which clippy does not like.
                let is_quiet = ident.to_string().starts_with('_') && !ours.contains(&ident);
                names.push(Name { ident, is_kept: !param.is_reference && !is_quiet });
            }
        }
        if let Some(this) = scope.receiver {
            let is_reference = function.sig.receiver().is_some_and(is_borrowed);
            names.push(Name { ident: Ident::from(*this), is_kept: !is_reference });
        }
        Self(names)
    }

    /// The statement that moves what is used, and what might guard something, into a future. References
    /// that nobody uses may not live as long.
    fn taken(&self, check: &TokenStream, body: &TokenStream) -> TokenStream {
        mention(self.0.iter().filter(|name| name.is_kept || name.is_used(check, body)))
    }

    /// The statement that moves what is used.
    fn used(&self, check: &TokenStream, body: &TokenStream) -> TokenStream {
        mention(self.0.iter().filter(|name| name.is_used(check, body)))
    }

    /// The statement that drops what only the check uses: a function that is one `async` block has
    /// dropped it when that begins.
    fn dropped(&self, check: &TokenStream, body: &TokenStream) -> TokenStream {
        let idents = self.0.iter().map(|name| &name.ident);
        let only = idents.filter(|name| mentions(check, name) && !mentions(body, name));
        let only: Vec<_> = only.collect();
        if only.is_empty() { TokenStream::new() } else { quote!(let _ = (#(#only,)*);) }
    }
}

impl Name {
    fn is_used(&self, check: &TokenStream, body: &TokenStream) -> bool {
        mentions(check, &self.ident) || mentions(body, &self.ident)
    }
}

/// The statement that moves names into the closure or block whose first one it is.
fn mention<'a>(names: impl Iterator<Item = &'a Name>) -> TokenStream {
    let names: Vec<_> = names.map(|name| &name.ident).collect();
    match &names[..] {
        [] => TokenStream::new(),
        [name] => quote!(let _ = &#name;),
        names => quote!(let _ = (#(&#names),*);),
    }
}

/// `&self`, `&mut self`, `self: Pin<&mut Self>`
fn is_borrowed(receiver: &Receiver) -> bool {
    fn is_and(token: TokenTree) -> bool {
        match token {
            TokenTree::Punct(punct) => punct.as_char() == '&',
            TokenTree::Group(group) => group.stream().into_iter().any(is_and),
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        }
    }
    receiver.to_token_stream().into_iter().any(is_and)
}
