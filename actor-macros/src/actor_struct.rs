//! `#[actor]` on a struct: the typed handle.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Error, Expr, ExprLit, Ident, ItemStruct, Lit, LitStr, Result, Type, ext::IdentExt, parse_quote, spanned::Spanned,
    visit_mut::VisitMut,
};

use crate::{attributes, errors::Errors, generics, krate, options, options::Opt, self_type::WriteOut, spans, types};

pub(crate) fn expand(options: TokenStream, item: &ItemStruct, errors: &mut Errors) -> Result<TokenStream> {
    attributes::no_second(&item.attrs)?;
    let (mut mailbox, mut overflow, mut path) = (None, None, None);
    for option in options::parse(options, errors) {
        match option.name.to_string().as_str() {
            "mailbox" => mailbox = errors.keep(option.value().and_then(checked_mailbox)).cloned(),
            "overflow" => overflow = errors.keep(checked_overflow(&option)),
            "crate" => path = errors.keep(option.path()),
            "more" => {
                errors.push(Error::new(option.name.span(), "`more` is for a further `impl` block, not for the struct"))
            }
            _ => errors
                .push(option.unknown("on an actor's struct", "`mailbox = n`, `overflow = policy`, `crate = path`")),
        }
    }
    if let Some(parameter) = types::lifetime_parameter(&item.generics.params) {
        return Err(Error::new_spanned(parameter, generics::NO_LIFETIMES));
    }
    let krate = krate::path(path.as_ref());
    let (name, visibility) = (&item.ident, &item.vis);
    let (unraw, handle) = (name.unraw().to_string(), format_ident!("{}Handle", name));
    let actor = {
        let used = item.generics.split_for_impl().1;
        parse_quote!(#name #used)
    };
    let attributes = attributes::copied(&item.attrs, &["cfg", "allow", "expect", "doc"]);
    let mut declared = item.generics.clone();
    WriteOut(&actor).visit_generics_mut(&mut declared);
    let clause = &declared.where_clause;
    let bounds = Bounds { mailbox: mailbox.as_ref(), overflow: overflow.as_ref() };
    let impls = impls(item, &actor, &krate, &bounds);
    // At the name, which is where an editor then goes from the handle's.
    let span = name.span();
    let about = format!("Refers to an actor of type [`{unraw}`], and keeps it going. Derefs to `Handle<{unraw}>`.");
    let about = LitStr::new(&about, span);
    let (allow, krate) = (spans::placed(attributes::allow_lints(), span), spans::placed(&krate, span));
    let handle = quote_spanned! {span=>
        #(#attributes)*
        #[doc = ""]
        #[doc = #about]
        #allow
        #visibility struct #handle #declared #clause {
            handle: #krate::__macro::Handle<#actor>,
        }
    };
    Ok(quote!(#item #handle #impls))
}

/// What is said about the mailbox.
struct Bounds<'a> {
    mailbox: Option<&'a Expr>,
    /// A variant of `Overflow`.
    overflow: Option<&'a Ident>,
}

/// What the handle is: it derefs to the plain one, and compares and prints as that does. By hand, since derives would
/// ask the same of the actor's parameters.
fn impls(item: &ItemStruct, actor: &Type, krate: &TokenStream, bounds: &Bounds<'_>) -> TokenStream {
    let mut generics = generics::with_static(&item.generics);
    WriteOut(actor).visit_generics_mut(&mut generics);
    let (implemented, used, clause) = generics.split_for_impl();
    let (name, handle) = (item.ident.unraw().to_string(), format_ident!("{}Handle", item.ident));
    let capacity = mailbox_capacity(bounds.mailbox);
    let overflow = bounds
        .overflow
        .map(|policy| quote!(const OVERFLOW: #krate::__macro::Overflow = #krate::__macro::Overflow::#policy;));
    let plain = quote!(#krate::__macro::Handle<#actor>);
    let bodies = [
        quote!(#krate::__macro::Typed for #actor #clause {
            type Handle = #handle #used;
            const NAME: &'static ::core::primitive::str = #name;
            const MAILBOX: ::core::option::Option<::core::primitive::usize> = #capacity;
            #overflow
        }),
        quote!(::core::convert::From<#plain> for #handle #used #clause {
            fn from(handle: #plain) -> Self {
                Self { handle }
            }
        }),
        quote!(::core::ops::Deref for #handle #used #clause {
            type Target = #plain;
            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.handle
            }
        }),
        quote!(::core::clone::Clone for #handle #used #clause {
            fn clone(&self) -> Self {
                Self { handle: ::core::clone::Clone::clone(&self.handle) }
            }
        }),
        quote!(::core::cmp::PartialEq for #handle #used #clause {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                ::core::cmp::PartialEq::eq(&self.handle, &other.handle)
            }
        }),
        quote!(::core::cmp::Eq for #handle #used #clause {}),
        quote!(::core::hash::Hash for #handle #used #clause {
            fn hash<__H: ::core::hash::Hasher>(&self, state: &mut __H) {
                ::core::hash::Hash::hash(&self.handle, state);
            }
        }),
        quote!(::core::fmt::Debug for #handle #used #clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.handle, f)
            }
        }),
    ];
    let (conditions, allow) = (attributes::copied(&item.attrs, &["cfg"]), attributes::allow_lints());
    let impls = bodies.map(|body| quote!(#(#conditions)* #[automatically_derived] #allow impl #implemented #body));
    let check = mailbox_check(item, actor, krate, bounds.mailbox).map(|check| quote!(#(#conditions)* #check));
    quote!(#(#impls)* #check)
}

fn mailbox_capacity(mailbox: Option<&Expr>) -> TokenStream {
    let Some(capacity) = mailbox else {
        return quote!(::core::option::Option::None);
    };
    // A function, so that a value of another type is an error at the value, as is a 0.
    quote_spanned!(capacity.span()=> {
        const fn __checked(capacity: ::core::primitive::usize) -> ::core::primitive::usize {
            ::core::assert!(capacity > 0, "a mailbox needs room for at least 1 message");
            capacity
        }
        ::core::option::Option::Some(__checked(#capacity))
    })
}

/// Computes the capacity now, not first where the actor is spawned. With parameters it has to wait.
fn mailbox_check(item: &ItemStruct, actor: &Type, krate: &TokenStream, mailbox: Option<&Expr>) -> Option<TokenStream> {
    let is_known = item.generics.params.is_empty() && !matches!(mailbox, None | Some(Expr::Lit(_)));
    is_known.then(|| {
        quote! {
            const _: ::core::option::Option<::core::primitive::usize> =
                <#actor as #krate::__macro::Typed>::MAILBOX;
        }
    })
}

fn checked_overflow(option: &Opt) -> Result<Ident> {
    const POLICIES: &str = "`Wait`, `Reject`, `DropOldest`, `DropNewest`";
    let Some(value) = &option.value else {
        return Err(Error::new(option.name.span(), format!("write `overflow = policy`; there are: {POLICIES}")));
    };
    let policy = match value {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident(),
        _ => None,
    };
    match policy {
        Some(policy) if ["Wait", "Reject", "DropOldest", "DropNewest"].iter().any(|known| policy == known) => {
            Ok(policy.clone())
        }
        _ => {
            let text = format!("no policy of a full mailbox; there are, without a path before them: {POLICIES}");
            Err(Error::new_spanned(value, text))
        }
    }
}

fn checked_mailbox(value: &Expr) -> Result<&Expr> {
    let Expr::Lit(ExprLit { lit, .. }) = value else {
        return Ok(value);
    };
    match lit {
        Lit::Int(number) if number.base10_digits() == "0" => {
            Err(Error::new_spanned(value, "a mailbox needs room for at least 1 message"))
        }
        Lit::Int(_) => Ok(value),
        _ => Err(Error::new_spanned(value, "a mailbox's size is a number of messages: `mailbox = 256`")),
    }
}
