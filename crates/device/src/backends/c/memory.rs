//! Memory that kernels in the worker's own process read and write.

#![allow(unsafe_code)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::slice;

/// The alignment of buffers in bytes. It is one page, so that a buffer's place within a page is the
/// same in every worker.
const ALIGNMENT: usize = 4096;

/// A block of memory whose address a kernel knows.
///
/// Kernels run only within [`CSession::launch`](super::CSession), which borrows the session
/// mutably. No slice of a block therefore exists while a kernel changes it.
pub(super) struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

impl Block {
    /// Creates a zeroed block. Returns `None` if there is not enough memory.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        Some(Self { start: NonNull::new(start)?, layout })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the block is allocated, initialised and as long as its layout says. `&self` keeps
        // kernels from running and `bytes_mut` from being called.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `&mut self` makes this the only slice.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }

    /// Returns the address of the byte at `offset`, for kernels.
    pub(super) fn address(&self, offset: usize) -> *mut c_void {
        self.start.as_ptr().wrapping_add(offset).cast()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout and not freed before.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}
