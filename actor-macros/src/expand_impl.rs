//! `#[actor]` on an `impl` block: the handle's methods, and the hooks.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Error, GenericParam, Generics, ImplItem, ItemImpl, PathArguments, Result, Type, TypePath, spanned::Spanned};

use crate::{
    check,
    expand_struct::{allow, make_static},
    item::{self, HookMethod, HookParameter, Message, Parameter, Shape},
    krate,
    options::{self, Hook},
};

pub(crate) fn expand(options: TokenStream, mut block: ItemImpl) -> Result<TokenStream> {
    let (mut is_main, mut path) = (true, None);
    for option in options::parse(options)? {
        match option.name.to_string().as_str() {
            "more" => {
                option.bare()?;
                is_main = false;
            }
            "crate" => path = Some(option.path()?),
            "mailbox" => {
                return Err(Error::new(
                    option.name.span(),
                    "`mailbox` goes on the struct: `#[actor(mailbox = n)] struct ..`",
                ));
            }
            _ => {
                return Err(options::unknown(&option, "on an actor's `impl` block", "`more`, `crate = path`"));
            }
        }
    }
    if let Some((trait_, _)) = &block.trait_ {
        return Err(Error::new_spanned(
            trait_,
            "messages are methods of the actor itself: move them to an `impl` block without a trait",
        ));
    }
    if let Some(token) = &block.unsafety {
        return Err(Error::new(token.span(), "an actor's `impl` block is not `unsafe`"));
    }
    check::no_lifetimes(&block.generics.params)?;
    let krate = krate::path(path.as_ref());
    let (messages, hooks) = item::methods(&block)?;
    if !is_main && let Some(hook) = hooks.first() {
        return Err(Error::new(
            hook.marked.span(),
            "hooks go into the actor's main `impl` block, the one with `#[actor]` alone",
        ));
    }
    let handle = handle_type(&block.self_ty)?;
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item {
            method.attrs.retain(|attribute| !options::is_ours(attribute));
        }
    }
    let mut generics = block.generics.clone();
    make_static(&mut generics);
    let actor = &block.self_ty;
    let cfg: Vec<_> = block.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let methods = messages.iter().map(|message| handle_method(message, actor, &generics, &krate));
    let (implemented, _, clause) = generics.split_for_impl();
    let actor_impl = is_main.then(|| {
        let (hooks, allow) = (hooks.iter().map(|hook| hook_method(hook, actor, &krate)), allow());
        quote! {
            #(#cfg)*
            #[automatically_derived]
            #allow
            impl #implemented #krate::__macro::Actor for #actor #clause {
                #(#hooks)*
            }
        }
    });
    let handle_impl = (!messages.is_empty()).then(|| {
        quote! {
            #(#cfg)*
            impl #implemented #handle #clause {
                #(#methods)*
            }
        }
    });
    Ok(quote!(#block #actor_impl #handle_impl))
}

/// `Actor<T>` becomes `ActorHandle<T>`.
fn handle_type(actor: &Type) -> Result<TypePath> {
    let Type::Path(path) = actor else {
        return Err(Error::new(actor.span(), "`#[actor]` goes on the `impl` block of a struct"));
    };
    let mut path = path.clone();
    let Some(last) = path.path.segments.last_mut() else {
        return Err(Error::new(actor.span(), "`#[actor]` goes on the `impl` block of a struct"));
    };
    last.ident = format_ident!("{}Handle", last.ident);
    if let PathArguments::Parenthesized(arguments) = &last.arguments {
        return Err(Error::new_spanned(arguments, "`#[actor]` goes on the `impl` block of a struct"));
    }
    Ok(path)
}

fn handle_method(message: &Message, actor: &Type, generics: &Generics, krate: &TokenStream) -> TokenStream {
    let Message { attributes, visibility, name, parenthesis, .. } = message;
    let arguments: Vec<_> = message
        .parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Argument { name, ty } => Some((name, ty)),
            Parameter::Context { .. } => None,
        })
        .collect();
    let (names, types): (Vec<_>, Vec<_>) = arguments.iter().copied().unzip();
    // One argument: errors about it point at its type; else at the parenthesis.
    let span = if let [ty] = types.as_slice() { ty.span() } else { *parenthesis };
    let tuple = quote_spanned!(span=> (#(#types,)*));
    let reply = &message.reply;
    let (ok, err) = match message.shape {
        Shape::Result => {
            let parts = quote!(#krate::__macro::ResultParts);
            (
                quote_spanned!(reply.span()=> <#reply as #parts>::Ok),
                quote_spanned!(reply.span()=> <#reply as #parts>::Err),
            )
        }
        Shape::Plain | Shape::Unnamed => (reply.to_token_stream(), quote!(::core::convert::Infallible)),
    };
    let (marker, allow) = (format_ident!("__Message"), allow());
    let (implemented, _, clause) = generics.split_for_impl();
    let run = run_method(message, actor, krate);
    let name_text = name.to_string();
    let name_text = name_text.trim_start_matches("r#");
    let is_sync = !message.is_async;
    let docs = (!attributes.iter().any(|attribute| attribute.path().is_ident("doc")))
        .then(|| format!("A call of `{name_text}`."));
    let docs = docs.map(|docs| quote!(#[doc = #docs]));
    let probe = probe(message, generics, krate);
    quote_spanned! {name.span()=>
        #docs
        #(#attributes)*
        #[inline]
        #visibility fn #name(&self, #(#names: #types),*) -> #krate::__macro::Call<#tuple, #ok, #err> {
            #probe
            enum #marker {}
            #[automatically_derived]
            #allow
            impl #implemented #krate::__macro::Method<#actor> for #marker #clause {
                type Args = #tuple;
                type Ok = #ok;
                type Err = #err;
                const NAME: &'static ::core::primitive::str = #name_text;
                const SYNC: ::core::primitive::bool = #is_sync;
                #run
            }
            ::core::ops::Deref::deref(self).call::<#marker>((#(#names,)*))
        }
    }
}

/// The method of the marker that calls the user's own.
fn run_method(message: &Message, actor: &Type, krate: &TokenStream) -> TokenStream {
    let name = &message.name;
    // Names of our own, so that the user's arguments can be called anything.
    let mut fields = Vec::new();
    let passed: Vec<_> = message
        .parameters
        .iter()
        .map(|parameter| match parameter {
            Parameter::Argument { .. } => {
                let field = format_ident!("__arg{}", fields.len());
                fields.push(field.clone());
                quote!(#field)
            }
            Parameter::Context { is_mut: true } => quote!(__cx),
            Parameter::Context { is_mut: false } => quote!(&*__cx),
        })
        .collect();
    let receiver = if message.takes_mut { quote!(__actor) } else { quote!(&*__actor) };
    let awaited = message.is_async.then(|| quote!(.await));
    let called = quote!(<#actor>::#name(#receiver, #(#passed),*) #awaited);
    let outcome = match message.shape {
        Shape::Result => quote!(#krate::__macro::ResultParts::into_result(#called)),
        Shape::Plain | Shape::Unnamed => quote!(::core::result::Result::Ok(#called)),
    };
    quote! {
        #[inline]
        fn run<'__a>(
            __actor: &'__a mut #actor,
            __cx: &'__a mut #krate::__macro::Cx<#actor>,
            (#(#fields,)*): Self::Args,
        ) -> impl ::core::future::Future<Output = ::core::result::Result<Self::Ok, Self::Err>> + '__a {
            async move {
                let _ = &__cx;
                #outcome
            }
        }
    }
}

/// Refuses a `Result` under another name: whether its error is the ask's can't be guessed.
fn probe(message: &Message, generics: &Generics, krate: &TokenStream) -> Option<TokenStream> {
    let is_generic = generics.params.iter().any(|parameter| !matches!(parameter, GenericParam::Lifetime(_)));
    if message.shape != Shape::Unnamed || is_generic {
        // A constant can't see the parameters of the `impl` around it.
        return None;
    }
    let reply = &message.reply;
    Some(quote_spanned! {reply.span()=>
        const _: () = {
            #[allow(unused_imports)]
            use #krate::__macro::NoResult as _;
            ::core::assert!(
                !<#krate::__macro::Probe<#reply>>::IS_RESULT,
                "this return type is a `Result` under another name: write `#[actor(result)]` on the method to have its \
                 error become the ask's, or `#[actor(plain)]` to have it handed over as it is"
            );
        };
    })
}

fn hook_method(hook: &HookMethod, actor: &Type, krate: &TokenStream) -> TokenStream {
    let HookMethod { cfg, name, .. } = hook;
    let passed = hook.parameters.iter().map(|parameter| match parameter {
        HookParameter::Context => quote!(__cx),
        HookParameter::Subject => quote!(__subject),
    });
    let awaited = hook.is_async.then(|| quote!(.await));
    let called = quote!(<#actor>::#name(self, #(#passed),*) #awaited);
    match hook.hook {
        Hook::Start => quote! {
            #(#cfg)*
            const HAS_ON_START: ::core::primitive::bool = true;
            #(#cfg)*
            fn on_start<'__a>(
                &'__a mut self,
                __cx: &'__a mut #krate::__macro::Cx<Self>,
            ) -> impl ::core::future::Future<Output = ::core::result::Result<(), #krate::__macro::BoxError>> + '__a {
                async move {
                    let _ = &__cx;
                    #krate::__macro::IntoStart::into_start(#called)
                }
            }
        },
        Hook::Stop => quote! {
            #(#cfg)*
            const HAS_ON_STOP: ::core::primitive::bool = true;
            #(#cfg)*
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
        Hook::Error => quote! {
            #(#cfg)*
            fn on_error(&mut self, __subject: &#krate::__macro::TellFailure<'_>) -> ::core::primitive::bool {
                let _ = __subject;
                #called;
                true
            }
        },
    }
}
