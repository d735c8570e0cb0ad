//! What carries a call: the envelope of one message, and the block of one ask.

#[cfg(not(loom))]
mod ask;
#[cfg(not(loom))]
mod layout;
#[cfg(all(test, loom))]
mod models;
mod reply;

pub(crate) use reply::{Abandoned, Answer, Completed, Leaving, ReplyCell, Start};
#[cfg(not(loom))]
pub(crate) use {
    ask::{Ask, AskHead, Asked, Failure},
    layout::{Carried, Envelope, MethodTable},
};
