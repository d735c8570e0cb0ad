//! A message: what a `pub` method with `self` means.

mod check;
mod expand;

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::{
    Attribute, Error, FnArg, ImplItemFn, Pat, PatType, Receiver, ReceiverKind, ReturnType, Type, Visibility,
    WhereClause, parse_quote_spanned, spanned::Spanned, visit_mut::VisitMut,
};

pub(crate) use self::{
    check::{no_condition, receiver},
    expand::handle_method,
};
use crate::{attributes, errors::Errors, mark::Mark, self_type::WriteOut, types};

/// A message. Its types have `Self` written out.
pub(crate) struct Message {
    /// Those of the method that the handle's method gets too.
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    is_async: bool,
    takes_mut: bool,
    parameters: Vec<Parameter>,
    clause: Option<WhereClause>,
    reply: Type,
    shape: Shape,
    /// The parenthesis of the arguments.
    parenthesis: Span,
    /// Without errors. One that has some gets a method on the handle all the same, so that its callers have none.
    is_sound: bool,
}

/// What a method is called with, in order.
enum Parameter {
    Argument {
        name: Ident,
        ty: Box<Type>,
    },
    Context {
        is_mut: bool,
        /// Of its type.
        span: Span,
    },
}

/// How the return type reaches the asker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A `Result`: its error becomes the ask's.
    Result,
    /// Something else, or a `Result` that is to be handed over whole.
    Plain,
    /// Something else, unless it is a `Result` under another name.
    Unnamed,
}

impl Message {
    pub(crate) fn new(method: &ImplItemFn, mark: Option<Mark>, actor: &Type, errors: &mut Errors) -> Self {
        let signature = &method.sig;
        let sound_signature = errors.keep(check::signature(&method.attrs, signature));
        // One mistake is one error: a lifetime parameter is there for an argument.
        let sound_arguments = sound_signature.and_then(|()| arguments_are_sound(method, errors));
        let sound_reply = sound_signature.and_then(|()| reply_is_sound(&signature.output, errors));
        let mut write_out = WriteOut(actor);
        let reply = match &signature.output {
            ReturnType::Type(_, ty) if sound_reply.is_some() => write_out.in_type(ty),
            _ => parse_quote_spanned!(signature.ident.span()=> ()),
        };
        let shape = match mark {
            _ if sound_reply.is_none() => Shape::Plain,
            Some(Mark::Result) => Shape::Result,
            Some(Mark::Plain) => Shape::Plain,
            _ if types::is_called(&reply, "Result") => Shape::Result,
            _ => Shape::Unnamed,
        };
        let mut clause = signature.generics.where_clause.clone();
        if let Some(clause) = &mut clause {
            write_out.visit_where_clause_mut(clause);
        }
        Self {
            attributes: attributes::copied(&method.attrs, &["cfg", "allow", "expect", "doc", "deprecated", "must_use"]),
            visibility: method.vis.clone(),
            name: signature.ident.clone(),
            is_async: signature.asyncness.is_some(),
            takes_mut: signature.receiver().is_some_and(takes_mut),
            parameters: parameters(method, &mut write_out),
            clause,
            reply,
            shape,
            parenthesis: signature.paren_token.span.join(),
            is_sound: sound_arguments.and(sound_reply).is_some(),
        }
    }

    /// The names and types that the handle's method takes.
    fn arguments(&self) -> impl Iterator<Item = (&Ident, &Type)> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument { name, ty } => Some((name, &**ty)),
            Parameter::Context { .. } => None,
        })
    }
}

/// Whether the receiver is `&mut self`.
fn takes_mut(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
        ReceiverKind::Typed(_, ty) => types::reference_to(ty, "Self") == Some(true),
        _ => false,
    }
}

/// Reports each argument that can't be one.
fn arguments_are_sound(method: &ImplItemFn, errors: &mut Errors) -> Option<()> {
    let (mut is_sound, mut contexts, mut arguments) = (true, 0, 0);
    for input in &method.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        is_sound &= errors.keep(check::parameter(typed)).is_some() && !types::is_refused(&typed.ty);
        if types::reference_to(&typed.ty, "Cx").is_none() {
            arguments += 1;
            continue;
        }
        contexts += 1;
        if contexts > 1 {
            is_sound = false;
            errors.push(Error::new_spanned(&typed.ty, "one `cx` is enough: both would be the same context"));
        }
    }
    if arguments > 12 {
        is_sound = false;
        errors.push(Error::new_spanned(
            &method.sig.inputs,
            format!("a message has 12 arguments at the most, and this one {arguments}: group some in a struct"),
        ));
    }
    is_sound.then_some(())
}

/// Reports a reply that can't be one.
fn reply_is_sound(output: &ReturnType, errors: &mut Errors) -> Option<()> {
    errors.keep(check::reply(output))?;
    match output {
        ReturnType::Type(_, ty) if types::is_refused(ty) => None,
        _ => Some(()),
    }
}

fn parameters(method: &ImplItemFn, write_out: &mut WriteOut<'_>) -> Vec<Parameter> {
    let typed = || {
        method.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(typed),
            FnArg::Receiver(_) => None,
        })
    };
    let taken: Vec<_> = typed()
        .filter_map(|PatType { pat, .. }| match &**pat {
            Pat::Ident(pattern) => Some(pattern.ident.to_string()),
            _ => None,
        })
        .collect();
    let named = typed().enumerate().map(|(index, PatType { pat, ty, .. })| {
        if let Some(is_mut) = types::reference_to(ty, "Cx") {
            return Parameter::Context { is_mut, span: ty.span() };
        }
        let name = match &**pat {
            Pat::Ident(pattern) => pattern.ident.clone(),
            // A pattern stays in the method; the handle needs a name.
            other => {
                let mut name = format!("arg{index}");
                while taken.contains(&name) {
                    name.push('_');
                }
                format_ident!("{name}", span = other.span())
            }
        };
        Parameter::Argument { name, ty: Box::new(write_out.in_type(ty)) }
    });
    named.collect()
}
