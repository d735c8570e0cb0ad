use actor_tokio::prelude::*;

#[actor(mailbox = 8, mailbox = 9)]
struct Shop;

#[actor(crate = actor_tokio, crate = actor_tokio)]
impl Shop {
    #[actor(skip, skip)]
    pub fn open(&self) {}
    #[actor(result, plain)]
    pub fn closed(&self) -> Result<bool, std::fmt::Error> {
        Ok(false)
    }
    #[actor(skip)]
    #[actor(on_start)]
    fn begin(&self) {}
}

fn main() {}
