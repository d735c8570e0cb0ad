use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    #[actor(result)]
    fn private(&self) -> Result<u64, std::fmt::Error> {
        Ok(1)
    }
    #[actor(plain)]
    pub fn without_self() {}
}

fn main() {}
