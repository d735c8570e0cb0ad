//! A queue of timers that are mostly disarmed before they fire.
//!
//! Nearly every timer here is the time limit of an ask. Most asks share one limit, so their deadlines come in order:
//! those go into a FIFO, the others into a heap. Disarming frees the entry's place and leaves its mark in the queue,
//! to be dropped when it comes up, or when marks outnumber armed timers (so the work is amortised O(1), and the memory
//! is in proportion to what is armed).

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    task::Waker,
};

use crate::port::{Nanos, TimerKey};

/// Wakers to be woken at points in time.
///
/// # Examples
///
/// ```
/// use actor_core::{port::Nanos, timer::TimerQueue};
/// use std::task::Waker;
///
/// let mut queue = TimerQueue::new();
/// let soon = queue.arm(Nanos(10), Waker::noop().clone());
/// queue.arm(Nanos(20), Waker::noop().clone());
/// queue.cancel(soon);
/// assert_eq!(queue.earliest(), Some(Nanos(20)));
/// let mut due = Vec::new();
/// queue.fire(Nanos(20), &mut due);
/// assert_eq!(due.len(), 1);
/// assert_eq!(queue.earliest(), None);
/// ```
#[derive(Debug, Default)]
pub struct TimerQueue {
    entries: Vec<Entry>,
    free: Vec<u32>,
    in_order: VecDeque<Mark>,
    others: BinaryHeap<Reverse<Mark>>,
}

#[derive(Debug)]
struct Entry {
    /// Tells a place's timers apart.
    turn: u32,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    at: Nanos,
    place: u32,
    turn: u32,
}

impl TimerQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes `waker` in the first [`fire`](Self::fire) at or after `at`.
    pub fn arm(&mut self, at: Nanos, waker: Waker) -> TimerKey {
        let place = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { turn: 0, waker: None });
            u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 timers at a time")
        });
        let entry = &mut self.entries[place as usize];
        entry.waker = Some(waker);
        let mark = Mark { at, place, turn: entry.turn };
        if self.in_order.back().is_none_or(|last| last.at <= at) {
            self.in_order.push_back(mark);
        } else {
            self.others.push(Reverse(mark));
        }
        self.sweep_if_worth_it();
        TimerKey(u64::from(mark.turn) << 32 | u64::from(place))
    }

    /// Disarms a timer and returns its waker; `None` if it has fired or been disarmed.
    pub fn cancel(&mut self, key: TimerKey) -> Option<Waker> {
        self.take((key.0 & u64::from(u32::MAX)) as u32, (key.0 >> 32) as u32)
    }

    /// The time of the earliest timer.
    pub fn earliest(&mut self) -> Option<Nanos> {
        while self.in_order.front().is_some_and(|mark| !self.is_armed(mark)) {
            self.in_order.pop_front();
        }
        while self.others.peek().is_some_and(|mark| !self.is_armed(&mark.0)) {
            self.others.pop();
        }
        let in_order = self.in_order.front().map(|mark| mark.at);
        let other = self.others.peek().map(|mark| mark.0.at);
        in_order.into_iter().chain(other).min()
    }

    /// Takes the wakers of all timers up to `now`, earliest first.
    pub fn fire(&mut self, now: Nanos, due: &mut Vec<Waker>) {
        while let Some(at) = self.earliest().filter(|at| *at <= now) {
            let mark = match self.in_order.front() {
                Some(mark) if mark.at == at => self.in_order.pop_front(),
                _ => self.others.pop().map(|mark| mark.0),
            };
            due.extend(mark.and_then(|mark| self.take(mark.place, mark.turn)));
        }
    }

    fn is_armed(&self, mark: &Mark) -> bool {
        let entry = &self.entries[mark.place as usize];
        entry.turn == mark.turn && entry.waker.is_some()
    }

    fn take(&mut self, place: u32, turn: u32) -> Option<Waker> {
        let entry = self.entries.get_mut(place as usize).filter(|entry| entry.turn == turn)?;
        let waker = entry.waker.take()?;
        entry.turn = entry.turn.wrapping_add(1);
        self.free.push(place);
        Some(waker)
    }

    fn sweep_if_worth_it(&mut self) {
        let armed = self.entries.len() - self.free.len();
        if self.in_order.len() + self.others.len() > 2 * armed + 64 {
            let entries = &self.entries;
            let is_armed = |mark: &Mark| {
                let entry = &entries[mark.place as usize];
                entry.turn == mark.turn && entry.waker.is_some()
            };
            self.in_order.retain(is_armed);
            self.others.retain(|mark| is_armed(&mark.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armed(queue: &mut TimerQueue, at: u64) -> TimerKey {
        queue.arm(Nanos(at), Waker::noop().clone())
    }

    #[test]
    fn timers_fire_in_order_whatever_the_order_of_arming() {
        let mut queue = TimerQueue::new();
        for at in [30, 10, 40, 20, 40, 5] {
            armed(&mut queue, at);
        }
        let mut seen = Vec::new();
        while let Some(at) = queue.earliest() {
            let mut due = Vec::new();
            queue.fire(at, &mut due);
            seen.push((at.0, due.len()));
        }
        assert_eq!(seen, [(5, 1), (10, 1), (20, 1), (30, 1), (40, 2)]);
    }

    #[test]
    fn a_key_disarms_its_own_timer_only() {
        let mut queue = TimerQueue::new();
        let first = armed(&mut queue, 10);
        assert!(queue.cancel(first).is_some());
        let second = armed(&mut queue, 10);
        assert!(queue.cancel(first).is_none());
        assert_eq!(queue.earliest(), Some(Nanos(10)));
        assert!(queue.cancel(second).is_some());
        assert_eq!(queue.earliest(), None);
    }

    #[test]
    fn disarmed_timers_take_no_lasting_room() {
        let mut queue = TimerQueue::new();
        for at in 0..100_000 {
            let key = armed(&mut queue, 1_000_000 - at % 7);
            queue.cancel(key);
        }
        assert!(queue.entries.len() == 1 && queue.in_order.len() + queue.others.len() <= 66);
    }
}
