//! The stage before the first: clocks and power limits that the device is asked for.

use super::session::Session;
use super::settings::{earlier, journal_path};
use super::task::TuningTask;
use crate::devices::device_for;
use crate::{Error, Problem};
use std::borrow::Cow;
use tunesmith_device::Device;
use tunesmith_problem::{Settled, settle};

/// Returns the problem with values for all settings of the device. A resumed run keeps those it had.
pub(super) fn settled<'a>(task: &TuningTask<'a>, session: &Session<'_>) -> Result<Settled<'a>, Error> {
    let TuningTask { problem, machine, search, journal } = task;
    let as_it_is = Settled { problem: Cow::Borrowed(problem), note: None };
    if problem.knobs().is_empty() {
        return Ok(as_it_is);
    }
    if session.remote.is_some() {
        let remedy = "tune without --fleet, or remove [device_settings]".to_string();
        return Err(Error::request("a fleet does not set the clocks of its devices", Some(remedy)));
    }
    if let Some(header) = earlier(&journal_path(problem, journal), journal.resume)? {
        return Ok(Settled {
            problem: Cow::Owned(Problem::clone(problem).as_recorded(&header.parameters)),
            note: None,
        });
    }
    let device = device_for(problem, machine)?;
    let objective =
        search.objective.as_ref().or(problem.spec().tuning().objective.as_ref()).cloned().unwrap_or_default();
    match &device {
        Device::Kernels(target) => {
            Ok(settle(problem, target, machine, &objective, &device.limits(machine), &session.interrupt)?)
        }
        _ if problem.awaits_device() => {
            let remedy = "write the clocks of the recording, as in `clock_mhz = [1005, 1410]`".to_string();
            Err(Error::request("[device_settings] asks the device for its clocks, but there is none", Some(remedy)))
        }
        _ => Ok(as_it_is),
    }
}
