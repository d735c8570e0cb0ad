//! `Self` in a signature, written out: it moves to where `Self` is something else.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Expr, ExprPath, Path, QSelf, Type, TypePath, parse_quote,
    visit_mut::{VisitMut, visit_expr_mut, visit_type_mut},
};

use crate::spans;

/// Replaces `Self` by `actor`, at the place of the `Self`.
pub(crate) struct WriteOut<'a>(pub(crate) &'a Type);

impl WriteOut<'_> {
    /// `ty` with `Self` replaced.
    pub(crate) fn in_type(&mut self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        self.visit_type_mut(&mut ty);
        ty
    }

    /// The actor at `span`.
    fn actor(&self, span: Span) -> TokenStream {
        spans::placed(self.0, span)
    }

    /// Where `Self` is, and the path after it, if the path begins with that.
    fn after_self(qself: Option<&QSelf>, path: &Path) -> Option<(Span, TokenStream)> {
        let first = path.segments.first()?;
        if qself.is_some() || path.leading_colon.is_some() || first.ident != "Self" {
            return None;
        }
        let rest = path.segments.iter().skip(1).map(|segment| {
            let span = segment.ident.span();
            let separator = quote_spanned!(span=> ::);
            quote!(#separator #segment)
        });
        Some((first.ident.span(), rest.collect()))
    }
}

impl VisitMut for WriteOut<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_type_mut(self, ty);
        if let Type::Path(TypePath { qself, path, .. }) = ty
            && let Some((span, rest)) = Self::after_self(qself.as_ref(), path)
        {
            let actor = self.actor(span);
            let written = if rest.is_empty() { actor } else { quote_spanned!(span=> <#actor> #rest) };
            *ty = parse_quote!(#written);
        }
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_expr_mut(self, expression);
        if let Expr::Path(ExprPath { qself, path, .. }) = expression
            && let Some((span, rest)) = Self::after_self(qself.as_ref(), path)
            && !rest.is_empty()
        {
            let actor = self.actor(span);
            let written = quote_spanned!(span=> <#actor> #rest);
            *expression = parse_quote!(#written);
        }
    }
}
