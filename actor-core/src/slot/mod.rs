//! An actor's place in its shard's table, and all that is kept there.

mod admission;
#[cfg(not(loom))]
mod bounds;
mod head;
#[cfg(not(loom))]
mod inbox;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(loom))]
mod port;
#[cfg(not(loom))]
mod refs;
mod room;
#[cfg(not(loom))]
mod slot_ref;
#[cfg(not(loom))]
mod state;
#[cfg(not(loom))]
mod table;
mod waits;

pub(crate) use admission::{Admission, Admit};
pub(crate) use head::{Head, Signalled, Signals};
pub(crate) use room::{Hold, Place, Room, Served, Ticket};
pub(crate) use waits::{Wait, WaitsFor};
#[cfg(not(loom))]
pub(crate) use {
    bounds::Bounds,
    inbox::{Inbox, NodePool},
    port::{Lease, Port, port},
    refs::{Left, Refs},
    slot_ref::{Pin, Slot, SlotRef, Stopping},
    state::{Notified, State},
    table::Table,
};
