use std::{collections::HashMap, fmt::Debug, hash::Hash};

use actor_tokio::prelude::*;

pub struct Envelope<T>(pub T);

// A default, a bound, and a `where` clause on the struct, which need not say `'static`.
#[actor]
pub struct Store<K: Hash + Eq, V = String>
where
    V: Clone,
{
    items: HashMap<K, V>,
}

#[actor]
impl<K: Hash + Eq + Send, V> Store<K, V>
where
    V: Clone + Send,
{
    pub fn put(&mut self, key: K, item: Envelope<V>) -> Option<V> {
        self.items.insert(key, item.0)
    }
    pub async fn get(&self, key: K) -> Option<V> {
        self.items.get(&key).cloned()
    }
    // A bound of one message only.
    pub fn show(&self, key: K) -> Result<String, V>
    where
        V: Debug,
    {
        self.items.get(&key).map(|item| format!("{item:?}")).ok_or_else(|| unreachable!())
    }
}

// A further block for some of the types.
#[actor(more)]
impl<K: Hash + Eq + Send> Store<K, u64> {
    pub fn sum(&self) -> u64 {
        self.items.values().sum()
    }
}

pub async fn run(words: StoreHandle<u8>, numbers: StoreHandle<&'static str, u64>) -> Result<(), actor_tokio::Error> {
    words.put(1, Envelope("one".into())).await?;
    let shown: Result<String, AskError<String>> = words.show(1).await;
    drop(shown);
    let sum: u64 = numbers.sum().await?;
    assert_eq!(sum, 0);
    Ok(())
}

// The handle is all that a handle is, whatever the parameters are.
pub struct Opaque;

#[actor]
pub struct Holder<T>(T);

#[actor]
impl<T> Holder<T> {}

pub fn is_handle<H: Clone + Send + Sync + Eq + std::hash::Hash + Debug>() {}

pub fn holder_is_handle() {
    is_handle::<HolderHandle<std::rc::Rc<Opaque>>>();
}

fn main() {}
