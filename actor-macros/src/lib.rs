//! The macros of `actor-tokio`, which re-exports them: use them from there.
//!
//! An attribute is parsed into what the user wrote (`options`, `mark`), checked into what it means (`message`,
//! `hook`), and expanded (`actor_struct`, `actor_impl`, `main_fn`). Every error points at the user's token and
//! says what to write instead; all else of the item is expanded beside it, so that it is the only one reported.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod actor_impl;
mod actor_struct;
mod attributes;
mod errors;
mod generics;
mod hook;
mod krate;
mod main_fn;
mod mark;
mod message;
mod misplaced;
mod options;
mod self_type;
mod spans;
#[cfg(test)]
mod tests;
mod types;

use proc_macro::TokenStream;
use quote::{ToTokens, quote};
use syn::{Item, Result};

use self::errors::Errors;

/// Makes an actor of a struct and its `impl` block.
///
/// On the **struct** it makes the typed handle, `NameHandle`. Options: `mailbox = n` (messages that the mailbox holds;
/// the runtime's default is 256), `overflow = policy` (what becomes of a message for a full mailbox: `Wait`, which is
/// the default, `Reject`, `DropOldest` or `DropNewest`), `crate = path` (of `actor_tokio`, when it is only reached
/// through another crate).
///
/// On its main **`impl` block** every method with a visibility (`pub`, `pub(crate)`, ..) and `&self` or `&mut self`,
/// `async` or not, becomes a message: the handle gets a method of the same name, documentation and visibility that
/// returns a `Call`. An argument `cx: &mut Cx<Self>` is the actor's context and no part of the message. Private
/// methods, and those without `self`, stay what they are. Options: `more` for a further block (without hooks),
/// `crate = path`.
///
/// On a **method** of such a block: `#[actor(skip)]` keeps it from being a message; `#[actor(on_start)]`,
/// `#[actor(on_stop)]` and `#[actor(on_error)]` make it a hook; `#[actor(result)]` and `#[actor(plain)]` say whether a
/// return type that is a `Result` under another name is to be flattened.
#[proc_macro_attribute]
pub fn actor(options: TokenStream, input: TokenStream) -> TokenStream {
    expand(input, |item: Item, errors| match item {
        Item::Struct(item) => actor_struct::expand(options.into(), &item, errors),
        Item::Impl(item) => actor_impl::expand(options.into(), item, errors),
        other => Err(misplaced::error(&other)),
    })
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
    expand(input, |function, errors| main_fn::expand(options.into(), function, errors))
}

/// What `expand` makes of the input, or the input itself, so that names in it still resolve; and the errors.
fn expand<T: syn::parse::Parse>(
    input: TokenStream,
    expand: impl FnOnce(T, &mut Errors) -> Result<proc_macro2::TokenStream>,
) -> TokenStream {
    let (original, mut errors) = (input.clone(), Errors::default());
    let expanded = syn::parse(input).and_then(|item| expand(item, &mut errors));
    let expanded = errors.keep(expanded).unwrap_or_else(|| misplaced::without_our_attributes(original.into()));
    let errors = errors.into_tokens();
    quote!(#expanded #errors).into_token_stream().into()
}
