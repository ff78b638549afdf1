//! Holds what the tuner has acknowledged over all its lives against the disk and the truth.

use super::disk::{MemoryDisk, SameFile};
use super::truth::Truth;
use super::world::World;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tunesmith_core::judge::racing::is_far;
use tunesmith_core::{Evaluation, Request, Run};
use tunesmith_space::ConfigId;
use tunesmith_store::Resumed;

/// The ledger of a run. It records broken invariants in the world.
#[derive(Debug)]
pub(super) struct Ledger {
    world: Arc<World>,
    disk: MemoryDisk,
    truth: Truth,
    /// False if messages may be lost: innocent configurations may then fail.
    pub(super) is_exact: bool,
    /// The evaluations that the searcher was told.
    told: HashMap<Request, Evaluation>,
    /// The bar at the latest measurement of each configuration.
    bars_ms: HashMap<ConfigId, Option<f64>>,
    /// The journal, and the bytes of it that were read.
    journal: Option<(PathBuf, usize)>,
    /// The file at that path when it was first followed.
    file: Option<SameFile>,
    /// The evaluations in the journal: index and depth.
    kept: HashSet<(String, String)>,
    /// The number of later measurements in the journal.
    again: usize,
    /// The number of later measurements that were made.
    pub(super) remeasured: usize,
    /// The number of evaluations that were made.
    pub(super) measured: usize,
    /// The index of the winner of the journal's last verdict, if no evaluation follows.
    pub(super) winner: Option<String>,
}

/// The ledger, as the evaluator, the searcher and the night share it.
pub(super) struct SharedLedger(Mutex<Ledger>);

impl SharedLedger {
    pub(super) fn new(ledger: Ledger) -> Self {
        Self(Mutex::new(ledger))
    }

    /// Waits for the ledger. A life that was killed in the middle of an entry has left it whole.
    pub(super) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keys that tell the lines of a journal apart.
#[derive(Deserialize)]
struct Line {
    index: Option<String>,
    depth: Option<String>,
    again: Option<String>,
    winner: Option<String>,
}

impl Ledger {
    /// Creates an empty ledger.
    pub(super) fn new(world: &Arc<World>, disk: &MemoryDisk, truth: &Truth) -> Self {
        Self {
            world: Arc::clone(world),
            disk: disk.clone(),
            truth: truth.clone(),
            is_exact: true,
            told: HashMap::new(),
            bars_ms: HashMap::new(),
            journal: None,
            file: None,
            kept: HashSet::new(),
            again: 0,
            remeasured: 0,
            measured: 0,
            winner: None,
        }
    }

    /// Follows the journal at `path` from now on.
    pub(super) fn follow(&mut self, path: &Path) {
        let file = self.disk.file(path);
        if self.file != file || self.journal.as_ref().is_none_or(|(known, _)| known != path) {
            self.file = file;
            self.journal = Some((path.to_path_buf(), 0));
            self.kept.clear();
            self.again = 0;
        }
    }

    /// Returns the path of the journal, if there is one.
    pub(super) fn path(&self) -> Option<PathBuf> {
        self.journal.as_ref().map(|(path, _)| path.clone())
    }

    /// Reads the complete lines that were added to the journal.
    pub(super) fn catch_up(&mut self) {
        let Some((path, read)) = self.journal.clone() else { return };
        let Some(added) = self.disk.look_from(&path, read, <[u8]>::to_vec) else { return };
        let complete = added.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let is_header = |at: usize| read == 0 && at == 0;
        let lines = added[..complete].split(|byte| *byte == b'\n').enumerate();
        for (_, line) in lines.filter(|(at, line)| !is_header(*at) && !line.is_empty()) {
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => self.add(line),
                Err(error) => self.world.broke(format!("a line of the journal is none: {error}")),
            }
        }
        self.journal = Some((path, read + complete));
    }

    fn add(&mut self, line: Line) {
        match line {
            Line { winner: Some(winner), .. } => self.winner = Some(winner),
            Line { again: Some(_), .. } => self.again += 1,
            Line { index: Some(index), depth: Some(depth), .. } => {
                self.winner = None;
                if !self.kept.insert((index.clone(), depth)) {
                    self.world.broke(format!("configuration {index} is in the journal twice"));
                }
            }
            _ => self.world.broke("a line of the journal has no index".to_owned()),
        }
    }

    fn is_kept(&mut self, request: Request) -> bool {
        self.catch_up();
        self.kept.contains(&(request.config.to_string(), request.depth.word().to_owned()))
    }

    /// Checks a request that goes to the device.
    pub(super) fn submit(&mut self, request: Request) {
        if self.is_kept(request) {
            self.world.broke(format!("configuration {} is measured twice", request.config));
        }
    }

    /// Notes the bar of a configuration that is measured next.
    pub(super) fn race(&mut self, config: ConfigId, bar_ms: Option<f64>) {
        self.bars_ms.insert(config, bar_ms);
    }

    /// Checks an evaluation that the searcher is told.
    pub(super) fn acknowledge(&mut self, evaluation: &Evaluation) {
        let request = evaluation.request;
        match self.told.get(&request) {
            Some(before) if before == evaluation => return,
            Some(_) => self.world.broke(format!("configuration {} is told in two ways", request.config)),
            None => {}
        }
        if !self.is_kept(request) {
            self.world.broke(format!("configuration {} is told before the journal keeps it", request.config));
        }
        self.compare(evaluation);
        self.told.insert(request, evaluation.clone());
    }

    /// Compares an evaluation with the truth.
    fn compare(&self, evaluation: &Evaluation) {
        let config = evaluation.request.config;
        let (deed, status) = (self.truth.deed(config), evaluation.status());
        let times_ms = &evaluation.measurement.times_ms;
        let bar_ms = self.bars_ms.get(&config).copied().flatten();
        // Of a configuration far above the bar, the first launch alone is judged. One that was abandoned
        // had fewer launches: the untimed one, and its samples.
        let judged = match (status, bar_ms) {
            (Some(_), _) => u64::MAX,
            (None, Some(bar)) if times_ms.iter().all(|time| is_far(*time, bar)) => 1,
            (None, _) => 1 + times_ms.len() as u64,
        };
        let fits = status == deed.status(judged) || (!self.is_exact && status.is_some());
        if !fits {
            let failure = evaluation.failure.as_ref().map_or("", |failure| failure.message.as_str());
            self.world.broke(format!("configuration {config}, which {deed:?}, is {status:?}: {failure}"));
        }
        let true_ms = self.truth.time(config).as_secs_f64() * 1e3;
        let is_off = |time: &f64| (time / true_ms - 1.0).abs() > 0.01;
        if let Some(time) = evaluation.measurement.times_ms.iter().find(|time| is_off(time)) {
            self.world.broke(format!("configuration {config} takes {true_ms} ms, not {time} ms"));
        }
    }

    /// Checks what a journal gives back when it is resumed.
    pub(super) fn replayed(&self, resumed: &Resumed) {
        let found: HashMap<Request, &Evaluation> =
            resumed.evaluations.iter().map(|one| (one.request, &**one)).collect();
        for (request, told) in &self.told {
            if found.get(request).is_none_or(|found| *found != told) {
                self.world.broke(format!("configuration {} was told and is lost", request.config));
            }
        }
        resumed.evaluations.iter().for_each(|evaluation| self.compare(evaluation));
    }

    /// Checks the end of a run: its history holds everything that was told, its winner is right, and
    /// no faster configuration that was right is passed over.
    pub(super) fn judge(&self, run: &Run) {
        let kept = |told: &&Evaluation| run.history.get(told.request).is_some_and(|one| *one.evaluation == **told);
        if let Some(lost) = self.told.values().find(|told| !kept(told)) {
            self.world.broke(format!("configuration {} was told and is not in the history", lost.request.config));
        }
        let evaluations: Vec<&Evaluation> = run.history.iter().map(|scored| &*scored.evaluation).collect();
        evaluations.iter().for_each(|evaluation| self.compare(evaluation));
        let right =
            evaluations.into_iter().filter(|one| one.is_correct() && self.truth.deed(one.request.config).is_right());
        let best = right.map(|one| one.request.config).min_by_key(|config| self.truth.time(*config));
        match (run.verdict.winner, best) {
            (Some(winner), _) if !self.truth.deed(winner).is_right() => {
                self.world.broke(format!("configuration {winner} wins, which {:?}", self.truth.deed(winner)));
            }
            (Some(winner), Some(best)) if self.is_exact && self.truth.is_surely_faster(best, winner) => {
                self.world.broke(format!("configuration {winner} wins, but {best} is faster"));
            }
            (None, Some(best)) if self.is_exact => {
                self.world.broke(format!("nothing wins, but {best} is right"));
            }
            _ => {}
        }
    }

    /// Checks at the end that `lives` of the tuner repeated no more than one later measurement each.
    pub(super) fn close(&mut self, lives: usize) {
        self.catch_up();
        if self.remeasured > self.again + lives {
            self.world.broke(format!("{} of {} later measurements are lost", self.remeasured - self.again, self.again));
        }
        if self.measured > self.kept.len() + lives {
            self.world.broke(format!("{} evaluations were made for {}", self.measured, self.kept.len()));
        }
    }
}
