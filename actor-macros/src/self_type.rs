//! `Self` in a signature, written out: it moves to where `Self` is something else.

use syn::{
    PathArguments, Type, TypePath, parse_quote,
    visit_mut::{VisitMut, visit_type_mut},
};

/// `ty` with `Self` replaced by `actor`.
pub(crate) fn written_out(ty: &Type, actor: &Type) -> Type {
    let mut ty = ty.clone();
    WriteOut(actor).visit_type_mut(&mut ty);
    ty
}

struct WriteOut<'a>(&'a Type);

impl VisitMut for WriteOut<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_type_mut(self, ty);
        let Type::Path(TypePath { qself: None, path, .. }) = ty else {
            return;
        };
        if !path.segments.first().is_some_and(|first| first.ident == "Self" && first.arguments == PathArguments::None) {
            return;
        }
        if path.segments.len() == 1 {
            *ty = self.0.clone();
            return;
        }
        let (actor, rest) = (self.0, path.segments.iter().skip(1));
        *ty = parse_quote!(<#actor>::#(#rest)::*);
    }
}
