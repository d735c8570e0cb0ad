use actor_tokio::prelude::*;

#[actor]
struct Shop;

#[actor]
impl Shop {
    pub fn slice(&self, _: &[u8]) {}
    pub fn mutable(&self, _: &mut Vec<u8>) {}
    pub fn object(&self, _: &dyn Send) {}
    pub fn nested(&self, _: u8, _: Vec<Option<&str>>, _: (u8, &u64)) {}
    pub fn with_lifetime(&self, _: std::borrow::Cow<'_, str>) {}
    pub fn bounded(&self, _: Box<dyn Fn() + Send + '_>) {}
    pub fn boxed(&self, _: Box<dyn Iterator<Item = &u8> + Send>) {}
}

fn main() {}
