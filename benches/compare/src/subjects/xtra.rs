//! xtra.

use xtra::{Actor, Address, Context, Handler, Mailbox};

use crate::subject::{Job, Setup, Subject, Tasks, run_on_tokio, together_on_tokio};

#[derive(Clone, Copy)]
pub struct Xtra;

pub struct Echo {
    sum: u64,
}

impl Actor for Echo {
    type Stop = ();

    async fn stopped(self) {}
}

pub struct Tell(u64);
pub struct Ask(u64);

impl Handler<Tell> for Echo {
    type Return = ();

    async fn handle(&mut self, Tell(by): Tell, _: &mut Context<Self>) {
        self.sum = self.sum.wrapping_add(by);
    }
}

impl Handler<Ask> for Echo {
    type Return = u64;

    async fn handle(&mut self, Ask(by): Ask, _: &mut Context<Self>) -> u64 {
        self.sum = self.sum.wrapping_add(by);
        self.sum
    }
}

impl Subject for Xtra {
    type Ref = Address<Echo>;

    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(Self::Ref) -> Job<T> + Send + 'static) -> T {
        let mailbox = setup.mailbox;
        let start = async move { xtra::spawn_tokio(Echo { sum: 0 }, Mailbox::bounded(mailbox)) };
        run_on_tokio(Tasks::Send, setup, start, client)
    }

    async fn together(&self, jobs: Vec<Job<()>>) {
        together_on_tokio(Tasks::Send, jobs).await;
    }

    async fn tell(actor: &Self::Ref, by: u64) {
        // Done when there was room; the inner future would wait for the handler.
        drop(actor.send(Tell(by)).detach().await.expect("it lives"));
    }

    async fn ask(actor: &Self::Ref, by: u64) -> u64 {
        actor.send(Ask(by)).await.expect("it lives")
    }
}
