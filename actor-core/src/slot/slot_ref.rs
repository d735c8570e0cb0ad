//! The slot itself, and references to it that any thread may hold.

use std::{
    cell::Cell,
    fmt,
    hash::{Hash, Hasher},
    ops::Deref,
    ptr::NonNull,
    sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering},
};

use super::{
    Admission, Admit, Bounds, Head, Hold, Inbox, Left, NodePool, Place, Port, Refs, Room, Served, Signals, State,
    WaitsFor,
};
use crate::{ActorId, actor::Task, envelope::Envelope, id::SlotKey, shard, wake::Linked};

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
    bounds: AtomicU32,
    /// Messages of this actor that its mailbox has dropped. Written by the owner.
    evicted: AtomicU64,
    /// Beside what its writer, the owner, touches anyway.
    pub(crate) waits: WaitsFor,
    pub(crate) own: Own,
}

// Three cache lines: the first is what a sender touches.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
const _: () = assert!(size_of::<Slot>() == 192 && std::mem::offset_of!(Slot, evicted) == 64);

/// What only the slot's shard touches.
pub(crate) struct Own {
    pub(crate) state: State,
    inbox: Inbox,
    /// Messages in the inbox.
    queued: Cell<u32>,
    /// The mailbox has dropped messages that are not reported yet: the slot waits for that before it is used again.
    pub(crate) is_noted: Cell<bool>,
    /// The actor.
    pub(crate) task: Cell<Option<NonNull<dyn Task>>>,
    /// Signals left by the shard's own thread, or taken from the head and not acted on yet.
    pub(crate) signals: Cell<Signals>,
    /// The key of the actor: what is above is in the caches of those that send to it.
    pub(crate) key: Cell<SlotKey>,
    /// Messages beyond which the mailbox drops one for each that arrives; `u32::MAX` if it keeps all.
    pub(crate) drops_beyond: Cell<u32>,
    /// Permits of messages that have left the mailbox, not given back yet.
    pub(crate) unreleased: Cell<u32>,
    /// How many of those there may be: a quarter of the capacity. A small mailbox's are given back one by one.
    pub(crate) chunk: Cell<u32>,
    /// Whether the shard knows that there may be some.
    pub(crate) is_listed: Cell<bool>,
    /// The actor drains and then ends with this.
    pub(crate) stopping: Cell<Option<Stopping>>,
    /// The actor has begun to wait for another and has not been checked for a deadlock since.
    pub(crate) is_unchecked: Cell<bool>,
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
            bounds: AtomicU32::new(0),
            evicted: AtomicU64::new(0),
            waits: WaitsFor::new(),
            own: Own {
                state: State::new(),
                inbox: Inbox::new(),
                queued: Cell::new(0),
                is_noted: Cell::new(false),
                task: Cell::new(None),
                signals: Cell::new(Signals::NONE),
                key: Cell::new(SlotKey::from_bits(0)),
                drops_beyond: Cell::new(u32::MAX),
                unreleased: Cell::new(0),
                chunk: Cell::new(1),
                is_listed: Cell::new(false),
                stopping: Cell::new(None),
                is_unchecked: Cell::new(false),
                born: Cell::new(0),
                next_free: Cell::new(None),
            },
        }
    }

    pub(crate) const fn index(&self) -> u32 {
        self.index
    }

    #[inline]
    pub(crate) fn bounds(&self) -> Bounds {
        // Relaxed: set before the admission word is opened, which publishes it.
        Bounds::from_bits(self.bounds.load(Ordering::Relaxed))
    }

    /// Sets the mailbox up for a new actor.
    pub(crate) fn set_bounds(&self, bounds: Bounds) {
        self.bounds.store(bounds.to_bits(), Ordering::Relaxed);
        self.evicted.store(0, Ordering::Relaxed);
    }

    /// Messages that the mailbox has dropped so far.
    pub(crate) fn evicted(&self) -> u64 {
        // Relaxed: a count, and nothing else is known by it.
        self.evicted.load(Ordering::Relaxed)
    }

    /// One message more has been dropped. The owner's, so that no other writes in between.
    pub(crate) fn count_evicted(&self) {
        self.evicted.store(self.evicted() + 1, Ordering::Relaxed);
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

    /// Gives one more permit back, with those that are free, and serves those that wait. The owner's.
    pub(crate) fn release_permit(&self) {
        self.own.unreleased.set(self.own.unreleased.get() + 1);
        self.release_permits();
    }

    /// Gives back the permits that are free, and serves those that wait. The owner's.
    #[inline]
    pub(crate) fn release_permits(&self) {
        let free = self.own.unreleased.take();
        if free > 0 && self.admission.release(free) {
            self.serve_waiters();
        }
    }

    #[cold]
    fn serve_waiters(&self) {
        self.room.serve(&self.admission, self.head.generation(), self.bounds().permits()).wake();
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
        self.admission.acquire(generation, self.bounds().permits())
    }

    pub(crate) fn wait_for_room(&self, generation: u32, waker: &mut std::task::Waker) -> Served {
        self.room.wait(&self.admission, generation, self.bounds().permits(), waker)
    }

    pub(crate) fn reserve(&self, generation: u32, waker: &mut std::task::Waker) -> Hold {
        self.room.reserve(&self.admission, generation, self.bounds().permits(), waker)
    }

    pub(crate) fn try_reserve(&self, generation: u32) -> Result<Place, Admit> {
        self.room.try_reserve(&self.admission, generation, self.bounds().permits())
    }
}

impl Own {
    /// Appends a message to the inbox.
    #[inline]
    pub(crate) fn enqueue(&self, pool: &NodePool, envelope: Envelope) {
        self.inbox.push(pool, envelope);
        self.queued.set(self.queued.get() + 1);
    }

    /// Takes the oldest message out of the inbox.
    #[inline]
    pub(crate) fn dequeue(&self, pool: &NodePool) -> Option<Envelope> {
        let envelope = self.inbox.pop(pool)?;
        self.queued.set(self.queued.get() - 1);
        Some(envelope)
    }

    /// Messages in the inbox.
    #[inline]
    pub(crate) fn queued(&self) -> u32 {
        self.queued.get()
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
