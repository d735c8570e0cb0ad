use actor_tokio::prelude::*;

use std::{rc::Rc, sync::MutexGuard};

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn shared(&self) -> Rc<u64> {
        Rc::default()
    }
    pub async fn checked(&self) -> Result<Rc<u64>, std::num::ParseIntError> {
        Ok(Rc::default())
    }
    pub fn locked(&self) -> Option<MutexGuard<'static, u64>> {
        None
    }
}

fn main() {}
