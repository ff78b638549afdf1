//! Tunes a suite: a resumable table over problems and devices.

use crate::against;
use crate::duel::{Origin, Party, Score, duel};
use crate::library::Library;
use crate::rows::{MadeWith, Rows, SuiteRow, digest};
use crate::verify::with_remedy;
use crate::{Place, Suite, SuiteEntry, is_gpu};
use serde::Serialize;
use std::fmt;
use std::path::PathBuf;
use tunesmith::{
    Candidate, Error, Input, JournalOptions, Outcome, Problem, Search, Session, TuningTask, outcome::Rates, tune,
};
use tunesmith_backend::{DeviceChoice, Target};
use tunesmith_core::{Interrupt, Stop};
use tunesmith_device::{Device, Machine};
use tunesmith_space::{Value, lookup};
use tunesmith_store::Journal;

/// The settings of a table.
#[derive(Clone, Debug, Default)]
pub struct SuiteTune {
    /// The devices. Without any, one of every backend that the machine has.
    pub devices: Vec<DeviceChoice>,
    /// The search of each problem.
    pub search: Search,
    /// The libraries to compare with.
    pub against: Vec<Library>,
    /// True for a row for each input in `[inputs]` of a problem, where it has them.
    pub inputs: bool,
    /// The folder of the journals and of the table.
    pub out: PathBuf,
}

/// The table. Its JSON form is the output of `suite tune --json`.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteTable {
    /// The rows, in the order of problems and devices.
    pub rows: Vec<SuiteRow>,
    /// The problems that could not be tuned.
    pub failed: Vec<SuiteFailure>,
    /// The folder.
    pub out: PathBuf,
}

/// A problem that could not be tuned on a device.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteFailure {
    /// The name of the problem.
    pub name: String,
    /// The device.
    pub device: String,
    /// The sizes, if the table has rows for inputs.
    pub input: Option<String>,
    /// The reason.
    pub error: String,
}

impl fmt::Display for SuiteFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, device, input, error } = self;
        let input = input.as_ref().map(|input| format!(" {input}")).unwrap_or_default();
        write!(f, "{name}{input} on {device}: {error}")
    }
}

/// Tunes the problems of `suite` on each device, one after the other, and times the winner in turns
/// with the naive loop and with libraries. Complete rows are not made again, and a run that was
/// under way continues. Calls `on_row` with each new row, and `on_note` with remarks. Returns `None`
/// if `interrupt` was raised.
///
/// # Errors
/// The request is wrong, or the table cannot be written. What is wrong with one problem is in
/// [`SuiteTable::failed`].
pub fn tune_suite(
    suite: &Suite,
    machine: &Machine,
    options: &SuiteTune,
    interrupt: &Interrupt,
    on_note: &mut dyn FnMut(&str),
    on_row: &mut dyn FnMut(&SuiteRow),
) -> Result<Option<SuiteTable>, Error> {
    let (places, missing) = Place::all(&options.devices, machine)?;
    missing.iter().for_each(|reason| on_note(reason));
    let is_named = |library: &&Library| suite.entries.iter().any(|entry| entry.about.against.contains(library));
    for library in options.against.iter().filter(|library| !is_named(library)) {
        on_note(&format!("nothing is compared with {library}: no chosen problem names it in `against`"));
    }
    let mut rows = Rows::open(&options.out)?;
    let mut table = SuiteTable { rows: Vec::new(), failed: Vec::new(), out: options.out.clone() };
    for entry in &suite.entries {
        for place in places.iter().filter(|place| entry.about.problems.contains_key(place.backend)) {
            let work = Work { suite, entry, place, options, interrupt };
            let items = work.problems().unwrap_or_else(|error| vec![Item { input: None, problem: Err(error) }]);
            for Item { input, problem } in items {
                match problem.and_then(|problem| work.complete(input.as_deref(), &problem, &mut rows, on_row)) {
                    Ok(None) => return Ok(None),
                    Err(error) if error.is_interruption() => return Ok(None),
                    Ok(Some(row)) => table.rows.push(row),
                    Err(error) => {
                        let failure = work.failure(input, &error);
                        on_note(&failure.to_string());
                        table.failed.push(failure);
                    }
                }
            }
        }
    }
    Ok(Some(table))
}

/// A problem that becomes a row.
struct Item {
    /// The sizes, if this is one of a problem's inputs.
    input: Option<String>,
    problem: Result<Problem, Error>,
}

/// A problem to tune on a device.
struct Work<'a> {
    suite: &'a Suite,
    entry: &'a SuiteEntry,
    place: &'a Place,
    options: &'a SuiteTune,
    interrupt: &'a Interrupt,
}

impl Work<'_> {
    fn made_with(&self) -> MadeWith {
        let Search { strategy, stop, seed, .. } = &self.options.search;
        MadeWith {
            files: digest(&self.suite.folder, self.entry),
            strategy: strategy.as_ref().map(ToString::to_string),
            stop: stop.as_ref().map(Stop::to_string),
            seed: *seed,
            against: self.options.against.iter().map(Library::to_string).collect(),
        }
    }

    /// Returns the problem, or with [`SuiteTune::inputs`] one for each of its inputs, named by its sizes.
    fn problems(&self) -> Result<Vec<Item>, Error> {
        let device = self.place.device()?;
        let Some(file) = self.entry.file(self.place.backend) else { return Ok(Vec::new()) };
        let problem = self.entry.load(&file, is_gpu(&device))?;
        if !self.options.inputs || problem.spec().inputs().is_none() {
            return Ok(vec![Item { input: None, problem: Ok(problem) }]);
        }
        let all = problem.input_sizes()?;
        let of = |sizes| Item { input: Some(named(sizes)), problem: problem.with_sizes(sizes).map_err(Error::from) };
        Ok(all.iter().map(of).collect())
    }

    /// Returns the complete row of a problem, or makes it. Returns `None` if interrupted.
    fn complete(
        &self,
        input: Option<&str>,
        problem: &Problem,
        rows: &mut Rows,
        on_row: &mut dyn FnMut(&SuiteRow),
    ) -> Result<Option<SuiteRow>, Error> {
        let made_with = self.made_with();
        if let Some(row) = rows.complete(&self.entry.name, &self.place.text, input, &made_with) {
            return Ok(Some(row.clone()));
        }
        let Some(row) = self.row(input, problem, made_with)? else { return Ok(None) };
        rows.append(row.clone())?;
        on_row(&row);
        Ok(Some(row))
    }

    fn failure(&self, input: Option<String>, error: &Error) -> SuiteFailure {
        let (name, device) = (self.entry.name.clone(), self.place.text.clone());
        SuiteFailure { name, device, input, error: with_remedy(error) }
    }

    /// Makes the row. Returns `None` if interrupted.
    fn row(&self, input: Option<&str>, problem: &Problem, made_with: MadeWith) -> Result<Option<SuiteRow>, Error> {
        let device = self.place.device()?;
        let journal = Rows::journal(&self.entry.name, &self.place.text, input);
        let journals =
            JournalOptions { out: Some(self.options.out.join(&journal)), resume: true, ..JournalOptions::default() };
        let mut session = Session { interrupt: self.interrupt.clone(), ..Session::default() };
        let task = TuningTask::new(problem).machine(self.place.machine.clone());
        let task = task.search(self.options.search.clone()).journal(journals);
        let outcome = tune(&task, &mut session)?;
        if self.interrupt.is_raised() {
            return Ok(None);
        }
        let Some(times) = self.timed(problem, &device, &outcome)? else { return Ok(None) };
        let row = self.made(problem, &outcome, times, journal, made_with)?;
        Ok(Some(SuiteRow { input: input.map(str::to_string), ..row }))
    }

    /// Times the winner in turns with everything it is compared with. Returns `None` if interrupted.
    fn timed(&self, problem: &Problem, device: &Device, outcome: &Outcome) -> Result<Option<Vec<Score>>, Error> {
        let Some(best) = &outcome.best else { return Ok(Some(Vec::new())) };
        let processor = Device::Kernels(Target::processor());
        // Libraries are the system's, and open what they need themselves.
        let free = Machine { sandbox: None, ..self.place.machine.clone() };
        let naive = self.entry.about.naive.as_ref().map(|file| self.naive(file, problem)).transpose()?;
        let rivals = against::rivals(&self.options.against, &self.entry.about, problem, device)?;
        let machine = &self.place.machine;
        let own =
            |origin, of: &Candidate| Party { origin, problem, device, machine, config: Some(of.index), counted: None };
        let mut parties = vec![own(Origin::Tuned, best)];
        let default =
            outcome.default.as_ref().filter(|default| default.index != best.index && default.failure.is_none());
        parties.extend(default.map(|default| own(Origin::Default, default)));
        let hosted = |origin, problem, machine, counted| Party {
            origin,
            problem,
            device: &processor,
            machine,
            config: None,
            counted,
        };
        parties.extend(naive.iter().map(|problem| hosted(Origin::Naive, problem, machine, None)));
        parties.extend(rivals.iter().map(|rival| {
            let origin = Origin::Library(rival.library);
            hosted(origin, &rival.problem, &free, rival.counted)
        }));
        duel(parties, self.interrupt)
    }

    /// Loads the naive loop at the sizes of `problem`.
    fn naive(&self, file: &str, problem: &Problem) -> Result<Problem, Error> {
        let path = self.entry.folder.join(file);
        let own = Problem::load(&path, &[])?;
        let shared = problem.spec().sizes().iter().filter(|(name, _)| own.spec().size(name).is_some()).cloned();
        Ok(Problem::load(&path, &shared.collect::<Vec<_>>())?)
    }

    /// Returns the time of one call, as the naive loop makes it, from the time of a launch of `of`.
    fn per_call(
        &self,
        problem: &Problem,
        of: Option<&Candidate>,
        launch_ms: Option<f64>,
    ) -> Result<Option<f64>, Error> {
        let (Some(steps), Some(of)) = (&self.entry.about.steps, of) else { return Ok(launch_ms) };
        let value = |name: &str| {
            of.config.get(name).and_then(Value::of_document).or_else(|| lookup(problem.spec().sizes(), name))
        };
        let steps = steps.at(&value, "`steps` in about.toml")?;
        Ok(launch_ms.map(|time_ms| time_ms / steps as f64))
    }

    fn made(
        &self,
        problem: &Problem,
        outcome: &Outcome,
        scores: Vec<Score>,
        journal: String,
        made_with: MadeWith,
    ) -> Result<SuiteRow, Error> {
        let time = |origin| scores.iter().find(|score| score.origin == origin)?.time_ms.as_ref().ok().copied();
        let (launch_ms, naive_ms) = (time(Origin::Tuned), time(Origin::Naive));
        let best = outcome.best.as_ref().map(|best| Candidate { time_ms: launch_ms, ..best.clone() });
        let is_best = |default: &Candidate| best.as_ref().is_some_and(|best| best.index == default.index);
        let default = outcome.default.as_ref();
        let default_launch_ms = if default.is_some_and(is_best) { launch_ms } else { time(Origin::Default) };
        let tuned_ms = self.per_call(problem, best.as_ref(), launch_ms)?;
        let default_ms = self.per_call(problem, default, default_launch_ms)?;
        let nothing = outcome.best.is_none().then(|| "no configuration was correct".to_string());
        Ok(SuiteRow {
            name: self.entry.name.clone(),
            device: self.place.text.clone(),
            input: None,
            device_name: outcome.device.clone(),
            file: self.entry.about.problems.get(self.place.backend).cloned().unwrap_or_default(),
            sizes: problem.spec().sizes().iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect(),
            naive_ms,
            default_ms,
            tuned_ms,
            gflops: best.as_ref().and_then(|best| Rates::new(problem, best).gflops),
            speedup: naive_ms.zip(tuned_ms).map(|(naive, tuned)| naive / tuned),
            evaluations: outcome.evaluations,
            configurations: outcome.space_size.to_string(),
            config: outcome.best.as_ref().map(|best| best.config.clone()),
            against_ms: scores
                .iter()
                .filter(|score| matches!(score.origin, Origin::Library(_)))
                .filter_map(|score| Some((score.origin.to_string(), *score.time_ms.as_ref().ok()?)))
                .collect(),
            notes: nothing.into_iter().chain(scores.iter().filter_map(failed)).collect(),
            journal,
            made_with,
        })
    }
}

/// Returns why a party was not timed.
fn failed(score: &Score) -> Option<String> {
    let reason = score.time_ms.as_ref().err()?;
    let reason = match score.origin {
        Origin::Library(library) => against::explain(library, reason),
        Origin::Tuned | Origin::Default | Origin::Naive => reason.clone(),
    };
    Some(format!("{}: {reason}", score.origin))
}

/// Returns the name of an input: `M=64,N=2,K=1`.
fn named(sizes: &Input) -> String {
    let sizes = sizes.iter().map(|(name, value)| format!("{name}={value}"));
    sizes.collect::<Vec<_>>().join(",")
}
