//! The handle's method of a message, and the marker type that runs the user's.
//!
//! Every token here has the span of one of the user's, mostly the method's name: errors stand where their cause is, and
//! an editor that follows the handle's method arrives at the user's. One token at the attribute would take it there.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, LitBool, LitStr, WhereClause, ext::IdentExt};

use super::{Message, Parameter, Shape};
use crate::{actor_impl::Block, attributes, spans};

/// The method of the handle.
pub(crate) fn handle_method(message: &Message, block: &Block<'_>) -> TokenStream {
    if !message.is_sound {
        return stub(message, block);
    }
    let Message { attributes, visibility, name, clause, .. } = message;
    let (actor, span) = (block.actor, name.span());
    let krate = spans::placed(&block.krate, span);
    let (names, types): (Vec<_>, Vec<_>) = message.arguments().unzip();
    let tuple = quote_spanned!(message.parenthesis=> (#(#types,)*));
    let (ok, err) = outcome(message, block);
    let (args, alias) = args(message).unwrap_or((tuple.clone(), TokenStream::new()));
    let mut generics = block.generics.clone();
    if let Some(WhereClause { predicates, .. }) = clause {
        generics.make_where_clause().predicates.extend(predicates.clone());
    }
    let (implemented, _, bounds) = generics.split_for_impl();
    let (implemented, bounds) = (spans::placed(implemented, span), spans::placed(bounds, span));
    let name_text = LitStr::new(&name.unraw().to_string(), span);
    let is_sync = LitBool::new(!message.is_async, span);
    let docs = (!attributes::are_documented(attributes)).then(|| {
        let text = LitStr::new(&format!("A call of `{}`.", name_text.value()), span);
        quote_spanned!(span=> #[doc = #text])
    });
    let (probe, run) = (probe(message, block), run(message, block));
    quote_spanned! {span=>
        #docs
        #(#attributes)*
        #[inline]
        #visibility fn #name(&self, #(#names: #types),*) -> #krate::__macro::Call<#tuple, #ok, #err> #clause {
            #alias
            #probe
            enum __Message {}
            #[automatically_derived]
            impl #implemented #krate::__macro::Method<#actor> for __Message #bounds {
                type Args = #args;
                type Ok = #ok;
                type Err = #err;
                const NAME: &'static ::core::primitive::str = #name_text;
                const SYNC: ::core::primitive::bool = #is_sync;
                #run
            }
            #krate::__macro::Handle::call::<__Message>(::core::ops::Deref::deref(self), (#(#names,)*))
        }
    }
}

/// A single argument as the marker's type, such that an error about it stands at it, and the alias that this takes.
/// Errors about one of several stand at the parenthesis.
fn args(message: &Message) -> Option<(TokenStream, TokenStream)> {
    let mut types = message.arguments().map(|(_, ty)| ty);
    let (Some(ty), None) = (types.next(), types.next()) else {
        return None;
    };
    let (start, end) = spans::ends(ty);
    let (before, after) = (quote_spanned!(start=> __One<), quote_spanned!(end=> >));
    Some((quote!(#before #ty #after), quote_spanned!(message.name.span()=> type __One<__T> = (__T,);)))
}

/// The types of the answer and of the error.
fn outcome(message: &Message, block: &Block<'_>) -> (TokenStream, TokenStream) {
    let reply = &message.reply;
    if message.shape != Shape::Result {
        return (quote!(#reply), quote_spanned!(message.name.span()=> ::core::convert::Infallible));
    }
    let (start, end) = spans::ends(reply);
    let krate = spans::placed(&block.krate, end);
    let half = |name: &str| {
        let name = Ident::new(name, end);
        let (before, after) =
            (quote_spanned!(start=> <), quote_spanned!(end=> as #krate::__macro::ResultParts>::#name));
        quote!(#before #reply #after)
    };
    (half("Ok"), half("Err"))
}

/// The method of the marker that calls the user's own.
fn run(message: &Message, block: &Block<'_>) -> TokenStream {
    let (actor, name, span) = (block.actor, &message.name, message.name.span());
    let krate = spans::placed(&block.krate, span);
    // Names of our own, so that the user's arguments can be called anything.
    let field = |index| format_ident!("__arg{index}", span = span);
    let fields: Vec<_> = (0..message.arguments().count()).map(field).collect();
    let mut unpassed = fields.iter();
    let passed = message.parameters.iter().map(|parameter| match parameter {
        Parameter::Argument { .. } => unpassed.next().map(|field| quote!(#field)),
        // At the user's type, where an error about the context of another actor belongs; but the name resolves here.
        Parameter::Context { is_mut, span: of_type } => {
            let span = span.located_at(*of_type);
            Some(if *is_mut { quote_spanned!(span=> __cx) } else { quote_spanned!(span=> &*__cx) })
        }
    });
    let receiver = if message.takes_mut { quote_spanned!(span=> __actor) } else { quote_spanned!(span=> &*__actor) };
    let awaited = message.is_async.then(|| quote_spanned!(span=> .await));
    let called = quote_spanned!(span=> <#actor>::#name(#receiver, #(#passed),*) #awaited);
    let reply = &message.reply;
    let outcome = match message.shape {
        Shape::Result => quote_spanned!(span=> <#reply as #krate::__macro::ResultParts>::into_result(#called)),
        Shape::Plain | Shape::Unnamed => quote_spanned!(span=> ::core::result::Result::Ok(#called)),
    };
    quote_spanned! {span=>
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

/// Refuses a `Result` under another name: whether its error is the ask's can't be guessed. For a `Result`, the
/// inherent function, whose bound nothing meets, beats the trait's.
fn probe(message: &Message, block: &Block<'_>) -> Option<TokenStream> {
    if message.shape != Shape::Unnamed {
        return None;
    }
    let reply = &message.reply;
    let (start, end) = spans::ends(reply);
    let krate = spans::placed(&block.krate, start);
    let (before, after) = (quote_spanned!(start=> <#krate::__macro::Probe<), quote_spanned!(end=> >>::__is_plain));
    Some(quote_spanned! {start=>
        use #krate::__macro::NoResult as _;
        let _ = #before #reply #after;
    })
}

/// What stands in for the method of a message that has errors.
fn stub(message: &Message, block: &Block<'_>) -> TokenStream {
    let Message { attributes, visibility, name, .. } = message;
    let span = name.span();
    let krate = spans::placed(&block.krate, span);
    let arguments = message.arguments().map(|_| quote_spanned!(span=> _: impl ::core::marker::Sized));
    let (ok, err) = outcome(message, block);
    quote_spanned! {span=>
        #(#attributes)*
        #visibility fn #name(&self, #(#arguments),*) -> #krate::__macro::Call<(), #ok, #err> {
            loop {}
        }
    }
}
