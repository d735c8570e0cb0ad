//! A handler's `Result` is data: an ask gets it in one piece, a tell hands its error to the hook, and neither ends the
//! actor.

use std::{fmt, io};

use actor_tokio::prelude::*;

use crate::on_a_runtime;

type Outcome<T> = Result<T, Refused>;

#[derive(Debug, PartialEq)]
pub struct Refused(u8);

#[actor]
struct Desk {
    failures: Vec<String>,
}

#[actor]
impl Desk {
    pub fn check(&mut self, number: u8) -> Result<u8, Refused> {
        match number {
            0 => Err(Refused(0)),
            255 => panic!("too many"),
            _ => Ok(number),
        }
    }

    pub async fn check_later(&mut self, number: u8) -> io::Result<u8> {
        tokio::task::yield_now().await;
        if number == 0 { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(number) }
    }

    #[actor(result)]
    pub fn marked(&mut self, number: u8) -> Outcome<u8> {
        self.check(number)
    }

    #[actor(plain)]
    pub fn whole(&mut self, number: u8) -> Outcome<u8> {
        self.check(number)
    }

    #[actor(plain)]
    pub async fn whole_by_its_name(&mut self, number: u8) -> Result<u8, Refused> {
        self.check(number)
    }

    pub fn format(&self) -> fmt::Result {
        Err(fmt::Error)
    }

    pub fn failures(&self) -> Vec<String> {
        self.failures.clone()
    }

    #[actor(on_error)]
    fn failed(&mut self, failure: &TellFailure<'_>) {
        self.failures.push(failure.to_string());
    }
}

async fn desk(runtime: &ShardedRuntime) -> DeskHandle {
    runtime.spawn(|| Desk { failures: Vec::new() }).await.expect("spawned")
}

#[test]
fn an_ask_gets_one_result() {
    on_a_runtime(async |runtime| {
        let desk = desk(runtime).await;
        assert_eq!(desk.check(1).await, Ok(1));
        assert_eq!(desk.check(0).await, Err(AskError::Handler(Refused(0))));
        assert!(matches!(desk.check_later(1).await, Ok(1)));
        assert!(
            matches!(desk.check_later(0).await, Err(AskError::Handler(error)) if error.kind() == io::ErrorKind::InvalidInput)
        );
        assert_eq!(desk.marked(2).await, Ok(2));
        assert_eq!(desk.marked(0).await, Err(AskError::Handler(Refused(0))));
        assert_eq!(desk.format().await, Err(AskError::Handler(fmt::Error)));
        assert_eq!(desk.failures().await, Ok(vec![]), "an asker was told");
    });
}

#[test]
fn a_plain_result_is_handed_over_whole() {
    on_a_runtime(async |runtime| {
        let desk = desk(runtime).await;
        assert_eq!(desk.whole(3).await, Ok(Ok(3)));
        assert_eq!(desk.whole(0).await, Ok(Err(Refused(0))));
        assert_eq!(desk.whole_by_its_name(0).await, Ok(Err(Refused(0))));
        desk.whole(0).tell().await.expect("sent");
        assert_eq!(desk.failures().await, Ok(vec![]), "it is a value, not a failure");
    });
}

#[test]
fn a_told_error_goes_to_the_hook() {
    on_a_runtime(async |runtime| {
        let desk = desk(runtime).await;
        desk.check(1).tell().await.expect("sent");
        desk.check(0).tell().await.expect("sent");
        desk.check_later(0).try_tell().expect("sent");
        desk.format().tell().await.expect("sent");
        let failures = desk.failures().await.expect("it goes on");
        assert_eq!(failures[0], "check: Refused(0)");
        assert!(failures[1].starts_with("check_later: "), "{failures:?}");
        assert_eq!(failures[2..], ["format: Error"]);
    });
}

#[test]
fn a_panic_ends_the_actor_asked_or_told() {
    on_a_runtime(async |runtime| {
        let asked = desk(runtime).await;
        assert!(matches!(asked.check(255).await, Err(AskError::Died(ExitReason::Panicked { .. }))));
        let told = desk(runtime).await;
        told.check(255).tell().await.expect("sent");
        assert!(matches!(told.closed().await, ExitReason::Panicked { message, .. } if &*message == "too many"));
    });
}
