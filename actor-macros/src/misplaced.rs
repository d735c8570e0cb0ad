//! `#[actor]` on what can't be an actor.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{Error, ImplItem, Item, spanned::Spanned};

use crate::attributes;

/// The error, at the word that says what the item is.
pub(crate) fn error(item: &Item) -> Error {
    let (span, text) = match item {
        Item::Enum(item) => (item.enum_token.span(), "an actor is a struct: put the enum in a field of one"),
        Item::Union(item) => (item.union_token.span(), "an actor is a struct: put the union in a field of one"),
        Item::Fn(item) if item.sig.receiver().is_some() => {
            (item.sig.ident.span(), "`#[actor(..)]` on a method needs `#[actor]` on the `impl` block around it")
        }
        Item::Fn(item) => (
            item.sig.fn_token.span(),
            "`#[actor]` goes on a struct and on its `impl` block; an actor that is a function is started with \
             `rt.spawn_fn(..)`, and a main function has `#[actor_tokio::main]`",
        ),
        Item::Mod(item) => (
            item.mod_token.span(),
            "`#[actor]` goes on a struct and on its `impl` block: move it into the module, onto both",
        ),
        Item::Trait(item) => {
            (item.trait_token.span(), "an actor is a struct: write the messages as `pub` methods in its `impl` block")
        }
        Item::Type(item) => {
            (item.type_token.span(), "`#[actor]` goes on the struct's own definition, not on another name of it")
        }
        _ => (Span::call_site(), "`#[actor]` goes on a struct and on its `impl` block"),
    };
    Error::new(span, text)
}

/// The user's item without our attributes on its methods: they mean nothing outside `#[actor]`.
pub(crate) fn without_our_attributes(item: TokenStream) -> TokenStream {
    let Ok(Item::Impl(mut block)) = syn::parse2::<Item>(item.clone()) else {
        return item;
    };
    for method in &mut block.items {
        if let ImplItem::Fn(method) = method {
            method.attrs.retain(|attribute| !attributes::is_ours(attribute));
        }
    }
    block.into_token_stream()
}
