use actor_tokio::prelude::*;

#[actor]
pub struct Names;

#[actor]
impl Names {
    // Names that the expansion might use itself.
    pub fn all(&self, actor: u8, args: u8, self_: u8, handle: u8, call: u8, span: u8, message: u8) -> u8 {
        actor + args + self_ + handle + call + span + message
    }
    pub fn cx(&self, cx: u8) -> u8 {
        cx
    }
    pub fn context(&self, by: u8, context: &Cx<Self>, twice: bool) -> bool {
        let _ = context.id();
        twice && by > 1
    }
    pub fn unused(&self, _: u8, _named: u8, _: u8) {}
    pub fn tuple(&self, (one, other): (u8, u8), arg0: u8, arg1: u8, [a, b]: [u8; 2]) -> u8 {
        one + other + arg0 + arg1 + a + b
    }
    pub fn mutable(&self, mut words: Vec<String>) -> Vec<String> {
        words.push("more".into());
        words
    }
    pub fn fields(&self, Point { x, y: height }: Point) -> u8 {
        x + height
    }
    pub fn subpattern(&self, whole @ (first, _): (u8, u8)) -> (u8, (u8, u8)) {
        (first, whole)
    }
}

#[derive(Clone, Copy)]
pub struct Point {
    pub x: u8,
    pub y: u8,
}

pub async fn run(names: NamesHandle) -> Result<(), AskError> {
    names.all(1, 2, 3, 4, 5, 6, 7).await?;
    names.cx(1).await?;
    let on: bool = names.context(1, true).await?;
    assert!(!on);
    names.unused(1, 2, 3).await?;
    names.tuple((1, 2), 3, 4, [5, 6]).await?;
    names.mutable(Vec::new()).await?;
    names.fields(Point { x: 1, y: 2 }).await?;
    names.subpattern((1, 2)).await?;
    Ok(())
}

fn main() {}
