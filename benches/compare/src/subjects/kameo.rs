//! kameo.

use kameo::{actor::Spawn, error::Infallible, mailbox, prelude::*};

use crate::subject::{Job, Setup, Subject, Tasks, run_on_tokio, together_on_tokio};

#[derive(Clone, Copy)]
pub struct Kameo;

pub struct Echo {
    sum: u64,
}

impl Actor for Echo {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(state: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(state)
    }
}

pub struct Tell(u64);
pub struct Ask(u64);

impl Message<Tell> for Echo {
    type Reply = ();

    async fn handle(&mut self, Tell(by): Tell, _: &mut Context<Self, ()>) {
        self.sum = self.sum.wrapping_add(by);
    }
}

impl Message<Ask> for Echo {
    type Reply = u64;

    async fn handle(&mut self, Ask(by): Ask, _: &mut Context<Self, u64>) -> u64 {
        self.sum = self.sum.wrapping_add(by);
        self.sum
    }
}

impl Subject for Kameo {
    type Ref = ActorRef<Echo>;

    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(Self::Ref) -> Job<T> + Send + 'static) -> T {
        let mailbox = setup.mailbox;
        let start = async move { Echo::spawn_with_mailbox(Echo { sum: 0 }, mailbox::bounded(mailbox)) };
        run_on_tokio(Tasks::Send, setup, start, client)
    }

    async fn together(&self, jobs: Vec<Job<()>>) {
        together_on_tokio(Tasks::Send, jobs).await;
    }

    async fn tell(actor: &Self::Ref, by: u64) {
        actor.tell(Tell(by)).await.expect("it lives");
    }

    async fn ask(actor: &Self::Ref, by: u64) -> u64 {
        actor.ask(Ask(by)).await.expect("it lives")
    }
}
