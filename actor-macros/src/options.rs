//! What is written in the parentheses of our attributes.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Expr, Ident, Path, Result, Token,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
    spanned::Spanned,
};

/// `name` or `name = value`.
pub(crate) struct Opt {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
}

impl Parse for Opt {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        // `crate` is a keyword.
        let name = input.call(<Ident as syn::ext::IdentExt>::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { name, value })
    }
}

impl Opt {
    /// The value, which this option needs.
    pub(crate) fn value(&self) -> Result<&Expr> {
        self.value.as_ref().ok_or_else(|| syn::Error::new(self.name.span(), format!("write `{} = value`", self.name)))
    }

    /// The value as a path.
    pub(crate) fn path(&self) -> Result<Path> {
        match self.value()? {
            Expr::Path(path) => Ok(path.path.clone()),
            other => Err(syn::Error::new(other.span(), "write a path: `crate = path::to::actor_tokio`")),
        }
    }

    /// Refuses a value: this option is a word by itself.
    pub(crate) fn bare(&self) -> Result<()> {
        match &self.value {
            None => Ok(()),
            Some(value) => Err(syn::Error::new(value.span(), format!("`{}` takes no value", self.name))),
        }
    }
}

/// Parses options, each at most once.
pub(crate) fn parse(tokens: TokenStream) -> Result<Vec<Opt>> {
    let options: Vec<Opt> = Punctuated::<Opt, Token![,]>::parse_terminated.parse2(tokens)?.into_iter().collect();
    for (index, option) in options.iter().enumerate() {
        if options[..index].iter().any(|earlier| earlier.name == option.name) {
            return Err(syn::Error::new(option.name.span(), format!("`{}` is given twice", option.name)));
        }
    }
    Ok(options)
}

/// The error for an option that does not exist.
pub(crate) fn unknown(option: &Opt, where_: &str, known: &str) -> syn::Error {
    syn::Error::new(option.name.span(), format!("unknown option `{}` {where_}; there are: {known}", option.name))
}

/// Whether the attribute is `#[actor(..)]`, by whatever path.
pub(crate) fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "actor")
}

/// What a method's own attribute makes of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Skip,
    Hook(Hook),
    /// The return type is a `Result`.
    Result,
    /// The return type is not, even if it is.
    Plain,
}

/// The hooks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    Start,
    Stop,
    Error,
}

impl Hook {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "on_start",
            Self::Stop => "on_stop",
            Self::Error => "on_error",
        }
    }
}

const METHOD_OPTIONS: &str = "`skip`, `on_start`, `on_stop`, `on_error`, `result`, `plain`";

/// The mark of a method, if it has one.
pub(crate) fn mark(attributes: &[Attribute]) -> Result<Option<(Ident, Mark)>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| is_ours(attribute)) {
        let list = attribute.meta.require_list().map_err(|_| {
            syn::Error::new(
                attribute.span(),
                format!("`#[actor]` on a method says what it is: {METHOD_OPTIONS}; a plain `pub` method is a message without it"),
            )
        })?;
        for option in parse(list.tokens.clone())? {
            let mark = match option.name.to_string().as_str() {
                "skip" => Mark::Skip,
                "on_start" => Mark::Hook(Hook::Start),
                "on_stop" => Mark::Hook(Hook::Stop),
                "on_error" => Mark::Hook(Hook::Error),
                "result" => Mark::Result,
                "plain" => Mark::Plain,
                _ => return Err(unknown(&option, "on a method", METHOD_OPTIONS)),
            };
            option.bare()?;
            if found.is_some() {
                return Err(syn::Error::new(option.name.span(), "a method is one of these, not two"));
            }
            found = Some((option.name, mark));
        }
    }
    Ok(found)
}
