use std::{borrow::Cow, sync::Arc};

use actor_tokio::prelude::*;

#[actor]
pub struct Shop;

#[actor]
impl Shop {
    pub fn words(&self, one: &'static str, two: Cow<'static, str>, many: &'static [&'static str]) -> &'static str {
        drop((two, many));
        one
    }
    pub fn boxed(&self, job: Box<dyn FnOnce(&str) -> usize + Send + 'static>, boxed: Box<dyn Fn(&mut u8) + Send>) {
        drop((job, boxed));
    }
    pub fn bound(&self, any: Arc<dyn for<'a> Fn(&'a str) -> &'a str + Send + Sync>) {
        drop(any);
    }
    pub fn pointer(&self, f: fn(&str) -> &str, g: for<'a> fn(&'a u8) -> &'a u8) {
        _ = (f, g);
    }
    pub fn none(&self) {}
    pub fn unit(&self, _: ()) -> () {}
    pub fn twelve(&self, a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8) -> u8 {
        a + b + c + d + e + f + g + h + i + j + k + l
    }
    pub const fn constant(&self) -> u8 {
        1
    }
    pub async fn future(&mut self, to: ShopHandle, call: Call<(u8, u8), u8>) -> Call<(), ()> {
        drop(call);
        to.none()
    }
}

fn main() {}
