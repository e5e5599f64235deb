//! A resolved key to tokens: an expression that builds the key.
//!
//! ```text
//! // Input
//! 'user:' + lower(user?.name) ?: 'anonymous'
//! // Output
//! KeyBuilder::new()
//!     .text("user:")
//!     .value_or(
//!         &key::lower(&key::or_nothing(&key::optional(&user).map(|it| &it.name))),
//!         "anonymous",
//!     )
//!     .finish()
//! ```

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::ast::FieldName;
use super::resolve::{Context, Function, Key, Piece, Place, Value};

/// What the tokens refer to.
pub(super) struct Target<'a> {
    /// The argument that the key is the value of.
    pub(super) arg: &'a str,
    /// The path of the facade.
    pub(super) krate: &'a syn::Path,
    /// An expression of type `Option<&[u8]>`: the limiter's secret.
    pub(super) secret: &'a TokenStream,
    /// Where the key is written: what is wrong with the type of a value is mended there.
    pub(super) at: Span,
}

impl Target<'_> {
    pub(super) fn key(&self, key: &Key) -> TokenStream {
        let mut chain = self.builder(key.uses_secret);
        for (n, part) in key.parts.iter().enumerate() {
            if n > 0 {
                chain.extend(quote!(.part()));
            }
            chain.extend(part.iter().map(|piece| self.piece(piece)));
        }
        quote!(#chain.finish())
    }

    fn builder(&self, uses_secret: bool) -> TokenStream {
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
                    let span = self.at;
                    let (value, default) = (self.maybe_absent(value), self.first(rest));
                    quote_spanned!(span=> .value_or(#value, #default))
                }
                [] => TokenStream::new(),
            },
            Piece::Value(value) => {
                let span = self.at;
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
            Value::Context(context) => self.context(context),
            Value::First(values) => self.first(values),
            Value::Call(function, argument) => self.call(*function, &self.present(argument)),
        }
    }

    /// A reference to a `MaybeKeyPart`.
    fn maybe_absent(&self, value: &Value) -> TokenStream {
        match value {
            Value::Call(function, argument) => self.call(*function, &self.or_nothing(argument)),
            value => self.present(value),
        }
    }

    /// A reference to a `KeyPart` that writes nothing when the value is not there.
    fn or_nothing(&self, value: &Value) -> TokenStream {
        match value {
            Value::Place(place) => {
                let span = self.at;
                let (name, value) = (self.function("or_nothing"), self.place(place));
                quote_spanned!(span=> &#name(#value))
            }
            value => self.maybe_absent(value),
        }
    }

    /// A reference to the first value that is there.
    fn first(&self, values: &[Value]) -> TokenStream {
        match values {
            [] => TokenStream::new(),
            [value] => self.present(value),
            [value, rest @ ..] => {
                let span = self.at;
                let name = self.function("first");
                let (value, rest) = (self.maybe_absent(value), self.first(rest));
                quote_spanned!(span=> &#name(#value, #rest))
            }
        }
    }

    /// A reference to a `KeyPart` that looks at the context of the request.
    fn context(&self, context: &Context) -> TokenStream {
        let name = match context {
            Context::Ip => "Ip",
            Context::Path => "Path",
            Context::Route => "Route",
            Context::Method => "Method",
            Context::User => "User",
            Context::Tenant => "Tenant",
            Context::Device => "Device",
            Context::Header(_) => "Header",
        };
        let name = self.function(name);
        let header = match context {
            Context::Header(header) => Some(quote!((#header))),
            _ => None,
        };
        quote!(&#name #header)
    }

    fn call(&self, function: Function, value: &TokenStream) -> TokenStream {
        let span = self.at;
        let (name, bits) = match function {
            Function::Lower => ("lower", None),
            Function::Trim => ("trim", None),
            Function::Digits => ("digits", None),
            Function::Fold => ("fold", None),
            Function::Hash => ("hash", None),
            Function::Prefix { v4_bits, v6_bits } => ("prefix", Some([v4_bits, v6_bits])),
        };
        let name = self.function(name);
        let bits = bits.into_iter().flatten().map(Literal::u8_unsuffixed);
        quote_spanned!(span=> &#name(#value #(, #bits)*))
    }

    /// The path of a function of the runtime, all of it at one place: an expression that begins
    /// somewhere else is drawn across everything in between.
    fn function(&self, name: &str) -> TokenStream {
        let span = self.at;
        let krate = self.krate.to_token_stream().into_iter().map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        });
        let krate: TokenStream = krate.collect();
        let name = Ident::new(name, span);
        quote_spanned!(span=> #krate::__private::key::#name)
    }

    /// A reference to the place, or to an `Option` of one when there is a `?.` on the way.
    fn place(&self, place: &Place) -> TokenStream {
        let span = self.at;
        let mut root = place.root.clone();
        root.set_span(root.span().located_at(span));
        let fields = self.fields(&place.fields);
        let direct = quote_spanned!(span=> &#root #fields);
        let Some((last, before)) = place.behind.split_last() else { return direct };

        let optional = self.function("optional");
        // A name that the key cannot mean.
        let it = Ident::new("it", Span::mixed_site());
        let mut tokens = quote_spanned!(span=> #optional(#direct));
        for fields in before {
            let fields = self.fields(fields);
            tokens.extend(quote_spanned!(span=> .and_then(|#it| #optional(&#it #fields))));
        }
        let fields = self.fields(last);
        quote_spanned!(span=> &#tokens.map(|#it| &#it #fields))
    }

    fn fields(&self, fields: &[FieldName]) -> TokenStream {
        let span = self.at;
        let field = |field: &FieldName| match field {
            FieldName::Named(name) => {
                let name = field_ident(name, span);
                quote_spanned!(span=> .#name)
            }
            FieldName::Indexed(index) => {
                let mut index = Literal::u32_unsuffixed(*index);
                index.set_span(span);
                quote_spanned!(span=> .#index)
            }
        };
        fields.iter().map(field).collect()
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
