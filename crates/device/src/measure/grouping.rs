//! Decides how many launches make a sample. A pure function.

use std::time::Duration;

/// The time of a launch from which on it is a sample alone. Starting a kernel costs a GPU about 2
/// µs, which is at most 1 % of such a sample: less than half of the stability that sampling asks
/// for.
const SHORT: Duration = Duration::from_micros(200);

/// The time that a group should take. Starting it costs as much as starting one kernel.
const GROUP: Duration = Duration::from_millis(1);

/// The largest group. Building one costs about a microsecond a launch.
const MOST: u32 = 256;

/// The name of the number of launches of a sample, as a value of a run.
pub(crate) const LAUNCHES_PER_SAMPLE: &str = "launches_per_sample";

/// Returns the number of launches of each sample of a kernel, one launch of which took `launch`.
pub(crate) fn group_of(launch: Duration) -> usize {
    if launch >= SHORT {
        return 1;
    }
    let wanted = GROUP.as_nanos().div_ceil(launch.as_nanos().max(1));
    wanted.clamp(2, u128::from(MOST)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_kernel_is_launched_for_a_millisecond_and_a_long_one_once() {
        let of = |nanoseconds: u64| group_of(Duration::from_nanos(nanoseconds));
        assert_eq!([of(0), of(1_000), of(4_000), of(5_000)], [256, 256, 250, 200]);
        assert_eq!([of(199_999), of(200_000), of(1_000_000_000)], [6, 1, 1]);
    }
}
