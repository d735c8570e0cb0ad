//! A clock that costs little beside what it measures: the time stamp counter where there is one.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "an intrinsic")]
#[inline]
pub fn now() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction; Linux lets user code have it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Finds out how long a tick is. Before the first measurement, which it would disturb.
pub fn calibrate() {
    per_nano();
}

/// Nanoseconds of a number of ticks.
pub fn nanos(ticks: u64) -> f64 {
    ticks as f64 / per_nano()
}

/// Keeps the CPU busy.
pub fn burn(time: Duration) {
    let end = now() + (time.as_nanos() as f64 * per_nano()) as u64;
    while now() < end {
        std::hint::spin_loop();
    }
}

fn per_nano() -> f64 {
    static PER_NANO: OnceLock<f64> = OnceLock::new();
    *PER_NANO.get_or_init(|| {
        let (start, from) = (Instant::now(), now());
        while start.elapsed() < Duration::from_millis(100) {}
        (now() - from) as f64 / start.elapsed().as_nanos() as f64
    })
}
