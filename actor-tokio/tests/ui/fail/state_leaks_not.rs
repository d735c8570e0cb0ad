use actor_tokio::prelude::*;

use std::{cell::Cell, rc::Rc};

#[actor]
struct Shop(Rc<Cell<u64>>);

#[actor]
impl Shop {}

fn is_send<T: Send>(_: T) {}

fn handle_is_send_and_actor_is_not(handle: ShopHandle, actor: Shop) {
    is_send(handle);
    is_send(actor);
}

fn main() {}
