//! An actor's type parameters.

use syn::{GenericParam, Generics, parse_quote};

/// Said of lifetime parameters.
pub(crate) const NO_LIFETIMES: &str =
    "an actor lives as long as it is needed, so it can't borrow: hold owned data, an `Rc` or an `Arc`";

/// The parameters with `'static` on each type.
pub(crate) fn with_static(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!('static));
        }
    }
    generics
}
