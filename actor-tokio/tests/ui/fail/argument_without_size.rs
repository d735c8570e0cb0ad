use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn object(&self, _: dyn Send) {}
    pub fn slice(&self, _: [u8]) {}
    pub fn text(&self, _: str) {}
}

fn main() {}
