//! The methods of `Actor` that call the user's hooks.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Hook, Parameter};
use crate::{actor_impl::Block, mark::HookKind};

/// The method of the `Actor` impl for a hook.
pub(crate) fn actor_method(hook: &Hook, block: &Block<'_>) -> TokenStream {
    let Hook { conditions, name, .. } = hook;
    let (actor, krate) = (block.actor, &block.krate);
    // Where an error about each belongs, though the names resolve here.
    let at = |span| Span::call_site().located_at(span);
    let passed = hook.parameters.iter().map(|(parameter, span)| match parameter {
        Parameter::Context { is_mut: true } => quote_spanned!(at(*span)=> __cx),
        Parameter::Context { is_mut: false } => quote_spanned!(at(*span)=> &*__cx),
        Parameter::Subject => quote_spanned!(at(*span)=> __subject),
    });
    let awaited = hook.is_async.then(|| quote!(.await));
    let called = quote_spanned!(at(name.span())=> <#actor>::#name(self, #(#passed),*) #awaited);
    match hook.kind {
        HookKind::Start => {
            let output = &hook.output;
            let outcome = quote_spanned!(name.span()=> <#output as #krate::__macro::IntoStart>::into_start(#called));
            quote! {
                #(#conditions)*
                const HAS_ON_START: ::core::primitive::bool = true;
                #(#conditions)*
                fn on_start<'__a>(
                    &'__a mut self,
                    __cx: &'__a mut #krate::__macro::Cx<Self>,
                ) -> impl ::core::future::Future<
                    Output = ::core::result::Result<(), #krate::__macro::BoxError>,
                > + '__a {
                    async move {
                        let _ = &__cx;
                        #outcome
                    }
                }
            }
        }
        HookKind::Stop => quote! {
            #(#conditions)*
            const HAS_ON_STOP: ::core::primitive::bool = true;
            #(#conditions)*
            fn on_stop<'__a>(
                &'__a mut self,
                __subject: &'__a #krate::__macro::ExitReason,
                __cx: &'__a mut #krate::__macro::Cx<Self>,
            ) -> impl ::core::future::Future<Output = ()> + '__a {
                async move {
                    let _ = (&__cx, __subject);
                    #called
                }
            }
        },
        HookKind::Error => quote! {
            #(#conditions)*
            fn on_error(&mut self, __subject: &#krate::__macro::TellFailure<'_>) -> ::core::primitive::bool {
                let _ = __subject;
                #called;
                true
            }
        },
    }
}
