//! What can't be a message, said where it stands and with what to write instead.

use syn::{
    Error, FnArg, GenericArgument, GenericParam, ImplItemFn, Pat, Path, PathArguments, ReceiverKind, Result,
    ReturnType, Safety, Type, TypeParamBound, spanned::Spanned,
};

/// The checks of a method's signature that do not depend on its arguments.
pub(crate) fn message(method: &ImplItemFn) -> Result<()> {
    let signature = &method.sig;
    receiver(method)?;
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new(
            parameter.span(),
            match parameter {
                GenericParam::Lifetime(_) => {
                    "a message has no lifetime parameters: it owns its arguments, since it moves to another thread"
                }
                GenericParam::Type(_) | GenericParam::Const(_) => {
                    "a message can't be generic: put the parameter on the actor, write the method once per type, or \
                     mark it `#[actor(skip)]`"
                }
            },
        ));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        return Err(Error::new(
            token.span(),
            "a message can't be `unsafe`: whoever holds a handle may send it; check in the method, or mark it \
             `#[actor(skip)]`",
        ));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, "a message is a Rust method: remove the ABI, or mark it `#[actor(skip)]`"));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new_spanned(variadic, "a message takes a fixed number of arguments"));
    }
    let name = signature.ident.to_string();
    if name == "into" || name == "try_into" {
        return Err(Error::new(
            signature.ident.span(),
            format!("`{name}` can't be a message name: every type has a method of that name already; choose another"),
        ));
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        if let Some(found) = impl_trait(ty) {
            return Err(Error::new_spanned(
                found,
                "a reply needs a type that can be named: write it out, or `Box<dyn Trait + Send>`",
            ));
        }
        if let Some(reference) = reference(ty) {
            return Err(Error::new_spanned(
                reference,
                format!("a reply moves to another thread: {}", owned(reference)),
            ));
        }
    }
    Ok(())
}

/// `&self` or `&mut self`.
pub(crate) fn receiver(method: &ImplItemFn) -> Result<()> {
    let Some(receiver) = method.sig.receiver() else {
        return Ok(());
    };
    match &receiver.kind {
        ReceiverKind::Reference(_, None, _) => Ok(()),
        ReceiverKind::Reference(_, Some(lifetime), _) => {
            Err(Error::new_spanned(lifetime, "write `&self` or `&mut self`, without a lifetime"))
        }
        _ => Err(Error::new_spanned(
            receiver,
            "an actor keeps its state: write `&self` or `&mut self`; to end the actor from inside, call `cx.stop()`",
        )),
    }
}

/// An argument of a message, without the context.
pub(crate) fn argument(argument: &FnArg, ty: &Type) -> Result<()> {
    if let FnArg::Typed(typed) = argument {
        if let Some(cfg) = typed.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
            return Err(Error::new_spanned(
                cfg,
                "`#[cfg]` on an argument can't reach the handle: put it on the method, and write the method twice",
            ));
        }
        if let Pat::Ident(pattern) = &*typed.pat
            && let Some(by_ref) = &pattern.by_ref
        {
            return Err(Error::new_spanned(by_ref, "a message owns its arguments: remove `ref`"));
        }
    }
    if let Some(found) = impl_trait(ty) {
        return Err(Error::new_spanned(
            found,
            "an argument needs a type that can be named: write it out, or `Box<dyn Trait + Send>`",
        ));
    }
    if let Some(reference) = reference(ty) {
        return Err(Error::new_spanned(
            reference,
            format!("a message owns its arguments, since it moves to another thread: {}", owned(reference)),
        ));
    }
    if let Some(lifetime) = lifetime(ty) {
        return Err(Error::new_spanned(
            lifetime,
            "a message owns its arguments, since it moves to another thread: only `'static` can stand here",
        ));
    }
    Ok(())
}

/// Parameters that an actor type can have: types and constants, not lifetimes.
pub(crate) fn no_lifetimes<'a>(parameters: impl IntoIterator<Item = &'a GenericParam>) -> Result<()> {
    for parameter in parameters {
        if let GenericParam::Lifetime(lifetime) = parameter {
            return Err(Error::new_spanned(
                lifetime,
                "an actor lives as long as it is needed, so it can't borrow: hold owned data, an `Rc` or an `Arc`",
            ));
        }
    }
    Ok(())
}

/// What to write for a reference.
fn owned(reference: &Type) -> String {
    let Type::Reference(reference) = reference else {
        return "write an owned type".into();
    };
    match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => "write `String`".into(),
        Type::Slice(_) => "write `Vec<T>` for a slice".into(),
        _ => "write the type itself, or an `Arc` of it".into(),
    }
}

/// A reference with a life shorter than the program's, anywhere in `ty`.
fn reference(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(reference) => {
            let is_static = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
            if is_static { self::reference(&reference.elem) } else { Some(ty) }
        }
        _ => inner(ty).into_iter().find_map(reference),
    }
}

fn impl_trait(ty: &Type) -> Option<&Type> {
    if matches!(ty, Type::ImplTrait(_)) { Some(ty) } else { inner(ty).into_iter().find_map(impl_trait) }
}

fn lifetime(ty: &Type) -> Option<&syn::Lifetime> {
    if let Type::Path(path) = ty {
        for argument in arguments(&path.path) {
            if let GenericArgument::Lifetime(lifetime) = argument
                && lifetime.ident != "static"
            {
                return Some(lifetime);
            }
        }
    }
    if let Type::TraitObject(object) = ty {
        for bound in &object.bounds {
            if let TypeParamBound::Lifetime(lifetime) = bound
                && lifetime.ident != "static"
            {
                return Some(lifetime);
            }
        }
    }
    inner(ty).into_iter().find_map(self::lifetime)
}

/// The types that `ty` is made of.
fn inner(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Path(path) => arguments(&path.path)
            .filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
            .collect(),
        Type::Tuple(tuple) => tuple.elems.iter().collect(),
        Type::Array(array) => vec![&array.elem],
        Type::Slice(slice) => vec![&slice.elem],
        Type::Paren(paren) => vec![&paren.elem],
        Type::Group(group) => vec![&group.elem],
        _ => Vec::new(),
    }
}

fn arguments(path: &Path) -> impl Iterator<Item = &GenericArgument> {
    path.segments.iter().flat_map(|segment| match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect::<Vec<_>>(),
        _ => Vec::new(),
    })
}
