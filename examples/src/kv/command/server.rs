//! Commands about the server.

use super::describe::help_for;
use super::{CommandError, Front};
use crate::kv::glob;
use crate::kv::info::Sections;
use crate::kv::resp::Args;

pub(super) fn info(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let sections = if args.len() == 1 { Sections::all() } else { Sections::named(args.from(1)) };
    front.plan.info(sections);
    Ok(())
}

pub(super) fn config_get(front: &mut Front<'_>, args: &Args<'_>) -> Result<(), CommandError> {
    let settings = front.session.server.settings();
    let wanted: Vec<_> = settings
        .iter()
        .filter(|(name, _)| args.from(2).any(|pattern| glob::matches(&pattern.to_ascii_lowercase(), name.as_bytes())))
        .collect();
    front.plan.answer(|reply| {
        reply.map(wanted.len());
        for (name, value) in wanted {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
    });
    Ok(())
}

pub(super) fn config_help(front: &mut Front<'_>, _args: &Args<'_>) -> Result<(), CommandError> {
    help_for(front, "config");
    Ok(())
}
