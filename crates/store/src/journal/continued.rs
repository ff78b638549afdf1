//! Reads the journal of a run that continues.

use crate::entries::check_measured;
use crate::read::{Kind, Line, current, warnings};
use crate::{Again, Entry, Repeated, Resumed, StoreError, VerdictLine};
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::path::Path;
use tunesmith_core::{Depth, Evaluation, Request};
use tunesmith_space::{ConfigId, Space};

/// The numbers of the evaluations of a journal: their positions among its lines, counted from 1.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// The number of every request with a rank that fits, by its bytes. A million numbers take half
    /// the memory that they would take by whole ranks.
    near: HashMap<[u8; 8], u32>,
    /// The number of every other request.
    far: HashMap<Request, u32>,
    /// The number of all evaluations.
    count: u32,
}

impl Numbers {
    /// Counts an evaluation. Returns the number of an earlier one with the same request.
    pub(crate) fn add(&mut self, config: ConfigId, depth: Depth) -> Option<u32> {
        self.count += 1;
        let request = Request { config, depth };
        match near(request) {
            Some(key) => earlier(self.near.entry(key), self.count),
            None => earlier(self.far.entry(request), self.count),
        }
    }

    /// Returns the number of the first evaluation of `config`, or 0 if there is none.
    pub(crate) fn of(&self, config: ConfigId) -> usize {
        let number = |depth| {
            let request = Request { config, depth };
            match near(request) {
                Some(key) => self.near.get(&key).copied(),
                None => self.far.get(&request).copied(),
            }
        };
        [Depth::Timed, Depth::Profiled].into_iter().filter_map(number).min().unwrap_or_default() as usize
    }
}

/// Returns the number in `slot`, or puts `number` there if it is empty.
fn earlier<K>(slot: Slot<'_, K, u32>, number: u32) -> Option<u32> {
    match slot {
        Slot::Occupied(first) => Some(*first.get()),
        Slot::Vacant(slot) => {
            slot.insert(number);
            None
        }
    }
}

/// Returns the bytes of a rank and a depth, or `None` if the rank has more than 63 bits.
fn near(request: Request) -> Option<[u8; 8]> {
    let rank = u64::try_from(request.config.rank()).ok().filter(|rank| *rank >> 63 == 0)?;
    Some((rank << 1 | u64::from(request.depth == Depth::Profiled)).to_ne_bytes())
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
    /// Of a line that is read.
    buffer: Vec<u8>,
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
            buffer: Vec::new(),
        }
    }

    /// Adds a line. Fails with the reason if it cannot be understood.
    pub(crate) fn add(&mut self, line: &Line<'_>, kind: Kind) -> Result<(), String> {
        match kind {
            Kind::Evaluation => self.add_evaluation(line)?,
            Kind::Again => self.again.push(line.again()?),
            Kind::Verdict => self.verdict = Some(line.parse()?),
            Kind::Second => {}
        }
        Ok(())
    }

    fn add_evaluation(&mut self, line: &Line<'_>) -> Result<(), String> {
        // An intact line is as it was written for this space, so that its index is its
        // configuration.
        let plain = line.plain().map(|plain| plain.evaluation(self.space, &mut self.buffer)).transpose()?.flatten();
        let evaluation = match plain {
            Some(evaluation) => evaluation,
            None => Box::new(line.parse::<Entry>()?.evaluation(self.space)?),
        };
        check_measured(&evaluation.measurement.times_ms, evaluation.measurement.warmup_ms)?;
        let number = u32::try_from(line.number).map_err(|_| "the journal has too many lines".to_string())?;
        let first = self.numbers.add(evaluation.request.config, evaluation.request.depth);
        let Some(first) = first else {
            self.end_final();
            self.lines.push(number);
            self.evaluations.push(evaluation);
            return Ok(());
        };
        let place = first as usize - 1 - self.ignored.partition_point(|ignored| *ignored < first);
        self.ignored.push(self.numbers.count);
        let is_open = |known: &&mut Box<Evaluation>| known.is_unfinished() && **known != evaluation;
        if let Some(known) = self.evaluations.get_mut(place).filter(is_open) {
            // What was cut was measured to its end after the final, whose failures stay.
            let outlives_final = known.is_cut();
            *known = evaluation;
            self.lines[place] = number;
            if !outlives_final {
                self.end_final();
            }
            return Ok(());
        }
        self.end_final();
        if self.evaluations.get(place).is_some_and(|known| *known == evaluation) {
            self.copies += 1;
        } else {
            let first = self.lines.get(place).copied().unwrap_or_default();
            self.conflicts.push(Repeated { first, again: number });
        }
        Ok(())
    }

    /// Drops the final before an evaluation: it compared fewer.
    fn end_final(&mut self) {
        self.again_before_last = self.again.len();
        self.verdict = None;
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

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{Parameter, Values};

    #[test]
    fn every_request_keeps_the_number_of_its_first_evaluation_whatever_its_rank() {
        let parameter = |name: &str| Parameter::new(name, Values::list(0..1000_i64)).unwrap();
        let names = ["A", "B", "C", "D", "E", "F", "G"];
        let space = names.iter().fold(Space::builder(), |builder, name| builder.parameter(parameter(name)));
        let space = space.build().unwrap();
        let ranks = [0, 1, 2, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, 1 << 64, (1 << 64) + 1];
        let (mut numbers, mut known) = (Numbers::default(), HashMap::new());
        let made = (0..40_usize).map(|at| (ranks[at * 7 % ranks.len()], [Depth::Timed, Depth::Profiled][at % 3 % 2]));
        for (number, (rank, depth)) in (1_u32..).zip(made) {
            let earlier = known.get(&(rank, depth)).copied();
            assert_eq!(numbers.add(space.id(rank).unwrap(), depth), earlier, "{rank} {depth:?}");
            known.entry((rank, depth)).or_insert(number);
        }
        for rank in ranks {
            let number = |depth| known.get(&(rank, depth)).copied();
            let first = [Depth::Timed, Depth::Profiled].into_iter().filter_map(number).min().unwrap();
            assert_eq!(numbers.of(space.id(rank).unwrap()), first as usize);
        }
        assert!(!numbers.far.is_empty() && !numbers.near.is_empty());
        assert_eq!(numbers.of(space.id(7).unwrap()), 0);
    }
}
