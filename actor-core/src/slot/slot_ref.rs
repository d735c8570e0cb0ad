//! The slot itself, and references to it that any thread may hold.

use std::{
    cell::Cell,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    ptr::NonNull,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

use super::{Admission, Admit, Head, Inbox, Left, Port, Refs, Room, Served, Signals, State};
use crate::{ActorId, actor::Task, id::SlotKey, shard, wake::Linked};

/// An actor's place. Slots are allocated in segments of their port and never freed, so `&'static Slot` is what every
/// reference boils down to; the generation says whether it is still the same actor's.
///
/// The first part is shared; each of its fields is a protocol of its own. The second belongs to the thread of the
/// domain that holds the port.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) head: Head,
    link: AtomicPtr<Slot>,
    pub(crate) admission: Admission,
    pub(crate) refs: Refs,
    pub(crate) room: Room,
    pub(crate) port: &'static Port,
    index: u32,
    capacity: AtomicU32,
    pub(crate) own: Own,
}

/// What only the slot's shard touches.
pub(crate) struct Own {
    pub(crate) state: State,
    pub(crate) inbox: Inbox,
    /// The actor.
    pub(crate) task: Cell<Option<NonNull<dyn Task>>>,
    /// Signals left by the shard's own thread, or taken from the head and not acted on yet.
    pub(crate) signals: Cell<Signals>,
    /// The actor drains and then ends with this.
    pub(crate) stopping: Cell<Option<Stopping>>,
    /// Serial number of the start on this shard: shutdown goes in reverse.
    pub(crate) born: Cell<u64>,
    pub(crate) next_free: Cell<Option<&'static Slot>>,
}

/// Why an actor drains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopping {
    /// It asked for it, or nobody can reach it any more.
    Normal,
    /// Somebody asked for it.
    Stopped,
    /// The shard ends.
    ShardDown,
}

// SAFETY: all fields but `own` are thread-safe by themselves; `own` is touched only through `Slot::own`-reading code
// of the shard that holds the port's lease, on the thread to which that shard is bound (`shard::Core` is `!Send`).
unsafe impl Sync for Slot {}
// SAFETY: slots are made on one thread and used from others by reference; the lease hands `own` from one domain to
// the next under the port table's lock.
unsafe impl Send for Slot {}

// SAFETY: the link is a field, written only by the stack.
unsafe impl Linked for Slot {
    fn link(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

impl Slot {
    pub(crate) fn new(port: &'static Port, index: u32) -> Self {
        Self {
            head: Head::new(),
            link: AtomicPtr::default(),
            admission: Admission::new(),
            refs: Refs::default(),
            room: Room::default(),
            port,
            index,
            capacity: AtomicU32::new(0),
            own: Own {
                state: State::new(),
                inbox: Inbox::new(),
                task: Cell::new(None),
                signals: Cell::new(Signals::NONE),
                stopping: Cell::new(None),
                born: Cell::new(0),
                next_free: Cell::new(None),
            },
        }
    }

    pub(crate) const fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn capacity(&self) -> u32 {
        // Relaxed: set before the admission word is opened, which publishes it.
        self.capacity.load(Ordering::Relaxed)
    }

    pub(crate) fn set_capacity(&self, capacity: u32) {
        self.capacity.store(capacity, Ordering::Relaxed);
    }

    /// The key with the generation as it is now.
    pub(crate) fn key(&self) -> SlotKey {
        SlotKey::new(self.port.number(), self.index, self.head.generation())
    }

    pub(crate) fn id(&self) -> ActorId {
        ActorId::new(self.key())
    }

    /// Whether `signals` are to be acted on before others' messages. A stop is so once: an actor that drains does it
    /// when its turn comes.
    #[inline]
    pub(crate) fn is_urgent(&self, signals: Signals) -> bool {
        signals.contains(Signals::KILL) || signals.contains(Signals::STOP) && self.own.stopping.get().is_none()
    }

    /// Gives a permit back and serves those that wait.
    #[inline]
    pub(crate) fn release_permit(&self) {
        if self.admission.release() {
            self.serve_waiters();
        }
    }

    #[cold]
    fn serve_waiters(&self) {
        self.room.serve(&self.admission, self.head.generation(), self.capacity()).wake();
    }

    /// Closes the mailbox of the actor of `generation` and sends the waiting away. Returns whether it was open.
    pub(crate) fn close(&self, generation: u32) -> bool {
        let closed = self.admission.close(generation);
        if closed {
            self.room.turn_away(&self.admission).wake();
        }
        closed
    }

    pub(crate) fn acquire(&self, generation: u32) -> Admit {
        self.admission.acquire(generation, self.capacity())
    }

    pub(crate) fn wait_for_room(&self, generation: u32, waker: &mut std::task::Waker) -> Served {
        self.room.wait(&self.admission, generation, self.capacity(), waker)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Slot({})", self.id())
    }
}

/// A counted reference to a slot that keeps its actor going: what a handle is made of.
pub(crate) struct SlotRef(&'static Slot);

impl SlotRef {
    /// One more handle. The caller is the slot's shard, or holds a handle.
    pub(crate) fn new(slot: &'static Slot) -> Self {
        slot.refs.add_handle();
        Self(slot)
    }

    pub(crate) fn slot(&self) -> &'static Slot {
        self.0
    }

    pub(crate) fn pin(&self) -> Pin {
        Pin::new(self.0)
    }
}

impl Clone for SlotRef {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for SlotRef {
    fn drop(&mut self) {
        // Read before the count falls: after it the slot may be used again.
        let generation = self.0.head.generation();
        if self.0.refs.drop_handle() == Left::None {
            shard::signal(self.0, generation, Signals::UNREFERENCED);
        }
    }
}

impl PartialEq for SlotRef {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for SlotRef {}

impl Hash for SlotRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key().hash(state);
    }
}

/// A counted reference that keeps the slot from being used again, and nothing else.
pub(crate) struct Pin(&'static Slot);

impl Pin {
    /// One more pin. The caller is the slot's shard, or holds a handle or a pin.
    pub(crate) fn new(slot: &'static Slot) -> Self {
        slot.refs.add_pin();
        Self(slot)
    }

    pub(crate) fn slot(&self) -> &'static Slot {
        self.0
    }

    /// A handle, if one exists.
    pub(crate) fn upgrade(&self) -> Option<SlotRef> {
        self.0.refs.upgrade().then_some(SlotRef(self.0))
    }
}

impl Deref for Pin {
    type Target = Slot;

    fn deref(&self) -> &Slot {
        self.0
    }
}

impl Clone for Pin {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let generation = self.0.head.generation();
        if self.0.refs.drop_pin() == Left::None {
            shard::signal(self.0, generation, Signals::UNREFERENCED);
        }
    }
}
