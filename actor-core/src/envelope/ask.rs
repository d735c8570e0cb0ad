//! The block of one ask: the reply cell, the arguments on their way out, the outcome on its way back.

use std::{
    cell::{Cell, UnsafeCell},
    mem::MaybeUninit,
    ptr::NonNull,
    sync::atomic::AtomicPtr,
    task::Waker,
};

use super::{Completed, ReplyCell};
use crate::{AskError, ExitReason, port::Nanos, shard, slot::Port, wake::Linked};

/// The part of the block that does not depend on its types.
#[repr(C)]
pub(crate) struct AskHead {
    pub(crate) cell: ReplyCell,
    /// For the replies of `home`.
    link: AtomicPtr<AskHead>,
    /// The shard of the asker, which the answer goes by; `None` for a caller on no shard, which is woken directly.
    home: Option<&'static Port>,
    /// The asker gives up at this time; [`Nanos::NEVER`] if at none. Written by the caller before the message is sent.
    pub(crate) deadline: Nanos,
    erased: &'static Erased,
}

/// The functions of one type of block.
struct Erased {
    fail: unsafe fn(NonNull<AskHead>, Failure),
    free: unsafe fn(NonNull<AskHead>),
}

// SAFETY: the link is a field, written only by the stack.
unsafe impl Linked for AskHead {
    fn link(&self) -> &AtomicPtr<Self> {
        &self.link
    }
}

/// The block. Shared by exactly two ends; see [`ReplyCell`] for who frees it.
#[repr(C)]
pub(crate) struct Ask<P, T, E> {
    head: AskHead,
    /// Present from the start until the callee takes or drops them. The callee's.
    args: UnsafeCell<MaybeUninit<P>>,
    has_args: Cell<bool>,
    /// Written by the callee before `complete`; then read by whoever owns the block.
    outcome: UnsafeCell<Option<Result<T, AskError<E>>>>,
}

/// Why a message is not handled, or its handler did not finish.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The actor has ended.
    Died(ExitReason),
    /// The asker's time was over before the message was begun.
    Expired,
    /// The mailbox was full, and dropped it.
    Evicted,
}

/// The callee's end of an ask. Not `Drop`: it is consumed by an answer.
pub(crate) struct Asked(NonNull<AskHead>);

impl<P: 'static, T: 'static, E: 'static> Ask<P, T, E> {
    /// A new block with its arguments, for a caller that waits with `waker`, a task of the shard `home` if any.
    #[inline]
    pub(crate) fn new(args: P, deadline: Option<Nanos>, waker: Waker, home: Option<&'static Port>) -> NonNull<Self> {
        let block = Box::new(Self {
            head: AskHead {
                cell: ReplyCell::new(waker),
                link: AtomicPtr::default(),
                home,
                deadline: deadline.unwrap_or(Nanos::NEVER),
                erased: &Erased { fail: Self::fail, free: Self::free },
            },
            args: UnsafeCell::new(MaybeUninit::new(args)),
            has_args: Cell::new(true),
            outcome: UnsafeCell::new(None),
        });
        // SAFETY: `Box::into_raw` is never null.
        unsafe { NonNull::new_unchecked(Box::into_raw(block)) }
    }

    /// Takes the arguments.
    ///
    /// # Safety
    ///
    /// `asked` is the callee's end of a block of this type that still has its arguments.
    #[inline]
    pub(crate) unsafe fn take_args(asked: &Asked) -> P {
        // SAFETY: the head is the first field of the block (`repr(C)`); arguments are the callee's, and present.
        unsafe {
            let block = asked.0.cast::<Self>().as_ref();
            block.has_args.set(false);
            (*block.args.get()).assume_init_read()
        }
    }

    /// Answers.
    ///
    /// # Safety
    ///
    /// `asked` is the callee's end of a block of this type.
    #[inline]
    pub(crate) unsafe fn answer(asked: Asked, outcome: Result<T, AskError<E>>) {
        let block = asked.0.cast::<Self>();
        // SAFETY: the outcome is the callee's until `complete`.
        unsafe { *block.as_ref().outcome.get() = Some(outcome) };
        asked.complete();
    }

    /// The outcome of a block that the caller owns; frees the block.
    ///
    /// # Safety
    ///
    /// The reply cell has said that the block is the caller's and that the answer is there.
    #[inline]
    pub(crate) unsafe fn into_outcome(block: NonNull<Self>) -> Result<T, AskError<E>> {
        // SAFETY: made by `new` from a box; ours by the caller's promise.
        let block = unsafe { Box::from_raw(block.as_ptr()) };
        block.outcome.into_inner().expect("the callee writes the outcome before it completes")
    }

    unsafe fn fail(head: NonNull<AskHead>, failure: Failure) {
        let error = match failure {
            Failure::Died(reason) => AskError::Died(reason),
            Failure::Expired => AskError::Timeout { delivered: false },
            Failure::Evicted => AskError::Evicted,
        };
        // SAFETY: `head` is that of a block of this type, and the callee's end (see `Asked::fail`).
        let block = unsafe { head.cast::<Self>().as_ref() };
        let args = block.has_args.replace(false).then(|| {
            // SAFETY: present, and not any more.
            unsafe { (*block.args.get()).assume_init_read() }
        });
        // The answer first: dropping the arguments is user code and may panic.
        // SAFETY: as above.
        unsafe { Self::answer(Asked(head), Err(error)) };
        drop(args);
    }

    unsafe fn free(head: NonNull<AskHead>) {
        // SAFETY: a block of this type, made by `new`, and the caller's promise that it owns it.
        let block = unsafe { Box::from_raw(head.cast::<Self>().as_ptr()) };
        if block.has_args.get() {
            // SAFETY: present; the block goes with this.
            drop(unsafe { (*block.args.get()).assume_init_read() });
        }
    }
}

impl AskHead {
    /// Whether the asker has given up by `now`.
    #[inline]
    pub(crate) fn is_expired(&self, now: Nanos) -> bool {
        self.deadline <= now
    }

    /// Whether the answer goes by the shard that this thread executes.
    #[inline]
    pub(crate) fn comes_home_here(&self) -> bool {
        self.home.is_some_and(shard::is_current)
    }
}

const _: () = assert!(size_of::<AskHead>() == 56);

impl Asked {
    /// The callee's end of the block at `head`.
    ///
    /// # Safety
    ///
    /// The block lives, and this is its one callee's end.
    pub(crate) unsafe fn new(head: NonNull<AskHead>) -> Self {
        Self(head)
    }

    /// The head.
    #[inline]
    pub(crate) fn head(&self) -> &AskHead {
        // SAFETY: a block lives at least until its callee has answered.
        unsafe { self.0.as_ref() }
    }

    /// The outcome is written: lets the asker have it, by its shard if it has one.
    #[inline]
    fn complete(self) {
        match self.head().home {
            Some(home) if !shard::is_current(home) => self.send_home(home),
            _ => self.complete_here(),
        }
    }

    /// The asker is on another shard: waking it from here would cost a task's runtime a system call for each answer, and an
    /// actor's shard the lines of its slot. The block goes there instead, with others if the shard is busy, and is
    /// completed there.
    fn send_home(self, home: &'static Port) {
        // SAFETY: the block lives until it is completed, which only the taker does; it is on no other stack.
        if unsafe { home.replies.push(self.0) } {
            shard::look_at_bell(home);
        } else {
            // The shard has ended. The asker may live: a call can move to another thread.
            self.complete_here();
        }
    }

    /// Completes the ask on this thread: wakes the asker, or frees the block if it has gone.
    pub(crate) fn complete_here(self) {
        match self.head().cell.complete() {
            Completed::Delivered(waker) => {
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            // SAFETY: the block is ours now.
            Completed::Abandoned => unsafe { self.free() },
        }
    }

    /// Answers with `failure`, and drops the arguments if they are still there: user code that may panic.
    pub(crate) fn fail(self, failure: Failure) {
        // SAFETY: the head names its own type's function.
        unsafe { (self.head().erased.fail)(self.0, failure) }
    }

    /// Frees a block whose caller has gone and does not want it handled. Drops the arguments.
    ///
    /// # Safety
    ///
    /// The reply cell has said that the block is the callee's to free.
    pub(crate) unsafe fn free(self) {
        // SAFETY: the head names its own type's function; ours by the caller's promise.
        unsafe { (self.head().erased.free)(self.0) }
    }
}
