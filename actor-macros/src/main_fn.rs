//! `#[main]`: an `async fn main` in a runtime.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result, spanned::Spanned};

use crate::{krate, options};

/// Builder settings that can be given as options.
const SETTINGS: [&str; 9] = [
    "cores",
    "core_ids",
    "pin",
    "mailbox_capacity",
    "ring_capacity",
    "ask_timeout",
    "max_blocking_threads",
    "slice",
    "thread_name",
];

pub(crate) fn expand(options: TokenStream, mut function: ItemFn) -> Result<TokenStream> {
    let (mut settings, mut path) = (Vec::new(), None);
    for option in options::parse(options)? {
        let name = option.name.to_string();
        if name == "crate" {
            path = Some(option.path()?);
        } else if SETTINGS.contains(&name.as_str()) {
            let (name, value) = (&option.name, option.value()?);
            settings.push(quote!(.#name(#value)));
        } else {
            let known = SETTINGS.map(|setting| format!("`{setting}`")).join(", ");
            return Err(options::unknown(&option, "of `main`", &format!("{known}, `crate`")));
        }
    }
    let signature = &mut function.sig;
    if signature.asyncness.take().is_none() {
        return Err(Error::new(signature.fn_token.span(), "write `async fn`: the function runs in the runtime"));
    }
    if let Some(argument) = signature.inputs.first() {
        return Err(Error::new(
            argument.span(),
            "a main function has no arguments; reach the runtime with `RuntimeHandle::current()`",
        ));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new(parameter.span(), "a main function has no parameters"));
    }
    let krate = krate::path(path.as_ref());
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            #krate::__macro::run_main(
                #krate::ShardedRuntime::builder()#(#settings)*,
                || async move #block,
            )
        }
    })
}
