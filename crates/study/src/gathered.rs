//! Gathers the entries of runs from files of any kind.

use crate::top::{UNVERIFIED, top_of};
use crate::{Error, JudgedRun};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tunesmith_choose::WisdomError;
use tunesmith_choose::wisdom::{Config, Entry, Input, Measured, Provenance, Wisdom};
use tunesmith_core::judge::measure::Measure;
use tunesmith_core::recording::{Row, subject_differences};
use tunesmith_core::{Gain, Objective, Recording, Target};
use tunesmith_space::Value;
use tunesmith_store::{Outline, StoreError};

/// All entries of the runs, with notes about them.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Them.
    pub wisdom: Wisdom,
    /// Notes on what was left out.
    pub notes: Vec<String>,
    /// The objective of all runs, and the first of them.
    objective: Option<(PathBuf, Objective)>,
    /// For each journal, its best configuration and the speed-up of that, if the default was
    /// correct.
    pub winners: Vec<(Config, Option<f64>)>,
    /// By kernel and parameter: the values in the first journal that has it, and that journal;
    /// `None` if another journal has other values.
    values: BTreeMap<(String, String), Option<(Json, PathBuf)>>,
    /// The recordings of other tools.
    recordings: Vec<Statement>,
    /// By kernel: the names of its sizes in the order of the problem file.
    orders: BTreeMap<String, Vec<String>>,
}

/// The subject of measurements over inputs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelOnDevice {
    /// The kernel, by name.
    pub kernel: String,
    /// The device, by name.
    pub device: String,
}

/// The subject of a recording, and its sizes as an input.
#[derive(Debug)]
struct Statement {
    run: PathBuf,
    kernel: String,
    device: String,
    input: Input,
    subject: BTreeMap<String, String>,
}

impl Gathered {
    /// Reads wisdom, journals, and recordings of other tools. Of the latter, only those that were made from journals
    /// name their sizes.
    ///
    /// # Errors
    /// A run cannot be read, or two runs differ in their objective or are no repeats of one another.
    pub fn read(runs: &[PathBuf]) -> Result<Self, Error> {
        let mut gathered = Self::default();
        for run in runs {
            match tunesmith_choose::read_wisdom(run) {
                Ok(file) => {
                    let flawed = |flawed: &tunesmith_choose::Flawed| {
                        format!("`{}`, line {} is left out: {}", run.display(), flawed.line, flawed.reason)
                    };
                    gathered.notes.extend(file.flawed.iter().map(flawed));
                    for known in &file.wisdom.portfolios {
                        gathered.orders.entry(known.kernel.clone()).or_insert_with(|| known.sizes.clone());
                    }
                    gathered.join_objective(run, &Objective::time())?;
                    gathered.wisdom.merge(file.wisdom);
                }
                Err(WisdomError::Foreign { .. }) => gathered.add_run(run)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(gathered)
    }

    fn add_run(&mut self, run: &Path) -> Result<(), Error> {
        match tunesmith_store::read_brief(run) {
            Ok(recorded) => self.add_journal(run, &recorded),
            // Even its first line is not a journal's.
            Err(StoreError::NotAJournal { .. } | StoreError::Line { line: 1, .. }) => self.add_recording(run),
            Err(error) => Err(error.into()),
        }
    }

    fn add_journal(&mut self, run: &Path, recorded: &Outline) -> Result<(), Error> {
        let judged = JudgedRun::new(recorded);
        let (header, top) = (&recorded.header, top_of(&judged, usize::MAX));
        self.join_objective(run, &top.objective)?;
        self.compare_values(run, header);
        if top.configs.is_empty() {
            self.notes.push(format!("`{}` has no correct configuration", run.display()));
        }
        if top.verified == Some(false) {
            self.notes.push(format!("`{}`: {UNVERIFIED}", run.display()));
        }
        // Readers take the fastest. What the verdict does not place before the best counts as no
        // faster than it: the difference is luck.
        let values: Vec<f64> = top.configs.iter().map(|found| found.value).collect();
        let costs = costs(&top.objective, &values);
        let least = costs.first().copied().unwrap_or_default();
        self.winners.extend(top.configs.first().map(|best| (config(&best.config), best.gain.and_then(Gain::ratio))));
        let device = header.identity.get("device").and_then(Json::as_str).unwrap_or_default();
        let provenance = |samples| Provenance {
            tool: Some(format!("tunesmith {}", header.tunesmith)),
            date: Some(header.started),
            samples: Some(samples),
            guarded_speedup: None,
        };
        // Objects of journals keep the order of the problem file. It counts more than that of wisdom.
        let sizes: Vec<(String, f64)> =
            header.sizes.iter().filter_map(|(name, size)| Some((name.clone(), size.as_f64()?))).collect();
        self.orders.insert(header.problem.clone(), sizes.iter().map(|(name, _)| name.clone()).collect());
        let input: Input = sizes.into_iter().collect();
        self.wisdom.defaults.extend(header.default.as_ref().map(|default| (header.problem.clone(), config(default))));
        self.wisdom.entries.extend(top.configs.iter().zip(costs).map(|(found, cost)| Entry {
            kernel: header.problem.clone(),
            device: device.to_string(),
            input: input.clone(),
            config: config(&found.config),
            time_ms: cost.max(least),
            provenance: provenance(found.samples),
        }));
        Ok(())
    }

    /// Refuses a run whose objective is another than that of the runs before it: no number ranks both.
    fn join_objective(&mut self, run: &Path, objective: &Objective) -> Result<(), Error> {
        let (first, known) = self.objective.get_or_insert_with(|| (run.to_path_buf(), objective.clone()));
        if Target::from(&*known) == Target::from(objective) {
            return Ok(());
        }
        let text = format!("`{}` was tuned to {known}, `{}` to {objective}", first.display(), run.display());
        Err(Error::request(text, Some("export runs of one objective at a time".to_string())))
    }

    /// Returns the objective of the runs. Wisdom and recordings hold times.
    pub fn objective(&self) -> Objective {
        self.objective.as_ref().map(|(_, objective)| objective.clone()).unwrap_or_default()
    }

    /// Notes parameters whose values differ from those in an earlier journal.
    fn compare_values(&mut self, run: &Path, header: &tunesmith_store::Header) {
        for (name, values) in &header.parameters {
            let key = (header.problem.clone(), name.clone());
            let first = self.values.entry(key).or_insert_with(|| Some((values.clone(), run.to_path_buf())));
            let Some((_, other)) = first.take_if(|(known, _)| *known != *values) else { continue };
            self.notes.push(format!(
                "warning: `{name}` of `{}` has other values in `{}` than in `{}`. If they depend on the sizes, inputs \
                 share few configurations, and a choice for a new input may not be valid: write `{name}` as a share of \
                 the size, with the same values for all inputs, and compute the rest in the kernel",
                header.problem,
                run.display(),
                other.display()
            ));
        }
    }

    fn add_recording(&mut self, run: &Path) -> Result<(), Error> {
        let recording = crate::read_recording(run)?;
        let objective = crate::metric_of(&recording, run)?.objective().clone();
        self.join_objective(run, &objective)?;
        let valued = recording.rows().iter().filter_map(|row| Some((row, row.value(objective.quantity())?)));
        let (rows, values): (Vec<&Row>, Vec<f64>) = valued.unzip();
        let names = recording.parameters().iter().map(tunesmith_space::Parameter::name);
        let Statement { kernel, device, input, .. } = self.join_subject(Statement::new(run, &recording))?;
        let entry = |(row, cost): (&Row, f64)| Entry {
            kernel: kernel.clone(),
            device: device.clone(),
            input: input.clone(),
            config: names.clone().map(str::to_string).zip(row.values.iter().cloned()).collect(),
            time_ms: cost,
            provenance: Provenance { samples: Some(row.measurement.times_ms.len()), ..Provenance::default() },
        };
        let entries: Vec<Entry> = rows.into_iter().zip(costs(&objective, &values)).map(entry).collect();
        self.wisdom.entries.extend(entries);
        Ok(())
    }

    /// Refuses a recording that would be taken for a repeat of another one, although they state other subjects.
    fn join_subject(&mut self, told: Statement) -> Result<&Statement, Error> {
        let is_repeat = |known: &&Statement| {
            (&known.kernel, &known.device, &known.input) == (&told.kernel, &told.device, &told.input)
        };
        for known in self.recordings.iter().filter(is_repeat) {
            let differences = subject_differences(&known.subject, &told.subject);
            if !differences.is_empty() {
                let (first, second) = (known.run.display(), told.run.display());
                let text =
                    format!("`{first}` and `{second}` are no repeats of one another: {}", differences.join("; "));
                let remedy = "they do not name their input as sizes: export them one at a time";
                return Err(Error::request(text, Some(remedy.to_string())));
            }
        }
        self.recordings.push(told);
        Ok(&self.recordings[self.recordings.len() - 1])
    }

    /// Returns the measurements of every kernel on every device.
    pub fn measured(&self) -> BTreeMap<KernelOnDevice, Measured> {
        let mut known: BTreeMap<KernelOnDevice, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.wisdom.entries {
            let subject = KernelOnDevice { kernel: entry.kernel.clone(), device: entry.device.clone() };
            known.entry(subject).or_default().push(entry);
        }
        let measured = |(subject, entries): (KernelOnDevice, Vec<&Entry>)| {
            let sizes = self.orders.get(&subject.kernel).cloned().unwrap_or_default();
            let measured = Measured::of(entries, sizes, self.wisdom.defaults.get(&subject.kernel));
            (subject, measured)
        };
        known.into_iter().map(measured).collect()
    }
}

/// The beginning of the name of a size in the subject of a recording that was made from a journal.
const SIZE: &str = "size ";

impl Statement {
    fn new(run: &Path, recording: &Recording) -> Self {
        let size = |(name, text): (&String, &String)| Some((name.strip_prefix(SIZE)?.to_string(), text.parse().ok()?));
        let input: Input = recording.subject.iter().filter_map(size).collect();
        let is_size = |name: &str| name.strip_prefix(SIZE).is_some_and(|size| input.contains_key(size));
        let rest = recording.subject.iter().filter(|(name, _)| !is_size(name));
        Self {
            run: run.to_path_buf(),
            kernel: recording.kernel.clone().unwrap_or_else(|| recording.name.clone()),
            device: recording.device.clone().unwrap_or_default(),
            subject: rest.map(|(name, text)| (name.clone(), text.clone())).collect(),
            input,
        }
    }
}

/// Returns a positive cost of every configuration by its value of the objective, in their order: a number with the
/// ratios of the objective, such as the time itself. Where ratios have no meaning, it grows by 1 from the best to the
/// middle one.
fn costs(objective: &Objective, values: &[f64]) -> Vec<f64> {
    let scores: Vec<f64> = values.iter().map(|value| objective.score(*value)).collect();
    let measure = Measure::of(scores.iter().copied());
    let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = tunesmith_core::statistics::median(&scores).unwrap_or(best);
    let spread = if middle > best { middle - best } else { 1.0 };
    let cost = |score: f64| match measure {
        Measure::Ratio if best > 0.0 => score,
        Measure::Ratio => -score.recip(),
        Measure::Difference => 1.0 + (score - best) / spread,
    };
    scores.into_iter().map(cost).collect()
}

/// Returns sizes as a problem takes them: whole numbers as integers.
pub fn sizes(input: &Input) -> Vec<(String, Value)> {
    input.iter().map(|(name, size)| (name.clone(), Value::of_number(*size))).collect()
}

/// Returns a configuration from its form in journals.
pub fn config(json: &Map<String, Json>) -> Config {
    let value = |json: &Json| Value::of_document(json).unwrap_or_else(|| Value::Str(json.to_string().into()));
    json.iter().map(|(name, json)| (name.clone(), value(json))).collect()
}
