//! actix, in local tasks, as its own runtime has them. Told by `do_send`, which knows no bound.

use actix::{Actor, Addr, Context, Handler, Message};

use crate::subject::{Job, Setup, Subject, Tasks, run_on_tokio, together_on_tokio};

#[derive(Clone, Copy)]
pub struct Actix;

pub struct Echo {
    sum: u64,
}

impl Actor for Echo {
    type Context = Context<Self>;
}

pub struct Tell(u64);

impl Message for Tell {
    type Result = ();
}

pub struct Ask(u64);

impl Message for Ask {
    type Result = u64;
}

impl Handler<Tell> for Echo {
    type Result = ();

    fn handle(&mut self, Tell(by): Tell, _: &mut Context<Self>) {
        self.sum = self.sum.wrapping_add(by);
    }
}

impl Handler<Ask> for Echo {
    type Result = u64;

    fn handle(&mut self, Ask(by): Ask, _: &mut Context<Self>) -> u64 {
        self.sum = self.sum.wrapping_add(by);
        self.sum
    }
}

impl Subject for Actix {
    type Ref = Addr<Echo>;

    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(Self::Ref) -> Job<T> + Send + 'static) -> T {
        run_on_tokio(Tasks::Local, setup, async { Echo { sum: 0 }.start() }, client)
    }

    async fn together(&self, jobs: Vec<Job<()>>) {
        together_on_tokio(Tasks::Local, jobs).await;
    }

    async fn tell(actor: &Self::Ref, by: u64) {
        actor.do_send(Tell(by));
    }

    async fn ask(actor: &Self::Ref, by: u64) -> u64 {
        actor.send(Ask(by)).await.expect("it lives")
    }
}
