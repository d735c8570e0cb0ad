//! A task behind `tokio::sync::mpsc`, with a oneshot for each answer: what one writes without a framework.

use tokio::sync::{mpsc, oneshot};

use crate::subject::{Job, Setup, Subject, Tasks, run_on_tokio, together_on_tokio};

#[derive(Clone, Copy)]
pub struct TokioMpsc;

pub enum Message {
    Tell(u64),
    Ask(u64, oneshot::Sender<u64>),
}

async fn echo(mut messages: mpsc::Receiver<Message>) {
    let mut sum = 0u64;
    while let Some(message) = messages.recv().await {
        match message {
            Message::Tell(by) => sum = sum.wrapping_add(by),
            Message::Ask(by, reply) => {
                sum = sum.wrapping_add(by);
                _ = reply.send(sum);
            }
        }
    }
}

impl Subject for TokioMpsc {
    type Ref = mpsc::Sender<Message>;

    fn run<T: Send + 'static>(&self, setup: &Setup, client: impl FnOnce(Self::Ref) -> Job<T> + Send + 'static) -> T {
        let (sender, messages) = mpsc::channel(setup.mailbox);
        let start = async {
            tokio::spawn(echo(messages));
            sender
        };
        run_on_tokio(Tasks::Send, setup, start, client)
    }

    async fn together(&self, jobs: Vec<Job<()>>) {
        together_on_tokio(Tasks::Send, jobs).await;
    }

    async fn tell(actor: &Self::Ref, by: u64) {
        assert!(actor.send(Message::Tell(by)).await.is_ok(), "it lives");
    }

    async fn ask(actor: &Self::Ref, by: u64) -> u64 {
        let (reply, answer) = oneshot::channel();
        assert!(actor.send(Message::Ask(by, reply)).await.is_ok(), "it lives");
        answer.await.expect("an answer")
    }
}
