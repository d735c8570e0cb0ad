//! Where the tokens of expansions stand. What they say and do is tested in `actor-tokio`, which has the traits.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{ImplItem, Item, ItemImpl, ItemStruct};

use crate::{actor_impl, actor_struct, errors::Errors};

const STRUCT: &str = "
#[cfg(all())]
/// Holds.
#[expect(dead_code)]
pub struct Holder<T: Clone = u8, const N: usize = 1>(T) where T: Send, Self: Sized;";

const BLOCK: &str = "
impl<T: Clone + Send, const N: usize> Holder<T, N> where Self: Sized {
    pub fn documented_not(&self) {}
    /// Documented.
    #[cfg_attr(all(), expect(unused))]
    pub async fn one(&mut self, one: Box<Self>, cx: &Cx<Self>) -> [Self; Self::WIDTH] where Self: Send { todo!() }
    pub fn many(&self, (a, b): (T, T), cx: &mut Cx<Self>, _: u8) -> std::io::Result<Self> { todo!() }
    #[actor(plain)]
    pub(crate) fn plain(self: &Self, mut words: Vec<String>) -> Outcome<u8> { todo!() }
    pub fn refused(&self, text: &str) -> Option<T> { todo!() }
}";

#[test]
fn every_token_of_a_handle_method_stands_at_one_of_the_users() {
    let mut errors = Errors::default();
    let block = syn::parse_str::<ItemImpl>(BLOCK).expect("block");
    let expanded = actor_impl::expand(TokenStream::new(), block, &mut errors).expect("expansion");
    assert!(errors.into_tokens().is_some(), "of `refused`");
    let file: syn::File = syn::parse2(expanded).expect("items");
    let Some(Item::Impl(handle)) = file.items.last() else { panic!("no handle") };
    assert_eq!(handle.items.len(), 5);
    for item in &handle.items {
        let ImplItem::Fn(method) = item else { panic!("no method") };
        assert_placed(&method.sig.ident.to_string(), method.to_token_stream());
    }
}

#[test]
fn every_token_of_a_handle_stands_at_one_of_the_users() {
    let item = syn::parse_str::<ItemStruct>(STRUCT).expect("struct");
    let expanded = actor_struct::expand(TokenStream::new(), &item, &mut Errors::default()).expect("expansion");
    let file: syn::File = syn::parse2(expanded).expect("items");
    let Item::Struct(handle) = &file.items[1] else { panic!("no handle") };
    assert_eq!(handle.ident, "HolderHandle");
    assert_placed("HolderHandle", handle.to_token_stream());
}

/// A token at the attribute would take an editor that follows the handle there. It is the one place without a line.
fn assert_placed(what: &str, tokens: TokenStream) {
    for token in tokens {
        assert_ne!(token.span().start().line, Span::call_site().start().line, "`{token}` of {what}");
        if let TokenTree::Group(group) = token {
            assert_placed(what, group.stream());
        }
    }
}
