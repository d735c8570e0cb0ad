use std::{collections::HashMap, sync::Arc};

use actor_tokio::prelude::*;

pub trait Unit {
    type Of: Send + 'static;
    const SIZE: usize;
}

#[actor]
#[derive(Clone, Debug)]
pub struct Money {
    cents: u64,
}

impl Unit for Money {
    type Of = u64;
    const SIZE: usize = 3;
}

impl Money {
    const SMALL: usize = 2;
}

#[actor]
impl Money {
    pub fn new(cents: u64) -> Self {
        Self { cents }
    }
    pub fn add(&mut self, other: Self) -> Self {
        self.cents += other.cents;
        self.clone()
    }
    pub fn nested(&self, all: Vec<Option<Self>>, map: HashMap<u8, (Self, [Self; Self::SMALL])>) -> Option<Box<Self>> {
        drop((all, map));
        None
    }
    pub fn checked(&self) -> Result<Self, Arc<Self>> {
        Ok(self.clone())
    }
    pub fn projected(&self, of: <Self as Unit>::Of) -> [<Self as Unit>::Of; <Self as Unit>::SIZE] {
        [of; <Self as Unit>::SIZE]
    }
    pub fn function(&self, apply: fn(&Self) -> u64, boxed: Box<dyn Fn(&Self) -> Self + Send>) -> u64 {
        apply(&boxed(self))
    }
    pub fn typed(self: &Self) -> u64 {
        self.cents
    }
    pub fn typed_mut(self: &mut Self, cx: &mut actor_tokio::Cx<Money>) {
        cx.stop();
    }
    #[actor(on_start)]
    fn begin(&mut self, cx: &Cx<Self>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        _ = cx.handle();
        Ok(())
    }
}

pub async fn run(money: MoneyHandle) -> Result<Money, AskError<Arc<Money>>> {
    _ = money.function(|money| money.cents, Box::new(Clone::clone)).await;
    _ = money.typed().await;
    _ = money.typed_mut().await;
    let three: Result<[u64; 3], AskError> = money.projected(1).await;
    _ = three;
    money.checked().await
}

fn main() {}
