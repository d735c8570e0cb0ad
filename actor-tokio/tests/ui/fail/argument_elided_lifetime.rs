use actor_tokio::prelude::*;

struct View<'a>(&'a str);

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn look(&self, view: View) -> usize {
        view.0.len()
    }
}

fn main() {}
