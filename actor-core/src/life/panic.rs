//! Panics of user code: caught at every poll, turned into [`ExitReason::Panicked`].

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind},
    sync::Arc,
};

use super::ExitReason;

thread_local! {
    /// How many captures this thread is in: only then is a location worth keeping.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LOCATION: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Notes where a panic happened. A host calls it from its panic hook; a panic that no actor's poll will catch is left
/// alone.
pub fn record(info: &PanicHookInfo<'_>) {
    // The hook may run while the thread's locals are being destroyed.
    if DEPTH.try_with(Cell::get).is_ok_and(|depth| depth > 0)
        && let Some(location) = info.location()
    {
        _ = LOCATION.try_with(|cell| cell.replace(Some(location.to_string().into())));
    }
}

/// Runs user code. A panic becomes the reason for an end.
#[inline]
pub(crate) fn capture<R>(user: impl FnOnce() -> R) -> Result<R, ExitReason> {
    let outer = DEPTH.replace(DEPTH.get() + 1);
    // What a panic leaves half-changed is the actor's own state, which is dropped without being used again.
    let result = catch_unwind(AssertUnwindSafe(user));
    DEPTH.set(outer);
    result.map_err(reason)
}

#[cold]
fn reason(payload: Box<dyn Any + Send>) -> ExitReason {
    let message: Arc<str> = if let Some(text) = payload.downcast_ref::<&'static str>() {
        (*text).into()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.as_str().into()
    } else {
        "a panic whose payload is not text".into()
    };
    // A payload's own destructor may panic; its panic has nobody left to go to, nor has that one's payload.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    ExitReason::Panicked { message, location: LOCATION.take() }
}
