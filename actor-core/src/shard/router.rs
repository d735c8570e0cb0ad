//! The router: takes messages and signals to the shard that they are for, from whatever thread.

use std::{ptr, ptr::NonNull};

use super::with_core;
use crate::{
    envelope::Envelope,
    id::SlotKey,
    mailbox::{Mark, Producer},
    slot::{Port, Signalled, Signals, Slot, port},
};

/// Whether this thread executes the shard of `port`.
#[inline]
pub(crate) fn is_current(port: &'static Port) -> bool {
    with_core(|core| core.is_some_and(|core| ptr::eq(core.port, port)))
}

/// Something was left at `port`: looks at its doorbell, now or at the end of the poll.
pub(crate) fn look_at_bell(port: &'static Port) {
    with_core(|core| match core {
        Some(core) => core.owe_bell(port, Mark::NONE),
        None => port.ring_from_outside(Mark::NONE),
    });
}

/// Sends an admitted message.
///
/// # Safety
///
/// The caller holds a permit of `slot`, taken on this thread since it last ran other code, and `envelope` is for the
/// actor that the permit was taken of.
#[inline]
pub(crate) unsafe fn deliver(slot: &'static Slot, envelope: Envelope) {
    with_core(|core| match core {
        // No user code runs here: the permit says that the actor lives.
        Some(core) if ptr::eq(core.port, slot.port) => core.accept(slot, envelope),
        Some(core) => {
            // SAFETY: the caller's permit; this thread executes the core's shard.
            let mark = unsafe { slot.port.push(Producer::Shard(core.port.number()), envelope) };
            core.counters.sent.add(1);
            core.owe_bell(slot.port, mark);
        }
        None => {
            // SAFETY: the caller's permit.
            let mark = unsafe { slot.port.push(Producer::Outside, envelope) };
            slot.port.ring_from_outside(mark);
        }
    });
}

/// Leaves `signals` for the actor of `generation` in `slot`.
pub(crate) fn signal(slot: &'static Slot, generation: u32, signals: Signals) {
    with_core(|core| match core {
        Some(core) if ptr::eq(core.port, slot.port) => {
            if slot.head.generation() == generation {
                if slot.own.state.is_live() {
                    core.leave(slot, signals);
                } else {
                    core.vacating.borrow_mut().push(slot);
                    core.wake_driver();
                }
            }
        }
        core => match slot.head.signal(generation, signals) {
            Signalled::First => {
                // SAFETY: slots live for ever; the first signaller, and nobody else, pushes.
                let pushed = unsafe { slot.port.signals.push(NonNull::from(slot)) };
                debug_assert!(pushed, "the stack of signals is never closed");
                match core {
                    Some(core) => core.owe_bell(slot.port, Mark::NONE),
                    None => slot.port.ring_from_outside(Mark::NONE),
                }
            }
            Signalled::Joined | Signalled::Stale => {}
        },
    });
}

/// What an actor's waker does.
#[inline]
pub(crate) fn wake_slot(key: SlotKey) {
    let is_local = with_core(|core| match core {
        Some(core) if core.port.number() == key.port() => {
            if let Some(slot) = core.port.table.get(key.slot())
                && slot.head.generation() == key.generation()
            {
                core.notify(slot);
            }
            true
        }
        _ => false,
    });
    if !is_local && let Some(slot) = port(key.port()).and_then(|port| port.table.get(key.slot())) {
        signal(slot, key.generation(), Signals::WAKE);
    }
}
