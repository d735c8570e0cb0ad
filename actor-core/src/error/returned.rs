//! Arguments on their way back to a caller.

use std::fmt;

/// Arguments that an error gives back.
///
/// Always `Sync`, whatever the arguments are, since they can only be taken out whole: so an error with them is
/// `Error + Send + Sync` and goes through `?` into the usual boxes.
pub struct Returned<T>(T);

// SAFETY: there is no way to reach the value through a shared reference, so sharing the wrapper shares nothing.
unsafe impl<T> Sync for Returned<T> {}

impl<T> Returned<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    /// The arguments.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Returned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(..)")
    }
}
