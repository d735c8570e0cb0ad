//! Where a panic happened: only the panic hook is told.

use std::panic;
use std::sync::Mutex;
use std::sync::PoisonError;

/// Puts a hook before the current one, once per process. It notes where the panic is for the actor whose poll it ends,
/// and calls the hook that was there.
///
/// A hook that the program sets later replaces both, unless it chains too; then `ExitReason::Panicked` has no location.
/// A thread that is panicking may not change hooks: then the next runtime installs it.
pub(crate) fn install() {
    static INSTALLED: Mutex<bool> = Mutex::new(false);

    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if *installed || std::thread::panicking() {
        return;
    }
    *installed = true;
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        actor_core::life::panic::record(info);
        previous(info);
    }));
}
