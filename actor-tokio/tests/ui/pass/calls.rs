use std::time::Duration;

use actor_tokio::prelude::*;

#[actor]
pub struct Shop;

#[actor]
impl Shop {
    pub fn add(&mut self, by: u64, name: String) -> Result<u64, std::fmt::Error> {
        Ok(by + name.len() as u64)
    }
}

fn is_call<T: Future + Unpin + Send + 'static>(_: &T) {}

pub async fn run(shop: ShopHandle) -> Result<(), actor_tokio::Error> {
    let call: Call<(u64, String), u64, std::fmt::Error> = shop.add(1, "one".into());
    is_call(&call);
    let (by, name): (u64, String) = call.into_args();
    shop.add(by, name).timeout(Duration::from_secs(1)).await?;
    shop.add(2, String::new()).tell().await?;
    shop.add(3, String::new()).try_tell()?;
    let erased: Box<dyn Fn(u64) -> Call<(u64, String), u64, std::fmt::Error> + Send + Sync> =
        Box::new(move |by| shop.add(by, String::new()));
    erased(4).await?;
    Ok(())
}

fn main() {}
