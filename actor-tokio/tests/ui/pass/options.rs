use actor_tokio::prelude::*;

const MAILBOX: usize = 3;

#[actor(mailbox = MAILBOX)]
pub struct Constant;

#[actor(mailbox = 2 * MAILBOX + 1,)]
pub struct Computed;

#[actor()]
pub struct Empty;

#[actor(crate = actor_tokio, mailbox = 0x10)]
pub struct Both;

mod facade {
    pub mod nested {
        pub use actor_tokio as system;
    }
}

#[actor(overflow = DropOldest, mailbox = 4)]
pub struct Latest;

#[actor(overflow = DropNewest)]
pub struct Earliest<T: 'static>(T);

#[actor(overflow = Reject, crate = crate::facade::nested::system)]
pub struct Through;

#[actor(crate = crate::facade::nested::system)]
impl Through {
    pub fn open(&self) -> Result<(), String> {
        Ok(())
    }
    #[actor(on_start)]
    fn begin(&mut self) {}
}

#[actor(more, crate = facade::nested::system)]
impl Through {
    pub fn close(&self, _: u8) {}
}

#[facade::nested::system::main(crate = facade::nested::system, cores = 1)]
async fn main() {
    use actor_tokio::{Overflow, Typed};
    assert_eq!(Constant::MAILBOX, Some(3));
    assert_eq!(Computed::MAILBOX, Some(7));
    assert_eq!(Empty::MAILBOX, None);
    assert_eq!(Both::MAILBOX, Some(16));
    assert_eq!((Latest::OVERFLOW, Latest::MAILBOX), (Overflow::DropOldest, Some(4)));
    assert_eq!(Earliest::<u8>::OVERFLOW, Overflow::DropNewest);
    assert_eq!((Both::OVERFLOW, Through::OVERFLOW), (Overflow::Wait, Overflow::Reject));
    assert_eq!(Through::NAME, "Through");
}
