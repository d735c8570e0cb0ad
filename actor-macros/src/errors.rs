//! All that is wrong with an item, to be reported at once.

use proc_macro2::TokenStream;
use syn::{Error, Result};

/// Errors found so far. Whatever is sound of the item is expanded beside them, so that one mistake is one error.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or `None` and the error kept.
    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn into_tokens(self) -> Option<TokenStream> {
        self.0.map(|errors| errors.to_compile_error())
    }
}
