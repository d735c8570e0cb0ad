//! Hooks in all the forms that they may have.

use std::sync::{Arc, Mutex};

use actor_tokio::prelude::*;

use crate::on_a_runtime;

type Log = Arc<Mutex<Vec<String>>>;

fn note(log: &Log, what: impl Into<String>) {
    log.lock().expect("log").push(what.into());
}

fn read(log: &Log) -> Vec<String> {
    log.lock().expect("log").clone()
}

#[actor]
struct Full(Log);

#[actor]
impl Full {
    pub fn work(&self) {
        note(&self.0, "work");
    }

    #[actor(on_stop)]
    async fn end(&mut self, cx: &mut Cx<Self>, reason: &ExitReason) {
        tokio::task::yield_now().await;
        note(&self.0, format!("end {reason:?} of {}", cx.id()));
    }

    #[actor(on_start)]
    async fn begin(&mut self, cx: &mut Cx<Self>) -> Result<(), String> {
        tokio::task::yield_now().await;
        note(&self.0, format!("begin of {}", cx.id()));
        Ok(())
    }
}

#[actor]
struct Short(Log);

#[actor]
impl Short {
    #[actor(on_start)]
    fn begin(&self) {
        note(&self.0, "begin");
    }

    #[actor(on_stop)]
    fn end(&mut self) {
        note(&self.0, "end");
    }

    #[actor(on_error)]
    fn failed(&self) {
        note(&self.0, "failed");
    }

    pub fn fail(&self) -> Result<(), u8> {
        Err(1)
    }
}

#[actor]
struct Refusing(Log);

#[actor]
impl Refusing {
    pub fn work(&self) {
        note(&self.0, "work");
    }

    #[actor(on_start)]
    fn begin(&mut self) -> Result<(), &'static str> {
        Err("not today")
    }

    #[cfg(any())]
    #[actor(on_stop)]
    fn end(&mut self) {
        missing();
    }
}

#[test]
fn hooks_run_around_the_messages() {
    on_a_runtime(async |runtime| {
        let log = Log::default();
        let its = log.clone();
        let full = runtime.spawn(move || Full(its)).await.expect("spawned");
        full.work().await.expect("answer");
        let id = full.id();
        assert_eq!(full.stop().await, ExitReason::Stopped);
        assert_eq!(read(&log), [format!("begin of {id}"), "work".into(), format!("end Stopped of {id}")]);
    });
}

#[test]
fn hooks_may_be_short() {
    on_a_runtime(async |runtime| {
        let log = Log::default();
        let its = log.clone();
        let short = runtime.spawn(move || Short(its)).await.expect("spawned");
        short.fail().tell().await.expect("sent");
        short.stop().await;
        assert_eq!(read(&log), ["begin", "failed", "end"]);
    });
}

#[test]
fn a_start_that_fails_handles_nothing() {
    on_a_runtime(async |runtime| {
        let log = Log::default();
        let its = log.clone();
        let refusing = runtime.spawn(move || Refusing(its)).await.expect("its state is built");
        _ = refusing.work().try_tell();
        match refusing.closed().await {
            ExitReason::Failed(error) => assert_eq!(error.to_string(), "not today"),
            other => panic!("{other:?}"),
        }
        assert_eq!(read(&log), [""; 0]);
    });
}
