//! What a function returns, by the looks of the type: a name is known by its last segment, and an alias
//! cannot be seen through.

use proc_macro2::{TokenStream, TokenTree};
use syn::{GenericArgument, PathArguments, PathSegment, ReturnType, Type, TypeParamBound};

/// What a future has to be in, so that a function can return it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Nothing: `impl Future`.
    Bare,
    /// `Pin<Box<dyn Future>>`, `BoxFuture<'_, T>`, `LocalBoxFuture<'_, T>`, `impl Future + Unpin`.
    Pinned,
    /// `Box<dyn Future>`.
    Boxed,
}

/// How the function holds the future that it returns; `None` if it returns none.
pub(crate) fn holder(output: &ReturnType) -> Option<Holder> {
    match output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => holder_of(ty),
    }
}

fn holder_of(ty: &Type) -> Option<Holder> {
    match ty {
        Type::ImplTrait(ty) => {
            ty.bounds.iter().find_map(future_bound)?;
            let is_unpin = ty.bounds.iter().any(|bound| bound_named(bound, "Unpin").is_some());
            Some(if is_unpin { Holder::Pinned } else { Holder::Bare })
        }
        Type::Paren(ty) => holder_of(&ty.elem),
        Type::Group(ty) => holder_of(&ty.elem),
        Type::Path(ty) => {
            let last = ty.path.segments.last()?;
            if last.ident == "BoxFuture" || last.ident == "LocalBoxFuture" {
                return Some(Holder::Pinned);
            }
            let holder = match &*last.ident.to_string() {
                "Pin" => Holder::Pinned,
                "Box" => Holder::Boxed,
                _ => return None,
            };
            type_arguments(last).any(is_future).then_some(holder)
        }
        _ => None,
    }
}

fn is_future(ty: &Type) -> bool {
    match ty {
        Type::TraitObject(ty) => ty.bounds.iter().any(|bound| future_bound(bound).is_some()),
        Type::Paren(ty) => is_future(&ty.elem),
        Type::Group(ty) => is_future(&ty.elem),
        ty => holder_of(ty).is_some(),
    }
}

/// The `T` of `Future<Output = T>` and of `BoxFuture<'_, T>`.
pub(crate) fn future_output(ty: &Type) -> Option<&Type> {
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

fn type_arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The `Future<..>` of `dyn Future<..> + Send`.
fn future_bound(bound: &TypeParamBound) -> Option<&PathSegment> {
    bound_named(bound, "Future")
}

fn bound_named<'a>(bound: &'a TypeParamBound, name: &str) -> Option<&'a PathSegment> {
    match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().filter(|segment| segment.ident == name)
        }
        _ => None,
    }
}

/// Whether a type hides a web framework's response: `impl IntoResponse` and `impl Responder` cannot
/// say that a call was limited. Only of frameworks for which the runtime was built: it has a type
/// then that implements the trait and can hold a refusal.
pub(crate) fn hides_response(ty: &Type) -> bool {
    match response_trait(ty) {
        Some(ResponseTrait::IntoResponse) => cfg!(any(test, feature = "axum")),
        Some(ResponseTrait::Responder) => cfg!(any(test, feature = "actix")),
        None => false,
    }
}

/// A trait that web frameworks make a response of.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ResponseTrait {
    /// axum's.
    IntoResponse,
    /// actix-web's.
    Responder,
}

/// The trait of a response that a type hides behind, whatever the runtime was built for.
pub(crate) fn response_trait(ty: &Type) -> Option<ResponseTrait> {
    let Type::ImplTrait(ty) = ty else { return None };
    ty.bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let name = &bound.path.segments.last()?.ident;
        if name == "IntoResponse" {
            Some(ResponseTrait::IntoResponse)
        } else if name == "Responder" {
            Some(ResponseTrait::Responder)
        } else {
            None
        }
    })
}

/// Whether a type can be written where `impl Trait` cannot, as that of a closure.
pub(crate) fn is_nameable(ty: &TokenStream) -> bool {
    !ty.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => !is_nameable(&group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;

    use super::*;

    fn held(ty: &str) -> Option<Holder> {
        holder_of(&syn::parse_str(ty).unwrap())
    }

    #[test]
    fn futures_are_known_by_their_looks() {
        for (ty, holder) in [
            ("impl Future<Output = u8>", Some(Holder::Bare)),
            ("impl core::future::Future + Send + 'a", Some(Holder::Bare)),
            ("(impl Send + Future<Output = u8>)", Some(Holder::Bare)),
            ("impl Future<Output = u8> + Unpin", Some(Holder::Pinned)),
            ("Pin<Box<dyn Future<Output = u8> + Send + '_>>", Some(Holder::Pinned)),
            ("std::pin::Pin<Box<impl Future>>", Some(Holder::Pinned)),
            ("futures::future::BoxFuture<'a, u8>", Some(Holder::Pinned)),
            ("LocalBoxFuture<'_, u8>", Some(Holder::Pinned)),
            ("Box<dyn Future<Output = u8>>", Some(Holder::Boxed)),
            ("Box<Pin<Box<dyn Future>>>", Some(Holder::Boxed)),
            ("impl Stream<Item = u8>", None),
            ("Pin<Box<dyn Stream<Item = u8>>>", None),
            ("Result<impl Future, E>", None),
            ("Boxed", None),
            ("Ready<u8>", None),
            ("Pin<&mut dyn Future>", None),
            ("Box<u8>", None),
        ] {
            assert_eq!(held(ty), holder, "{ty}");
        }
    }

    #[test]
    fn the_output_of_a_future() {
        for (ty, output) in [
            ("impl Future<Output = Option<u8>> + Send", Some("Option < u8 >")),
            ("Pin<Box<dyn Send + Future<Output = u8>>>", Some("u8")),
            ("BoxFuture<'a, u8>", Some("u8")),
            ("impl Future", None),
        ] {
            let ty = syn::parse_str(ty).unwrap();
            let found = future_output(&ty).map(|ty| ty.to_token_stream().to_string());
            assert_eq!(found.as_deref(), output);
        }
    }

    #[test]
    fn what_can_be_named() {
        let can = |ty: &str| is_nameable(&ty.parse().unwrap());
        assert!(can("-> Pin<Box<dyn Future<Output = u8>>>"));
        assert!(!can("-> Pin<Box<impl Future>>"));
        assert!(!can("-> BoxFuture<'_, (impl Sized, u8)>"));
    }
}
