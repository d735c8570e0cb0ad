use actor_tokio::prelude::*;

use std::rc::Rc;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn close(self) {}
    pub fn close_mut(mut self) {
        self = Self;
        drop(self);
    }
    pub fn shared(self: Rc<Self>) {}
    pub fn lifetime(self: &'static Self) {}
    #[actor(on_stop)]
    fn end(self: Box<Self>) {}
}

fn main() {}
