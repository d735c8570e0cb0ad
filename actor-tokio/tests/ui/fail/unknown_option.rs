use actor_tokio::prelude::*;

#[actor(mailbx = 8)]
struct Shop;

#[actor(mor)]
impl Shop {
    #[actor(skipp)]
    pub fn open(&self) {}
    #[actor(on_down)]
    fn down(&mut self) {}
}

// The struct and its block are actors all the same.
async fn call(runtime: &RuntimeHandle) -> Result<(), actor_tokio::Error> {
    runtime.spawn(|| Shop).await?.open().await?;
    Ok(())
}

fn main() {}
