use actor_tokio::prelude::*;

type Outcome<T> = Result<T, std::fmt::Error>;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn buy(&self) -> Outcome<u64> {
        Ok(1)
    }
}

#[actor]
struct Generic<T>(T);

#[actor]
impl<T: Clone + Send> Generic<T> {
    pub fn buy(&self) -> Outcome<T> {
        Ok(self.0.clone())
    }
}

fn main() {}
