//! The one source of atomics and cells: std's, or loom's under `--cfg loom`.
//!
//! Only the modules that have a loom model go through this facade; they are the ones whose state two threads touch.

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
};

#[cfg(not(loom))]
pub(crate) use self::cell::UnsafeCell;

#[cfg(not(loom))]
mod cell {
    /// `std`'s cell with loom's closure interface, so that a model sees every access.
    #[derive(Debug)]
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

/// A step of a protocol that a model can leave out or weaken, to show that it would notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `VyukovRing::push` publishes with `Relaxed`.
    RingPublish,
    /// `VyukovRing::pop` frees the cell with `Relaxed`.
    RingFree,
    /// `Lane::push` publishes with `Relaxed`.
    LanePublish,
    /// `Lane::pop` gives cells back with `Relaxed`.
    LaneFree,
    /// `Ready::settle` does not look whether the consumer still knows of the lane.
    ReadyConfirm,
    /// `LanesRing::pop` stops looking at a lane without a last look.
    ReadyClear,
    /// `Doorbell::open` publishes with `Relaxed`.
    BellOpen,
    /// `Spill::push` does not look at the flag.
    SpillFlag,
    /// `Spill::take` takes whatever the ring holds.
    SpillDrained,
    /// `Doorbell::ring` has no fence.
    BellRingFence,
    /// `Doorbell::announce_sleep` has no fence.
    BellSleepFence,
    /// `Doorbell::close` does not wait for ringers.
    BellCloseWait,
    /// `Stack::push` publishes with `Relaxed`.
    StackPush,
    /// `Head::signal` is `Relaxed`.
    HeadSignal,
    /// `Head::advance` drops what is pending.
    HeadAdvance,
    /// `Admission::acquire` adds without looking again.
    AdmissionAcquire,
    /// `Room::wait` tries before it sets the waiters' bit.
    RoomBit,
    /// `Room::wait` takes a place without comparing generations.
    RoomGeneration,
    /// `Room::leave` serves nobody.
    RoomLeave,
    /// `Room::try_reserve` takes the permit before the lock.
    RoomReserve,
    /// `WaitsFor::set` publishes its serial number with `Relaxed`.
    WaitsSerial,
    /// `ReplyCell::complete` publishes with `Relaxed`.
    ReplyDone,
    /// `ReplyCell::complete` takes the waker without the lock.
    ReplyLock,
    /// `ReplyCell::poll` takes a change for made that it could not make.
    ReplyBusy,
    /// `ReplyCell::abandon` is `Relaxed`.
    ReplyLeave,
    /// `ReplyCell::start` looks before it says so.
    ReplyStart,
}

/// Whether the running model has planted `fault`. Never in a normal build, where this is gone.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) const fn planted(_: Fault) -> bool {
    false
}

#[cfg(loom)]
pub(crate) use self::planting::{model, model_with, planted};

#[cfg(loom)]
mod planting {
    use std::cell::Cell;

    use super::Fault;

    thread_local! {
        /// A model's threads are coroutines of its test's thread.
        static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    pub(crate) fn planted(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }

    /// Explores every execution of `run`, as it is.
    pub(crate) fn model(run: impl Fn() + Send + Sync + 'static) {
        PLANTED.set(None);
        loom::model(run);
    }

    /// Explores `run` with a fault, until loom panics.
    pub(crate) fn model_with(fault: Fault, run: impl Fn() + Send + Sync + 'static) {
        PLANTED.set(Some(fault));
        loom::model(run);
    }
}
