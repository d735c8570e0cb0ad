//! A Redis-compatible in-memory store, thread per core: each shard accepts its own connections and owns its part of the keys.
//!
//! ```text
//! cargo run --release -p examples --bin kv -- --port 6399
//! cargo run --release -p examples --bin kv -- --demo
//! ```

use std::io::{self, Write};
use std::process::ExitCode;

use actor_tokio::{Pin, ShardedRuntime};
use examples::kv::cli::{self, HELP, Invocation, Options};
use examples::kv::{demo, server::Server};
use tokio::signal::unix::{SignalKind, signal};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let outcome = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Invocation::Help) => io::stdout().write_all(HELP.as_bytes()).map_err(AnyError::from),
        Ok(Invocation::Serve(options)) => run(&options, async |server| {
            let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            // Whoever started this waits for the line to learn the port; from here on a signal is heard.
            println!("kv listens at {}", server.address());
            tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
            Ok(())
        }),
        Ok(Invocation::Demo(options)) => run(&options, async |server| {
            let address = server.address();
            tokio::task::spawn_blocking(move || demo::run(address, &mut io::stdout())).await??;
            Ok(())
        }),
        Err(error) => {
            eprintln!("kv: {error}; see kv --help");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("kv: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts the server, waits for `until`, and ends everything in order.
fn run(options: &Options, until: impl AsyncFnOnce(&Server) -> Result<(), AnyError>) -> Result<(), AnyError> {
    let mut builder = ShardedRuntime::builder().pin(if options.pin { Pin::Always } else { Pin::Never });
    if let Some(cores) = options.cores {
        builder = builder.cores(cores);
    }
    let runtime = builder.build()?;
    runtime.block_on(async {
        let server = Server::start(&runtime.handle(), &options.settings).await?;
        let outcome = until(&server).await;
        server.drain().await;
        runtime.shutdown().await;
        outcome
    })
}
