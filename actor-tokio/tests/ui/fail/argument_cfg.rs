use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn add(&self, by: u64, #[cfg(any())] twice: bool) {
        _ = by;
    }
    #[actor(on_stop)]
    fn end(&self, #[cfg(all())] reason: &ExitReason) {
        _ = reason;
    }
}

fn main() {}
