//! What can't be a message, said where it stands and with what to write instead.

use syn::{
    Attribute, Error, GenericParam, Pat, PatType, Receiver, ReceiverKind, Result, ReturnType, Safety, Signature, Type,
};

use crate::{attributes, types};

/// All of a signature but its arguments and its return type.
pub(super) fn signature(attributes: &[Attribute], signature: &Signature) -> Result<()> {
    if let Some(receiver) = signature.receiver() {
        self::receiver(receiver)?;
    }
    if let Some(parameter) = signature.generics.params.first() {
        let text = match parameter {
            GenericParam::Lifetime(_) => {
                "a message has no lifetime parameters: it owns its arguments, since it moves to another thread"
            }
            GenericParam::Type(_) | GenericParam::Const(_) => {
                "a message can't be generic: put the parameter on the actor, write the method once per type, or mark \
                 it `#[actor(skip)]`"
            }
        };
        return Err(Error::new_spanned(parameter, text));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        return Err(Error::new(
            token.span,
            "a message can't be `unsafe`: whoever holds a handle may send it; check in the method, or mark it \
             `#[actor(skip)]`",
        ));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, "a message is a Rust method: remove the ABI, or mark it `#[actor(skip)]`"));
    }
    if let Some(feature) = attributes.iter().find(|attribute| attribute.path().is_ident("target_feature")) {
        return Err(Error::new_spanned(
            feature,
            "a message can't ask for CPU features, since its caller can't tell whether they are there: detect them in the \
             method, or mark it `#[actor(skip)]`",
        ));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new_spanned(variadic, "a message takes a fixed number of arguments"));
    }
    if signature.ident == "into" || signature.ident == "try_into" {
        let text = format!(
            "`{}` can't be a message: every type has a method of that name already; choose another name",
            signature.ident
        );
        return Err(Error::new(signature.ident.span(), text));
    }
    Ok(())
}

/// `&self` or `&mut self`.
pub(crate) fn receiver(receiver: &Receiver) -> Result<()> {
    let lifetime = match &receiver.kind {
        ReceiverKind::Reference(_, lifetime, _) => lifetime.as_ref(),
        ReceiverKind::Typed(_, ty) => match &**ty {
            Type::Reference(reference) if types::is_called(&reference.elem, "Self") => reference.lifetime.as_ref(),
            _ => return Err(by_value(receiver)),
        },
        _ => return Err(by_value(receiver)),
    };
    match lifetime {
        Some(lifetime) => Err(Error::new_spanned(lifetime, "write `&self` or `&mut self`, without a lifetime")),
        None => Ok(()),
    }
}

fn by_value(receiver: &Receiver) -> Error {
    Error::new_spanned(
        receiver,
        "an actor keeps its state: write `&self` or `&mut self` (to end the actor from inside, call `cx.stop()`), or \
         mark the method `#[actor(skip)]`",
    )
}

/// One argument, the context included.
pub(super) fn parameter(PatType { attrs, pat, ty, .. }: &PatType) -> Result<()> {
    no_condition(attrs)?;
    if types::reference_to(ty, "Cx").is_some() {
        return Ok(());
    }
    if types::is_called(ty, "Cx") {
        return Err(Error::new_spanned(ty, "the context is lent: write `cx: &mut Cx<Self>`"));
    }
    if let Pat::Ident(pattern) = &**pat
        && let Some(by_ref) = &pattern.by_ref
    {
        return Err(Error::new_spanned(by_ref, "a message owns its arguments: remove `ref`"));
    }
    if let Some(found) = types::impl_trait(ty) {
        return Err(Error::new_spanned(
            found,
            "an argument needs a type that can be named: write it out, or `Box<dyn Trait + Send>`",
        ));
    }
    owned(ty, "a message owns its arguments, since it moves to another thread")
}

/// An argument can't be left out: the handle can't follow.
pub(crate) fn no_condition(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| attributes::is_conditional(attribute)) {
        Some(condition) => Err(Error::new_spanned(
            condition,
            "`#[cfg]` on an argument can't reach the handle: write the method twice, each with its `#[cfg]`",
        )),
        None => Ok(()),
    }
}

/// The return type.
pub(super) fn reply(output: &ReturnType) -> Result<()> {
    let ReturnType::Type(_, ty) = output else {
        return Ok(());
    };
    if let Type::Never(never) = ty.as_ref() {
        return Err(Error::new_spanned(never, "a reply needs a type: write `std::convert::Infallible`"));
    }
    if let Some(found) = types::impl_trait(ty) {
        return Err(Error::new_spanned(
            found,
            "a reply needs a type that can be named: write it out, or `Box<dyn Trait + Send>`",
        ));
    }
    owned(ty, "a reply owns what it holds, since it moves to another thread")
}

/// Refuses a type that borrows.
fn owned(ty: &Type, because: &str) -> Result<()> {
    if let Some(reference) = types::reference(ty) {
        return Err(Error::new_spanned(reference, format!("{because}: write {}", instead_of(reference))));
    }
    if let Some(lifetime) = types::lifetime(ty) {
        return Err(Error::new_spanned(lifetime, format!("{because}: only `'static` can stand here")));
    }
    Ok(())
}

/// What to write for a reference.
fn instead_of(reference: &Type) -> &'static str {
    let Type::Reference(reference) = reference else {
        return "an owned type";
    };
    match &*reference.elem {
        Type::Path(path) if path.path.is_ident("str") => "`String`",
        Type::Slice(_) => "`Vec<T>`",
        Type::TraitObject(_) => "`Box<dyn Trait + Send>` or `Arc<dyn Trait + Send + Sync>`",
        _ => "the type itself, or an `Arc` of it",
    }
}
