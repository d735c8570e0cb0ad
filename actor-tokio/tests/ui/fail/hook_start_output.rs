use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(on_start)]
    async fn begin(&mut self) -> u64 {
        1
    }
}

pub struct NoError;

#[actor]
struct Second;

#[actor]
impl Second {
    #[actor(on_start)]
    fn begin(&mut self) -> Result<(), NoError> {
        Err(NoError)
    }
}

fn main() {}
