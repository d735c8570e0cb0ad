//! Fetching a cache line before it is needed. Changes nothing but the time that the first use takes.

/// Begins to fetch the line at `address` into this core's cache, to be written.
#[inline(always)]
pub(crate) fn for_write<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch faults at no address and changes no memory.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    let _ = address;
}
