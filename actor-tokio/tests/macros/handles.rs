//! The typed handle: what it is, and that the user's names win on it.

use std::collections::HashSet;

use actor_tokio::{Typed, prelude::*};

use crate::on_a_runtime;

const ROOM: usize = 2;

#[actor(mailbox = ROOM)]
struct Small;

#[actor]
impl Small {
    pub async fn wait(&self, until: tokio::sync::oneshot::Receiver<()>) {
        _ = until.await;
    }

    pub fn add(&self, one: u8, other: u8) -> u8 {
        one + other
    }
}

#[actor]
#[derive(Clone)]
struct r#Loop(u8);

#[actor]
impl r#Loop {
    pub fn stop(&self) -> &'static str {
        "the user's"
    }

    pub fn id(&self) -> u8 {
        self.0
    }

    /// Also a trait's.
    pub fn clone(&self) -> u8 {
        self.0 + 1
    }

    pub fn deref(&self) -> u8 {
        self.0 + 2
    }

    pub fn call(&self, by: u8) -> u8 {
        self.0 + by
    }

    pub fn r#fn(&self) {}
}

#[test]
fn the_mailbox_is_as_large_as_the_struct_says() {
    assert_eq!(Small::MAILBOX, Some(2));
    assert_eq!(r#Loop::MAILBOX, None);
    on_a_runtime(async |runtime| {
        let small = runtime.spawn(|| Small).await.expect("spawned");
        assert_eq!(small.capacity(), 2);
        let (release, until) = tokio::sync::oneshot::channel();
        small.wait(until).tell().await.expect("sent");
        while small.queue_len() > 0 {
            tokio::task::yield_now().await;
        }
        small.add(1, 2).try_tell().expect("room");
        small.add(3, 4).try_tell().expect("room");
        let full = small.add(5, 6).try_tell().expect_err("no room");
        assert_eq!(full.into_args(), (5, 6));
        release.send(()).expect("it waits");
        assert_eq!(small.add(7, 8).await, Ok(15));
    });
}

#[test]
fn the_users_names_win_and_the_built_ins_stay_reachable() {
    assert_eq!(r#Loop::NAME, "Loop");
    on_a_runtime(async |runtime| {
        let handle: LoopHandle = runtime.spawn(|| r#Loop(10)).await.expect("spawned");
        assert_eq!(handle.stop().await, Ok("the user's"));
        assert_eq!(handle.id().await, Ok(10));
        assert_eq!(handle.clone().await, Ok(11));
        assert_eq!(handle.deref().await, Ok(12));
        assert_eq!(handle.call(3).await, Ok(13));
        assert!(format!("{:?}", handle.r#fn()).contains("\"fn\""), "without the r#");
        let again: LoopHandle = Clone::clone(&handle);
        assert_eq!(Handle::id(&handle), Handle::id(&again));
        assert_eq!(Handle::stop(&handle).await, ExitReason::Stopped);
        assert_eq!(again.call(1).await, Err(AskError::Closed));
    });
}

#[test]
#[allow(clippy::mutable_key_type, reason = "what a handle compares by never changes")]
fn handles_compare_hash_and_print_by_their_actor() {
    on_a_runtime(async |runtime| {
        let one = runtime.spawn(|| Small).await.expect("spawned");
        let other = runtime.spawn(|| Small).await.expect("spawned");
        assert_ne!(one, other);
        let set: HashSet<SmallHandle> = [one.clone(), other, one.clone()].into();
        assert_eq!(set.len(), 2);
        assert_eq!(format!("{one:?}"), format!("Handle<Small>({})", one.id()));
    });
}
