use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub unsafe fn raw(&self) {}
    pub extern "C" fn foreign(&self) {}
}

fn main() {}
