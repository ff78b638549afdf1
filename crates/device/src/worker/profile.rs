//! Reads counters in the worker. Each pass repeats the launches of a configuration. All backends
//! share this code.

use crate::worker::bench::JobBench;
use crate::worker::protocol::{Ending, Job, Phase, Profile};
use tunesmith_backend::LaunchArgument;
use tunesmith_core::counters::{GLOBAL_SIZE, LOCAL_SIZE, PROFILING_LAUNCHES, PROFILING_MS};

/// Maximum number of passes. Tables of counters need about ten; a profiler that asks for more than
/// this never ends.
pub(crate) const MOST_PASSES: usize = 200;

impl JobBench<'_> {
    /// Reads the counters of a configuration that has been measured. Missing counters are not a
    /// failure of the configuration; the profile gives the reason.
    pub(super) fn profile(&mut self, job: &Job, arguments: &[LaunchArgument]) -> Result<Profile, Ending> {
        let start = self.clock.now();
        let mut profile = Profile::default();
        let launches = match self.count(job, arguments, &mut profile)? {
            Ok(launches) => launches,
            Err(reason) => return Ok(Profile { unprofiled: Some(reason), ..Profile::default() }),
        };
        let took = self.clock.now() - start;
        profile.values = sizes(job);
        profile.values.push((PROFILING_MS.to_owned(), took.as_secs_f64() * 1e3));
        profile.values.push((PROFILING_LAUNCHES.to_owned(), launches as f64));
        Ok(profile)
    }

    /// Runs all passes. Returns their number, or the reason why there are no counters.
    fn count(
        &mut self,
        job: &Job,
        arguments: &[LaunchArgument],
        profile: &mut Profile,
    ) -> Result<Result<usize, String>, Ending> {
        self.tuner.announce(Phase::Profiling);
        let mut profiler = match self.session.profiler() {
            Ok(profiler) => profiler,
            Err(reason) => return Ok(Err(reason)),
        };
        for pass in 1..=MOST_PASSES {
            // Every pass must do the same on the same data. Otherwise its counters do not belong to
            // those of the other passes.
            self.buffers.restore(self.session)?;
            self.tuner.announce(Phase::Profiling);
            if let Err(reason) = profiler.begin() {
                return Ok(Err(reason));
            }
            for (position, step) in job.steps.iter().enumerate() {
                self.session.launch(position, &step.launch(arguments), &mut || {})?;
            }
            match profiler.end() {
                Ok(true) => {}
                Ok(false) => {
                    return Ok(profiler.readings().map(|readings| {
                        profile.counters = readings;
                        pass
                    }));
                }
                Err(reason) => return Ok(Err(reason)),
            }
        }
        Ok(Err(format!("the profiler wants more than {MOST_PASSES} passes")))
    }
}

/// Returns the size of the largest launch and of its work-groups, in work-items. Reports relate
/// counters to these sizes.
fn sizes(job: &Job) -> Vec<(String, f64)> {
    let product = |sizes: &[usize]| sizes.iter().map(|size| *size as f64).product::<f64>();
    let grids = job.steps.iter().filter_map(|step| step.grid.as_ref());
    let Some(grid) = grids.max_by(|a, b| product(&a.global).total_cmp(&product(&b.global))) else { return Vec::new() };
    let local = grid.local.as_deref().map(|local| (LOCAL_SIZE.to_owned(), product(local)));
    [(GLOBAL_SIZE.to_owned(), product(&grid.global))].into_iter().chain(local).collect()
}

/// A device for the tests of this folder. It logs its calls and counts its launches in passes.
#[cfg(test)]
pub(super) mod fake {
    use crate::worker::bench::Tuner;
    use crate::worker::protocol::{KernelStep, Phase};
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::rc::Rc;
    use std::time::Duration;
    use tunesmith_backend::{BufferId, Fault, Launch, Profiler, Program, Session};
    use tunesmith_core::ManualClock;
    use tunesmith_kernel::{Grid, Memory};

    /// The calls, in order.
    pub(in crate::worker) type Log = Rc<RefCell<Vec<String>>>;

    pub(in crate::worker) struct Fake {
        pub(in crate::worker) log: Log,
        pub(in crate::worker) passes: Option<usize>,
        /// The duration of a launch, and the clock that a launch advances.
        pub(in crate::worker) time: Option<(Rc<ManualClock>, Duration)>,
        /// The words that filled local memory, and none if they could not.
        pub(in crate::worker) words: Result<Vec<Option<u32>>, String>,
    }

    /// A tuner that finds everything right.
    pub(in crate::worker) struct AlwaysRight;

    impl Tuner for AlwaysRight {
        fn announce(&mut self, _: Phase) {}

        fn judge(&mut self, _: usize) -> Option<bool> {
            Some(true)
        }
    }

    impl Fake {
        pub(in crate::worker) fn new(log: Log) -> Self {
            Self { log, passes: None, time: None, words: Ok(Vec::new()) }
        }
    }

    struct Counts {
        log: Log,
        left: usize,
    }

    impl Profiler for Counts {
        fn begin(&mut self) -> Result<(), String> {
            self.log.borrow_mut().push("begin".to_owned());
            Ok(())
        }

        fn end(&mut self) -> Result<bool, String> {
            self.log.borrow_mut().push("end".to_owned());
            self.left -= 1;
            Ok(self.left > 0)
        }

        fn readings(&mut self) -> Result<BTreeMap<String, f64>, String> {
            Ok([("launches".to_owned(), 1.0)].into())
        }
    }

    impl Session for Fake {
        fn allocate(&mut self, _: usize, _: Memory) -> Result<BufferId, Fault> {
            Err(Fault::Failed("no memory".to_owned()))
        }

        fn write(&mut self, _: BufferId, _: usize, _: &[u8]) -> Result<(), Fault> {
            Ok(())
        }

        fn read(&mut self, _: BufferId, _: usize, _: &mut [u8]) -> Result<(), Fault> {
            Ok(())
        }

        fn fill_local(&mut self, word: Option<u32>) {
            self.words.iter_mut().for_each(|words| words.push(word));
        }

        fn unfilled(&self) -> Option<&str> {
            self.words.as_ref().err().map(String::as_str)
        }

        fn has_local_memory(&self) -> bool {
            true
        }

        fn load(&mut self, _: &[&Program]) -> Result<(), Fault> {
            Ok(())
        }

        fn launch(&mut self, program: usize, _: &Launch<'_>, _: &mut dyn FnMut()) -> Result<Duration, Fault> {
            self.log.borrow_mut().push(format!("launch {program}"));
            let Some((clock, time)) = &self.time else { return Ok(Duration::ZERO) };
            clock.advance(*time);
            Ok(*time)
        }

        fn profiler(&mut self) -> Result<Box<dyn Profiler>, String> {
            let left = self.passes.ok_or("ask the administrator")?;
            Ok(Box::new(Counts { log: Rc::clone(&self.log), left }))
        }

        fn flush_caches(&mut self) -> Result<(), Fault> {
            Ok(())
        }

        fn unload(&mut self) {}
    }

    pub(in crate::worker) fn step(global: usize) -> KernelStep {
        KernelStep {
            name: "k".to_owned(),
            program: Program::new("c", "k.so".into()),
            arguments: Vec::new(),
            grid: Some(Grid { global: vec![global, 2], local: Some(vec![4, 1]) }),
            launches: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fake::{AlwaysRight, Fake, Log, step};
    use super::*;
    use crate::worker::buffers::Buffers;
    use crate::worker::protocol::Purpose;
    use std::collections::BTreeMap;
    use std::rc::Rc;
    use tunesmith_core::ManualClock;

    fn profiled(passes: Option<usize>) -> (Profile, Vec<String>) {
        let log = Log::default();
        let mut session = Fake { passes, ..Fake::new(Rc::clone(&log)) };
        let mut buffers = Buffers::allocate(&mut session, Vec::new(), None).unwrap();
        let clock = ManualClock::default();
        let mut bench = JobBench {
            session: &mut session,
            buffers: &mut buffers,
            clock: &clock,
            watcher: None,
            tuner: &mut AlwaysRight,
        };
        let job = Job { steps: vec![step(8), step(16)], passed: Vec::new(), purpose: Purpose::Launch };
        let profile = bench.profile(&job, &[]).unwrap();
        let log = log.borrow().clone();
        (profile, log)
    }

    #[test]
    fn every_pass_launches_all_kernels_once() {
        let (profile, log) = profiled(Some(3));
        let pass = ["begin", "launch 0", "launch 1", "end"];
        assert_eq!(log, [pass, pass, pass].concat());
        assert_eq!(profile.counters, [("launches".to_owned(), 1.0)].into());
        let values: BTreeMap<_, _> = profile.values.into_iter().collect();
        assert_eq!((values[GLOBAL_SIZE], values[LOCAL_SIZE], values[PROFILING_LAUNCHES]), (32.0, 4.0, 3.0));
        assert_eq!(profile.unprofiled, None);
    }

    #[test]
    fn a_device_without_counters_says_why_and_launches_nothing() {
        let (profile, log) = profiled(None);
        assert_eq!(profile.unprofiled.as_deref(), Some("ask the administrator"));
        assert!(log.is_empty() && profile.counters.is_empty() && profile.values.is_empty());
    }

    #[test]
    fn a_profiler_that_never_ends_is_given_up() {
        let (profile, log) = profiled(Some(usize::MAX));
        assert!(profile.unprofiled.unwrap().contains("200 passes"));
        assert_eq!(log.len(), 4 * MOST_PASSES);
    }
}
