//! A resolved key to tokens: an expression that builds the key.
//!
//! ```text
//! // Input
//! 'user:' + lower(user?.name) ?: 'anonymous'
//! // Output
//! KeyBuilder::new()
//!     .text("user:")
//!     .value_or(
//!         &key::maybe(&key::optional(&user).map(|it| &it.name)).map(|it| key::lower(it)),
//!         "anonymous",
//!     )
//!     .finish()
//! ```

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::ast::FieldName;
use super::resolve::{Function, Key, Piece, Place, Value};

/// What the tokens refer to.
pub(super) struct Target<'a> {
    /// The path of the facade.
    pub(super) krate: &'a syn::Path,
    /// An expression of type `Option<&[u8]>`: the limiter's secret.
    pub(super) secret: &'a TokenStream,
    /// Where the key is written.
    pub(super) at: Span,
}

impl Target<'_> {
    pub(super) fn key(&self, key: &Key) -> TokenStream {
        let krate = self.krate;
        let mut chain = self.builder(key.uses_secret);
        for (n, part) in key.parts.iter().enumerate() {
            if n > 0 {
                chain.extend(quote!(.part()));
            }
            for piece in part {
                chain.extend(self.piece(piece));
            }
        }
        let _ = krate;
        quote!(#chain.finish())
    }

    pub(super) fn builder(&self, uses_secret: bool) -> TokenStream {
        let Self { krate, secret, .. } = self;
        if uses_secret {
            quote!(#krate::__private::KeyBuilder::with_secret(#secret))
        } else {
            quote!(#krate::__private::KeyBuilder::new())
        }
    }

    fn piece(&self, piece: &Piece) -> TokenStream {
        match piece {
            Piece::Text(text) => quote!(.text(#text)),
            Piece::Value(Value::First(values)) => match values.as_slice() {
                [value, rest @ ..] => {
                    let span = self.span_of(value);
                    let (value, default) = (self.maybe_absent(value), self.first(rest));
                    quote_spanned!(span=> .value_or(#value, #default))
                }
                [] => TokenStream::new(),
            },
            Piece::Value(value) => {
                let span = self.span_of(value);
                let value = self.present(value);
                quote_spanned!(span=> .value(#value))
            }
        }
    }

    /// A reference to a `KeyPart`.
    fn present(&self, value: &Value) -> TokenStream {
        match value {
            Value::Constant(text) => quote!(#text),
            Value::Place(place) => self.place(place),
            Value::First(values) => self.first(values),
            Value::Call(function, value) => {
                let function = self.call(*function, &self.present(value));
                quote!(&#function)
            }
        }
    }

    /// A reference to a `MaybeKeyPart`.
    fn maybe_absent(&self, value: &Value) -> TokenStream {
        let Value::Call(function, value) = value else { return self.present(value) };
        let krate = self.krate;
        let it = Ident::new("it", Span::mixed_site());
        let value = self.maybe_absent(value);
        let call = self.call(*function, &quote!(#it));
        quote!(&#krate::__private::key::maybe(#value).map(|#it| #call))
    }

    /// A reference to the first value that is there.
    fn first(&self, values: &[Value]) -> TokenStream {
        let krate = self.krate;
        match values {
            [] => TokenStream::new(),
            [value] => self.present(value),
            [value, rest @ ..] => {
                let (value, rest) = (self.maybe_absent(value), self.first(rest));
                quote!(&#krate::__private::key::first(#value, #rest))
            }
        }
    }

    fn call(&self, function: Function, value: &TokenStream) -> TokenStream {
        let krate = self.krate;
        match function {
            Function::Lower => quote!(#krate::__private::key::lower(#value)),
            Function::Trim => quote!(#krate::__private::key::trim(#value)),
            Function::Hash => quote!(#krate::__private::key::hash(#value)),
            Function::Prefix { bits } => quote!(#krate::__private::key::prefix(#value, #bits)),
        }
    }

    /// A reference to the place, or to an `Option` of one when there is a `?.` on the way.
    fn place(&self, place: &Place) -> TokenStream {
        let krate = self.krate;
        let root = &place.root;
        let fields = self.fields(&place.fields);
        let mut tokens = quote!(&#root #fields);
        let it = Ident::new("it", Span::mixed_site());
        for (n, fields) in place.behind.iter().enumerate() {
            let fields = self.fields(fields);
            tokens = if n == 0 {
                quote!(#krate::__private::key::optional(#tokens))
            } else {
                quote!(#tokens)
            };
            tokens = if n + 1 == place.behind.len() {
                quote!(&#tokens.map(|#it| &#it #fields))
            } else {
                quote!(#tokens.and_then(|#it| #krate::__private::key::optional(&#it #fields)))
            };
        }
        tokens
    }

    fn fields(&self, fields: &[FieldName]) -> TokenStream {
        fields
            .iter()
            .map(|field| match field {
                FieldName::Named(name) => {
                    let name = field_ident(name, self.at);
                    quote_spanned!(self.at=> .#name)
                }
                FieldName::Indexed(index) => {
                    let mut index = Literal::u32_unsuffixed(*index);
                    index.set_span(self.at);
                    quote_spanned!(self.at=> .#index)
                }
            })
            .collect()
    }

    fn span_of(&self, value: &Value) -> Span {
        let _ = value;
        self.at
    }
}

/// A field's name; one that is a keyword as `r#type`.
fn field_ident(name: &str, span: Span) -> Ident {
    // `gen` is a keyword where the function stands, whatever this crate is compiled as.
    if name != "gen" && syn::parse_str::<Ident>(name).is_ok() {
        Ident::new(name, span)
    } else {
        Ident::new_raw(name, span)
    }
}
