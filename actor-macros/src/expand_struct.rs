//! `#[actor]` on a struct: the typed handle.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{
    Attribute, Error, Expr, ExprLit, GenericParam, Generics, ItemStruct, Lit, Result, parse_quote, spanned::Spanned,
};

use crate::{check, krate, options};

pub(crate) fn expand(options: TokenStream, item: ItemStruct) -> Result<TokenStream> {
    let (mut mailbox, mut path) = (None, None);
    for option in options::parse(options)? {
        match option.name.to_string().as_str() {
            "mailbox" => mailbox = Some(checked_mailbox(option.value()?)?.clone()),
            "crate" => path = Some(option.path()?),
            "more" => {
                return Err(Error::new(option.name.span(), "`more` is for a further `impl` block, not for the struct"));
            }
            _ => {
                return Err(options::unknown(&option, "on an actor's struct", "`mailbox = n`, `crate = path`"));
            }
        }
    }
    check::no_lifetimes(&item.generics.params)?;
    let krate = krate::path(path.as_ref());
    let (name, visibility) = (&item.ident, &item.vis);
    let handle = format_ident!("{name}Handle");
    let mut generics = item.generics.clone();
    make_static(&mut generics);
    let (declared, used, clause) = (generics.clone(), generics.split_for_impl().1, &generics.where_clause);
    let implemented = generics.split_for_impl().0;
    let cfg: Vec<&Attribute> = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let about =
        format!("Refers to an actor of type [`{name}`], and keeps it going. Derefs to [`Handle`]({krate}::Handle).");
    let docs = item.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let mailbox = match mailbox {
        Some(capacity) => quote!(::core::option::Option::Some({
            const MAILBOX: usize = #capacity;
            const { ::core::assert!(MAILBOX > 0, "a mailbox needs room for at least 1 message") };
            MAILBOX
        })),
        None => quote!(::core::option::Option::None),
    };
    let allow = allow();
    let declared_params = &declared.params;
    let declared_params = if declared_params.is_empty() { quote!() } else { quote!(<#declared_params>) };
    Ok(quote! {
        #item

        #(#cfg)*
        #(#docs)*
        #[doc = ""]
        #[doc = #about]
        #visibility struct #handle #declared_params #clause {
            handle: #krate::__macro::Handle<#name #used>,
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented #krate::__macro::Typed for #name #used #clause {
            type Handle = #handle #used;
            const NAME: &'static ::core::primitive::str = ::core::stringify!(#name);
            const MAILBOX: ::core::option::Option<::core::primitive::usize> = #mailbox;
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::convert::From<#krate::__macro::Handle<#name #used>> for #handle #used #clause {
            fn from(handle: #krate::__macro::Handle<#name #used>) -> Self {
                Self { handle }
            }
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::ops::Deref for #handle #used #clause {
            type Target = #krate::__macro::Handle<#name #used>;
            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.handle
            }
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::clone::Clone for #handle #used #clause {
            fn clone(&self) -> Self {
                Self { handle: ::core::clone::Clone::clone(&self.handle) }
            }
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::cmp::PartialEq for #handle #used #clause {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                ::core::cmp::PartialEq::eq(&self.handle, &other.handle)
            }
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::cmp::Eq for #handle #used #clause {}

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::hash::Hash for #handle #used #clause {
            fn hash<__H: ::core::hash::Hasher>(&self, state: &mut __H) {
                ::core::hash::Hash::hash(&self.handle, state);
            }
        }

        #(#cfg)*
        #[automatically_derived]
        #allow
        impl #implemented ::core::fmt::Debug for #handle #used #clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.handle, f)
            }
        }
    })
}

/// Adds `'static` to the type parameters, and removes defaults, which stand in declarations only.
pub(crate) fn make_static(generics: &mut Generics) {
    for parameter in &mut generics.params {
        match parameter {
            GenericParam::Type(parameter) => parameter.bounds.push(parse_quote!('static)),
            GenericParam::Lifetime(_) | GenericParam::Const(_) => {}
        }
    }
}

/// Users' lints are for users' code: the spans of what we generate are theirs, so lints would fire.
pub(crate) fn allow() -> TokenStream {
    quote!(#[allow(clippy::all, clippy::pedantic, clippy::nursery, deprecated, unused_qualifications, dead_code)])
}

fn checked_mailbox(value: &Expr) -> Result<&Expr> {
    if let Expr::Lit(ExprLit { lit, .. }) = value {
        match lit {
            Lit::Int(number) if number.base10_digits() == "0" => {
                return Err(Error::new(value.span(), "a mailbox needs room for at least 1 message"));
            }
            Lit::Int(_) => {}
            _ => {
                let text = format!("a mailbox's size is a number of messages, not `{}`", lit.to_token_stream());
                return Err(Error::new(value.span(), text));
            }
        }
    }
    Ok(value)
}
