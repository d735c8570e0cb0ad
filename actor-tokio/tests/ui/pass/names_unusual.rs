#![deny(warnings)]

use actor_tokio::prelude::*;

#[actor]
struct Shop;

// Lints that are allowed at an argument stay so on the handle, which has the same name.
#[actor]
impl Shop {
    pub fn price(&self, #[allow(non_snake_case)] inEuro: u64) -> u64 {
        inEuro
    }
}

fn main() {
    let _ = |shop: ShopHandle| shop.price(1);
}
