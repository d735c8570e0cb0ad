use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn add(&self, by: u64) -> u64 {
        by
    }
    pub async fn add(&mut self) {}
    fn add() {}
}

async fn call(shop: &ShopHandle) -> Result<u64, AskError> {
    shop.add(1).await
}

fn main() {}
