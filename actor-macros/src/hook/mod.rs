//! A hook: a method that the runtime calls.

mod expand;

use proc_macro2::{Ident, Span};
use syn::{
    Attribute, Error, FnArg, ImplItemFn, PatType, ReturnType, Safety, Type, parse_quote_spanned, spanned::Spanned,
};

pub(crate) use self::expand::actor_method;
use crate::{attributes, errors::Errors, mark::HookKind, message, self_type::WriteOut, types};

/// A hook.
pub(crate) struct Hook {
    pub(crate) kind: HookKind,
    /// The word that marks it.
    pub(crate) marked: Ident,
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) name: Ident,
    is_async: bool,
    parameters: Vec<(Parameter, Span)>,
    /// With `Self` written out.
    output: Type,
}

/// What a hook is called with, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Context {
        is_mut: bool,
    },
    /// The exit reason, or the failure.
    Subject,
}

impl Hook {
    pub(crate) fn new(method: &ImplItemFn, marked: Ident, kind: HookKind, actor: &Type) -> syn::Result<Self> {
        let signature = &method.sig;
        check(method, &marked, kind)?;
        let mut parameters = Vec::<(Parameter, Span)>::new();
        for input in &signature.inputs {
            let FnArg::Typed(PatType { attrs, ty, .. }) = input else { continue };
            message::no_condition(attrs)?;
            let Some(parameter) = parameter(ty, kind) else {
                let text = format!("the {} hook is not given this: write {}", kind.name(), kind.example());
                return Err(Error::new_spanned(ty, text));
            };
            let is_context = |parameter| matches!(parameter, Parameter::Context { .. });
            if parameters.iter().any(|(other, _)| is_context(*other) == is_context(parameter)) {
                return Err(Error::new_spanned(ty, format!("this is given once: write {}", kind.example())));
            }
            parameters.push((parameter, ty.span()));
        }
        let output = match &signature.output {
            ReturnType::Type(_, ty) => WriteOut(actor).in_type(ty),
            ReturnType::Default => parse_quote_spanned!(signature.ident.span()=> ()),
        };
        Ok(Self {
            kind,
            marked,
            conditions: attributes::copied(&method.attrs, &["cfg"]),
            name: signature.ident.clone(),
            is_async: signature.asyncness.is_some(),
            parameters,
            output,
        })
    }
}

/// Adds a hook to those of the block, which has at most one of a kind, unless a `#[cfg]` chooses.
pub(crate) fn add(hooks: &mut Vec<Hook>, hook: Hook, errors: &mut Errors) {
    let clash = hooks
        .iter()
        .find(|other| other.kind == hook.kind && (other.conditions.is_empty() || hook.conditions.is_empty()));
    match clash {
        Some(first) => {
            let text = format!("`{}` is the {} hook already; an actor has one", first.name, hook.kind.name());
            errors.push(Error::new(hook.marked.span(), text));
        }
        None => hooks.push(hook),
    }
}

fn check(method: &ImplItemFn, marked: &Ident, kind: HookKind) -> syn::Result<()> {
    let (signature, name, example) = (&method.sig, kind.name(), kind.example());
    let Some(receiver) = signature.receiver() else {
        let text = format!("the {name} hook is a method of the running actor: write {example}");
        return Err(Error::new(marked.span(), text));
    };
    message::receiver(receiver)?;
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new_spanned(parameter, format!("a hook has no parameters: write {example}")));
    }
    if let Some(clause) = &signature.generics.where_clause {
        return Err(Error::new_spanned(clause, "a hook has no `where` clause: put it on the `impl` block"));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        return Err(Error::new(token.span(), format!("a hook can't be `unsafe`: write {example}")));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, format!("a hook is a Rust method: write {example}")));
    }
    if kind == HookKind::Error
        && let Some(token) = &signature.asyncness
    {
        return Err(Error::new(token.span(), format!("the {name} hook can't be `async`: write {example}")));
    }
    match &signature.output {
        ReturnType::Type(_, ty) if kind != HookKind::Start && !is_unit(ty) => {
            Err(Error::new_spanned(ty, format!("nobody takes what this hook returns: write {example}")))
        }
        ReturnType::Type(_, ty) if types::impl_trait(ty).is_some() => Err(Error::new_spanned(
            ty,
            format!("a start hook's outcome needs a type that can be named: write {example}"),
        )),
        _ => Ok(()),
    }
}

fn parameter(ty: &Type, kind: HookKind) -> Option<Parameter> {
    let subject = match kind {
        HookKind::Start => None,
        HookKind::Stop => Some("ExitReason"),
        HookKind::Error => Some("TellFailure"),
    };
    if subject.is_some_and(|subject| types::reference_to(ty, subject) == Some(false)) {
        return Some(Parameter::Subject);
    }
    let context = types::reference_to(ty, "Cx").filter(|_| kind != HookKind::Error);
    context.map(|is_mut| Parameter::Context { is_mut })
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}
