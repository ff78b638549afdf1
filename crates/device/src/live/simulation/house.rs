//! A laboratory with workers: the real station and the real worker's loop, over simulated
//! processes.

use super::Plant;
use super::bench::Laboratory;
use super::kernel::{program, right};
use super::line::Weather;
use super::truth::{Deed, Truth, space};
use super::workers::{Factory, Workers};
use super::world::World;
use crate::data::{DataSet, Expected};
use crate::live::examination::Examination;
use crate::live::station::{MeasuredJob, Station};
use crate::worker::protocol::{Job, KernelStep, Purpose, Setup};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::host::WorkerCommand;
use tunesmith_backend::{BackendMessage, Program, SessionKind};
use tunesmith_core::{Claim, Clock, Completion, Confirmed, Error, Failure, FailureKind, Interrupt, Spent, statistics};
use tunesmith_kernel::data::{Given, Passed, Places, contents};
use tunesmith_kernel::measure::limits::launch_limit;
use tunesmith_kernel::measure::{Cache, Launches, Policy, Sampling};
use tunesmith_kernel::{Access, Argument, ArgumentKind, Fill, KernelSpec, Memory, ScalarType, Verify};
use tunesmith_power::Setting;
use tunesmith_space::ConfigId;

/// The data of all simulated problems: an input and an output.
pub(super) struct Ground {
    data: DataSet,
    spec: KernelSpec,
    /// The correct output.
    expected: [Arc<Expected>; 1],
    /// The folder of the expected output and of the programs.
    folder: tempfile::TempDir,
}

impl Ground {
    /// Makes the data.
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("the simulation can make a folder");
        let argument = |name: &str, access: Access| {
            let (shape, memory) = (vec![16].into(), Memory::Global);
            let kind = ArgumentKind::Buffer { shape, fill: Fill::Random, access, memory };
            Argument::new(name, ScalarType::I32.into(), kind)
        };
        let input = argument("input", Access::In);
        let given = Given { sizes: &[], seed: 1 };
        let input_bytes = contents(&input, given).expect("the simulation can make data");
        let expected = folder.path().join("expected");
        std::fs::write(&expected, right(&input_bytes)).expect("the simulation can write data");
        let spec = KernelSpec {
            problem: "simulation".to_owned(),
            kernels: Vec::new(),
            sizes: Vec::new(),
            arguments: vec![input, argument("output", Access::Out)],
            verify: Verify { expected: vec![("output".to_owned(), expected.into())], ..Verify::default() },
            seed: 1,
        };
        let mut data = DataSet::place(&spec, &Places::new(None)).expect("the simulation can make a folder");
        data.add(&spec, spec.seed).expect("the simulation can prepare data");
        let mut expected =
            Expected::outline(&spec, &[Passed::Buffer, Passed::Buffer], |position| spec.compares(position))
                .expect("the simulation compares all of its output");
        expected.take_stated(&spec).expect("the simulation can read data");
        // The tuner looks whether a program is there when its worker says that it is not.
        for config in (0..).map_while(|rank| space().id(rank)) {
            std::fs::write(program(folder.path(), config).path(), "").expect("the simulation can write programs");
        }
        Self { data, spec, expected: [Arc::new(expected)], folder }
    }
}

/// A laboratory with one worker at a time.
pub(super) struct House {
    world: Arc<World>,
    truth: Truth,
    station: Station,
    expected: [Arc<Expected>; 1],
    /// The folder of the programs.
    folder: PathBuf,
    jobs: u64,
    best: Option<Duration>,
}

impl House {
    /// Opens a house. Each configuration has a process of its own if `forks`.
    pub(super) fn new(
        world: &Arc<World>,
        truth: &Truth,
        ground: &Ground,
        forks: bool,
        weather: Weather,
        plant: Option<Plant>,
    ) -> Self {
        let workers = Workers::new(world, truth, weather, plant);
        let device = BackendMessage::new("simulated", &());
        let session = if forks { SessionKind::forking(device) } else { SessionKind::of_driver(device) };
        let station = Station {
            device: "a device".to_owned(),
            processes: Arc::new(Factory(workers)),
            command: WorkerCommand::current(),
            setup: Setup {
                session,
                arguments: ground.data.layout(&ground.spec, &[0], |position| ground.spec.compares(position)),
                results: None,
                energy: None,
            },
            bytes: ground.data.bytes(&ground.spec),
            policy: Policy::default(),
            clock: Arc::clone(world) as Arc<dyn Clock>,
            worker: None,
            had_worker: false,
            usual_changes: Arc::default(),
            folder: ground.data.folder().to_owned(),
            results: None,
            suspension: None,
        };
        let (world, expected, folder) = (Arc::clone(world), ground.expected.clone(), ground.folder.path().to_owned());
        Self { world, truth: truth.clone(), station, expected, folder, jobs: 0, best: None }
    }

    fn run(&mut self, job: &Job, interrupt: &Interrupt) -> Result<Option<MeasuredJob>, Error> {
        let limit = launch_limit(&self.station.policy.limits, None, self.best);
        Ok(self.station.run(job, &mut Examination::Compare(&self.expected), &limit, interrupt)?)
    }
}

impl Laboratory for House {
    fn measure(
        &mut self,
        config: ConfigId,
        samples: usize,
        bar_ms: Option<f64>,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        self.world.pass(Duration::from_millis(20));
        if self.truth.deed(config) == Deed::DoesNotCompile {
            let failure = Some(Failure::new(FailureKind::Compile, "it does not compile"));
            return Ok(Some(Completion { failure, ..Completion::default() }));
        }
        let sampling = Sampling { min_samples: samples, max_samples: samples, bar_ms, ..Sampling::default() };
        self.jobs += 1;
        let (launches, setting) = (Launches::default(), Setting::default());
        let (cache, seed) = (Cache::Warm, self.jobs);
        let purpose = Purpose::Measure { sampling, cache, launches, profile: false, seed, setting };
        let Some(measured) = self.run(&job(program(&self.folder, config), purpose), interrupt)? else {
            return Ok(None);
        };
        let MeasuredJob { failure, measurement, load, run, verify, .. } = measured;
        if let (None, Some(median)) = (&failure, statistics::median(&measurement.times_ms)) {
            let median = Duration::from_secs_f64(median / 1e3);
            self.best = Some(self.best.map_or(median, |best| best.min(median)));
        }
        let spent = Spent { compile: load, run, verify };
        Ok(Some(Completion { request: None, failure, measurement, spent, unprofiled: None }))
    }

    fn confirm(&mut self, config: ConfigId, _: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        let wrong = || Failure::new(FailureKind::Correctness, "it is wrong on other data");
        let failure = (!self.truth.deed(config).is_right()).then(wrong);
        Ok((!interrupt.is_raised()).then(|| Confirmed { failure, launches: 4, ..Confirmed::default() }))
    }
}

fn job(program: Program, purpose: Purpose) -> Job {
    let step = KernelStep { name: "kernel".to_owned(), program, arguments: vec![0, 1], grid: None, launches: 1 };
    Job { steps: vec![step], passed: vec![Passed::Buffer, Passed::Buffer], purpose }
}
