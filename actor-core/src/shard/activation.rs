//! The activation: "this thread now executes that domain". It installs the cursor; the one before comes back when it
//! ends, however it ends.

use std::{cell::Cell, ptr, rc::Rc};

use super::Core;
use crate::ShardId;

thread_local! {
    /// The cursor: the domain that runs on this thread, or null. It owns one count of the `Rc`, so that it never
    /// dangles even when guards are leaked or dropped out of order; `const` and without a destructor, so that it works
    /// while the thread ends.
    static CURSOR: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// While it lives, this thread executes the domain that it was made from. Activations nest.
///
/// Never hold one across an `.await`: the thread would execute this domain in everybody else's polls too.
#[must_use = "the domain is executed while the activation lives"]
pub struct Activation {
    /// The cursor before, with its count.
    previous: *const Core,
}

impl Activation {
    pub(super) fn enter(core: Rc<Core>) -> Self {
        Self { previous: CURSOR.replace(Rc::into_raw(core)) }
    }
}

impl Drop for Activation {
    fn drop(&mut self) {
        let ours = CURSOR.replace(self.previous);
        // Out of order, `ours` is another guard's domain; the counts stay right all the same.
        release(ours);
    }
}

/// Runs `f` with the domain that this thread executes, if there is one. `f` runs no user code that could end an
/// activation.
#[inline]
pub(crate) fn with_core<R>(f: impl FnOnce(Option<&Core>) -> R) -> R {
    let cursor = CURSOR.get();
    // SAFETY: the cursor owns a count, which only the end of an activation on this thread takes away.
    f(unsafe { cursor.as_ref() })
}

/// The domain that this thread executes, kept alive for code in which user code runs.
pub(crate) fn current_core() -> Option<Rc<Core>> {
    let cursor = CURSOR.get();
    (!cursor.is_null()).then(|| {
        // SAFETY: the cursor came from `Rc::into_raw` and owns a count; this makes a second one.
        unsafe {
            Rc::increment_strong_count(cursor);
            Rc::from_raw(cursor)
        }
    })
}

/// Whether this thread executes a domain.
pub(crate) fn is_on_shard() -> bool {
    !CURSOR.get().is_null()
}

/// The shard that this thread executes.
pub(crate) fn current_shard() -> Option<ShardId> {
    with_core(|core| core.map(Core::shard))
}

fn release(core: *const Core) {
    if !core.is_null() {
        // SAFETY: every non-null cursor came from `Rc::into_raw` with a count of its own.
        drop(unsafe { Rc::from_raw(core) });
    }
}
