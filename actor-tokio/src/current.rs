//! The runtime that the code on this thread belongs to.

use std::cell::RefCell;

use crate::RuntimeHandle;

thread_local! {
    static CURRENT: RefCell<Option<RuntimeHandle>> = const { RefCell::new(None) };
}

/// While it lives, `RuntimeHandle::current()` on this thread is the one it was made with; then the one before.
pub(crate) struct Entered(Option<RuntimeHandle>);

impl Entered {
    pub(crate) fn new(handle: RuntimeHandle) -> Self {
        Self(CURRENT.replace(Some(handle)))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A thread that ends may have lost the local already, and then needs no reset.
        _ = CURRENT.try_with(|current| current.replace(self.0.take()));
    }
}

pub(crate) fn current() -> Option<RuntimeHandle> {
    CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
}
