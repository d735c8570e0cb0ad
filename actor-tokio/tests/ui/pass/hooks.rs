#![deny(unused)]

use actor_tokio::prelude::*;

#[actor]
pub struct All(u8);

#[actor]
impl All {
    #[actor(on_start)]
    pub async fn begin(&mut self, cx: &mut Cx<Self>) -> Result<(), std::io::Error> {
        cx.stop();
        self.0 = 1;
        Ok(())
    }
    #[actor(on_stop)]
    pub(crate) async fn end(&mut self, cx: &mut Cx<Self>, reason: &ExitReason) {
        _ = (reason, cx.id(), &self.0);
    }
    #[actor(on_error)]
    fn failed(&mut self, failure: &TellFailure<'_>) {
        _ = failure.method();
    }
}

#[actor]
pub struct Short;

#[actor]
impl Short {
    #[actor(on_start)]
    fn begin(&self) {}
    #[actor(on_stop)]
    fn end(&self) {}
    #[actor(on_error)]
    fn failed(&self) -> () {}
}

#[actor]
pub struct Generic<T>(T);

#[actor]
impl<T: Clone> Generic<T> {
    #[actor(on_start)]
    fn begin(&mut self) -> Result<(), &'static str> {
        let _ = self.0.clone();
        Err("no")
    }
    #[actor(on_stop)]
    fn end(&mut self, _: &actor_tokio::ExitReason) {}
    #[actor(on_error)]
    fn failed(&mut self, _: &actor_tokio::TellFailure) {}
}

fn main() {
    use actor_tokio::Actor;
    assert!(<All as Actor>::HAS_ON_START && <All as Actor>::HAS_ON_STOP);
}
