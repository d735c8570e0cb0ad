//! Where tokens stand: what errors point at, and where an editor goes.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The spans of a node's first and last token. Stable Rust can't join them, but rustc does so for a node that begins
/// with the one and ends with the other.
pub(crate) fn ends(node: &impl ToTokens) -> (Span, Span) {
    let mut tokens = node.to_token_stream().into_iter();
    let Some(first) = tokens.next() else {
        return (Span::call_site(), Span::call_site());
    };
    let last = tokens.last().unwrap_or_else(|| first.clone());
    let start = if let TokenTree::Group(group) = &first { group.span_open() } else { first.span() };
    let end = if let TokenTree::Group(group) = &last { group.span_close() } else { last.span() };
    (start, end)
}

/// The tokens, all at `span`.
pub(crate) fn placed(tokens: impl ToTokens, span: Span) -> TokenStream {
    let placed = tokens.into_token_stream().into_iter().map(|token| {
        let mut token = match token {
            TokenTree::Group(group) => Group::new(group.delimiter(), placed(group.stream(), span)).into(),
            // What it stands for is in its own span.
            TokenTree::Ident(name) if name == "$crate" => return name.into(),
            other => other,
        };
        token.set_span(span);
        token
    });
    placed.collect()
}
