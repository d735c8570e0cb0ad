use actor_tokio::prelude::*;

use std::rc::Rc;

#[derive(Debug)]
pub struct Refused(pub Rc<str>);

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn buy(&self) -> Result<u64, Refused> {
        Err(Refused("no".into()))
    }
}

fn main() {}
