use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn name(&self) -> &str {
        "shop"
    }
    pub fn names(&self) -> Vec<&str> {
        Vec::new()
    }
    pub fn cow(&self) -> std::borrow::Cow<'_, str> {
        "shop".into()
    }
}

async fn call(shop: &ShopHandle) {
    _ = shop.name().await;
}

fn main() {}
