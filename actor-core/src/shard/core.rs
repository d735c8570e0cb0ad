//! The running domain: what the cursor points to. Owner-only through and through.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    task::Waker,
    time::Duration,
};

use super::{DomainConfig, Stats, deadlock::Deadlocks, evict::Evictions, spin::Spinner, stats::Counters};
use crate::{
    Overflow, ShardId, SpawnError,
    envelope::{Envelope, Failure, Start},
    id::MAX_SLOTS,
    mailbox::Mark,
    port::{ChoicePoint, Choose, Clock, Driver, Host, Nanos, TimerKey},
    slot::{Bounds, NodePool, Notified, Port, Signals, Slot, Stopping},
    timer::TimerQueue,
    wake::publish_fence,
};

/// Free permits of one mailbox that its shard keeps at the most before it gives them back.
const LARGEST_CHUNK: u32 = 32;

/// One shard's state, on its thread.
pub(crate) struct Core {
    pub(crate) port: &'static Port,
    pub(super) epoch: u32,
    shard: ShardId,
    mailbox_capacity: u32,
    pub(super) slice: Duration,
    clock: Box<dyn Clock>,
    pub(crate) driver: Box<dyn Driver>,
    choose: Option<Box<dyn Choose>>,
    /// Ready actors, oldest first.
    ready: RefCell<VecDeque<&'static Slot>>,
    /// Slots without an actor that may have become free.
    pub(super) vacating: RefCell<Vec<&'static Slot>>,
    pub(crate) pool: NodePool,
    timers: RefCell<TimerQueue>,
    pub(super) now: Cell<Nanos>,
    /// The actor that is being polled and handles one message at a time: it can't answer itself.
    pub(crate) exclusive: Cell<Option<&'static Slot>>,
    /// When the asker of the message that is being handled gives up; [`Nanos::NEVER`] if never, or there is none.
    pub(crate) inherited: Cell<Nanos>,
    pub(super) deadlocks: Deadlocks,
    pub(super) in_turn: Cell<bool>,
    /// The driver has announced sleep, and no turn has begun since.
    pub(super) is_resting: Cell<bool>,
    /// Wakes the driver from its own thread.
    driver_waker: RefCell<Option<Waker>>,
    /// Slots that may have permits which are free and not given back, each once.
    unreleased: RefCell<Vec<&'static Slot>>,
    /// When the first of those was listed.
    unreleased_since: Cell<Nanos>,
    /// Ports that were sent to in this poll and whose doorbells are owed a look, each with what was pushed.
    owed: RefCell<Vec<(&'static Port, Mark)>>,
    pub(super) evictions: Evictions,
    pub(crate) counters: Counters,
    pub(super) spinner: Spinner,
    pub(super) is_closing: Cell<bool>,
    next_born: Cell<u64>,
}

impl Core {
    /// The core of the domain that holds `port`. Opens the port's doorbell: from now on it can be woken.
    ///
    /// # Safety
    ///
    /// The port's doorbell is closed, and this thread holds the port's lease.
    pub(super) unsafe fn new(port: &'static Port, epoch: u32, config: &DomainConfig, host: Host) -> Self {
        // SAFETY: by the caller's promise.
        unsafe { port.doorbell.open(host.notify) };
        Self {
            port,
            epoch,
            shard: config.shard,
            mailbox_capacity: config.mailbox_capacity,
            slice: config.slice,
            now: Cell::new(host.clock.now()),
            clock: host.clock,
            driver: host.driver,
            choose: host.choose,
            ready: RefCell::default(),
            vacating: RefCell::default(),
            pool: NodePool::new(),
            timers: RefCell::default(),
            exclusive: Cell::new(None),
            inherited: Cell::new(Nanos::NEVER),
            deadlocks: Deadlocks::default(),
            in_turn: Cell::new(false),
            is_resting: Cell::new(true),
            driver_waker: RefCell::default(),
            unreleased: RefCell::default(),
            unreleased_since: Cell::default(),
            owed: RefCell::default(),
            evictions: Evictions::default(),
            counters: Counters::default(),
            spinner: Spinner::new(config.spin),
            is_closing: Cell::new(false),
            next_born: Cell::new(0),
        }
    }

    pub(crate) fn shard(&self) -> ShardId {
        self.shard
    }

    pub(super) fn stats(&self) -> Stats {
        Stats { rings_from_outside: self.port.outside_rings(), ..self.counters.read() }
    }

    /// The time: of the turn's last reading inside a turn, now outside.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        if !self.in_turn.get() {
            self.read_clock();
        }
        self.now.get()
    }

    /// The time of the last reading, if a turn is under way or about to begin; else now. Behind by what the driver's
    /// other tasks take between two turns: good enough for a limit of seconds.
    #[inline]
    pub(crate) fn recent(&self) -> Nanos {
        if self.is_resting.get() {
            self.read_clock();
        }
        self.now.get()
    }

    pub(super) fn read_clock(&self) -> Nanos {
        let now = self.clock.now();
        self.now.set(now);
        now
    }

    /// One of `alternatives`, as the host chooses.
    #[inline]
    pub(super) fn choose(&self, point: ChoicePoint, alternatives: usize) -> usize {
        match &self.choose {
            Some(choose) if alternatives > 1 => choose.choose(point, alternatives).min(alternatives - 1),
            _ => 0,
        }
    }

    // === the run queue ===

    /// There is something for `slot`'s actor to do.
    #[inline]
    pub(crate) fn notify(&self, slot: &'static Slot) {
        if slot.own.state.notify() == Notified::Enqueue {
            self.enqueue(slot);
        }
    }

    /// Leaves `signals` for `slot`'s actor, which lives.
    pub(super) fn leave(&self, slot: &'static Slot, signals: Signals) {
        let before = slot.own.signals.get();
        slot.own.signals.set(before.with(signals));
        if slot.own.state.notify() == Notified::Enqueue {
            self.enqueue(slot);
        } else if slot.own.state.is_queued() && slot.is_urgent(signals.without(before)) {
            // It keeps its place in the line as well. When that comes up the actor has ended, has nothing to do, or is
            // polled a little early.
            self.enqueue(slot);
        }
    }

    /// Puts an actor at the end of the line, or at its head if it is to stop or to die: others' messages are not to
    /// keep that waiting.
    #[inline]
    pub(super) fn enqueue(&self, slot: &'static Slot) {
        let mut ready = self.ready.borrow_mut();
        if slot.is_urgent(slot.own.signals.get()) {
            ready.push_front(slot);
        } else {
            ready.push_back(slot);
        }
        drop(ready);
        self.wake_driver();
    }

    #[inline]
    pub(super) fn next_ready(&self) -> Option<&'static Slot> {
        let mut ready = self.ready.borrow_mut();
        if self.choose.is_some() {
            let choice = self.choose(ChoicePoint::NextActor, ready.len());
            return ready.remove(choice);
        }
        ready.pop_front()
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.borrow().is_empty()
    }

    /// Makes the driver look, if it does not anyway.
    #[inline]
    pub(super) fn wake_driver(&self) {
        if !self.in_turn.get() {
            self.wake_driver_cold();
        }
    }

    #[cold]
    fn wake_driver_cold(&self) {
        // Taken: one wake a sleep. The driver leaves a new one before it sleeps again.
        let waker = self.driver_waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn set_driver_waker(&self, waker: Option<Waker>) {
        self.driver_waker.replace(waker);
    }

    // === messages ===

    /// Puts an admitted message into its actor's inbox, or throws it away when the actor has ended. The latter runs
    /// user code.
    #[inline]
    pub(super) fn accept(&self, slot: &'static Slot, envelope: Envelope) {
        self.counters.received.add(1);
        if !slot.own.state.is_live() {
            return self.return_late(slot, envelope);
        }
        if slot.own.queued() >= slot.own.drops_beyond.get() {
            return self.accept_into_full(slot, envelope);
        }
        slot.own.enqueue(&self.pool, envelope);
        self.notify(slot);
    }

    /// Takes the oldest message that is to be handled out of an actor's inbox.
    #[inline]
    pub(crate) fn next_message(&self, slot: &'static Slot) -> Option<Envelope> {
        loop {
            let envelope = slot.own.dequeue(&self.pool)?;
            self.release_permit(slot);
            let Some(asked) = envelope.asked() else {
                self.counters.handled.add(1);
                return Some(envelope);
            };
            if asked.head().is_expired(self.now.get()) {
                self.counters.returned.add(1);
                asked.fail(Failure::Expired);
            } else if asked.head().cell.start() == Start::Run {
                self.counters.handled.add(1);
                return Some(envelope);
            } else {
                self.counters.returned.add(1);
                // SAFETY: `Withdrawn` makes the block ours; the envelope is forgotten with it.
                unsafe { asked.free() };
            }
        }
    }

    /// A message has left its mailbox: its permit is free, and given back with others'. The word is in the caches of the
    /// senders; to take it from them for every message would cost both sides more than the message.
    #[inline]
    fn release_permit(&self, slot: &'static Slot) {
        let unreleased = slot.own.unreleased.get() + 1;
        slot.own.unreleased.set(unreleased);
        if unreleased >= slot.own.chunk.get() {
            slot.release_permits();
        } else if !slot.own.is_listed.replace(true) {
            let mut unreleased = self.unreleased.borrow_mut();
            if unreleased.is_empty() {
                self.unreleased_since.set(self.now.get());
            }
            unreleased.push(slot);
        }
    }

    /// Gives permits back that have been free for as long as a turn may last: a shard may go on for ever without one that
    /// ends with more to do, and without sleep.
    #[inline]
    pub(super) fn release_old_permits(&self, now: Nanos) {
        if !self.unreleased.borrow().is_empty() && now >= self.unreleased_since.get().after(self.slice) {
            self.release_permits();
        }
    }

    /// Gives all permits back that are free: before sleep, and when a turn ends with more to do. Wakes who waits for them.
    pub(super) fn release_permits(&self) {
        // Taken: a waker is user code, and may come back here.
        let mut slots = self.unreleased.take();
        for slot in slots.drain(..) {
            slot.own.is_listed.set(false);
            slot.release_permits();
        }
        // Its room is used again.
        self.unreleased.replace(slots);
    }

    /// Whether a draining actor has had everything that was admitted.
    #[inline]
    pub(crate) fn is_drained(&self, slot: &Slot) -> bool {
        slot.own.queued() == 0 && slot.admission.count() == slot.own.unreleased.get()
    }

    // === doorbells ===

    /// `port` was sent to: look at its doorbell at the end of this poll, or now outside a turn.
    #[inline]
    pub(super) fn owe_bell(&self, port: &'static Port, mark: Mark) {
        if self.in_turn.get() {
            let mut owed = self.owed.borrow_mut();
            match owed.iter_mut().find(|(known, _)| std::ptr::eq(*known, port)) {
                Some((_, marked)) => *marked = marked.and(mark),
                None => owed.push((port, mark)),
            }
        } else {
            port.ready.settle(mark);
            self.ring_after_fence(port);
        }
    }

    /// Looks at the doorbells that are owed, with one fence for all.
    #[inline]
    pub(super) fn ring_owed(&self) {
        let mut owed = self.owed.borrow_mut();
        if owed.is_empty() {
            return;
        }
        publish_fence();
        let mut is_late = false;
        for (port, mark) in owed.iter() {
            is_late |= port.ready.confirm(*mark);
        }
        if is_late {
            publish_fence();
        }
        for (port, _) in owed.drain(..) {
            self.ring_after_fence(port);
        }
    }

    #[inline]
    fn ring_after_fence(&self, port: &'static Port) {
        // A wake costs system calls; a reading of the clock is nothing beside it, and tells the woken what it costs.
        let woke = port.doorbell.ring_after_fence_with(|| port.set_rung_at(self.read_clock()));
        let count = if woke { &self.counters.rings } else { &self.counters.elided };
        count.add(1);
    }

    // === timers ===

    pub(crate) fn arm(&self, at: Nanos, waker: Waker) -> TimerKey {
        let mut timers = self.timers.borrow_mut();
        let earliest = timers.earliest();
        let key = timers.arm(at, waker);
        drop(timers);
        if earliest.is_none_or(|earliest| at < earliest) {
            // A driver that sleeps has set its alarm for a later time.
            self.wake_driver();
        }
        key
    }

    /// Disarms a timer and returns its waker, for the caller to drop: that is user code.
    pub(crate) fn disarm(&self, key: TimerKey) -> Option<Waker> {
        self.timers.borrow_mut().cancel(key)
    }

    pub(super) fn next_timer(&self) -> Option<Nanos> {
        self.timers.borrow_mut().earliest()
    }

    pub(super) fn due_timers(&self, now: Nanos) -> Vec<Waker> {
        let mut due = Vec::new();
        self.timers.borrow_mut().fire(now, &mut due);
        due
    }

    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    // === starts ===

    /// Whether actors are still started. Asked before their state is built, which is user code.
    pub(crate) fn admits_starts(&self) -> Result<(), SpawnError> {
        if self.is_closing.get() { Err(SpawnError::Closed) } else { Ok(()) }
    }

    /// A slot for a new actor with an open mailbox.
    pub(crate) fn occupy(&self, capacity: Option<usize>, overflow: Overflow) -> Result<&'static Slot, SpawnError> {
        self.admits_starts()?;
        let capacity = capacity.map_or(self.mailbox_capacity, |capacity| u32::try_from(capacity).unwrap_or(u32::MAX));
        if capacity == 0 {
            return Err(SpawnError::NoCapacity);
        }
        let slot = self.port.table.take(self.port).ok_or(SpawnError::TooManyActors { limit: MAX_SLOTS })?;
        slot.set_bounds(Bounds::new(capacity, overflow));
        slot.own.signals.set(Signals::NONE);
        slot.own.stopping.set(None);
        slot.own.born.set(self.next_born.replace(self.next_born.get() + 1));
        slot.own.key.set(slot.key());
        slot.own.chunk.set((capacity / 4).clamp(1, LARGEST_CHUNK));
        let bounds = slot.bounds();
        slot.own.drops_beyond.set(if bounds.drops() { bounds.capacity() } else { u32::MAX });
        slot.own.state.occupy();
        slot.admission.open(slot.head.generation());
        self.counters.actors.add(1);
        self.counters.spawned.add(1);
        Ok(slot)
    }

    /// Makes an actor drain and then end, unless it does already. The caller sees to it that it is polled.
    pub(super) fn begin_stop(&self, slot: &'static Slot, why: Stopping) {
        if slot.own.stopping.get().is_none() {
            slot.own.stopping.set(Some(why));
        }
        slot.close(slot.head.generation());
    }
}
