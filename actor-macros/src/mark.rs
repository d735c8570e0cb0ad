//! What a method's own `#[actor(..)]` says it is.

use proc_macro2::Ident;
use syn::{Attribute, Error, spanned::Spanned};

use crate::{attributes, errors::Errors, options};

/// What a method's own attribute makes of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Skip,
    Hook(HookKind),
    /// The return type is a `Result`.
    Result,
    /// The return type is none, even if it is.
    Plain,
}

/// The hooks there are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookKind {
    Start,
    Stop,
    Error,
}

impl HookKind {
    /// The option that marks it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "on_start",
            Self::Stop => "on_stop",
            Self::Error => "on_error",
        }
    }

    /// What such a hook looks like.
    pub(crate) const fn example(self) -> &'static str {
        match self {
            Self::Start => "`async fn begin(&mut self, cx: &mut Cx<Self>) -> Result<(), E>`",
            Self::Stop => "`async fn end(&mut self, reason: &ExitReason, cx: &mut Cx<Self>)`",
            Self::Error => "`fn failed(&mut self, failure: &TellFailure<'_>)`",
        }
    }
}

const KNOWN: &str = "`skip`, `on_start`, `on_stop`, `on_error`, `result`, `plain`";

/// The mark of a method, if it has one, with the word that says so.
pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Option<(Ident, Mark)> {
    let mut found = None;
    for attribute in attributes {
        if attributes::hides_ours(attribute) {
            errors.push(Error::new_spanned(
                attribute,
                "`#[actor(..)]` can't depend on a `cfg_attr`: write the method twice, each with its `#[cfg]`",
            ));
        }
        if !attributes::is_ours(attribute) {
            continue;
        }
        let Ok(list) = attribute.meta.require_list() else {
            errors.push(Error::new(
                attribute.path().span(),
                format!("`#[actor]` on a method says what it is: {KNOWN}; a `pub` method is a message without it"),
            ));
            continue;
        };
        for option in options::parse(list.tokens.clone(), errors) {
            let mark = match option.name.to_string().as_str() {
                "skip" => Mark::Skip,
                "on_start" => Mark::Hook(HookKind::Start),
                "on_stop" => Mark::Hook(HookKind::Stop),
                "on_error" => Mark::Hook(HookKind::Error),
                "result" => Mark::Result,
                "plain" => Mark::Plain,
                _ => {
                    errors.push(option.unknown("on a method", KNOWN));
                    continue;
                }
            };
            if errors.keep(option.bare()).is_none() {
                continue;
            }
            if let Some((first, _)) = &found {
                let text = format!("a method is one of these, and this one is `{first}` already");
                errors.push(Error::new(option.name.span(), text));
                continue;
            }
            found = Some((option.name, mark));
        }
    }
    found
}
