//! What an `impl` block's methods mean: messages, hooks, or neither.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::{
    Attribute, Error, FnArg, ImplItem, ImplItemFn, ItemImpl, Pat, PatType, Result, ReturnType, Type, Visibility,
    parse_quote, spanned::Spanned,
};

use crate::{
    check,
    options::{self, Hook, Mark},
    self_type,
};

/// A message.
pub(crate) struct Message {
    /// Those of the method that the handle's method gets too.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) is_async: bool,
    pub(crate) takes_mut: bool,
    pub(crate) parameters: Vec<Parameter>,
    /// With `Self` written out.
    pub(crate) reply: Type,
    pub(crate) shape: Shape,
    /// The parenthesis of the arguments.
    pub(crate) parenthesis: Span,
}

/// What a method is called with, in order.
pub(crate) enum Parameter {
    Argument { name: Ident, ty: Box<Type> },
    Context { is_mut: bool },
}

/// How the return type reaches the asker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A `Result`: its error becomes the ask's.
    Result,
    /// Something else, or a `Result` that is to be handed over whole.
    Plain,
    /// Something else, unless it is a `Result` under another name.
    Unnamed,
}

/// A hook.
pub(crate) struct HookMethod {
    pub(crate) hook: Hook,
    pub(crate) marked: Ident,
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) name: Ident,
    pub(crate) is_async: bool,
    pub(crate) parameters: Vec<HookParameter>,
}

/// What a hook is called with, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookParameter {
    Context,
    /// The exit reason, or the failure.
    Subject,
}

/// A method's meaning.
pub(crate) enum Meaning {
    Message(Box<Message>),
    Hook(HookMethod),
    Neither,
}

/// The methods of the block, with all that is wrong with them.
pub(crate) fn methods(block: &ItemImpl) -> Result<(Vec<Message>, Vec<HookMethod>)> {
    let (mut messages, mut hooks, mut errors) = (Vec::new(), Vec::<HookMethod>::new(), None::<Error>);
    for item in &block.items {
        let ImplItem::Fn(method) = item else { continue };
        match meaning(method, &block.self_ty) {
            Ok(Meaning::Message(message)) => messages.push(*message),
            Ok(Meaning::Hook(hook)) => {
                if let Some(first) = hooks.iter().find(|other| other.hook == hook.hook && other.cfg.is_empty()) {
                    let text = format!("`{}` is the {} hook already; an actor has one", first.name, hook.hook.name());
                    collect(&mut errors, Error::new(hook.marked.span(), text));
                }
                hooks.push(hook);
            }
            Ok(Meaning::Neither) => {}
            Err(error) => collect(&mut errors, error),
        }
    }
    errors.map_or(Ok((messages, hooks)), Err)
}

fn collect(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

fn meaning(method: &ImplItemFn, actor: &Type) -> Result<Meaning> {
    let mark = options::mark(&method.attrs)?;
    let is_public = !matches!(method.vis, Visibility::Inherited);
    match mark {
        Some((_, Mark::Skip)) => Ok(Meaning::Neither),
        Some((marked, Mark::Hook(kind))) => hook(method, marked, kind).map(Meaning::Hook),
        Some((marked, _)) if !is_public || method.sig.receiver().is_none() => Err(Error::new(
            marked.span(),
            "this method is no message: a message is `pub` and has `&self` or `&mut self`",
        )),
        mark if is_public && method.sig.receiver().is_some() => {
            message(method, actor, mark.map(|(_, mark)| mark)).map(|message| Meaning::Message(Box::new(message)))
        }
        _ => Ok(Meaning::Neither),
    }
}

fn message(method: &ImplItemFn, actor: &Type, mark: Option<Mark>) -> Result<Message> {
    check::message(method)?;
    let signature = &method.sig;
    let mut parameters = Vec::new();
    for (index, input) in signature.inputs.iter().enumerate() {
        let FnArg::Typed(PatType { pat, ty, .. }) = input else {
            continue;
        };
        if let Some(is_mut) = context(ty) {
            if parameters.iter().any(|other| matches!(other, Parameter::Context { .. })) {
                return Err(Error::new(ty.span(), "one `cx` is enough: both would be the same context"));
            }
            parameters.push(Parameter::Context { is_mut });
            continue;
        }
        check::argument(input, ty)?;
        // A pattern stays in the method; the handle needs a name.
        let name = match &**pat {
            Pat::Ident(pattern) => pattern.ident.clone(),
            other => format_ident!("arg{}", index, span = other.span()),
        };
        parameters.push(Parameter::Argument { name, ty: Box::new(self_type::written_out(ty, actor)) });
    }
    let arguments = parameters.iter().filter(|parameter| matches!(parameter, Parameter::Argument { .. })).count();
    if arguments > 12 {
        return Err(Error::new(
            signature.inputs.span(),
            format!("a message has 12 arguments at the most, and this one {arguments}: group some in a struct"),
        ));
    }
    let reply: Type = match &signature.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, ty) => self_type::written_out(ty, actor),
    };
    let shape = match mark {
        Some(Mark::Result) => Shape::Result,
        Some(Mark::Plain) => Shape::Plain,
        _ if is_named_result(&reply) => Shape::Result,
        _ => Shape::Unnamed,
    };
    let takes_mut = signature.receiver().is_some_and(
        |receiver| matches!(&receiver.kind, syn::ReceiverKind::Reference(_, _, mutability) if mutability.is_some()),
    );
    Ok(Message {
        attributes: method.attrs.iter().filter(|attribute| reaches_handle(attribute)).cloned().collect(),
        visibility: method.vis.clone(),
        name: signature.ident.clone(),
        is_async: signature.asyncness.is_some(),
        takes_mut,
        parameters,
        reply,
        shape,
        parenthesis: signature.paren_token.span.join(),
    })
}

fn hook(method: &ImplItemFn, marked: Ident, hook: Hook) -> Result<HookMethod> {
    let signature = &method.sig;
    let shape = match hook {
        Hook::Start => "`async fn begin(&mut self, cx: &mut Cx<Self>) -> Result<(), E>`",
        Hook::Stop => "`async fn end(&mut self, reason: &ExitReason, cx: &mut Cx<Self>)`",
        Hook::Error => "`fn failed(&mut self, failure: &TellFailure<'_>)`",
    };
    if signature.receiver().is_none() {
        return Err(Error::new(
            marked.span(),
            format!("the {} hook is a method of the running actor: write {shape}", hook.name()),
        ));
    }
    check::receiver(method)?;
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new(parameter.span(), format!("a hook has no parameters: write {shape}")));
    }
    if hook == Hook::Error
        && let Some(token) = &signature.asyncness
    {
        return Err(Error::new(token.span(), format!("the on_error hook can't be `async`: write {shape}")));
    }
    let subject = match hook {
        Hook::Start => None,
        Hook::Stop => Some("ExitReason"),
        Hook::Error => Some("TellFailure"),
    };
    let mut parameters = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(PatType { ty, .. }) = input else {
            continue;
        };
        let parameter = if hook != Hook::Error && context(ty) == Some(true) {
            HookParameter::Context
        } else if subject.is_some_and(|subject| is_reference_to(ty, subject)) {
            HookParameter::Subject
        } else {
            return Err(Error::new(ty.span(), format!("the {} hook is not given this: write {shape}", hook.name())));
        };
        if parameters.contains(&parameter) {
            return Err(Error::new(ty.span(), format!("this is given once: write {shape}")));
        }
        parameters.push(parameter);
    }
    if hook != Hook::Start
        && let ReturnType::Type(_, ty) = &signature.output
        && !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        return Err(Error::new_spanned(ty, format!("nobody takes what this hook returns: write {shape}")));
    }
    Ok(HookMethod {
        hook,
        marked,
        cfg: method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect(),
        name: signature.ident.clone(),
        is_async: signature.asyncness.is_some(),
        parameters,
    })
}

/// Whether `ty` is a reference to a context, and if so, whether to change it.
fn context(ty: &Type) -> Option<bool> {
    match ty {
        Type::Reference(reference) if is_reference_to(ty, "Cx") => Some(reference.mutability.is_some()),
        _ => None,
    }
}

fn is_reference_to(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Reference(reference)
        if matches!(&*reference.elem, Type::Path(path)
            if path.path.segments.last().is_some_and(|segment| segment.ident == name)))
}

fn is_named_result(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == "Result"))
}

/// What is said about a method to its callers is said about the handle's too; what changes the method itself
/// (`#[tracing::instrument]`, `#[inline]`) is not.
fn reaches_handle(attribute: &Attribute) -> bool {
    ["doc", "cfg", "cfg_attr", "deprecated", "must_use", "allow", "expect", "warn", "deny"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}
