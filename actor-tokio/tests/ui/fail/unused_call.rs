#![deny(unused_must_use)]

use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn open(&self) {}
}

async fn call(shop: &ShopHandle, runtime: &RuntimeHandle) {
    shop.open();
    shop.open().tell();
    runtime.spawn(|| Shop);
}

fn main() {}
