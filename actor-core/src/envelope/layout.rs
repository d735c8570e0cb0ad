//! The envelope: one user message on its way, 56 bytes, so that with the ring's sequence number it fills a cache line.

use std::{
    marker::PhantomData,
    mem::{MaybeUninit, align_of, size_of},
    ptr::NonNull,
};

use super::{Ask, AskHead, Asked, Failure};
use crate::{
    id::{GENERATION_BITS, MAX_GENERATION, SLOT_BITS},
    prefetch,
    shard::Core,
    slot::Slot,
};

/// A message: its target, its method, and its arguments or the block that holds them.
///
/// An envelope is a plain value; whoever holds it must [`open`](Self::open) or [`discard`](Self::discard) it, or its
/// arguments leak and its asker waits for its timeout.
#[repr(C)]
pub(crate) struct Envelope {
    /// Slot and generation, and [`Carried`] above them. The port is the one whose ring the envelope is in.
    target: u64,
    table: &'static MethodTable,
    payload: [MaybeUninit<u64>; INLINE_WORDS],
}

const INLINE_WORDS: usize = 5;
const CARRIED_SHIFT: u32 = SLOT_BITS + GENERATION_BITS;

const _: () = assert!(size_of::<Envelope>() == 56);

// SAFETY: an envelope is only made of arguments that are `Send` (`MessageArg`) and of blocks whose two ends are
// thread-safe; the method table is immutable.
unsafe impl Send for Envelope {}

/// How the arguments travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Carried {
    /// A message without an asker, its arguments in the envelope or in a box of their own.
    Tell = 0,
    /// An ask: the payload is the pointer to its block.
    Ask = 1,
}

/// The erased methods of one message method of one actor type.
pub(crate) struct MethodTable {
    /// The method's name.
    pub(crate) name: &'static str,
    /// Begins to handle a message.
    ///
    /// # Safety
    ///
    /// The first argument is the task of the actor type that this table was made for, live and not in a handler; the
    /// envelope was made for this table.
    pub(crate) run: unsafe fn(NonNull<()>, Envelope, &Core, &'static Slot),
    /// Drops the arguments of a tell.
    ///
    /// # Safety
    ///
    /// The envelope is a tell made for this table, and is not used after.
    pub(crate) drop_args: unsafe fn(Envelope),
}

/// The parts of an opened envelope.
pub(crate) struct Opened<P> {
    pub(crate) args: P,
    pub(crate) asked: Option<Asked>,
}

impl Envelope {
    /// A message without an asker. Its arguments can be sent: they are `message::Args`.
    #[inline]
    pub(crate) fn tell<P: 'static>(slot: u32, generation: u32, table: &'static MethodTable, args: P) -> Self {
        let mut payload = [MaybeUninit::uninit(); INLINE_WORDS];
        if Fits::<P>::INLINE {
            // SAFETY: `Fits` says that size and alignment do; the words are ours.
            unsafe { payload.as_mut_ptr().cast::<P>().write(args) };
        } else {
            payload[0] = MaybeUninit::new(Box::into_raw(Box::new(args)).expose_provenance() as u64);
        }
        Self { target: target(slot, generation, Carried::Tell), table, payload }
    }

    /// A message whose asker waits at `head`.
    #[inline]
    pub(crate) fn ask(slot: u32, generation: u32, table: &'static MethodTable, head: NonNull<AskHead>) -> Self {
        let mut payload = [MaybeUninit::uninit(); INLINE_WORDS];
        payload[0] = MaybeUninit::new(head.as_ptr().expose_provenance() as u64);
        Self { target: target(slot, generation, Carried::Ask), table, payload }
    }

    pub(crate) const fn slot(&self) -> u32 {
        self.target as u32 & ((1 << SLOT_BITS) - 1)
    }

    pub(crate) const fn generation(&self) -> u32 {
        (self.target >> SLOT_BITS) as u32 & MAX_GENERATION
    }

    pub(crate) const fn carried(&self) -> Carried {
        if self.target >> CARRIED_SHIFT == Carried::Ask as u64 { Carried::Ask } else { Carried::Tell }
    }

    pub(crate) const fn table(&self) -> &'static MethodTable {
        self.table
    }

    /// The callee's end of an ask.
    #[inline]
    pub(crate) fn asked(&self) -> Option<Asked> {
        (self.carried() == Carried::Ask).then(|| {
            // SAFETY: `ask` wrote the first word from a non-null pointer to a live block, and hands its callee's end
            // to whoever holds the envelope.
            unsafe {
                let head = std::ptr::with_exposed_provenance_mut(self.payload[0].assume_init() as usize);
                Asked::new(NonNull::new_unchecked(head))
            }
        })
    }

    /// Begins to fetch the block of an ask: whoever handles the message writes into it.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Some(asked) = self.asked() {
            let head: *const AskHead = asked.head();
            prefetch::for_write(head);
            // Where the answer goes.
            prefetch::for_write(head.wrapping_byte_add(64));
        }
    }

    /// Takes the arguments out.
    ///
    /// # Safety
    ///
    /// The envelope was made with arguments of type `P`, and for an ask with a block of `Ask<P, T, E>`.
    #[inline]
    pub(crate) unsafe fn open<P: 'static, T: 'static, E: 'static>(self) -> Opened<P> {
        match self.asked() {
            Some(asked) => {
                // SAFETY: the caller names the block's type; the envelope is the one way to its arguments.
                let args = unsafe { Ask::<P, T, E>::take_args(&asked) };
                Opened { args, asked: Some(asked) }
            }
            None => {
                // SAFETY: as above.
                let args = unsafe { self.tell_args::<P>() };
                Opened { args, asked: None }
            }
        }
    }

    /// Takes the arguments of a tell.
    ///
    /// # Safety
    ///
    /// The envelope is a tell made with arguments of type `P`.
    #[inline]
    pub(crate) unsafe fn tell_args<P: 'static>(self) -> P {
        if Fits::<P>::INLINE {
            // SAFETY: written by `tell` with this type; `self` is consumed, so they are read once.
            unsafe { self.payload.as_ptr().cast::<P>().read() }
        } else {
            // SAFETY: `tell` made the box; read once as above.
            unsafe {
                let boxed = std::ptr::with_exposed_provenance_mut::<P>(self.payload[0].assume_init() as usize);
                *Box::from_raw(boxed)
            }
        }
    }

    /// Throws the message away: its arguments are dropped, its asker hears `why`. May run, and so panic in, a user's
    /// `Drop`.
    pub(crate) fn discard(self, why: Failure) {
        match self.asked() {
            Some(asked) => asked.fail(why),
            // SAFETY: the table is the one that the envelope was made for.
            None => unsafe { (self.table.drop_args)(self) },
        }
    }
}

/// Whether arguments travel in the envelope.
struct Fits<P>(PhantomData<P>);

impl<P> Fits<P> {
    const INLINE: bool = size_of::<P>() <= INLINE_WORDS * size_of::<u64>() && align_of::<P>() <= align_of::<u64>();
}

const fn target(slot: u32, generation: u32, carried: Carried) -> u64 {
    ((carried as u64) << CARRIED_SHIFT) | ((generation as u64) << SLOT_BITS) | slot as u64
}
