//! ractor. Its mailboxes are unbounded.

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};

use crate::subject::{Job, Setup, Subject, Tasks, run_on_tokio, together_on_tokio};

#[derive(Clone, Copy)]
pub struct Ractor;

pub struct Echo;

pub enum Message {
    Tell(u64),
    Ask(u64, RpcReplyPort<u64>),
}

impl Actor for Echo {
    type Msg = Message;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Message>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(&self, _: ActorRef<Message>, message: Message, sum: &mut u64) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Tell(by) => *sum = sum.wrapping_add(by),
            Message::Ask(by, reply) => {
                *sum = sum.wrapping_add(by);
                _ = reply.send(*sum);
            }
        }
        Ok(())
    }
}

impl Subject for Ractor {
    type Ref = ActorRef<Message>;

    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(Self::Ref) -> Job<T> + Send + 'static) -> T {
        let start = async { Actor::spawn(None, Echo, ()).await.expect("an actor").0 };
        run_on_tokio(Tasks::Send, setup, start, client)
    }

    async fn together(&self, jobs: Vec<Job<()>>) {
        together_on_tokio(Tasks::Send, jobs).await;
    }

    async fn tell(actor: &Self::Ref, by: u64) {
        actor.cast(Message::Tell(by)).expect("it lives");
    }

    async fn ask(actor: &Self::Ref, by: u64) -> u64 {
        actor.call(|reply| Message::Ask(by, reply), None).await.expect("it lives").expect("an answer")
    }
}
