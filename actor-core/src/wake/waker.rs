//! The wakers of actors: no reference count, one word of data, valid for ever.
//!
//! A waker's data pointer *is* the packed [`SlotKey`]; its clone copies a word and its drop does nothing. All that a
//! wake can touch (the port, its slots) is never unmapped, and the generation in the key says whether the slot still
//! belongs to the actor that the waker was made for; a wake that comes too late is at worst a spurious poll.

use std::{
    mem::ManuallyDrop,
    ptr,
    task::{RawWaker, RawWakerVTable, Waker},
};

use crate::{id::SlotKey, shard::wake_slot};

#[cfg(not(target_pointer_width = "64"))]
compile_error!("actor-core packs a slot's address into a pointer and so needs a 64-bit target");

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, |_| {});

/// Calls `f` with a waker for the slot that `key` names.
#[inline]
pub(crate) fn with_slot_waker<R>(key: SlotKey, f: impl FnOnce(&Waker) -> R) -> R {
    // SAFETY: the vtable's functions accept every data word, hold no resource, and are thread-safe.
    let waker = ManuallyDrop::new(unsafe { Waker::new(ptr::without_provenance(key.to_bits() as usize), &VTABLE) });
    f(&waker)
}

/// The key of a waker that [`with_slot_waker`] made.
#[inline]
pub(crate) fn waker_key(waker: &Waker) -> Option<SlotKey> {
    ptr::eq(waker.vtable(), &raw const VTABLE).then(|| SlotKey::from_bits(waker.data().addr() as u64))
}

fn clone(data: *const ()) -> RawWaker {
    RawWaker::new(data, &VTABLE)
}

fn wake(data: *const ()) {
    wake_slot(SlotKey::from_bits(data.addr() as u64));
}
