#![forbid(unsafe_code)]

use std::{cell::RefCell, rc::Rc};

use actor_tokio::prelude::*;

#[actor]
pub struct Shop {
    items: Rc<RefCell<Vec<u8>>>,
}

#[actor]
impl Shop {
    pub async fn add(&mut self, item: u8) -> usize {
        self.items.borrow_mut().push(item);
        self.items.borrow().len()
    }
    pub fn check(&self) -> Result<(), String> {
        Err("empty".into())
    }
}

#[actor_tokio::main(cores = 1)]
async fn main() {
    let shop = RuntimeHandle::current().spawn(|| Shop { items: Rc::default() }).await.expect("spawned");
    assert_eq!(shop.add(1).await, Ok(1));
}
