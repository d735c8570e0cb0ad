use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn text(&self) -> str {
        loop {}
    }
    pub fn slice(&self) -> [u8] {
        loop {}
    }
    pub fn object(&self) -> dyn Send {
        loop {}
    }
}

fn main() {}
