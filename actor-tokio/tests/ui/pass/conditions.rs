#![deny(unused, unexpected_cfgs)]

use actor_tokio::prelude::*;

#[actor]
pub struct Shop;

#[actor]
impl Shop {
    #[cfg(any())]
    pub fn gone(&self, thing: Missing) -> Nowhere {
        thing.does_not_type_check()
    }
    #[cfg_attr(all(), cfg(any()))]
    pub fn gone_too(&self, thing: Missing) -> Nowhere {
        thing.does_not_type_check()
    }
    #[cfg(all())]
    pub fn either(&self) -> u8 {
        1
    }
    #[cfg(not(all()))]
    pub fn either(&self, by: u8) -> u16 {
        by.into()
    }
    #[cfg_attr(all(), doc = "Is there.", allow(non_snake_case))]
    pub fn There(&self) {}
    #[cfg(any())]
    #[actor(on_start)]
    fn begin(&mut self) -> Nowhere {}
    #[cfg(all())]
    #[actor(on_start)]
    fn start(&mut self) {}
    #[cfg_attr(all(), cfg(any()))]
    #[actor(on_stop)]
    fn end(&mut self) -> () {
        missing()
    }
}

// Conditions on the items themselves.
#[actor]
#[cfg(any())]
pub struct Closed(Missing);

#[actor]
#[cfg(any())]
impl Closed {
    pub fn open(&self) {}
}

pub async fn run(shop: ShopHandle) -> Result<u8, AskError> {
    shop.There().await?;
    shop.either().await
}

fn main() {}
