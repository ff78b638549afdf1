//! Memory of the host that a driver gave.

#![allow(unsafe_code)]

/// Makes a zeroed slice of memory that lasts until the process ends.
///
/// # Safety
///
/// `memory` points to `bytes` writable bytes, which nobody else holds and nobody frees.
pub(crate) unsafe fn lasting(memory: *mut u8, bytes: usize) -> &'static mut [u8] {
    // SAFETY: as the caller promises. The bytes are written before anyone reads them.
    unsafe {
        memory.write_bytes(0, bytes);
        std::slice::from_raw_parts_mut(memory, bytes)
    }
}
