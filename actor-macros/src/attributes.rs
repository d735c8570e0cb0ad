//! The user's attributes: which are ours, which reach the handle, and those that we add.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Error, Meta, Result, Token, parse_quote, parse_quote_spanned, punctuated::Punctuated, spanned::Spanned,
};

/// Whether the attribute is `#[actor]`, by whatever path.
pub(crate) fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "actor")
}

/// Refuses a second `#[actor]` on an item: the first would see it expanded twice.
pub(crate) fn no_second(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| is_ours(attribute)) {
        Some(second) => {
            Err(Error::new_spanned(second, "`#[actor]` is here twice: remove one, and write its options in the other"))
        }
        None => Ok(()),
    }
}

/// Whether the attribute is ours under a `cfg_attr`, which is not resolved yet.
pub(crate) fn hides_ours(attribute: &Attribute) -> bool {
    under_cfg_attr(attribute).is_some_and(|(_, inner)| {
        inner.iter().any(|meta| meta.path().segments.last().is_some_and(|segment| segment.ident == "actor"))
    })
}

/// Whether the item may be left out.
pub(crate) fn is_conditional(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        || under_cfg_attr(attribute).is_some_and(|(_, inner)| inner.iter().any(|meta| meta.path().is_ident("cfg")))
}

/// The attributes of these names, also those under a `cfg_attr`, for what is generated beside an item. What is said to
/// callers concerns the handle's too; what changes a method itself (`#[tracing::instrument]`, `#[inline]`) does not.
pub(crate) fn copied(attributes: &[Attribute], names: &[&str]) -> Vec<Attribute> {
    let copy = |meta: &Meta| {
        names.iter().any(|name| meta.path().is_ident(name)).then(|| match meta {
            // What is expected of the user's code need not be so of ours.
            Meta::List(list) if list.path.is_ident("expect") => {
                let (lints, span) = (&list.tokens, list.path.span());
                parse_quote_spanned!(span=> allow(#lints))
            }
            _ => meta.clone(),
        })
    };
    let copied = attributes.iter().filter_map(|attribute| {
        let meta = match under_cfg_attr(attribute) {
            None => copy(&attribute.meta)?,
            Some((condition, inner)) => {
                let inner: Vec<_> = inner.iter().filter_map(copy).collect();
                if inner.is_empty() {
                    return None;
                }
                parse_quote_spanned!(attribute.span()=> cfg_attr(#condition, #(#inner),*))
            }
        };
        Some(Attribute { meta, ..attribute.clone() })
    });
    copied.collect()
}

/// Whether there is documentation among the attributes.
pub(crate) fn are_documented(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc") && matches!(attribute.meta, Meta::NameValue(_)))
}

/// Users' lints are for users' code: spans of what we generate are theirs, so lints would fire twice. So they would on
/// links in documentation that is copied, where `Self` is the handle.
pub(crate) fn allow_lints() -> TokenStream {
    quote! {
        #[allow(
            dead_code,
            deprecated,
            non_snake_case,
            trivial_bounds,
            unreachable_pub,
            unused_qualifications,
            clippy::all,
            clippy::pedantic,
            clippy::nursery,
            clippy::restriction,
            rustdoc::broken_intra_doc_links,
            rustdoc::private_intra_doc_links,
        )]
    }
}

/// Lints on a user's method that would fire because it is a message or a hook, whose shape is not free: it owns its
/// arguments, takes `self`, runs on its shard only, and is called by the runtime.
pub(crate) fn allow_shape() -> Attribute {
    parse_quote! {
        #[allow(
            clippy::future_not_send,
            clippy::missing_const_for_fn,
            clippy::must_use_candidate,
            clippy::needless_pass_by_ref_mut,
            clippy::needless_pass_by_value,
            clippy::trivially_copy_pass_by_ref,
            clippy::unused_async,
            clippy::unused_self,
        )]
    }
}

/// The condition and the attributes of a `cfg_attr`.
fn under_cfg_attr(attribute: &Attribute) -> Option<(Meta, Vec<Meta>)> {
    if !attribute.path().is_ident("cfg_attr") {
        return None;
    }
    let metas = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let mut metas = metas.into_iter();
    Some((metas.next()?, metas.collect()))
}
