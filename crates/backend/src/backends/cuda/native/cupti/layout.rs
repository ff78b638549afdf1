//! The parameters of CUPTI's functions, with the layout of its headers (12.6 to 13.x).
#![allow(unsafe_code)] // calls NVIDIA's libraries

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// An object of CUPTI.
pub(super) type Object = *mut c_void;

/// The parameters of one function.
///
/// # Safety
/// The layout is that of the structure which the function takes a pointer to.
pub(super) unsafe trait Parameters {
    /// The function that takes these parameters.
    const FUNCTION: &'static str;
}

/// Declares parameters. Every structure begins with its size, up to its last field and without
/// padding, followed by a null pointer. All other fields begin as zero.
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

/// Profiles ranges of kernels, not samples over time.
pub(super) const RANGE_PROFILER: c_int = 0;

/// The program marks the beginning of a range.
pub(super) const USER_RANGE: c_int = 2;
/// The program repeats the profiled work once for every pass.
pub(super) const USER_REPLAY: c_int = 3;

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
    Evaluate of "cuptiProfilerHostEvaluateToGpuValues" {
        object: Object, data: *const u8, bytes: usize, range: usize, names: *const *const c_char, count: usize, ;
        values: *mut f64
    }
    Availability of "cuptiProfilerGetCounterAvailability" { context: *mut c_void, bytes: usize, ; image: *mut u8 }
    Enable of "cuptiRangeProfilerEnable" { context: *mut c_void, ; object: Object }
    Disable of "cuptiRangeProfilerDisable" { ; object: Object }
    DataSize of "cuptiRangeProfilerGetCounterDataSize" {
        object: Object, names: *const *const c_char, count: usize, ranges: usize, nodes: u32, ; bytes: usize
    }
    DataInitialize of "cuptiRangeProfilerCounterDataImageInitialize" { object: Object, bytes: usize, ; data: *mut u8 }
    SetConfig of "cuptiRangeProfilerSetConfig" {
        object: Object, config_bytes: usize, config: *const u8, data_bytes: usize, data: *mut u8, range: c_int,
        replay: c_int, ranges: usize, levels: u16, least_level: u16, pass: usize, ; level: u16
    }
    Start of "cuptiRangeProfilerStart" { ; object: Object }
    Push of "cuptiRangeProfilerPushRange" { object: Object, ; name: *const c_char }
    Pop of "cuptiRangeProfilerPopRange" { ; object: Object }
    Stop of "cuptiRangeProfilerStop" { object: Object, pass: usize, level: usize, ; all_submitted: u8 }
    Decode of "cuptiRangeProfilerDecodeData" { object: Object, ; dropped: usize }
    ChipName of "cuptiDeviceGetChipName" { device: usize, ; name: *const c_char }
}

/// The parameters of `cuptiProfilerInitialize`: only the size.
#[repr(C)]
pub(super) struct Initialize {
    size: usize,
    private: *mut c_void,
}

impl Initialize {
    pub(super) fn new() -> Self {
        Self { size: size_of::<Self>(), private: null_mut() }
    }
}

// SAFETY: the fields are those of the header.
unsafe impl Parameters for Initialize {
    const FUNCTION: &'static str = "cuptiProfilerInitialize";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn layouts_are_those_of_the_headers() {
        assert_eq!((HostInitialize::new().size, offset_of!(HostInitialize, chip)), (48, 24));
        assert_eq!((AddMetrics::new().size, Passes::new().size), (40, 40));
        assert_eq!((Evaluate::new().size, SetConfig::new().size, Stop::new().size), (72, 90, 41));
        assert_eq!((offset_of!(SetConfig, ranges), offset_of!(SetConfig, pass)), (64, 80));
        assert_eq!((DataSize::new().size, offset_of!(DataSize, bytes), Availability::new().size), (64, 56, 40));
        assert_eq!((HostDeinitialize::new().size, ChipName::new().size), (24, 32));
    }
}
