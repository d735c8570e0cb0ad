//! The short spin before a shard sleeps, and the gate that keeps it from costing more than it saves.
//!
//! A message for a sleeping shard costs two system calls and a wake: some 10 µs on one machine, 40 on another, where a
//! hypervisor has to wake the core. For a shard that is still looking it costs the time of a cache line. So a shard that
//! expects its next message soon does better to look on for a moment. Three things bound what that costs: the gate (a moving
//! average of the idle gap), the length, and a back-off after spins in vain. It only ever pauses the core: a `sched_yield`
//! would hand a CPU-bound neighbour a whole time slice.
//!
//! Gate and length follow what a wake costs here, which the wakes themselves tell: to spin for as long as a wake takes costs
//! at most twice of what is best (the ski-rental bound; Karlin et al., "Competitive snoopy caching", 1988). A shorter spin
//! would leave two shards in a dialogue asleep for ever: each has given up before the other, which has to be woken, answers.

use std::{cell::Cell, hint::spin_loop, time::Duration};

use super::Shard;
use crate::port::Nanos;

/// Whether a shard that has nothing to do looks on for a moment before it sleeps.
///
/// Spinning answers traffic between shards within a microsecond instead of some ten, and takes CPU time from whoever
/// shares the core. While it lasts, the shard's sockets and Tokio timers wait.
///
/// # Examples
///
/// ```
/// use actor_tokio::prelude::*;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), actor_tokio::Error> {
/// // Cores of our own, and answers that are worth them.
/// let rt = ShardedRuntime::builder().cores(1).spin(Spin::Always(Duration::from_micros(50))).build()?;
/// rt.block_on(async {
///     let stats = rt.handle().stats().await;
///     println!("{} of {} spins found something", stats[0].spins_won, stats[0].spins);
/// });
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spin {
    /// Never: the shard sleeps at once.
    Off,
    /// When it pays: for about as long as a wake takes, which is measured (6 µs at the least, 60 µs at the most); while the
    /// time from idleness to the next message is no more than three wakes, or 40 µs, on a moving average; ever more rarely
    /// while nothing comes of it; not at all while there are more shards in the process than CPUs, or a CPU quota below
    /// their number.
    #[default]
    Auto,
    /// For up to this time before each sleep, whatever it costs the core's other users.
    Always(Duration),
}

/// What a wake costs as long as none has told, in nanoseconds.
const FIRST_WAKE: u64 = 8_000;
/// A wake that took longer says nothing: other work had the core, or the notice was late.
const LONGEST_WAKE: u64 = 1_000_000;
/// The shortest and the longest `Auto` spin.
const LENGTHS: (u64, u64) = (6_000, 60_000);
/// `Auto` spins while the average idle gap is no longer, or no longer than three wakes: in a dialogue between sleepers it
/// is two wakes and some work, and must get below this without spinning.
const LOWEST_GATE: u64 = 40_000;
/// What a longer gap counts as, or what is longer than six wakes, so that one long pause is soon forgotten.
const LONGEST_GAP: u64 = 200_000;
/// The weight of the newest gap in the average is one in 2^this.
const WEIGHT: u32 = 3;
/// Rests that are skipped after many spins in vain, at the most.
const MOST_SKIPPED: u32 = 64;
/// Pauses between two readings of the clock.
const PAUSES_PER_CLOCK: u32 = 16;
/// Pauses after which a spin ends even if its clock stands still.
const MOST_PAUSES: u32 = 1 << 20;

/// When to spin, from what came of the last rests.
pub(super) struct Spinner {
    spin: Cell<Spin>,
    /// When the shard last ran out of work; `None` while it has some.
    idle_since: Cell<Option<Nanos>>,
    /// The moving average of the time from idleness to the next message, in nanoseconds.
    gap: Cell<u64>,
    /// What a wake by another shard costs, in nanoseconds: soon less, slowly more, as wakes tell.
    wake: Cell<u64>,
    /// Rests to be skipped before the next spin, and after it if it is in vain.
    skip: Cell<u32>,
    next_skip: Cell<u32>,
    /// A spin has found something, and no turn has begun since.
    has_won: Cell<bool>,
}

impl Spinner {
    pub(super) fn new(spin: Spin) -> Self {
        Self {
            spin: Cell::new(spin),
            idle_since: Cell::new(None),
            gap: Cell::new(LONGEST_GAP),
            wake: Cell::new(FIRST_WAKE),
            skip: Cell::new(0),
            next_skip: Cell::new(1),
            has_won: Cell::new(false),
        }
    }

    /// The shard has run out of work. Returns until when it spins, if it does.
    fn rest(&self, now: Nanos) -> Option<Nanos> {
        match self.spin.get() {
            Spin::Off => return None,
            Spin::Always(length) => return Some(now.after(length)),
            Spin::Auto => {}
        }
        self.idle_since.set(Some(now));
        if self.gap.get() > LOWEST_GATE.max(3 * self.wake.get()) {
            return None;
        }
        let skip = self.skip.get();
        if skip > 0 {
            self.skip.set(skip - 1);
            return None;
        }
        Some(now.after(self.length()))
    }

    /// How long an `Auto` spin lasts: a little more than a wake.
    fn length(&self) -> Duration {
        Duration::from_nanos((self.wake.get() / 4 * 5).clamp(LENGTHS.0, LENGTHS.1))
    }

    /// A shard has woken this one, `at` a time.
    pub(super) fn rung(&self, now: Nanos, at: Nanos) {
        let wake = self.wake.get();
        match now.0.saturating_sub(at.0) {
            shorter if shorter < wake => self.wake.set(wake - (wake - shorter) / 4),
            longer if longer <= LONGEST_WAKE => self.wake.set(wake + (longer - wake).min(wake) / 8),
            _ => {}
        }
    }

    /// A spin has ended, with a message or in vain.
    fn spun(&self, won: bool) {
        self.has_won.set(won);
        if won {
            self.next_skip.set(1);
        } else {
            let skip = self.next_skip.get();
            self.skip.set(skip);
            self.next_skip.set((skip * 2).min(MOST_SKIPPED));
        }
    }

    /// Whether the last spin has found something, if it is asked for the first time since.
    #[inline]
    pub(super) fn has_won(&self) -> bool {
        self.has_won.take()
    }

    /// A turn has begun. `found` says that other threads had left something: a spin would have seen it.
    #[inline]
    pub(super) fn wake(&self, now: Nanos, found: bool) {
        if let Some(since) = self.idle_since.take() {
            let longest = LONGEST_GAP.max(6 * self.wake.get());
            let gap = if found { now.0.saturating_sub(since.0).min(longest) } else { longest };
            let average = self.gap.get();
            self.gap.set(average - (average >> WEIGHT) + (gap >> WEIGHT));
        }
    }
}

impl Shard {
    /// Looks for something to do for a moment, as [`DomainConfig::spin`](super::DomainConfig::spin) says. Returns whether
    /// something has come: then call [`turn`](Self::turn) rather than sleep. Others need not ring meanwhile.
    ///
    /// For a driver that has nothing else to do; before [`announce_sleep`](Self::announce_sleep).
    #[must_use = "true means: do not sleep"]
    pub fn spin(&self) -> bool {
        let core = &*self.core;
        if core.spinner.spin.get() == Spin::Off {
            return false;
        }
        let Some(until) = core.spinner.rest(core.read_clock()) else {
            return false;
        };
        core.counters.spins.add(1);
        for pause in 1..=MOST_PAUSES {
            if self.has_work() {
                core.counters.spins_won.add(1);
                core.spinner.spun(true);
                return true;
            }
            spin_loop();
            if pause.is_multiple_of(PAUSES_PER_CLOCK) {
                let now = core.read_clock();
                core.release_old_permits(now);
                if now >= until {
                    break;
                }
            }
        }
        core.spinner.spun(false);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rests at `start`, and is woken after `gap` by a message or by something else. Returns whether it would spin.
    fn rest(spinner: &Spinner, gap: u64, found: bool) -> bool {
        let start = Nanos(1_000_000);
        let spins = spinner.rest(start).is_some();
        if spins {
            spinner.spun(found && gap <= spinner.length().as_nanos() as u64);
        }
        spinner.wake(Nanos(start.0 + gap), found);
        spins
    }

    fn spins_of(spinner: &Spinner, rests: u32, gap: u64, found: bool) -> u32 {
        (0..rests).map(|_| u32::from(rest(spinner, gap, found))).sum()
    }

    #[test]
    fn a_dialogue_soon_spins_and_goes_on_spinning() {
        let spinner = Spinner::new(Spin::Auto);
        assert!(!rest(&spinner, 25_000, true), "nothing is known yet");
        spins_of(&spinner, 30, 25_000, true);
        assert_eq!(spins_of(&spinner, 1_000, 700, true), 1_000 - spinner_skips());
    }

    /// The first gaps of a dialogue end in wakes, which are spins in vain: they leave some rests to be skipped.
    fn spinner_skips() -> u32 {
        let spinner = Spinner::new(Spin::Auto);
        spins_of(&spinner, 31, 25_000, true);
        spinner.skip.get()
    }

    #[test]
    fn a_dialogue_spins_wherever_wakes_are_slow() {
        for wake in [3_000, 10_000, 25_000, 45_000] {
            let spinner = Spinner::new(Spin::Auto);
            for _ in 0..200 {
                rest(&spinner, 2 * wake + 5_000, true);
                spinner.rung(Nanos(wake + 1), Nanos(1));
            }
            let length = spinner.length().as_nanos() as u64;
            assert!(length >= wake && length <= 60_000, "an answer of one who is woken comes in time: {length}");
            assert!(spinner.gap.get() <= LOWEST_GATE.max(3 * spinner.wake.get()));
            // One that is sparse does not, even where each gap that an answer ends is a short one.
            for _ in 0..100 {
                rest(&spinner, 2 * wake + 20_000, true);
                rest(&spinner, 1_000_000, true);
            }
            assert_eq!(spins_of(&spinner, 100, 1_000_000, true), 0);
        }
    }

    #[test]
    fn what_a_wake_costs_follows_the_wakes_and_not_the_delays() {
        let spinner = Spinner::new(Spin::Auto);
        let rung = |wake: u64, times: u32| (0..times).for_each(|_| spinner.rung(Nanos(1_000 + wake), Nanos(1_000)));
        rung(30_000, 100);
        assert!((29_000..=30_000).contains(&spinner.wake.get()));
        rung(20_000_000, 100);
        assert!((29_000..=30_000).contains(&spinner.wake.get()), "that was no wake");
        rung(5_000, 20);
        assert!((5_000..6_000).contains(&spinner.wake.get()));
    }

    #[test]
    fn sparse_traffic_does_not_spin() {
        let spinner = Spinner::new(Spin::Auto);
        assert_eq!(spins_of(&spinner, 1_000, 150_000, true), 0);
    }

    #[test]
    fn what_no_message_ends_does_not_spin() {
        let spinner = Spinner::new(Spin::Auto);
        spins_of(&spinner, 100, 1_000, true);
        assert!(spins_of(&spinner, 1_000, 1_000, false) < 10, "a socket's traffic is not seen by a spin");
    }

    #[test]
    fn traffic_just_beyond_the_spin_is_hardly_spun_for() {
        let spinner = Spinner::new(Spin::Auto);
        spins_of(&spinner, 1_000, 30_000, true);
        assert!(spins_of(&spinner, 6_500, 30_000, true) <= 101, "one spin for 65 rests");
    }

    #[test]
    fn one_long_pause_is_forgiven() {
        let spinner = Spinner::new(Spin::Auto);
        spins_of(&spinner, 100, 700, true);
        rest(&spinner, 10_000_000_000, true);
        assert!(rest(&spinner, 700, true) || rest(&spinner, 700, true));
    }

    #[test]
    fn the_other_policies_do_as_they_say() {
        let off = Spinner::new(Spin::Off);
        assert_eq!(spins_of(&off, 100, 700, true), 0);
        let always = Spinner::new(Spin::Always(Duration::from_micros(50)));
        assert_eq!(spins_of(&always, 100, 1_000_000, false), 100);
    }
}
