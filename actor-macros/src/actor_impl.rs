//! `#[actor]` on an `impl` block: the handle's methods, and the hooks.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{
    Error, Generics, Ident, ImplItem, ImplItemFn, ItemImpl, PathArguments, Result, Type, TypePath, Visibility,
    parse_quote_spanned, spanned::Spanned, visit_mut::VisitMut,
};

use crate::{
    attributes,
    errors::Errors,
    generics, hook,
    hook::Hook,
    krate,
    mark::{self, Mark},
    message,
    message::Message,
    options,
    self_type::WriteOut,
    spans, types,
};

/// What all that is generated for a block refers to.
pub(crate) struct Block<'a> {
    pub(crate) actor: &'a Type,
    /// With `'static` parameters, and `Self` written out.
    pub(crate) generics: Generics,
    pub(crate) krate: TokenStream,
}

pub(crate) fn expand(options: TokenStream, mut item: ItemImpl, errors: &mut Errors) -> Result<TokenStream> {
    let (mut is_main, mut path) = (true, None);
    for option in options::parse(options, errors) {
        match option.name.to_string().as_str() {
            "more" => is_main = errors.keep(option.bare()).is_none(),
            "crate" => path = errors.keep(option.path()),
            "mailbox" => errors.push(Error::new(
                option.name.span(),
                "`mailbox` goes on the struct: `#[actor(mailbox = n)] struct ..`",
            )),
            "overflow" => errors.push(Error::new(
                option.name.span(),
                "`overflow` goes on the struct: `#[actor(overflow = policy)] struct ..`",
            )),
            _ => errors.push(option.unknown("on an actor's `impl` block", "`more`, `crate = path`")),
        }
    }
    check(&item)?;
    let handle = handle_type(&item.self_ty)?;
    let (messages, hooks) = methods(&mut item, is_main, errors);
    let krate = krate::path(path.as_ref());
    let mut generics = generics::with_static(&item.generics);
    WriteOut(&item.self_ty).visit_generics_mut(&mut generics);
    let bound = {
        // As a bound, an attribute that is missing elsewhere is one error for all of this block.
        let (actor, span) = (&item.self_ty, item.self_ty.span());
        let (krate, needed) = (spans::placed(&krate, span), if is_main { "Typed" } else { "Actor" });
        let needed = Ident::new(needed, span);
        parse_quote_spanned!(span=> #actor: #krate::__macro::#needed)
    };
    generics.make_where_clause().predicates.push(bound);
    let block = Block { actor: &item.self_ty, generics, krate };
    let (actor, krate, allow) = (block.actor, &block.krate, attributes::allow_lints());
    let (conditions, levels) =
        (attributes::copied(&item.attrs, &["cfg"]), attributes::copied(&item.attrs, &["cfg", "allow", "expect"]));
    let (implemented, _, clause) = block.generics.split_for_impl();
    let actor_impl = is_main.then(|| {
        let hooks = hooks.iter().map(|hook| hook::actor_method(hook, &block));
        quote! {
            #(#conditions)*
            #[automatically_derived]
            #allow
            impl #implemented #krate::__macro::Actor for #actor #clause {
                #(#hooks)*
            }
        }
    });
    let handle_impl = (!messages.is_empty()).then(|| {
        let methods = messages.iter().map(|message| message::handle_method(message, &block));
        quote! {
            #(#levels)*
            #allow
            impl #implemented #handle #clause {
                #(#methods)*
            }
        }
    });
    Ok(quote!(#item #actor_impl #handle_impl))
}

/// What can't be the block of an actor.
fn check(item: &ItemImpl) -> Result<()> {
    attributes::no_second(&item.attrs)?;
    if let Some((path, _)) = &item.trait_ {
        return Err(Error::new_spanned(
            path,
            "messages are methods of the actor itself: move them to an `impl` block without a trait",
        ));
    }
    if let Some(parameter) = types::lifetime_parameter(&item.generics.params) {
        return Err(Error::new_spanned(parameter, generics::NO_LIFETIMES));
    }
    if let Some(lifetime) = types::lifetime(&item.self_ty) {
        return Err(Error::new_spanned(lifetime, generics::NO_LIFETIMES));
    }
    Ok(())
}

/// `Actor<T>` becomes `ActorHandle<T>`.
fn handle_type(actor: &Type) -> Result<TypePath> {
    let error = || Error::new_spanned(actor, "`#[actor]` goes on the `impl` block of a struct");
    let path = match actor {
        Type::Path(path) => path,
        // From a `macro_rules` parameter.
        Type::Group(group) => return handle_type(&group.elem),
        _ => return Err(error()),
    };
    let mut path = path.clone();
    let last = path.path.segments.last_mut().ok_or_else(error)?;
    if let PathArguments::Parenthesized(_) = &last.arguments {
        return Err(error());
    }
    last.ident = format_ident!("{}Handle", last.ident);
    Ok(path)
}

/// The methods of the block by their meaning. Leaves them in it, without our attributes.
fn methods(item: &mut ItemImpl, is_main: bool, errors: &mut Errors) -> (Vec<Message>, Vec<Hook>) {
    let (mut messages, mut hooks) = (Vec::new(), Vec::new());
    let mut seen = Vec::<(String, bool, bool)>::new();
    let actor = &item.self_ty;
    item.items.retain_mut(|item| {
        let ImplItem::Fn(method) = item else { return true };
        let name = method.sig.ident.to_string();
        let is_conditional = method.attrs.iter().any(attributes::is_conditional);
        let is_message = is_message(method);
        let is_duplicate = seen.iter().any(|(other, other_is_conditional, other_is_message)| {
            *other == name && !(*other_is_conditional && is_conditional) && (*other_is_message || is_message)
        });
        if is_duplicate {
            let text = format!("there is a method `{name}` already: a message needs a name of its own");
            errors.push(Error::new(method.sig.ident.span(), text));
            return false;
        }
        seen.push((name, is_conditional, is_message));
        let mark = mark::parse(&method.attrs, errors);
        match mark {
            Some((_, Mark::Skip)) => {}
            Some((marked, Mark::Hook(kind))) => {
                if !is_main {
                    errors.push(Error::new(
                        marked.span(),
                        "hooks go into the actor's main `impl` block, the one with `#[actor]` alone",
                    ));
                } else if let Some(hook) = errors.keep(Hook::new(method, marked, kind, actor)) {
                    hook::add(&mut hooks, hook, errors);
                }
                method.attrs.insert(0, attributes::allow_shape());
            }
            mark if is_message => {
                messages.push(Message::new(method, mark.map(|(_, mark)| mark), actor, errors));
                method.attrs.insert(0, attributes::allow_shape());
            }
            Some((marked, _)) => errors.push(Error::new(
                marked.span(),
                "this method is no message: a message is `pub` and has `&self` or `&mut self`",
            )),
            None => {}
        }
        method.attrs.retain(|attribute| !attributes::is_ours(attribute) && !attributes::hides_ours(attribute));
        true
    });
    (messages, hooks)
}

/// Whether the method would be a message, if nothing else is said.
fn is_message(method: &ImplItemFn) -> bool {
    !matches!(method.vis, Visibility::Inherited) && method.sig.receiver().is_some()
}
