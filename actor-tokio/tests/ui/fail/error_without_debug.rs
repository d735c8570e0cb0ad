use actor_tokio::prelude::*;

pub struct Refused;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn buy(&self) -> Result<u64, Refused> {
        Err(Refused)
    }
}

fn main() {}
