//! The parameters of CUPTI's functions, laid out as its headers (12.6 to 13.x) do.
#![allow(unsafe_code)] // calls NVIDIA's libraries

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// An object of CUPTI's.
pub(super) type Object = *mut c_void;

/// The parameters of one function.
///
/// # Safety
/// The layout is that of the structure which the function takes a pointer to.
pub(super) unsafe trait Parameters {
    /// The function that takes them.
    const FUNCTION: &'static str;
}

/// Declares parameters: every structure begins with its size, up to its last field without padding, and a pointer that is
/// null; the other fields begin as zero.
macro_rules! parameters {
    ($($name:ident of $function:literal { $($field:ident: $type:ty,)* ; $last:ident: $last_type:ty })*) => {$(
        #[repr(C)]
        pub(super) struct $name {
            size: usize,
            private: *mut c_void,
            $(pub(super) $field: $type,)*
            pub(super) $last: $last_type,
        }

        impl $name {
            pub(super) fn new() -> Self {
                // SAFETY: all fields are numbers or raw pointers, of which all zeros is a value.
                let mut this: Self = unsafe { std::mem::zeroed() };
                this.size = std::mem::offset_of!($name, $last) + size_of::<$last_type>();
                this.private = null_mut();
                this
            }
        }

        // SAFETY: the fields are those of the header, in its order.
        unsafe impl Parameters for $name {
            const FUNCTION: &'static str = $function;
        }
    )*};
}

/// Ranges of kernels, not samples over time.
pub(super) const RANGE_PROFILER: c_int = 0;

parameters! {
    HostInitialize of "cuptiProfilerHostInitialize" {
        kind: c_int, chip: *const c_char, availability: *const u8, ; object: Object
    }
    HostDeinitialize of "cuptiProfilerHostDeinitialize" { ; object: Object }
    SupportedChips of "cuptiProfilerHostGetSupportedChips" { count: usize, ; names: *const *const c_char }
    AddMetrics of "cuptiProfilerHostConfigAddMetrics" {
        object: Object, names: *const *const c_char, ; count: usize
    }
    ConfigSize of "cuptiProfilerHostGetConfigImageSize" { object: Object, ; bytes: usize }
    ConfigImage of "cuptiProfilerHostGetConfigImage" { object: Object, bytes: usize, ; image: *mut u8 }
    Passes of "cuptiProfilerHostGetNumOfPasses" { bytes: usize, image: *const u8, ; passes: usize }
    ChipName of "cuptiDeviceGetChipName" { device: usize, ; name: *const c_char }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layouts_are_those_of_the_headers() {
        assert_eq!((HostInitialize::new().size, offset_of!(HostInitialize, chip)), (48, 24));
        assert_eq!((AddMetrics::new().size, Passes::new().size), (40, 40));
        assert_eq!((HostDeinitialize::new().size, ChipName::new().size), (24, 32));
    }
}
