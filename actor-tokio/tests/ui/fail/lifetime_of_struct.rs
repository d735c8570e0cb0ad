use actor_tokio::prelude::*;

#[actor]
struct Shop<'a> {
    name: &'a str,
}

#[actor]
impl Shop<'_> {
    pub fn size(&self) -> usize {
        self.name.len()
    }
}

#[actor]
struct Open<T>(T);

#[actor]
impl<'a> Open<&'a str> {
    pub fn size(&self) -> usize {
        self.0.len()
    }
}

fn main() {}
