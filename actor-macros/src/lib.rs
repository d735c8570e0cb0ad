//! The macros of `actor-tokio`, which re-exports them: use them from there.
//!
//! An attribute is parsed into what the user wrote ([`options`]), checked into what it means ([`item`]), and expanded
//! ([`expand_struct`], [`expand_impl`], [`main_fn`]). Every error points at the user's token and says what to write
//! instead; on an error the user's item is kept, so that it is the only one reported.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod check;
mod expand_impl;
mod expand_struct;
mod item;
mod krate;
mod main_fn;
mod options;
mod self_type;

use proc_macro::TokenStream;
use quote::quote;
use syn::{Item, spanned::Spanned};

/// Makes an actor of a struct and its `impl` block.
///
/// On the **struct** it makes the typed handle, `NameHandle`. Options: `mailbox = n` (messages that the mailbox holds),
/// `crate = path`.
///
/// On its main **`impl` block** every `pub` method with `&self` or `&mut self`, `async` or not, becomes a message: the
/// handle gets a method of the same name, documentation and visibility that returns a `Call`. An argument
/// `cx: &mut Cx<Self>` is the actor's context and no part of the message. Private methods, and those without `self`,
/// stay what they are. Options: `more` for a further block (without hooks), `crate = path`.
///
/// On a **method**: `#[actor(skip)]` keeps a `pub` method from being a message; `#[actor(on_start)]`,
/// `#[actor(on_stop)]` and `#[actor(on_error)]` make it a hook; `#[actor(result)]` and `#[actor(plain)]` say whether a
/// return type that is a `Result` under another name is to be flattened.
#[proc_macro_attribute]
pub fn actor(options: TokenStream, input: TokenStream) -> TokenStream {
    let original = input.clone();
    let expanded = syn::parse::<Item>(input).and_then(|item| match item {
        Item::Struct(item) => expand_struct::expand(options.into(), item),
        Item::Impl(item) => expand_impl::expand(options.into(), item),
        other => Err(syn::Error::new(
            other.span(),
            "`#[actor]` goes on a struct and on its `impl` block; for other state, wrap it in a struct",
        )),
    });
    match expanded {
        Ok(tokens) => tokens.into(),
        Err(error) => with_original(&error, original),
    }
}

/// Runs an `async fn main` in a `ShardedRuntime`: `#[actor_tokio::main]`, or with options
/// `#[actor_tokio::main(cores = 2)]`.
///
/// The function runs in the runtime's `block_on`, where `RuntimeHandle::current()` finds it; then the runtime is shut
/// down. A runtime that cannot be built is an error message and exit code 1. Options are the builder's settings of the
/// same names: `cores`, `core_ids`, `pin`, `mailbox_capacity`, `ring_capacity`, `ask_timeout`, `max_blocking_threads`,
/// `slice`, `thread_name`; and `crate = path`.
#[proc_macro_attribute]
pub fn main(options: TokenStream, input: TokenStream) -> TokenStream {
    let original = input.clone();
    match syn::parse(input).and_then(|function| main_fn::expand(options.into(), function)) {
        Ok(tokens) => tokens.into(),
        Err(error) => with_original(&error, original),
    }
}

/// The error beside the user's own item, so that names in it still resolve.
fn with_original(error: &syn::Error, original: TokenStream) -> TokenStream {
    let (error, original) = (error.to_compile_error(), strip::actor_attributes(original.into()));
    quote!(#original #error).into()
}

mod strip {
    //! The user's item without our attributes on its methods: they mean nothing outside `#[actor]`.

    use proc_macro2::TokenStream;
    use quote::ToTokens;
    use syn::{ImplItem, Item};

    pub(crate) fn actor_attributes(item: TokenStream) -> TokenStream {
        let Ok(Item::Impl(mut block)) = syn::parse2::<Item>(item.clone()) else {
            return item;
        };
        for method in &mut block.items {
            if let ImplItem::Fn(method) = method {
                method.attrs.retain(|attribute| !crate::options::is_ours(attribute));
            }
        }
        block.into_token_stream()
    }
}
