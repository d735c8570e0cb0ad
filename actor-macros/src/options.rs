//! What is written in the parentheses of our attributes.

use proc_macro2::TokenStream;
use syn::{
    Error, Expr, Ident, Path, Result, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::errors::Errors;

/// `name` or `name = value`.
pub(crate) struct Opt {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
}

impl Parse for Opt {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if !input.peek(Ident::peek_any) {
            return Err(input.error("an option is a word, `name` or `name = value`"));
        }
        // `crate` is a keyword.
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else if input.is_empty() || input.peek(Token![,]) {
            None
        } else {
            return Err(input.error(format!("write `{name}` or `{name} = value`, and a comma between options")));
        };
        Ok(Self { name, value })
    }
}

impl Opt {
    /// The value, which this option needs.
    pub(crate) fn value(&self) -> Result<&Expr> {
        self.value.as_ref().ok_or_else(|| Error::new(self.name.span(), format!("write `{} = value`", self.name)))
    }

    /// The value as a path.
    pub(crate) fn path(&self) -> Result<Path> {
        match self.value()? {
            Expr::Path(path) => Ok(path.path.clone()),
            other => Err(Error::new_spanned(other, "write a path: `crate = path::to::actor_tokio`")),
        }
    }

    /// Refuses a value: this option is a word by itself.
    pub(crate) fn bare(&self) -> Result<()> {
        match &self.value {
            None => Ok(()),
            Some(value) => Err(Error::new_spanned(value, format!("`{}` takes no value", self.name))),
        }
    }

    /// The error for an option that does not exist here.
    pub(crate) fn unknown(&self, place: &str, known: &str) -> Error {
        Error::new(self.name.span(), format!("unknown option `{}` {place}; there are: {known}", self.name))
    }
}

/// Parses options, each at most once.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Vec<Opt> {
    let Some(parsed) = errors.keep(Punctuated::<Opt, Token![,]>::parse_terminated.parse2(tokens)) else {
        return Vec::new();
    };
    let mut options = Vec::<Opt>::new();
    for option in parsed {
        if options.iter().any(|earlier| earlier.name == option.name) {
            errors.push(Error::new(option.name.span(), format!("`{}` is given twice", option.name)));
        } else {
            options.push(option);
        }
    }
    options
}
