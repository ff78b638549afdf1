//! Messages between tuner and worker: what is read is written as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| tunesmith_device::fuzzing::protocol(input));
