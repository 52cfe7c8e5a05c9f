//! Asking for memory before it is needed.

/// Bytes the processor fetches together.
const LINE_BYTES: usize = 64;

/// Asks the processor to bring `values` into its caches; nothing where it cannot be asked.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    prefetch_bytes(values.as_ptr().cast(), size_of_val(values));
}

/// As [`prefetch`], of `bytes` from `start` on, which may be any address: nothing is read there.
#[inline(always)]
pub fn prefetch_bytes(start: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = start.cast::<i8>();
        for offset in (0..bytes).step_by(LINE_BYTES) {
            // SAFETY: a prefetch is a hint that reads nothing and cannot fault, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (start, bytes, LINE_BYTES);
}
