//! The excuses of a job: its report says that the machine or the device is to blame, and not the
//! kernel.
//!
//! The report comes from the process in which the user's code runs. A kernel can lead its own file
//! of results to a full device, or forbid its process to write. So the tuner believes an excuse only
//! if it finds the fault itself, and otherwise runs the job once more, in a fresh worker.

use crate::data::layout::Layout;
use crate::worker::protocol::{Ending, Job, JobReport};
use std::io;
use std::path::Path;
use tunesmith_backend::energy::Trouble;
use tunesmith_backend::host::faults;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::data::Passed;

/// The number of times that a job is run while its device fails. A device that fails twice in
/// succession ends the run, which a later one continues.
const TRIES: usize = 2;

/// The place in which a job's worker does what its report complains of.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The name of the device.
    pub(super) device: &'a str,
    /// The problem's arguments.
    pub(super) arguments: &'a [Layout],
    /// The folder of the file for results.
    pub(super) folder: &'a Path,
}

/// The excuses of one job, over all its runs.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    troubles: Vec<Trouble>,
    /// True if a report blamed the machine, and the tuner found nothing wrong with it.
    is_doubtful: bool,
}

impl Excuses {
    /// Examines the report of a run. Returns it if it tells what the configuration did. Returns
    /// `None` if the job is worth another run, in a fresh worker.
    ///
    /// # Errors
    /// The machine or the device is to blame.
    pub(super) fn examine(
        &mut self,
        report: JobReport,
        job: &Job,
        place: Place<'_>,
    ) -> Result<Option<JobReport>, DeviceError> {
        match report.ending {
            Ending::Troubled(trouble) => {
                self.note(trouble, report.troubles, place.device)?;
                Ok(None)
            }
            Ending::Unfit(problem) => {
                attempt(job, place).map_err(|error| DeviceError::Machine {
                    problem: format!("{problem}; the tuner fails too: {error}"),
                })?;
                if !std::mem::replace(&mut self.is_doubtful, true) {
                    return Ok(None);
                }
                let message = format!(
                    "{problem}, also in a fresh process; the tuner finds no fault of the machine, so the kernel is to \
                     blame"
                );
                Ok(Some(JobReport { ending: Ending::Broken(message), ..report }))
            }
            _ => Ok(Some(report)),
        }
    }

    /// Returns the troubles that the job met.
    pub(super) fn into_troubles(self) -> Vec<Trouble> {
        self.troubles
    }

    /// Keeps the trouble that a run met, for another one.
    ///
    /// # Errors
    /// It was the last one.
    fn note(&mut self, trouble: Trouble, others: Vec<Trouble>, device: &str) -> Result<(), DeviceError> {
        let fails = |trouble: &&Trouble| matches!(trouble, Trouble::Memory | Trouble::Lost(_));
        if 1 + self.troubles.iter().filter(fails).count() >= TRIES {
            return Err(DeviceError::Lost { problem: trouble.line(device) });
        }
        self.troubles.extend(others);
        self.troubles.push(trouble);
        Ok(())
    }
}

/// Does what a worker needs of the machine: opens the programs, and writes as much as the outputs
/// take.
fn attempt(job: &Job, place: Place<'_>) -> io::Result<()> {
    for step in &job.steps {
        let path = step.program.path();
        tunesmith_files::open(path).map_err(|error| io::Error::other(format!("`{}`: {error}", path.display())))?;
    }
    faults::attempt_to_write(place.folder, handed_over(place.arguments, &job.passed))
}

/// Returns the number of bytes that the outputs of a job take.
fn handed_over(arguments: &[Layout], passed: &[Passed]) -> usize {
    let of = |(argument, passed): (&Layout, &Passed)| {
        let Layout::Buffer(layout) = argument else { return 0 };
        let shape = match passed {
            Passed::Sized(shape) => Some(shape),
            _ => layout.shape.as_ref(),
        };
        shape.map_or(0, |shape| layout.handed_over(shape))
    };
    arguments.iter().zip(passed).map(of).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::{KernelStep, Purpose};
    use tunesmith_backend::Program;

    fn job(folder: &Path) -> Job {
        let path = folder.join("k.so");
        std::fs::write(&path, "a library").unwrap();
        let program = Program::new("c", path);
        let step = KernelStep { name: "kernel".to_owned(), program, arguments: Vec::new(), grid: None, launches: 1 };
        Job { steps: vec![step], passed: Vec::new(), purpose: Purpose::Record }
    }

    fn report(ending: Ending) -> JobReport {
        JobReport { ending, ..JobReport::new() }
    }

    fn unfit() -> JobReport {
        report(Ending::Unfit("its outputs cannot be handed over: No space left on device".to_owned()))
    }

    fn place(folder: &Path) -> Place<'_> {
        Place { device: "a device", arguments: &[], folder }
    }

    #[test]
    fn a_machine_without_a_fault_is_not_to_blame_the_second_time() {
        let folder = tempfile::tempdir().unwrap();
        let (job, mut excuses) = (job(folder.path()), Excuses::default());
        assert_eq!(excuses.examine(unfit(), &job, place(folder.path())).unwrap(), None);
        let second = excuses.examine(unfit(), &job, place(folder.path())).unwrap().unwrap();
        let Ending::Broken(message) = second.ending else { panic!("{second:?}") };
        assert!(message.starts_with("its outputs cannot be handed over: No space left on device, also"), "{message}");
    }

    #[test]
    fn a_machine_on_which_the_tuner_fails_too_is_to_blame() {
        let folder = tempfile::tempdir().unwrap();
        let job = job(folder.path());
        let gone = folder.path().join("gone");
        let error = Excuses::default().examine(unfit(), &job, place(&gone)).unwrap_err();
        assert!(
            matches!(&error, DeviceError::Machine { problem } if problem.contains("the tuner fails too")),
            "{error}"
        );
        std::fs::remove_file(job.steps[0].program.path()).unwrap();
        let error = Excuses::default().examine(unfit(), &job, place(folder.path())).unwrap_err();
        assert!(error.to_string().contains("k.so"), "{error}");
    }

    #[test]
    fn a_device_may_fail_once() {
        let folder = tempfile::tempdir().unwrap();
        let (job, mut excuses) = (job(folder.path()), Excuses::default());
        let lost = || report(Ending::Troubled(Trouble::Lost("it fell off the bus".to_owned())));
        assert_eq!(excuses.examine(lost(), &job, place(folder.path())).unwrap(), None);
        let error = excuses.examine(lost(), &job, place(folder.path())).unwrap_err();
        assert!(error.to_string().contains("it fell off the bus"), "{error}");
        assert_eq!(excuses.into_troubles().len(), 1);
    }

    #[test]
    fn a_report_without_an_excuse_is_taken_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for ending in [Ending::Correct, Ending::Judged, Ending::Broken("it fails".to_owned())] {
            let (report, mut excuses) = (report(ending), Excuses::default());
            let taken = excuses.examine(report.clone(), &job(folder.path()), place(folder.path())).unwrap();
            assert_eq!(taken, Some(report));
        }
    }
}
