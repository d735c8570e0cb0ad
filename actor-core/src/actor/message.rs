//! What can be part of a message, with errors that say so.
//!
//! The traits have no `Send` supertrait on purpose: their one blanket impl asks for it, and a type that fails gets the
//! text written here at the user's argument, instead of a remark on `Send` somewhere inside.

use std::{convert::Infallible, fmt, marker::PhantomData};

use crate::BoxError;

/// A value that can be an argument of a message: `Send + 'static`.
///
/// # Safety
///
/// The type is `Send`: the engine moves it to the actor's thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be part of a message",
    label = "a message moves to the actor's thread, so it must be `Send` and own what it holds",
    note = "send the data itself, or share it as `Arc` (with a lock or atomics inside) instead of `Rc`, `RefCell` or `Gc`",
    note = "write `String` for `&str` and `Vec<T>` for `&[T]`"
)]
pub unsafe trait MessageArg: 'static {}

// SAFETY: `Send` by the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: Send + 'static> MessageArg for T {}

/// A value that can be a handler's reply: `Send + 'static`.
///
/// # Safety
///
/// The type is `Send`: the engine moves it to the asker's thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be part of a reply",
    label = "a reply moves to the asker's thread, so it must be `Send` and own what it holds",
    note = "reply with the data itself, or share it as `Arc` instead of `Rc`, `RefCell` or `Gc`"
)]
pub unsafe trait MessageReply: 'static {}

// SAFETY: `Send` by the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: Send + 'static> MessageReply for T {}

/// A value that can be a handler's error: `Send + Debug + 'static`.
///
/// # Safety
///
/// The type is `Send`: the engine moves it to the asker's thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a handler's error",
    label = "an error moves to the asker's thread and may be logged, so it must be `Send + Debug` and own what it holds",
    note = "write `#[derive(Debug)]` on it; hold data itself or an `Arc` instead of `Rc`, `RefCell` or `Gc`"
)]
pub unsafe trait MessageError: fmt::Debug + 'static {}

// SAFETY: `Send` by the bound.
#[diagnostic::do_not_recommend]
unsafe impl<T: Send + fmt::Debug + 'static> MessageError for T {}

/// A method's arguments, as a tuple of up to 12.
///
/// # Safety
///
/// The type is `Send`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the arguments of a message",
    label = "each must be `Send` and own what it holds; there can be 12 at most",
    note = "group more of them in a struct"
)]
pub unsafe trait Args: 'static {}

macro_rules! args {
    ($($arg:ident)*) => {
        // SAFETY: a tuple of `Send` types is `Send`, and `MessageArg` promises each.
        unsafe impl<$($arg: MessageArg),*> Args for ($($arg,)*) {}
    };
}

args!();
args!(A);
args!(A B);
args!(A B C);
args!(A B C D);
args!(A B C D E);
args!(A B C D E F);
args!(A B C D E F G);
args!(A B C D E F G H);
args!(A B C D E F G H I);
args!(A B C D E F G H I J);
args!(A B C D E F G H I J K);
args!(A B C D E F G H I J K L);

/// The two halves of a handler's `Result`, through any alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `Result` of the standard library",
    label = "its error can't become the ask's",
    note = "write `#[actor(plain)]` on the method to have the value handed over as it is"
)]
pub trait ResultParts {
    /// The `Ok` type.
    type Ok;
    /// The `Err` type.
    type Err;

    /// The value itself.
    ///
    /// # Errors
    ///
    /// Its own.
    fn into_result(self) -> Result<Self::Ok, Self::Err>;
}

impl<T, E> ResultParts for Result<T, E> {
    type Ok = T;
    type Err = E;

    fn into_result(self) -> Self {
        self
    }
}

/// What a start hook may return: nothing, or a `Result` of nothing.
#[diagnostic::on_unimplemented(
    message = "a start hook can't return `{Self}`",
    label = "write `()` or `Result<(), E>`, where `E` converts into `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoStart {
    /// The outcome of the start.
    ///
    /// # Errors
    ///
    /// The hook's own.
    fn into_start(self) -> Result<(), BoxError>;
}

impl IntoStart for () {
    fn into_start(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoStart for Result<(), E> {
    fn into_start(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

/// Finds a `Result` that goes by another name. `<Probe<T>>::__is_plain` is the inherent function for a `Result`, which
/// beats the trait's, and can't be named, since its bound never holds.
pub struct Probe<T>(Infallible, PhantomData<T>);

impl<T, E> Probe<Result<T, E>> {
    /// It is none, which is not so.
    pub const fn __is_plain()
    where
        Result<T, E>: KnownResult,
    {
    }
}

/// Never implemented: the bound says what to write.
#[diagnostic::on_unimplemented(
    message = "this return type is a `Result` under another name",
    label = "whether its error is the ask's can't be told from the name",
    note = "write `#[actor(result)]` on the method to have the error become the ask's, `AskError::Handler`",
    note = "write `#[actor(plain)]` on it to have the value handed over as it is"
)]
pub trait KnownResult {}

/// The other half of [`Probe`].
pub trait NoResult {
    /// It is none.
    fn __is_plain() {}
}

impl<T> NoResult for Probe<T> {}
