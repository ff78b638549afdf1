//! The device that finals are held on.

use crate::common::*;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::*;

/// Returns a device on which X = 3 is best, 4 is a close second, and the others are far off.
pub(crate) fn device(seed: u64) -> Device {
    Device::new(&line(12), Noise::Normal(0.02), seed, |x| match x {
        3 => 10.0,
        4 => 10.05,
        x => 14.0 + x as f64,
    })
}

pub(crate) fn winner(device: &Device, run: &Run) -> Option<i64> {
    run.verdict.winner.map(|config| device.x(config))
}

/// Returns rules that do not measure the reference.
pub(crate) fn only_finals() -> Judging {
    Judging { finals: Some(Finals::default()), ..Judging::nothing() }
}

/// Returns the medians of the visits of X in this role.
pub(crate) fn medians(device: &Device, run: &Run, x: i64, role: Role) -> Vec<f64> {
    let own = run.resamples.iter().filter(|again| again.role == role && device.x(again.config) == x);
    own.filter_map(|again| statistics::median(&again.measurement.times_ms)).collect()
}
