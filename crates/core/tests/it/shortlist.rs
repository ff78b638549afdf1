//! Shortlists: configurations that are compiled before the strategy chooses among them.

use std::collections::VecDeque;
use tunesmith_core::*;
use tunesmith_space::{ConfigId, Parameter, Space, Value};

/// Compiles without running, and keeps what it was asked.
#[derive(Default)]
struct Device {
    submitted: VecDeque<Request>,
    examined: Vec<Vec<u128>>,
    /// False if it cannot compile without running.
    compiles: bool,
}

fn compile_data(config: ConfigId) -> CompileData {
    let resources = [("registers".to_string(), config.rank() as f64)].into();
    CompileData { resources, ..CompileData::default() }
}

impl Evaluator for Device {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.push_back(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let measurement = Measurement { times_ms: vec![1.0], ..Measurement::default() };
        Ok(self.submitted.pop_front().map(|_| Completion { measurement, ..Completion::default() }))
    }

    fn examine(&mut self, configs: &[ConfigId], _: &Interrupt) -> Result<Vec<Examined>, Error> {
        self.examined.push(configs.iter().map(|config| config.rank()).collect());
        let found = |config: &ConfigId| {
            let failure = (config.rank() == 3).then(|| Failure::new(FailureKind::Compile, "no"));
            Examined { failure, compile: compile_data(*config) }
        };
        Ok(if self.compiles { configs.iter().map(found).collect() } else { Vec::new() })
    }
}

/// Shortlists three configurations at a time, and asks for the one with the most registers.
#[derive(Default)]
struct MostRegisters(Vec<u128>);

impl Searcher for MostRegisters {
    fn ask(&mut self, view: &View<'_>, _: usize, _: &mut Rng) -> Vec<Request> {
        let ids: Vec<ConfigId> = self.0.iter().filter_map(|rank| view.space().id(*rank)).collect();
        let registers = |config: &ConfigId| {
            let examined = view.examined(*config).filter(|examined| !examined.is_settled());
            examined.and_then(|examined| examined.compile.resource("registers")).unwrap_or(-1.0)
        };
        let new = ids.into_iter().filter(|config| !view.is_measured(*config));
        new.max_by(|a, b| registers(a).total_cmp(&registers(b))).map(Request::timed).into_iter().collect()
    }

    fn shortlist(&mut self, view: &View<'_>, _: &mut Rng) -> Vec<ConfigId> {
        let first = view.known() as u128;
        self.0 = (first..first + 3).collect();
        self.0.iter().filter_map(|rank| view.space().id(*rank)).collect()
    }
}

fn asked(device: &mut Device) -> Vec<u128> {
    let parameter = Parameter::new("X", (0..8).map(Value::Int)).unwrap();
    let space = Space::builder().parameter(parameter).build().unwrap();
    let mut searcher = MostRegisters::default();
    let tuner = Tuner::new(&space, &mut searcher, device).stop(Stop::evaluations(3)).judging(Judging::nothing());
    let run = tuner.run().unwrap();
    run.history.iter().map(|scored| scored.evaluation.request.config.rank()).collect()
}

#[test]
fn a_shortlist_is_compiled_before_the_question_and_each_configuration_once() {
    let mut device = Device { compiles: true, ..Device::default() };
    // The third cannot run, so that the second shortlist, of 1 to 3, leaves 1.
    assert_eq!(asked(&mut device), [2, 1, 4]);
    assert_eq!(device.examined, [vec![0, 1, 2], vec![3], vec![4]]);
}

#[test]
fn a_device_that_cannot_compile_alone_leaves_the_choice_to_the_strategy() {
    assert_eq!(asked(&mut Device::default()), [2, 3, 4]);
}
