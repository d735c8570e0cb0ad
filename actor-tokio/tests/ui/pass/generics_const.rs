use actor_tokio::prelude::*;

#[actor(mailbox = N)]
pub struct Ring<const N: usize, T: Copy = u8>([Option<T>; N]);

#[actor]
impl<const N: usize, T: Copy + Send> Ring<N, T> {
    const EXTRA: usize = 1;

    pub fn items(&self) -> [Option<T>; N] {
        self.0
    }
    pub fn set(&mut self, index: usize, item: T) {
        self.0[index] = Some(item);
    }
}

#[actor]
pub struct Flag<const ON: bool>;

#[actor]
impl Flag<true> {
    pub fn off(&self) {}
}

#[actor]
impl Flag<false> {
    pub fn on(&self) -> [u8; Self::SIZE] {
        [0; Self::SIZE]
    }
    #[actor(skip)]
    pub fn skipped(&self) {}
}

impl Flag<false> {
    const SIZE: usize = 4;
}

pub async fn run(ring: RingHandle<4, u64>, on: FlagHandle<true>, off: FlagHandle<false>) {
    _ = ring.set(0, 1).await;
    _ = on.off().await;
    let four: Result<[u8; 4], AskError> = off.on().await;
    _ = four;
    assert_eq!(Ring::<4>::EXTRA, 1);
}

fn main() {}
