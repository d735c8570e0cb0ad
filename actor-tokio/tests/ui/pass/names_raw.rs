#![allow(non_camel_case_types)]

use actor_tokio::prelude::*;

#[actor]
pub struct r#type {
    r#match: u64,
}

#[actor]
impl r#type {
    pub fn r#fn(&mut self, r#in: u64) -> u64 {
        self.r#match += r#in;
        self.r#match
    }
    pub async fn r#await(&self) {}
}

pub async fn run(handle: typeHandle) -> Result<u64, AskError> {
    handle.r#await().await?;
    handle.r#fn(1).await
}

fn main() {
    assert_eq!(<r#type as actor_tokio::Typed>::NAME, "type");
}
