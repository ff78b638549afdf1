//! The default number of requests in flight.

use super::Device;
use tunesmith_core::DeviceClass;

/// Enough for a few compilations at once, and few enough that a sequential strategy hardly notices.
const USUAL: usize = 4;

/// The same for languages with work-items on a GPU, for a strategy that uses so many well. Drivers
/// compile them. Their compilations take longer and differ more, so that more of them at once keep the
/// processors from waiting for the last.
const OF_DRIVERS: usize = 8;

/// The most if kernels run on the processors that compile, for a strategy that uses eight well. With one
/// request more than compilations at once, no processor waits while an answer is measured. More than this
/// was not measured (bench/results/seconds.md).
const BESIDE: usize = 17;

impl Device {
    /// Returns the default number of requests in flight on the device, whose machine compiles `jobs` at
    /// once, for a strategy that uses `in_flight` well.
    pub fn room(&self, jobs: usize, in_flight: usize) -> usize {
        match self {
            // If a number stands for a time, there is nothing to compile ahead.
            Self::Replay(_) | Self::Synthetic(_) | Self::Function(_) => 1,
            Self::Kernels(target) => {
                let class = if target.is_processor() { DeviceClass::Processor } else { DeviceClass::Gpu };
                compiling_room(class, target.language().has_work_items(), jobs, in_flight)
            }
            Self::Command => compiling_room(DeviceClass::Processor, false, jobs, in_flight),
        }
    }
}

/// Returns the default number of requests in flight on a device of this class, whose machine compiles
/// `jobs` at once, for a strategy that uses `in_flight` well. Drivers compile kernels that have
/// work-items.
pub fn compiling_room(class: DeviceClass, has_work_items: bool, jobs: usize, in_flight: usize) -> usize {
    match class {
        DeviceClass::Gpu if has_work_items => OF_DRIVERS.min(in_flight.max(USUAL)),
        DeviceClass::Gpu => USUAL,
        DeviceClass::Processor => room_beside(jobs, in_flight),
    }
}

/// Returns the default number of requests in flight, if kernels run on the processors that compile
/// `jobs` at once. With one at a time, others would only wait, chosen before its answer was known.
fn room_beside(jobs: usize, in_flight: usize) -> usize {
    let most = if in_flight < OF_DRIVERS { USUAL.max(in_flight) } else { BESIDE };
    if jobs > 1 { most.min(jobs.saturating_add(1)) } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_backend::Target;

    #[test]
    fn one_compilation_at_a_time_waits_for_its_answer_and_several_share_the_processors() {
        let device = Device::Kernels(Target::processor());
        assert_eq!([1, 2, 16, 64].map(|jobs| device.room(jobs, 8)), [1, 3, 17, 17]);
        assert_eq!([1, 2, 16].map(|jobs| Device::Command.room(jobs, 1)), [1, 3, 4]);
    }

    #[test]
    fn drivers_compile_as_many_as_a_strategy_uses_and_a_gpu_leaves_the_processors_alone() {
        let room =
            |class| [(1, 8), (2, 8), (16, 8), (16, 1)].map(|(jobs, most)| compiling_room(class, true, jobs, most));
        assert_eq!(room(DeviceClass::Processor), [1, 3, 17, 4]);
        assert_eq!(room(DeviceClass::Gpu), [8, 8, 8, 4]);
    }
}
