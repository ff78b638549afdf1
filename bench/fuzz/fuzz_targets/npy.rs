//! Headers of NumPy's files: the reader stops at the data, and accepts no shape but the stated one.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| tunesmith_kernel::fuzzing::npy(input));
