//! All ways to send a message, and to change one's mind.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use actor_core::{AskError, Call, Tell, message::Args};

use super::{
    common::threads::Dice,
    ledger::{Ledger, Token, drops_in},
    node::{Haul, Letter, NodeHandle, Note, Relay},
    world::World,
};

/// One that sends, one message after the other: an actor, a task or a thread.
pub struct Sender {
    world: Arc<World>,
    id: u32,
    number: u64,
    pub dice: Dice,
    /// Handles of the nodes, kept for a while: looking them up takes a lock, which would order what is to be unordered.
    known: Vec<Option<NodeHandle>>,
}

impl Sender {
    pub fn new(world: Arc<World>) -> Self {
        let id = world.next_sender();
        let dice = Dice::new(world.seed ^ u64::from(id) << 32);
        let known = vec![None; world.nodes.len()];
        Self { world, id, number: 0, dice, known }
    }

    fn letter(&mut self, hops: u8) -> Letter {
        self.number += 1;
        Letter { token: self.world.ledger.token(), number: self.number, from: self.id, hops }
    }

    /// Some node from `above` on.
    fn pick(&mut self, above: usize) -> Option<NodeHandle> {
        let count = self.known.len().checked_sub(above).filter(|count| *count > 0)?;
        let index = above + self.dice.below(count);
        if self.dice.one_in(64) || self.known[index].as_ref().is_none_or(|node| node.is_closed()) {
            self.known[index] = self.world.node(index);
        }
        self.known[index].clone()
    }

    fn soon(&mut self) -> Duration {
        Duration::from_micros(self.dice.below(500) as u64)
    }

    pub fn try_tell(&mut self, to: &NodeHandle, hops: u8) {
        let letter = self.letter(hops);
        match to.call::<Note>((letter,)).try_tell() {
            Ok(()) => self.world.ledger.accept(),
            Err(refused) => refused.into_args().0.token.check(),
        }
    }

    /// Never waits, so anybody may be told: a node, or a source.
    pub fn try_tell_any(&mut self, hops: u8) {
        if self.dice.one_in(8) {
            if let Some(source) = self.world.source(self.dice.next()) {
                let letter = self.letter(hops);
                if source.send(letter).try_tell().is_ok() {
                    self.world.ledger.accept();
                }
            }
        } else if let Some(node) = self.pick(0) {
            self.try_tell(&node, hops);
        }
    }

    /// Sends in some way, and waits for nobody but nodes from `above` on.
    pub async fn send(&mut self, above: usize, hops: u8) {
        let Some(to) = self.pick(above) else { return self.try_tell_any(hops) };
        let letter = self.letter(hops);
        match self.dice.below(3) {
            0 => self.send_by(to.call::<Note>((letter,))).await,
            1 => {
                let cargo = [letter.number; 12];
                self.send_by(to.call::<Haul>((letter, cargo))).await;
            }
            _ => self.send_by(to.call::<Relay>((letter,))).await,
        }
    }

    async fn send_by<A: Args>(&mut self, call: Call<A, Token, Token>) {
        match self.dice.below(12) {
            0 | 1 => self.tell(call.tell()).await,
            2 => {
                let limit = self.soon();
                self.tell(call.timeout(limit).tell()).await;
            }
            3 => {
                // Gives up after a poll or two.
                let mut tell = call.tell();
                if patiently(1 + self.dice.below(2), &mut tell).await.is_some_and(|outcome| outcome.is_ok()) {
                    self.world.ledger.accept();
                }
            }
            4 => _ = call.try_tell().map(|()| self.world.ledger.accept()),
            5 => drop(call.into_args()),
            6 => {
                let limit = self.soon();
                check(Asking::new(call.timeout(limit), &self.world.ledger).await);
            }
            7 | 8 => {
                let call = if self.dice.one_in(2) { call.cancel_on_drop() } else { call };
                let mut ask = Asking::new(call, &self.world.ledger);
                if let Some(outcome) = patiently(self.dice.below(4), &mut ask).await {
                    check(outcome);
                }
            }
            _ => check(Asking::new(call, &self.world.ledger).await),
        }
    }

    async fn tell<A: Args>(&mut self, tell: Tell<A>) {
        if tell.await.is_ok() {
            self.world.ledger.accept();
        }
    }

    /// From a thread that is no shard's.
    pub fn send_blocking(&mut self, hops: u8) {
        let Some(to) = self.pick(0) else { return };
        let letter = self.letter(hops);
        let ledger = self.world.ledger.clone();
        match self.dice.below(6) {
            0 => {
                if to.call::<Note>((letter,)).tell().blocking().is_ok() {
                    ledger.accept();
                }
            }
            1 => _ = to.call::<Relay>((letter,)).try_tell().map(|()| ledger.accept()),
            2 => {
                let limit = self.soon();
                let (outcome, drops) = drops_in(|| to.call::<Relay>((letter,)).timeout(limit).blocking());
                // A message that was never accepted is dropped by its sender; one that was, by the actor's shard.
                let is_refused = match &outcome {
                    Err(AskError::Timeout { delivered: false }) => drops == 1,
                    Err(AskError::Closed) => true,
                    _ => false,
                };
                if !is_refused {
                    ledger.accept();
                }
                check(outcome);
            }
            3 => {
                let cargo = [letter.number; 12];
                let outcome = to.call::<Haul>((letter, cargo)).blocking();
                if !matches!(outcome, Err(AskError::Closed)) {
                    ledger.accept();
                }
                check(outcome);
            }
            _ => {
                let outcome = to.call::<Relay>((letter,)).blocking();
                if !matches!(outcome, Err(AskError::Closed)) {
                    ledger.accept();
                }
                check(outcome);
            }
        }
    }
}

fn check(outcome: Result<Token, AskError<Token>>) {
    if let Ok(token) | Err(AskError::Handler(token)) = outcome {
        token.check();
    }
}

/// An ask that knows whether its message was accepted, however it ends.
struct Asking<A: Args> {
    call: Call<A, Token, Token>,
    is_accepted: bool,
    ledger: Arc<Ledger>,
}

impl<A: Args> Asking<A> {
    fn new(call: Call<A, Token, Token>, ledger: &Arc<Ledger>) -> Self {
        Self { call, is_accepted: false, ledger: ledger.clone() }
    }
}

impl<A: Args> Future for Asking<A> {
    type Output = Result<Token, AskError<Token>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let outcome = Pin::new(&mut self.call).poll(cx);
        if outcome.is_pending() && !self.is_accepted {
            // No poll sends and is done: each that sends leaves it waiting for the reply.
            self.is_accepted = format!("{:?}", self.call).contains("waiting for the reply");
        }
        outcome
    }
}

impl<A: Args> Drop for Asking<A> {
    fn drop(&mut self) {
        if self.is_accepted {
            self.ledger.accept();
        }
    }
}

/// Polls up to `polls` times, and yields in between.
async fn patiently<F: Future + Unpin>(polls: usize, future: &mut F) -> Option<F::Output> {
    let mut left = polls;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        if let Poll::Ready(output) = Pin::new(&mut *future).poll(cx) {
            return Poll::Ready(Some(output));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// Lets others run.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|cx| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
