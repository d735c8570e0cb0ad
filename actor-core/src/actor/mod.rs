//! Actors and what refers to them: handles, calls, contexts.

mod actor_task;
mod blocking;
mod born;
mod call;
mod cx;
mod exit;
mod handle;
mod inbox;
mod into_actor;
pub mod message;
mod permit;
mod reserve;
mod spawn;
mod task;
mod tell;
mod traits;
mod waiting;

pub(crate) use self::task::{Run, Step, Task};
pub use self::{
    call::Call,
    cx::Cx,
    exit::Exit,
    handle::{Handle, WeakHandle},
    inbox::{Inbox, InboxActor, InboxHandle, Recv},
    into_actor::IntoActor,
    permit::Permit,
    reserve::Reserve,
    spawn::{Mailbox, Spawning},
    tell::Tell,
    traits::{Actor, Method, TellFailure, Typed},
};
