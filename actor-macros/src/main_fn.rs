//! `#[main]`: an `async fn main` in a runtime.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result, Safety, Signature, spanned::Spanned};

use crate::{errors::Errors, krate, options};

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

pub(crate) fn expand(options: TokenStream, function: ItemFn, errors: &mut Errors) -> Result<TokenStream> {
    let (mut settings, mut path) = (Vec::new(), None);
    for option in options::parse(options, errors) {
        let name = option.name.to_string();
        if name == "crate" {
            path = errors.keep(option.path());
        } else if SETTINGS.contains(&name.as_str()) {
            let (name, value) = (&option.name, errors.keep(option.value()));
            settings.extend(value.map(|value| quote!(.#name(#value))));
        } else {
            let known = SETTINGS.map(|setting| format!("`{setting}`")).join(", ");
            errors.push(option.unknown("of `main`", &format!("{known}, `crate`")));
        }
    }
    if function.sig.asyncness.is_none() {
        let text = "write `async fn`: the function runs in the runtime";
        return Err(Error::new(function.sig.fn_token.span(), text));
    }
    let is_sound = errors.keep(check(&function.sig)).is_some();
    let krate = krate::path(path.as_ref());
    let ItemFn { attrs, vis, sig, .. } = &function;
    let (name, output) = (&sig.ident, &sig.output);
    let called = if is_sound { quote!(#name) } else { quote!(|| async { ::core::unreachable!() }) };
    let own = ItemFn { attrs: Vec::new(), vis: syn::Visibility::Inherited, ..function.clone() };
    // The user's function stays one, so that errors in it read as they do elsewhere.
    Ok(quote! {
        #(#attrs)*
        #vis fn #name() #output {
            #own
            #krate::__macro::run_main(#krate::ShardedRuntime::builder()#(#settings)*, #called)
        }
    })
}

fn check(signature: &Signature) -> Result<()> {
    if let Safety::Unsafe(token) = &signature.safety {
        return Err(Error::new(token.span(), "a main function can't be `unsafe`: write `async fn`"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, "a main function is a Rust function: write `async fn`"));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new_spanned(parameter, "a main function has no parameters"));
    }
    if let Some(argument) = signature.inputs.first() {
        return Err(Error::new_spanned(
            argument,
            "a main function has no arguments: reach the runtime with `RuntimeHandle::current()`",
        ));
    }
    Ok(())
}
