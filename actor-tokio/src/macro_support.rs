//! What the macros' expansions name. Not for users; changes without notice.

use std::future::Future;

pub use actor_core::{
    Actor, BoxError, Call, Cx, ExitReason, Handle, Method, Overflow, TellFailure, Typed,
    message::{Args, IntoStart, MessageArg, MessageError, MessageReply, NoResult, Probe, ResultParts},
};

use crate::Builder;

/// Runs an async main function: what `#[actor_tokio::main]` expands to.
///
/// A runtime that cannot be built is an error message and exit code 1. The runtime is shut down when `main` is done.
pub fn run_main<F: Future>(builder: Builder, main: impl FnOnce() -> F) -> F::Output {
    match builder.build() {
        Ok(runtime) => runtime.block_on(async {
            let output = main().await;
            runtime.shutdown().await;
            output
        }),
        Err(error) => {
            // The one place that writes to stderr: there is no caller to give the error to.
            eprintln!("Error: {error}");
            std::process::exit(1);
        }
    }
}
