use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn run(&self, job: impl FnOnce() + Send + 'static) {
        job();
    }
    pub fn nested(&self, _: Vec<impl Send>) {}
}

fn main() {}
