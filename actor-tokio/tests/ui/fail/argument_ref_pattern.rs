use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn look(&self, ref name: String) -> usize {
        name.len()
    }
}

fn main() {}
