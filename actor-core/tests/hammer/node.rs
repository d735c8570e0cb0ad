//! The actors of the mesh: each checks what comes, and some of it makes it send something itself.

use std::{collections::HashMap, future::Future, ops::Deref, sync::Arc};

use actor_core::{Actor, Cx, Handle, Inbox, Method, Typed};

use super::{
    ledger::Token,
    sender::{Sender, yield_now},
    world::World,
};

/// What every message carries: 32 bytes, so that it travels in the envelope.
pub struct Letter {
    pub token: Token,
    /// Goes up with each message of its sender.
    pub number: u64,
    pub from: u32,
    /// How many messages it may still bring about, one after the other.
    pub hops: u8,
}

/// The last number from each sender.
#[derive(Default)]
pub struct Order(HashMap<u32, u64>);

impl Order {
    /// Checks a message that begins to be handled.
    #[track_caller]
    pub fn check(&mut self, letter: &Letter) {
        letter.token.check();
        let last = self.0.insert(letter.from, letter.number);
        assert!(last.is_none_or(|last| last < letter.number), "a message overtook another of its sender");
    }
}

/// One actor of the mesh.
pub struct Node {
    world: Arc<World>,
    /// It waits for those with a higher number alone: so nobody waits in a circle.
    index: usize,
    order: Order,
    sender: Sender,
}

impl Node {
    pub fn new(world: Arc<World>, index: usize) -> Self {
        Self { sender: Sender::new(world.clone()), world, index, order: Order::default() }
    }

    fn arrive(&mut self, letter: &Letter) {
        self.world.ledger.begin();
        self.order.check(letter);
    }

    /// The letter's token goes home with the answer; some answers are errors.
    fn answer(&mut self, letter: Letter) -> Result<Token, Token> {
        if letter.number.is_multiple_of(8) { Err(letter.token) } else { Ok(letter.token) }
    }

    fn pass_on(&mut self, hops: u8, cx: &Cx<Self>) {
        let Some(hops) = hops.checked_sub(1) else { return };
        if self.sender.dice.one_in(16) {
            // A child whose only handle goes at once: it handles what it was told and ends.
            let (world, index) = (self.world.clone(), self.world.nodes.len());
            if let Ok(child) = cx.spawn(move || Self::new(world, index)) {
                self.sender.try_tell(&child, 0);
                self.sender.try_tell(&child, hops);
            }
        } else {
            self.sender.try_tell_any(hops);
        }
    }
}

/// Refers to a node.
#[derive(Clone)]
pub struct NodeHandle(Handle<Node>);

impl From<Handle<Node>> for NodeHandle {
    fn from(handle: Handle<Node>) -> Self {
        Self(handle)
    }
}

impl Deref for NodeHandle {
    type Target = Handle<Node>;

    fn deref(&self) -> &Handle<Node> {
        &self.0
    }
}

impl Typed for Node {
    type Handle = NodeHandle;
    const NAME: &'static str = "Node";
    const MAILBOX: Option<usize> = None;
}

impl Actor for Node {
    const HAS_ON_STOP: bool = true;

    async fn on_stop(&mut self, _: &actor_core::ExitReason, _: &mut Cx<Self>) {
        yield_now().await;
    }
}

/// A sync handler; its arguments travel in the envelope when it is told.
pub struct Note;

impl Method<Node> for Note {
    type Args = (Letter,);
    type Ok = Token;
    type Err = Token;
    const NAME: &'static str = "note";
    const SYNC: bool = true;

    async fn run<'a>(node: &'a mut Node, cx: &'a mut Cx<Node>, (letter,): (Letter,)) -> Result<Token, Token> {
        node.arrive(&letter);
        node.pass_on(letter.hops, cx);
        node.answer(letter)
    }
}

/// More than an envelope holds.
pub type Cargo = [u64; 12];

/// A sync handler whose arguments travel in a block of their own.
pub struct Haul;

impl Method<Node> for Haul {
    type Args = (Letter, Cargo);
    type Ok = Token;
    type Err = Token;
    const NAME: &'static str = "haul";
    const SYNC: bool = true;

    async fn run<'a>(
        node: &'a mut Node,
        cx: &'a mut Cx<Node>,
        (letter, cargo): (Letter, Cargo),
    ) -> Result<Token, Token> {
        node.arrive(&letter);
        assert_eq!(cargo, [letter.number; 12]);
        node.pass_on(letter.hops, cx);
        node.answer(letter)
    }
}

/// An async handler, which waits for others.
pub struct Relay;

impl Method<Node> for Relay {
    type Args = (Letter,);
    type Ok = Token;
    type Err = Token;
    const NAME: &'static str = "relay";
    const SYNC: bool = false;

    // Not an `async fn`: the future is made at the call, and the letter checked before the first await.
    fn run<'a>(
        node: &'a mut Node,
        _: &'a mut Cx<Node>,
        (letter,): (Letter,),
    ) -> impl Future<Output = Result<Token, Token>> + 'a {
        node.arrive(&letter);
        async move {
            for _ in 0..node.sender.dice.below(3) {
                yield_now().await;
            }
            if let Some(hops) = letter.hops.checked_sub(1) {
                node.sender.send(node.index + 1, hops).await;
            }
            node.answer(letter)
        }
    }
}

/// An actor that is a plain future: sends until it is over, and takes what it is sent meanwhile.
pub async fn source(world: Arc<World>, mut inbox: Inbox<Letter>) {
    let (mut sender, mut order) = (Sender::new(world.clone()), Order::default());
    while !world.is_over() {
        sender.send(0, 3).await;
        // What is there, without waiting for it.
        let mut recv = inbox.recv();
        let next = std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut recv).poll(cx))).await;
        if let std::task::Poll::Ready(Some(letter)) = next {
            world.ledger.begin();
            order.check(&letter);
        }
        yield_now().await;
    }
}
