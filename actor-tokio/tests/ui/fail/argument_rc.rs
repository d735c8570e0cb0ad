use actor_tokio::prelude::*;

use std::{cell::RefCell, rc::Rc};

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn share(&self, counter: Rc<RefCell<u64>>) {
        drop(counter);
    }
    pub fn second(&self, by: u64, counter: Rc<u64>) {
        drop((by, counter));
    }
}

fn main() {}
