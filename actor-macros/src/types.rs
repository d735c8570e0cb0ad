//! Looks for what a message can't hold, anywhere in a type.

use syn::{GenericArgument, GenericParam, Lifetime, Path, PathArguments, Type, TypeParamBound, punctuated::Punctuated};

/// A reference with a life shorter than the program's.
pub(crate) fn reference(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(reference) if is_static(reference.lifetime.as_ref()) => self::reference(&reference.elem),
        Type::Reference(_) => Some(ty),
        _ => inner(ty).into_iter().find_map(reference),
    }
}

/// An `impl Trait`.
pub(crate) fn impl_trait(ty: &Type) -> Option<&Type> {
    if matches!(ty, Type::ImplTrait(_)) { Some(ty) } else { inner(ty).into_iter().find_map(impl_trait) }
}

/// A lifetime other than `'static`, as an argument or a bound.
pub(crate) fn lifetime(ty: &Type) -> Option<&Lifetime> {
    let own = match ty {
        Type::Path(path) => arguments(&path.path).find_map(|argument| match argument {
            GenericArgument::Lifetime(lifetime) => Some(lifetime),
            _ => None,
        }),
        Type::TraitObject(object) => object.bounds.iter().find_map(|bound| match bound {
            TypeParamBound::Lifetime(lifetime) => Some(lifetime),
            _ => None,
        }),
        _ => None,
    };
    own.filter(|lifetime| !is_static(Some(lifetime))).or_else(|| inner(ty).into_iter().find_map(self::lifetime))
}

/// Whether no method can have `ty` in its signature, since it has no size or is left out: rustc reports it, at the
/// user's own method.
pub(crate) fn is_refused(ty: &Type) -> bool {
    match ty {
        Type::TraitObject(_) | Type::Slice(_) | Type::Infer(_) => true,
        Type::Path(path) if path.path.is_ident("str") => true,
        _ => inner(ty).into_iter().any(|ty| matches!(ty, Type::Infer(_))),
    }
}

/// Whether `ty` is a reference to a `name`, and if so, whether it may change it.
pub(crate) fn reference_to(ty: &Type, name: &str) -> Option<bool> {
    match ty {
        Type::Reference(reference) if is_called(&reference.elem, name) => Some(reference.mutability.is_some()),
        Type::Group(group) => reference_to(&group.elem, name),
        _ => None,
    }
}

/// Whether the last segment of `ty` is `name`.
pub(crate) fn is_called(ty: &Type, name: &str) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| segment.ident == name),
        Type::Group(group) => is_called(&group.elem, name),
        Type::Paren(paren) => is_called(&paren.elem, name),
        _ => false,
    }
}

/// The first lifetime parameter.
pub(crate) fn lifetime_parameter<P>(parameters: &Punctuated<GenericParam, P>) -> Option<&GenericParam> {
    parameters.iter().find(|parameter| matches!(parameter, GenericParam::Lifetime(_)))
}

fn is_static(lifetime: Option<&Lifetime>) -> bool {
    lifetime.is_some_and(|lifetime| lifetime.ident == "static")
}

/// The types that `ty` is made of. What a function takes or returns is no part of it.
fn inner(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Path(path) => types(arguments(&path.path)).collect(),
        Type::TraitObject(object) => {
            let traits = object.bounds.iter().filter_map(|bound| match bound {
                TypeParamBound::Trait(bound) if bound.lifetimes.is_none() => Some(&bound.path),
                _ => None,
            });
            traits.flat_map(|path| types(arguments(path))).collect()
        }
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        Type::Array(array) => vec![&array.elem],
        Type::Slice(slice) => vec![&slice.elem],
        Type::Paren(paren) => vec![&paren.elem],
        Type::Group(group) => vec![&group.elem],
        Type::Ptr(pointer) => vec![&pointer.elem],
        _ => Vec::new(),
    }
}

fn types<'a>(arguments: impl Iterator<Item = &'a GenericArgument>) -> impl Iterator<Item = &'a Type> {
    arguments.filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        GenericArgument::AssocType(assigned) => Some(&assigned.ty),
        _ => None,
    })
}

fn arguments(path: &Path) -> impl Iterator<Item = &GenericArgument> {
    path.segments
        .iter()
        .filter_map(|segment| match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
            _ => None,
        })
        .flatten()
}
