//! Reads the journal of a run that continues.

use crate::entries::check_times;
use crate::line::Indexed;
use crate::read::{Kind, Line, current, warnings};
use crate::sum::Seal;
use crate::{Again, Entry, Repeated, Resumed, StoreError, VerdictLine};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::path::Path;
use tunesmith_core::{Depth, Evaluation};
use tunesmith_space::{ConfigId, Space};

/// The numbers of the evaluations of a journal: their positions among its lines, counted from 1.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The number of every request, by its bytes. A request of 32 bytes would take half as much
    /// memory again.
    of: HashMap<[u8; KEY], u32>,
    /// The number of all evaluations.
    count: u32,
}

/// The bytes of a rank and a depth.
const KEY: usize = 17;

impl Numbers {
    /// Counts an evaluation. Returns the number of an earlier one with the same request.
    pub(crate) fn add(&mut self, config: ConfigId, depth: Depth) -> Option<u32> {
        self.count += 1;
        match self.of.entry(key(config, depth)) {
            Slot::Occupied(first) => Some(*first.get()),
            Slot::Vacant(slot) => {
                slot.insert(self.count);
                None
            }
        }
    }

    /// Returns the number of the first evaluation of `config`, or 0 if there is none.
    pub(crate) fn of(&self, config: ConfigId) -> usize {
        let number = |depth| self.of.get(&key(config, depth)).copied();
        [Depth::Timed, Depth::Profiled].into_iter().filter_map(number).min().unwrap_or_default() as usize
    }
}

fn key(config: ConfigId, depth: Depth) -> [u8; KEY] {
    let mut key = [0; KEY];
    let (rank, last) = key.split_at_mut(KEY - 1);
    rank.copy_from_slice(&config.rank().to_ne_bytes());
    last.fill(u8::from(depth == Depth::Profiled));
    key
}

/// Collects the lines of a journal whose run continues.
pub(crate) struct Continued<'a> {
    space: &'a Space,
    numbers: Numbers,
    evaluations: Vec<Box<Evaluation>>,
    /// The numbers of the evaluations that do not count, ascending. Those before a number tell its
    /// position among `evaluations`.
    ignored: Vec<u32>,
    /// The lines of the evaluations that count.
    lines: Vec<u32>,
    again: Vec<Again>,
    again_before_last: usize,
    verdict: Option<VerdictLine>,
    copies: usize,
    conflicts: Vec<Repeated>,
}

impl<'a> Continued<'a> {
    pub(crate) fn new(space: &'a Space) -> Self {
        Self {
            space,
            numbers: Numbers::default(),
            evaluations: Vec::new(),
            ignored: Vec::new(),
            lines: Vec::new(),
            again: Vec::new(),
            again_before_last: 0,
            verdict: None,
            copies: 0,
            conflicts: Vec::new(),
        }
    }

    /// Adds a line. Fails with the reason if it cannot be understood.
    pub(crate) fn add(&mut self, line: &Line<'_>, kind: Kind) -> Result<(), String> {
        match kind {
            Kind::Evaluation => self.add_evaluation(line)?,
            Kind::Again => self.again.push(line.again()?),
            Kind::Verdict => self.verdict = Some(line.parse()?),
        }
        Ok(())
    }

    fn add_evaluation(&mut self, line: &Line<'_>) -> Result<(), String> {
        // An intact line is as it was written for this space, so that its index is its
        // configuration.
        let evaluation = match line.seal() {
            Seal::Intact => line.parse::<Indexed>()?.into_evaluation(self.space)?,
            Seal::Absent | Seal::Broken => line.parse::<Entry>()?.evaluation(self.space)?,
        };
        check_times(&evaluation.measurement.times_ms)?;
        let number = u32::try_from(line.number).map_err(|_| "the journal has too many lines".to_string())?;
        self.again_before_last = self.again.len();
        self.verdict = None;
        let first = self.numbers.add(evaluation.request.config, evaluation.request.depth);
        let Some(first) = first else {
            self.lines.push(number);
            self.evaluations.push(Box::new(evaluation));
            return Ok(());
        };
        let place = first as usize - 1 - self.ignored.partition_point(|ignored| *ignored < first);
        self.ignored.push(self.numbers.count);
        if self.evaluations.get(place).is_some_and(|known| **known == evaluation) {
            self.copies += 1;
        } else {
            let first = self.lines.get(place).copied().unwrap_or_default();
            self.conflicts.push(Repeated { first, again: number });
        }
        Ok(())
    }

    /// Returns the content, the numbers of the evaluations, and the verdict on them.
    pub(crate) fn finish(self, path: &Path) -> Result<(Resumed, Numbers, Option<VerdictLine>), StoreError> {
        let wrong =
            |again: &Again, reason| StoreError::Line { path: path.to_path_buf(), line: again.entry.line, reason };
        let resample = |again: &Again| again.resample(self.space).map_err(|reason| wrong(again, reason));
        let resamples =
            current(&self.again, self.again_before_last).map(resample).collect::<Result<_, StoreError>>()?;
        let warnings = warnings(path, self.copies, &self.conflicts);
        Ok((Resumed { evaluations: self.evaluations, resamples, warnings }, self.numbers, self.verdict))
    }
}
