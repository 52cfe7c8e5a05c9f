//! Asking for memory before it is needed.

/// Bytes the processor fetches together.
const LINE_BYTES: usize = 64;

/// Asks the processor to bring `values` into its caches; nothing where it cannot be asked.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = values.as_ptr().cast::<i8>();
        for offset in (0..size_of_val(values)).step_by(LINE_BYTES) {
            // SAFETY: a prefetch is a hint that reads nothing and cannot fault, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (values, LINE_BYTES);
}
