use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn greet(&self, name: &str) -> usize {
        name.len()
    }
}

// The caller has no error of its own.
async fn call(shop: &ShopHandle) -> Result<usize, AskError> {
    shop.greet("you").await
}

fn main() {}
