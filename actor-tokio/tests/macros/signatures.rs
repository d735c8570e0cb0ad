//! What a handler is declared with, and what it is called with.

use actor_tokio::prelude::*;

use crate::on_a_runtime;

#[derive(Clone, Copy)]
pub struct Point {
    x: u8,
    y: u8,
}

#[actor]
struct Signatures;

#[actor]
impl Signatures {
    const WIDTH: usize = 2;

    /// The context may stand anywhere.
    pub fn context_last(&self, one: u8, two: u8, cx: &mut Cx<Self>) -> (ActorId, [u8; 2]) {
        (cx.id(), [one, two])
    }

    pub fn context_first(&self, cx: &Cx<Self>, one: u8, two: u8) -> (ActorId, [u8; 2]) {
        (cx.id(), [one, two])
    }

    pub async fn context_between(&self, one: u8, own: &mut Cx<Self>, two: u8) -> (ActorId, [u8; 2]) {
        tokio::task::yield_now().await;
        (own.id(), [one, two])
    }

    pub fn patterns(
        &self,
        (one, two): (u8, u8),
        _: u8,
        Point { x, y: z }: Point,
        arg0: u8,
        mut own: Vec<u8>,
    ) -> Vec<u8> {
        own.extend([one, two, x, z, arg0]);
        own
    }

    pub fn names(&self, actor: u8, cx: u8, args: u8, self_: u8, r#type: u8) -> [u8; 5] {
        [actor, cx, args, self_, r#type]
    }

    pub fn widths(&self, these: [u8; Self::WIDTH]) -> [u8; Self::WIDTH] {
        these
    }

    #[allow(clippy::too_many_arguments, reason = "as many as there may be")]
    pub fn twelve(
        &self,
        a: u8,
        b: u8,
        c: u8,
        d: u8,
        e: u8,
        f: u8,
        g: u8,
        h: u8,
        i: u8,
        j: u8,
        k: u8,
        l: u8,
    ) -> [u8; 12] {
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    #[cfg(any())]
    pub fn which(&self) -> Missing {
        missing()
    }

    #[cfg(not(any()))]
    pub fn which(&self) -> &'static str {
        "this"
    }
}

#[test]
fn arguments_arrive_in_order_whatever_the_signature() {
    on_a_runtime(async |runtime| {
        let signatures = runtime.spawn(|| Signatures).await.expect("spawned");
        let id = signatures.id();
        assert_eq!(signatures.context_last(1, 2).await, Ok((id, [1, 2])));
        assert_eq!(signatures.context_first(1, 2).await, Ok((id, [1, 2])));
        assert_eq!(signatures.context_between(1, 2).await, Ok((id, [1, 2])));
        let patterns = signatures.patterns((1, 2), 3, Point { x: 4, y: 5 }, 6, vec![0]);
        assert_eq!(patterns.await, Ok(vec![0, 1, 2, 4, 5, 6]));
        assert_eq!(signatures.names(1, 2, 3, 4, 5).await, Ok([1, 2, 3, 4, 5]));
        assert_eq!(signatures.widths([1, 2]).await, Ok([1, 2]));
        let twelve = signatures.twelve(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11).await.expect("answer");
        assert!(twelve.iter().enumerate().all(|(index, value)| index == usize::from(*value)));
        assert_eq!(signatures.which().await, Ok("this"));
    });
}

#[actor]
struct Stack<T, const LIMIT: usize = 2> {
    items: Vec<T>,
}

#[actor]
impl<T, const LIMIT: usize> Stack<T, LIMIT>
where
    T: Send,
{
    pub fn push(&mut self, item: T) -> Result<(), Vec<u8>>
    where
        T: Into<Vec<u8>>,
    {
        if self.items.len() == LIMIT {
            return Err(item.into());
        }
        self.items.push(item);
        Ok(())
    }

    pub async fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }
}

#[actor(more)]
impl Stack<String> {
    pub fn joined(&self) -> String {
        self.items.concat()
    }
}

#[test]
fn a_generic_actor_runs_for_each_of_its_types() {
    on_a_runtime(async |runtime| {
        let words = runtime.spawn(|| Stack::<String> { items: Vec::new() }).await.expect("spawned");
        assert_eq!(words.push("a".into()).await, Ok(()));
        assert_eq!(words.push("b".into()).await, Ok(()));
        assert_eq!(words.push("c".into()).await, Err(AskError::Handler(b"c".to_vec())));
        assert_eq!(words.joined().await, Ok("ab".into()));
        let bytes: StackHandle<&'static str, 1> = runtime.spawn(|| Stack { items: vec!["x"] }).await.expect("spawned");
        assert_eq!(bytes.push("y").await, Err(AskError::Handler(b"y".to_vec())));
        assert_eq!(bytes.pop().await, Ok(Some("x")));
        assert_eq!(bytes.pop().await, Ok(None));
    });
}
