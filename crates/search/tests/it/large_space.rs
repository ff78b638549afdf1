//! Counter-guided search of a space of 10^12 configurations, on a made-up kernel. The scored part
//! must move with the search.

use rand::SeedableRng as _;
use tunesmith_core::counters::Hardware;
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{
    Completion, Depth, Error, Evaluator, History, Interrupt, Measurement, Recording, Request, Rng, Stop, Tuner,
};
use tunesmith_model::counters::{CounterModel, Method};
use tunesmith_search::profile_guided::{Guide, counter_data};
use tunesmith_search::{Knowledge, StrategySpec};
use tunesmith_space::{ConfigId, Parameter, Space, Value};

/// Returns a space of twelve parameters with ten values each.
fn space() -> Space {
    let parameter = |at: i64| Parameter::new(format!("P{at}"), (1..=10).map(Value::Int)).unwrap();
    let space =
        (0..12).map(parameter).fold(Space::builder(), tunesmith_space::SpaceBuilder::parameter).build().unwrap();
    assert_eq!(space.len(), Some(1_000_000_000_000));
    space
}

/// Returns a measurement in which half of the parameters save reads and the other half arithmetic.
fn measurement(values: &[f64]) -> Measurement {
    let waste = |part: &[f64]| part.iter().map(|value| 11.0 - value).sum::<f64>() / part.len() as f64;
    let (reads, floats) = (1e8 * waste(&values[..6]), 1e8 * waste(&values[6..]));
    let time = 0.1 + reads / 1e8 + floats / 1.5e8;
    let counters = [
        ("dram_utilization", 10.0 * reads / 1e8 / time),
        ("dram_read_transactions", reads),
        ("inst_fp_32", floats),
        ("inst_executed", floats / 30.0),
        ("issue_slot_utilization", 100.0 * floats / 1.5e8 / time),
        ("sm_efficiency", 99.0),
    ];
    let counters = counters.map(|(name, value)| (name.to_string(), value)).into();
    Measurement { times_ms: vec![time], counters, ..Measurement::default() }
}

fn values(space: &Space, config: ConfigId) -> Vec<Value> {
    space.values(&space.unrank(config)).map(|(_, value)| value.clone()).collect()
}

fn measured(space: &Space, config: ConfigId) -> Measurement {
    measurement(&values(space, config).iter().filter_map(Value::as_float).collect::<Vec<_>>())
}

struct Device<'a>(&'a Space, Option<Request>);

impl Evaluator for Device<'_> {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.1 = Some(request);
        Ok(())
    }

    fn next(&mut self, _: &Interrupt) -> Result<Option<Completion>, Error> {
        let Some(request) = self.1.take() else { return Ok(None) };
        let mut measurement = measured(self.0, request.config);
        if request.depth == Depth::Timed {
            measurement.counters.clear();
        }
        Ok(Some(Completion { measurement, ..Completion::default() }))
    }
}

/// Returns a guide by least squares over 400 profiled configurations drawn at random. Least squares
/// can predict beyond the best of these, trees cannot.
fn guide(space: &Space) -> Guide {
    let columns = space.parameters().iter().map(|parameter| Column::of_rows(parameter.name())).collect();
    let row = |config| Row { values: values(space, config), measurement: measured(space, config), ..Row::default() };
    let drawn = space.sample_distinct(400, &mut Rng::seed_from_u64(9));
    let recording = Recording::new("made up", columns, drawn.into_iter().map(row).collect()).unwrap();
    let (data, provenance) = counter_data(&recording).unwrap();
    let model = CounterModel::train(&data, Method::LeastSquares, provenance, 1).unwrap();
    Guide::new(&model, &Hardware::default(), space).unwrap()
}

fn search(space: &Space, guide: &Guide, seed: u64) -> History {
    let knowledge = Knowledge { guide: Some(guide.clone()), ..Knowledge::default() };
    let mut searcher = "profile_guided".parse::<StrategySpec>().unwrap().build(&knowledge).unwrap();
    let stop = Stop::evaluations(30);
    Tuner::new(space, searcher.as_mut(), &mut Device(space, None)).stop(stop).seed(seed).run().unwrap().history
}

#[test]
fn a_search_leaves_the_sample_that_it_began_with() {
    let space = space();
    let guide = guide(&space);
    assert!(guide.notes()[0].starts_with("the space is too large to score whole: 20000 random"), "{:?}", guide.notes());
    let time = |config| measured(&space, config).times_ms[0];
    let sampled = space.sample_distinct(20_000, &mut Rng::seed_from_u64(0));
    let least = sampled.into_iter().map(time).fold(f64::INFINITY, f64::min);
    for seed in 0..3 {
        let history = search(&space, &guide, seed);
        let found = history.best_score().unwrap();
        assert!(
            found < 0.85 * least,
            "{found}, of the first sample {least}, the best of all {}",
            time(space.id(999_999_999_999).unwrap())
        );
        assert!(history.iter().any(|scored| scored.evaluation.request.depth == Depth::Profiled));
        let asked = |history: &History| history.iter().map(|scored| scored.evaluation.request).collect::<Vec<_>>();
        assert!(seed > 0 || asked(&history) == asked(&search(&space, &guide, seed)), "the same seed asks the same");
    }
}
