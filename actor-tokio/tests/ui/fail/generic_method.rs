use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn put<T: Send>(&self, item: T) {
        drop(item);
    }
    pub fn fill<const N: usize>(&self, items: [u8; N]) {
        _ = items;
    }
    pub fn longest<'a>(&self, one: &'a str, other: &'a str) -> &'a str {
        if one.len() < other.len() { other } else { one }
    }
}

fn main() {}
