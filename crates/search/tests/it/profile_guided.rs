//! Counter-guided search on a made-up kernel whose counters explain its times.

use tunesmith_core::counters::Hardware;
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{
    Completion, Depth, Error, Evaluator, Failure, FailureKind, History, Interrupt, Measurement, Recording, Request,
    Stop, Tuner,
};
use tunesmith_model::counters::{CounterModel, Method};
use tunesmith_search::profile_guided::{Guide, GuideError, counter_data};
use tunesmith_search::{Knowledge, StrategySpec};
use tunesmith_space::{Parameter, Space, Value};

const SHAPES: [&str; 3] = ["paper", "authors", "ours"];

/// Returns the result of the kernel. Larger tiles read less and compute less; `X` has no effect on
/// counters; `TILE` 64 fails.
fn kernel(tile: i64, unroll: i64, x: i64) -> (Option<Failure>, Measurement) {
    let (reads, floats) = (1e9 / tile as f64, 1e8 * (1.0 + 2.0 / unroll as f64));
    let time = reads / 1e8 + floats / 1e8 + 0.001 * x as f64;
    let counters = [
        ("dram_utilization", (10.0 * reads / 1e8 / time).min(10.0)),
        ("dram_read_transactions", reads),
        ("dram_write_transactions", 1e5),
        ("inst_fp_32", floats),
        ("inst_integer", 1e7),
        ("inst_executed", floats / 32.0 * 1.2),
        ("issue_slot_utilization", (100.0 * floats / 1e8 / time).min(100.0)),
        ("sm_efficiency", 99.0),
    ];
    let measurement = Measurement {
        times_ms: vec![time],
        counters: counters.map(|(name, value)| (name.to_string(), value)).into(),
        ..Measurement::default()
    };
    if tile == 64 {
        return (Some(Failure::new(FailureKind::Runtime, "too many registers")), Measurement::default());
    }
    (None, measurement)
}

fn space() -> Space {
    let list = |name: &str, values: &[i64]| Parameter::new(name, values.iter().map(|v| Value::Int(*v))).unwrap();
    let builder = Space::builder().parameter(list("TILE", &[1, 2, 4, 8, 16, 32, 64]));
    let builder = builder.parameter(list("UNROLL", &[1, 2, 4, 8])).parameter(list("X", &[0, 1, 2, 3, 4, 5, 6, 7]));
    builder.build().unwrap()
}

fn recording(space: &Space) -> Recording {
    let names = space.parameters().iter().map(|parameter| Column::of_rows(parameter.name())).collect();
    let row = |id| {
        let values: Vec<Value> = space.values(&space.unrank(id)).map(|(_, value)| value.clone()).collect();
        let int = |at: usize| values[at].as_int().unwrap();
        let (failure, measurement) = kernel(int(0), int(1), int(2));
        Row { values, failure, measurement, ..Row::default() }
    };
    Recording::new("made up", names, space.iter().map(row).collect()).unwrap()
}

fn model(recording: &Recording, method: Method) -> CounterModel {
    let (data, provenance) = counter_data(recording).unwrap();
    CounterModel::train(&data, method, provenance, 1).unwrap()
}

/// Answers with the kernel's numbers, and with counters only if they are requested.
struct Device<'a> {
    space: &'a Space,
    submitted: Vec<Request>,
    scale: f64,
    counters: bool,
}

impl Evaluator for Device<'_> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.submitted.insert(0, request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.submitted.pop() else { return Ok(None) };
        let configuration = self.space.unrank(request.config);
        let ints: Vec<i64> = self.space.values(&configuration).filter_map(|(_, value)| value.as_int()).collect();
        let (failure, mut measurement) = kernel(ints[0], ints[1], ints[2]);
        measurement.times_ms.iter_mut().for_each(|time| *time *= self.scale);
        if request.depth == Depth::Timed || !self.counters {
            measurement.counters.clear();
        }
        Ok(Some(Completion { failure, measurement, ..Completion::default() }))
    }
}

struct Search<'a> {
    strategy: String,
    guide: Option<&'a Guide>,
    seed: u64,
    scale: f64,
    counters: bool,
    budget: u64,
}

impl Search<'_> {
    fn run(&self, space: &Space) -> History {
        let knowledge = Knowledge { guide: self.guide.cloned(), ..Knowledge::default() };
        let mut searcher = self.strategy.parse::<StrategySpec>().unwrap().build(&knowledge).unwrap();
        let mut device = Device { space, submitted: Vec::new(), scale: self.scale, counters: self.counters };
        let stop = Stop::evaluations(self.budget);
        Tuner::new(space, searcher.as_mut(), &mut device).stop(stop).seed(self.seed).run().unwrap().history
    }
}

fn search<'a>(variant: &str, guide: Option<&'a Guide>, seed: u64) -> Search<'a> {
    let strategy = format!("profile_guided(variant={variant})");
    Search { strategy, guide, seed, scale: 1.0, counters: true, budget: 40 }
}

fn requests(history: &History) -> Vec<Request> {
    history.iter().map(|scored| scored.evaluation.request).collect()
}

/// Returns the number of evaluations until one is within 1.1 of the optimum, as the mean of 40
/// searches.
fn first_hit(space: &Space, guide: &Guide, variant: &str) -> f64 {
    let optimum = recording(space).optimum_ms().unwrap();
    let hit = |seed| {
        let history = search(variant, Some(guide), seed).run(space);
        let is_near = |scored: &tunesmith_core::Scored| scored.score.is_some_and(|score| score <= 1.1 * optimum);
        history.iter().position(is_near).map_or(40, |at| at + 1) as f64
    };
    (0..40).map(hit).sum::<f64>() / 40.0
}

#[test]
fn every_variant_needs_fewer_evaluations_than_random_search() {
    let space = space();
    let recording = recording(&space);
    let optimum = recording.optimum_ms().unwrap();
    let near = recording.rows().iter().filter(|row| row.time_ms().is_some_and(|ms| ms <= 1.1 * optimum)).count();
    let random = (recording.rows().len() + 1) as f64 / (near + 1) as f64;
    for method in [Method::Exact, Method::Tree, Method::Trees { share: 0.5 }] {
        let guide = Guide::new(&model(&recording, method), &Hardware::default(), &space).unwrap();
        for variant in SHAPES {
            let hit = first_hit(&space, &guide, variant);
            assert!(hit < 0.6 * random, "{variant} {method:?}: {hit}, random {random}");
        }
    }
}

#[test]
fn only_the_published_form_runs_a_configuration_again_to_profile_it() {
    let space = space();
    let guide = Guide::new(&model(&recording(&space), Method::Exact), &Hardware::default(), &space).unwrap();
    for variant in SHAPES {
        let asked = requests(&search(variant, Some(&guide), 4).run(&space));
        let configs: std::collections::HashSet<_> = asked.iter().map(|request| request.config).collect();
        assert_eq!(configs.len() < asked.len(), variant == "paper", "{variant}");
        let timed = asked.iter().filter(|request| request.depth == Depth::Timed).count();
        // `ours` profiles the configurations that may become the fastest.
        assert_eq!(timed > 0, variant != "authors", "{variant}");
        assert!(variant != "ours" || asked[0].depth == Depth::Profiled && timed >= asked.len() / 4, "{timed}");
    }
}

#[test]
fn the_unit_of_time_changes_nothing_and_the_same_seed_asks_the_same() {
    let space = space();
    let guide = Guide::new(&model(&recording(&space), Method::Exact), &Hardware::default(), &space).unwrap();
    for variant in SHAPES {
        let asked = |scale| requests(&Search { scale, ..search(variant, Some(&guide), 7) }.run(&space));
        assert_eq!(asked(1.0), asked(1024.0), "{variant}");
        assert_eq!(asked(1.0), asked(1.0), "{variant}");
    }
}

#[test]
fn searches_go_on_without_counters_or_without_a_model_until_all_is_known() {
    let space = space();
    let guide = Guide::new(&model(&recording(&space), Method::Exact), &Hardware::default(), &space).unwrap();
    for variant in SHAPES {
        for guide in [Some(&guide), None] {
            let all = Search { counters: false, budget: 1000, ..search(variant, guide, 1) }.run(&space);
            let configs: std::collections::HashSet<_> = requests(&all).iter().map(|request| request.config).collect();
            assert_eq!(configs.len(), 224, "{variant} {}", guide.is_some());
            let profiled = requests(&all).iter().filter(|request| request.depth == Depth::Profiled).count();
            assert!(variant != "ours" || profiled <= 2, "a device that does not count is not asked to: {profiled}");
        }
    }
}

#[test]
fn a_model_must_fit_the_problem() {
    let space = space();
    let exact = model(&recording(&space), Method::Exact);
    let list = |name: &str| Parameter::new(name, [1, 2].map(Value::Int)).unwrap();
    let lacking = Space::builder().parameter(list("TILE")).build().unwrap();
    let error = Guide::new(&exact, &Hardware::default(), &lacking).unwrap_err();
    assert_eq!(error, GuideError::Parameters { missing: "UNROLL, X".into() });
    let names = ["TILE", "UNROLL", "X", "NEW"];
    let larger = names.into_iter().fold(Space::builder(), |b, name| b.parameter(list(name))).build().unwrap();
    let guide = Guide::new(&exact, &Hardware::default(), &larger).unwrap();
    assert_eq!(
        guide.notes(),
        ["the counter model does not know parameter `NEW`, so that the parameter has no influence"]
    );
    let mut foreign = exact;
    foreign.provenance.counter_set = "abacus".into();
    let error = Guide::new(&foreign, &Hardware::default(), &space).unwrap_err().to_string();
    assert!(error.starts_with("there is no table for the counters of the model, `abacus`"), "{error}");
}
