//! Promises of every strategy of the catalogue, on functions that need no device.

use std::collections::HashSet;
use std::sync::Arc;
use tunesmith_core::testing::{FunctionEvaluator, OutOfOrder};
use tunesmith_core::{
    AskTell, Evaluation, Evaluator, Failure, FailureKind, Request, Rng, Run, Searcher, Stop, StopReason, Told, Tuner,
    View,
};
use tunesmith_search::{build, catalogue};
use tunesmith_space::{ConfigId, Constraint, Parameter, Space, Value};

/// Returns a space of three parameters with a constraint on two of them: 328 of 512 configurations
/// are valid.
fn tiles() -> Space {
    let list = |name: &str| Parameter::new(name, (1..=8).map(Value::Int)).unwrap();
    let divides = Constraint::parse("B % A == 0 or A > 5").unwrap();
    let builder = ["A", "B", "C"].into_iter().fold(Space::builder(), |builder, name| builder.parameter(list(name)));
    builder.constraint(divides).build().unwrap()
}

fn cube(parameters: usize, values: i64) -> Space {
    let parameter = |i| Parameter::new(format!("P{i}"), (0..values).map(Value::Int)).unwrap();
    (0..parameters).fold(Space::builder(), |builder, i| builder.parameter(parameter(i))).build().unwrap()
}

/// Returns a bowl with its bottom at 3 in every parameter. Odd sums of 13 or more crash.
fn bowl(values: &[Value]) -> Result<f64, Failure> {
    let ints: Vec<i64> = values.iter().filter_map(Value::as_int).collect();
    let sum: i64 = ints.iter().sum();
    if sum % 2 == 1 && sum >= 13 {
        return Err(Failure::new(FailureKind::Runtime, "killed by SIGSEGV"));
    }
    Ok(1.0 + ints.iter().map(|x| ((x - 3) * (x - 3)) as f64).sum::<f64>())
}

struct Setup<'a> {
    strategy: &'a str,
    budget: u64,
    room: usize,
    seed: u64,
    scale: f64,
    /// The order in which answers are delivered. `None` is the order of the requests.
    order: Option<u64>,
    recorded: Vec<Evaluation>,
}

impl<'a> Setup<'a> {
    fn new(strategy: &'a str) -> Self {
        Self { strategy, budget: 60, room: 1, seed: 11, scale: 1.0, order: None, recorded: Vec::new() }
    }

    fn run(&self, space: &Space, function: impl Fn(&[Value]) -> Result<f64, Failure>) -> Run {
        let mut searcher = build(self.strategy).unwrap();
        let scale = self.scale;
        let evaluator = FunctionEvaluator::new(space, |values| function(values).map(|time| time * scale));
        let mut evaluator: Box<dyn Evaluator> = match self.order {
            Some(order) => Box::new(OutOfOrder::new(evaluator, order)),
            None => Box::new(evaluator),
        };
        Tuner::new(space, searcher.as_mut(), evaluator.as_mut())
            .keep_going(true)
            .stop(Stop::evaluations(self.budget))
            .room(self.room)
            .seed(self.seed)
            .recorded(self.recorded.clone())
            .run()
            .unwrap()
    }
}

fn requests(run: &Run) -> Vec<Request> {
    run.history.iter().map(|scored| scored.evaluation.request).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    catalogue().iter().map(|strategy| strategy.name)
}

#[test]
fn the_same_seed_gives_the_same_requests_and_another_seed_others_except_from_a_list() {
    for strategy in catalogue() {
        let name = strategy.name;
        let setup = Setup::new(name);
        let run = requests(&setup.run(&tiles(), bowl));
        assert_eq!(run, requests(&setup.run(&tiles(), bowl)), "{name}");
        let other = requests(&Setup { seed: 12, ..Setup::new(name) }.run(&tiles(), bowl));
        assert_eq!(run == other, strategy.ends_by_itself(), "{name}");
    }
}

#[test]
fn scaling_all_times_by_1024_changes_nothing() {
    for name in names() {
        let run = Setup::new(name).run(&tiles(), bowl);
        let scaled = Setup { scale: 1024.0, ..Setup::new(name) }.run(&tiles(), bowl);
        assert_eq!(requests(&run), requests(&scaled), "{name}");
    }
}

#[test]
fn every_request_is_new_with_any_room() {
    for name in names() {
        for room in [1, 4] {
            let run = Setup { room, ..Setup::new(name) }.run(&tiles(), bowl);
            assert_eq!(run.history.len(), 60, "{name}");
            let distinct: HashSet<Request> = requests(&run).into_iter().collect();
            assert_eq!(distinct.len(), 60, "{name}");
        }
    }
}

#[test]
fn answers_in_any_order_give_new_requests_by_seed_and_order_alone() {
    for name in names() {
        for room in [2, 4, 8] {
            let setup = Setup { room, order: Some(5), ..Setup::new(name) };
            let run = requests(&setup.run(&tiles(), bowl));
            assert_eq!(run.iter().collect::<HashSet<_>>().len(), 60, "{name} with room {room}");
            assert_eq!(run, requests(&setup.run(&tiles(), bowl)), "{name} with room {room}");
        }
    }
}

/// Notes the most requests of a strategy that were in flight.
struct Counting {
    strategy: Box<dyn Searcher>,
    most: usize,
}

impl Searcher for Counting {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let requests = self.strategy.ask(view, room, rng);
        self.most = self.most.max(view.known() - view.history().len() + requests.len());
        requests
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.strategy.tell(view, told);
    }
}

#[test]
fn strategies_have_as_many_requests_in_flight_as_they_say_they_use_well() {
    for strategy in catalogue().iter().filter(|strategy| strategy.in_flight() > 1) {
        let mut counting = Counting { strategy: build(strategy.name).unwrap(), most: 0 };
        let space = tiles();
        let mut evaluator = OutOfOrder::new(FunctionEvaluator::new(&space, bowl), 5);
        let tuner = Tuner::new(&space, &mut counting, &mut evaluator).stop(Stop::evaluations(60));
        tuner.room(8).keep_going(true).run().unwrap();
        assert!(counting.most >= strategy.in_flight().min(8), "{}: {}", strategy.name, counting.most);
    }
}

#[test]
fn a_run_whose_answers_came_in_any_order_is_resumed_in_that_order() {
    for name in names() {
        let setup = Setup { room: 4, order: Some(5), ..Setup::new(name) };
        let whole = setup.run(&tiles(), bowl);
        let recorded: Vec<Evaluation> = whole.history.iter().map(|scored| (*scored.evaluation).clone()).collect();
        let resumed = Setup { recorded: recorded[..30].to_vec(), ..setup }.run(&tiles(), bowl);
        assert_eq!(requests(&resumed)[..30], requests(&whole)[..30], "{name}");
        assert_eq!(requests(&resumed).iter().collect::<HashSet<_>>().len(), 60, "{name}");
    }
}

#[test]
fn small_spaces_are_covered_and_the_run_ends() {
    for name in names() {
        for (size, space) in [(1, cube(1, 1)), (2, cube(1, 2)), (5, cube(1, 5)), (328, tiles())] {
            let run = Setup { budget: 1000, ..Setup::new(name) }.run(&space, bowl);
            assert_eq!(run.history.len(), size, "{name} on {size}");
            assert_eq!(run.stop_reason, StopReason::Exhausted, "{name} on {size}");
        }
    }
}

#[test]
fn a_budget_of_one_and_spaces_of_ten_to_the_eighteenth_are_fine() {
    let huge = cube(18, 10);
    for name in names() {
        assert_eq!(Setup { budget: 1, ..Setup::new(name) }.run(&huge, bowl).history.len(), 1, "{name}");
        assert_eq!(Setup::new(name).run(&huge, bowl).history.len(), 60, "{name}");
    }
}

#[test]
fn a_space_where_everything_fails_is_searched_to_the_end() {
    for name in names() {
        let fails = |_: &[Value]| Err(Failure::new(FailureKind::Compile, "error: expected `;`"));
        let run = Setup::new(name).run(&tiles(), fails);
        assert_eq!((run.history.len(), run.history.best().is_some()), (60, false), "{name}");
    }
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    for name in names() {
        for room in [1, 4] {
            let whole = Setup { room, ..Setup::new(name) }.run(&tiles(), bowl);
            let recorded = whole.history.iter().take(25).map(|scored| (*scored.evaluation).clone()).collect();
            let resumed = Setup { room, recorded, ..Setup::new(name) }.run(&tiles(), bowl);
            assert_eq!(requests(&whole), requests(&resumed), "{name} with room {room}");
        }
    }
}

#[test]
fn annealing_beats_random_search_on_a_bowl() {
    let space = cube(6, 10);
    let mean_of_best = |strategy: &str| {
        let best = |seed| Setup { seed, budget: 100, ..Setup::new(strategy) }.run(&space, |values| bowl(&values[..6]));
        (0..20).map(|seed| best(seed).history.best_score().unwrap()).sum::<f64>() / 20.0
    };
    let (annealing, random) = (mean_of_best("annealing"), mean_of_best("random"));
    assert!(annealing < 0.5 * random, "annealing {annealing}, random {random}");
}

#[test]
fn annealing_as_in_cltunes_program_covers_a_small_space_and_beats_random_search() {
    let space = cube(6, 10);
    let mean_of_best = |strategy: &str| {
        let best = |seed| Setup { seed, budget: 200, ..Setup::new(strategy) }.run(&space, bowl).history.best_score();
        (0..20).map(|seed| best(seed).unwrap()).sum::<f64>() / 20.0
    };
    let program = "annealing(temperature=4, scale=absolute, changes=3, explore=0)";
    let (annealing, random) = (mean_of_best(program), mean_of_best("random"));
    assert!(annealing < 0.7 * random, "annealing {annealing}, random {random}");
    for room in [1, 4] {
        let run = Setup { budget: 1000, room, ..Setup::new(program) }.run(&tiles(), bowl);
        assert_eq!(run.stop_reason, StopReason::Exhausted);
        assert_eq!(run.history.len() as u128, tiles().len().unwrap());
    }
}

#[test]
fn an_absolute_temperature_is_a_difference_of_scores() {
    let requests_of = |text: &str, scale: f64| requests(&Setup { scale, ..Setup::new(text) }.run(&cube(6, 10), bowl));
    let relative = "annealing(temperature=0.5, explore=0)";
    let absolute = "annealing(temperature=0.5, scale=absolute, explore=0)";
    assert_eq!(requests_of(relative, 1.0), requests_of(relative, 1.0 / 1024.0));
    assert_ne!(requests_of(absolute, 1.0), requests_of(absolute, 1.0 / 1024.0));
}

#[test]
fn a_swarm_beats_random_search_on_a_bowl() {
    let space = cube(6, 10);
    let mean_of_best = |strategy: &str| {
        let best = |seed| Setup { seed, budget: 200, ..Setup::new(strategy) }.run(&space, bowl).history.best_score();
        (0..20).map(|seed| best(seed).unwrap()).sum::<f64>() / 20.0
    };
    let random = mean_of_best("random");
    for strategy in ["swarm", "swarm(size=6)", "swarm(alpha=0.2, beta=0.3, gamma=0.3)"] {
        let swarm = mean_of_best(strategy);
        assert!(swarm < 0.7 * random, "{strategy} {swarm}, random {random}");
    }
}

#[test]
fn a_swarm_of_any_kind_covers_a_small_space() {
    for strategy in
        ["swarm(alpha=0, beta=0, gamma=0)", "swarm(alpha=0, gamma=1)", "swarm(size=100)", "swarm(alpha=1, gamma=0)"]
    {
        for room in [1, 4] {
            let run = Setup { budget: 1000, room, ..Setup::new(strategy) }.run(&tiles(), bowl);
            assert_eq!(run.stop_reason, StopReason::Exhausted, "{strategy}");
            assert_eq!(run.history.len() as u128, tiles().len().unwrap(), "{strategy}");
        }
    }
}

#[test]
fn methods_over_coordinates_beat_random_search_on_a_bowl() {
    let space = cube(6, 10);
    let smooth = |values: &[Value]| {
        let squares = values.iter().filter_map(Value::as_int).map(|x| ((x - 3) * (x - 3)) as f64);
        Ok(1.0 + squares.sum::<f64>())
    };
    let mean_of_best = |strategy: &str| {
        let best = |seed| Setup { seed, budget: 100, ..Setup::new(strategy) }.run(&space, smooth).history.best_score();
        (0..20).map(|seed| best(seed).unwrap()).sum::<f64>() / 20.0
    };
    let random = mean_of_best("random");
    for strategy in ["nelder_mead", "torczon", "pattern", "bandit", "round_robin"] {
        let mean = mean_of_best(strategy);
        assert!(mean < 0.5 * random, "{strategy} {mean}, random {random}");
    }
}

#[test]
fn methods_over_coordinates_cover_a_small_space_whatever_their_options() {
    for strategy in [
        "nelder_mead(reflection=3, contraction=0.9, expansion=5, edge=0.01, samples=1)",
        "torczon(expansion=9, contraction=0.99, edge=0.001, samples=1)",
        "pattern(step=0.0001, reduction=0.01, samples=300)",
    ] {
        for room in [1, 4] {
            let run = Setup { budget: 1000, room, ..Setup::new(strategy) }.run(&tiles(), bowl);
            assert_eq!(run.stop_reason, StopReason::Exhausted, "{strategy}");
        }
    }
}

#[test]
fn local_and_evolutionary_strategies_of_any_kind_cover_a_small_space() {
    for strategy in [
        "hill_climbing(improvement=first)",
        "hill_climbing(improvement=best, initial=1)",
        "hill_climbing(patience=0, resample=1)",
        "hill_climbing(patience=1)",
        "iterated_local_search(neighbourhood=adjacent, improvement=best, initial=1)",
        "basin_hopping(temperature=1000, step=0.01)",
        "genetic(size=2, tournament=1, mutation=0)",
        "genetic(size=500)",
        "differential_evolution(size=4, base=random, crossover=0)",
        "tabu(tenure=0, candidates=1)",
        "tabu(tenure=1000, candidates=1000, initial=1)",
    ] {
        for room in [1, 4] {
            let run = Setup { budget: 1000, room, ..Setup::new(strategy) }.run(&tiles(), bowl);
            assert_eq!(run.stop_reason, StopReason::Exhausted, "{strategy}");
        }
    }
}

#[test]
fn techniques_that_repeat_one_another_cover_a_small_space_once() {
    let techniques = "exhaustive+exhaustive+random(replacement=true)+swarm(size=2)+pattern";
    for strategy in ["bandit", "round_robin"] {
        for room in [1, 4] {
            let text = format!("{strategy}(techniques={techniques}+round_robin(techniques=torczon+random))");
            let run = Setup { budget: 1000, room, ..Setup::new(&text) }.run(&tiles(), bowl);
            assert_eq!(run.stop_reason, StopReason::Exhausted, "{strategy}");
            assert_eq!(run.history.len() as u128, tiles().len().unwrap(), "{strategy}");
        }
    }
}

#[test]
fn a_bandit_of_one_technique_asks_what_the_technique_asks() {
    for technique in ["annealing", "pattern", "swarm(size=5)"] {
        let alone = Setup::new(technique).run(&tiles(), bowl);
        for text in [format!("bandit(techniques={technique})"), format!("round_robin(techniques={technique})")] {
            assert_eq!(requests(&Setup::new(&text).run(&tiles(), bowl)), requests(&alone), "{text}");
        }
    }
}

#[test]
fn local_and_evolutionary_strategies_beat_random_search_on_a_bowl() {
    let space = cube(6, 10);
    let mean_of_best = |strategy: &str, room| {
        let best = |seed| Setup { seed, budget: 150, room, ..Setup::new(strategy) }.run(&space, bowl);
        (0..10).map(|seed| best(seed).history.best_score().unwrap()).sum::<f64>() / 10.0
    };
    let random = mean_of_best("random", 1);
    for strategy in
        ["hill_climbing", "iterated_local_search", "basin_hopping", "genetic", "differential_evolution", "tabu"]
    {
        for room in [1, 4] {
            let mean = mean_of_best(strategy, room);
            assert!(mean < 0.7 * random, "{strategy} with room {room} {mean}, random {random}");
        }
    }
}

#[test]
fn drawing_with_replacement_covers_a_space_as_well() {
    let run = Setup { budget: 1000, ..Setup::new("random(replacement=true)") }.run(&cube(1, 5), bowl);
    assert_eq!(run.history.len(), 5);
}

#[test]
fn unknown_names_options_and_values_are_refused_with_what_is_right() {
    let error = |text: &str| build(text).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error("anealing").starts_with("there is no strategy `anealing`; did you mean `annealing`?"));
    assert!(error("foo").contains(&format!("strategies are {}", names().collect::<Vec<_>>().join(", "))));
    let option = error("annealing(temprature=1)");
    assert!(option.starts_with("strategy `annealing` has no option `temprature`; did you mean `temperature`?"));
    assert!(option.contains("temperature=0.05: a positive number"));
    assert!(error("exhaustive(x=1)").ends_with("it has no options"));
    assert!(error("annealing(temperature=-1)").contains("cannot be `-1`: it is a positive number"));
    assert!(error("annealing(changes=0)").contains("cannot be `0`: it is a whole number from 1"));
    assert!(error("annealing(scale=ms)").contains("cannot be `ms`: it is relative or absolute"));
    assert!(error("swarm(alpha=0.7)").contains("option `gamma` of strategy `swarm` cannot be `0.4`: it is at most"));
    assert!(error("swarm(size=0)").contains("a whole number from 1"));
    assert!(error("genetic(size=1)").contains("a whole number from 2"));
    assert!(error("tabu(tenure=1.5)").contains("a whole number from 0"));
    assert!(error("iterated_local_search(neighbourhood=near)").contains("it is hamming or adjacent"));
    assert!(error("basin_hopping(temperature=0)").contains("a positive number"));
    assert!(error("random(replacement=maybe)").contains("true or false"));
    let technique = error("bandit(techniques=annealing+torczn)");
    assert!(technique.starts_with("there is no strategy `torczn`; did you mean `torczon`?"));
    let option = error("round_robin(techniques=bandit(techniques=annealing(temprature=1)+random))");
    assert!(option.starts_with("strategy `annealing` has no option `temprature`"));
    assert!(error("bandit(techniques=)").contains("cannot be ``: it is strategies joined by `+`"));
    assert!(error("bandit(techniques=random+)").contains("cannot be `random+`"));
    assert!(error("annealing(temperature").contains("write NAME or NAME(option=value, ...)"));
    assert!(error("annealing(0.5)").contains("write NAME or NAME(option=value, ...)"));
}

#[test]
fn a_search_that_its_user_drives_asks_what_the_tuner_asks() {
    let space = Arc::new(tiles());
    for name in names() {
        let run = Setup { budget: 328, ..Setup::new(name) }.run(&space, bowl);
        let mut search = AskTell::new(Arc::clone(&space), build(name).unwrap(), 11).with_budget(328);
        while let [config] = search.ask(1)[..] {
            search.tell(config, bowl(&values(&space, config))).unwrap();
        }
        let driven: Vec<Request> = search.history().iter().map(|scored| scored.evaluation.request).collect();
        assert_eq!(driven, requests(&run), "{name}");
        assert_eq!(search.best().map(|(_, cost)| cost), run.history.best_score(), "{name}");
    }
}

#[test]
fn a_search_that_its_user_drives_takes_answers_in_any_order() {
    let space = Arc::new(tiles());
    for name in names() {
        let mut search = AskTell::new(Arc::clone(&space), build(name).unwrap(), 11);
        let (mut waiting, mut asked) = (Vec::new(), HashSet::new());
        while asked.len() < 60 {
            let more = search.ask(4 - waiting.len());
            more.iter().for_each(|config| assert!(asked.insert(*config), "{name}"));
            waiting.extend(more);
            assert_eq!(search.in_flight(), waiting.len(), "{name}");
            let config = waiting.remove(asked.len() * 7 % waiting.len());
            search.tell(config, bowl(&values(&space, config))).unwrap();
        }
    }
}

#[test]
fn a_search_that_its_user_drives_takes_configurations_that_it_did_not_ask_for() {
    let space = Arc::new(tiles());
    for name in names() {
        let mut search = AskTell::new(Arc::clone(&space), build(name).unwrap(), 11);
        for round in 0..60_u128 {
            let unasked = space.id(round * 89 % 328).unwrap();
            let _ = search.tell(unasked, bowl(&values(&space, unasked)));
            for config in search.ask(2) {
                search.tell(config, bowl(&values(&space, config))).unwrap();
            }
        }
        assert!(search.told() > 110, "{name}: {}", search.told());
    }
}

fn values(space: &Space, config: ConfigId) -> Vec<Value> {
    space.values(&space.unrank(config)).map(|(_, value)| value.clone()).collect()
}
