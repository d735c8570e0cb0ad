//! What is counted: every argument and reply that was made and dropped, every message that was accepted and begun.

use std::{
    cell::Cell,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// The sums. `Relaxed` throughout, so that counting orders nothing between the threads that are being tested.
#[derive(Default)]
pub struct Ledger {
    made: AtomicU64,
    dropped: AtomicU64,
    /// Messages that got a permit, as far as their senders know.
    accepted: AtomicU64,
    /// Messages whose handler was begun, or which were received.
    begun: AtomicU64,
}

thread_local! {
    /// Tokens that this thread has dropped.
    static DROPPED_HERE: Cell<u64> = const { Cell::new(0) };
}

const CANARY: u64 = 0x5eed_cafe_f00d_beef;

impl Ledger {
    pub fn token(self: &Arc<Self>) -> Token {
        self.made.fetch_add(1, Relaxed);
        Token { ledger: self.clone(), canary: Box::new(CANARY) }
    }

    pub fn accept(&self) {
        self.accepted.fetch_add(1, Relaxed);
    }

    pub fn begin(&self) {
        self.begun.fetch_add(1, Relaxed);
    }

    pub fn accepted(&self) -> u64 {
        self.accepted.load(Relaxed)
    }

    pub fn begun(&self) -> u64 {
        self.begun.load(Relaxed)
    }

    /// Each token that was made has been dropped, once.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let (made, dropped) = (self.made.load(Relaxed), self.dropped.load(Relaxed));
        assert_eq!(made, dropped, "tokens made and dropped");
    }
}

/// Rides in every argument and every reply.
pub struct Token {
    ledger: Arc<Ledger>,
    /// On the heap, so that a second drop is one that a sanitizer sees too.
    canary: Box<u64>,
}

impl Token {
    /// It is whole.
    #[track_caller]
    pub fn check(&self) {
        assert_eq!(*self.canary, CANARY, "a token that was dropped, or never written");
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.check();
        *self.canary = 0;
        self.ledger.dropped.fetch_add(1, Relaxed);
        DROPPED_HERE.set(DROPPED_HERE.get() + 1);
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// How many tokens this thread drops in `what`.
pub fn drops_in<R>(what: impl FnOnce() -> R) -> (R, u64) {
    let before = DROPPED_HERE.get();
    let result = what();
    (result, DROPPED_HERE.get() - before)
}

#[test]
#[should_panic(expected = "tokens made and dropped")]
fn a_token_that_is_forgotten_is_noticed() {
    let ledger = Arc::new(Ledger::default());
    // Given back after the check, for LeakSanitizer's sake.
    let token = ledger.token();
    ledger.assert_nothing_left();
    drop(token);
}
