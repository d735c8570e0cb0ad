use actor_tokio::prelude::*;

#[actor]
enum Light {
    Red,
    Green,
}

#[actor]
union Bits {
    word: u32,
    float: f32,
}

#[actor]
fn run() {}

#[actor]
pub mod shop {}

#[actor]
trait Sell {
    fn sell(&self);
}

struct Plain;

#[actor]
type Other = Plain;

impl Plain {
    #[actor(skip)]
    pub fn skipped(&self) {}
}

#[actor]
impl dyn Sell {}

fn main() {}
