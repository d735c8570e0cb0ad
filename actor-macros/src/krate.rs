//! The path to `actor-tokio` in the user's crate.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Path;

/// The path that the user gave, or where Cargo says that the crate is.
pub(crate) fn path(given: Option<&Path>) -> TokenStream {
    if let Some(path) = given {
        return quote!(#path);
    }
    match crate_name("actor-tokio") {
        Ok(FoundCrate::Name(name)) => {
            let name = Ident::new(&name, Span::call_site());
            quote!(::#name)
        }
        // Its own tests, examples and doctests see it under its name; so does a crate that Cargo says nothing about.
        Ok(FoundCrate::Itself) | Err(_) => quote!(::actor_tokio),
    }
}
