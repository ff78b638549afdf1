//! The number that ranks the rows of a recording.

use super::{Recording, RecordingError, Row};
use crate::objective::TIME_MS;
use crate::{Aim, Objective, Source};
use std::collections::BTreeSet;
use std::fmt;
use tunesmith_space::closest;

/// The objective of a recording, as far as its file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// The objective with its direction.
    Known(Objective),
    /// The file names the number that was optimised, and nothing tells whether more of it is better.
    Undirected {
        /// The name of the number.
        name: String,
        /// Its unit, if the file states it.
        unit: Option<String>,
    },
}

impl Default for Ranking {
    /// Returns the time.
    fn default() -> Self {
        Self::Known(Objective::time())
    }
}

impl Ranking {
    /// Returns the names of the recorded numbers that rank the rows, other than the time.
    pub fn numbers(&self) -> Vec<&str> {
        self.quantities().into_iter().filter(|name| *name != TIME_MS).collect()
    }

    /// Returns the unit of a number that ranks the rows, if the file states it.
    fn unit_of(&self, name: &str) -> Option<String> {
        let own = |objective: &Objective| objective.unit().filter(|_| objective.quantity() == name).map(str::to_string);
        match self {
            Self::Known(objective) => std::iter::once(objective).chain(objective.parts()).find_map(own),
            Self::Undirected { name: known, unit } => unit.clone().filter(|_| known == name),
        }
    }

    /// Returns the names of the numbers that a row needs: several for a front.
    pub(super) fn quantities(&self) -> Vec<&str> {
        match self {
            Self::Undirected { name, .. } => vec![name],
            Self::Known(objective) if objective.parts().is_empty() => vec![objective.quantity()],
            Self::Known(objective) => objective.parts().iter().map(Objective::quantity).collect(),
        }
    }
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self {
            Self::Known(objective) => {
                write!(f, "{objective}")?;
                objective.unit()
            }
            Self::Undirected { name, unit } => {
                f.write_str(name)?;
                unit.as_deref()
            }
        };
        unit.map_or(Ok(()), |unit| write!(f, " in {unit}"))
    }
}

impl Recording {
    /// Returns the objective as far as the file states it.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// Returns the objective that ranks the rows.
    ///
    /// # Errors
    /// The file names a number without its direction, or the objectives of a front.
    pub fn objective(&self) -> Result<&Objective, RecordingError> {
        match &self.ranking {
            Ranking::Known(objective) if objective.parts().is_empty() => Ok(objective),
            Ranking::Known(front) => Err(RecordingError::Front { objectives: front.to_string() }),
            Ranking::Undirected { name, .. } => Err(RecordingError::Undirected { name: name.clone() }),
        }
    }

    /// Ranks the rows by the recorded number that `aim` names.
    ///
    /// # Errors
    /// No row has such a number.
    pub fn rank_by(&mut self, aim: &Aim) -> Result<(), RecordingError> {
        if aim.name == TIME_MS {
            let time = Objective::new("time", aim.direction, Some("ms"), Source::Time);
            self.ranking = Ranking::Known(time);
            return Ok(());
        }
        let numbers: BTreeSet<&str> = self.numbers().collect();
        if !numbers.contains(aim.name.as_str()) {
            let suggestion = closest(&aim.name, numbers.iter().copied()).map(str::to_string);
            let known = numbers.into_iter().map(str::to_string).collect();
            return Err(RecordingError::NoNumber { name: aim.name.clone(), suggestion, known });
        }
        let unit = self.ranking.unit_of(&aim.name);
        self.ranking = Ranking::Known(Objective::new(&aim.name, aim.direction, unit.as_deref(), Source::Recorded));
        Ok(())
    }

    /// Computes numbers of every correct row under the name of each of the objectives, and ranks by
    /// `objective`. `samples` returns the numbers of one row, or `None` if it has none.
    pub fn rank_by_computed(&mut self, objective: &Objective, samples: impl Fn(&Objective, &Row) -> Option<Vec<f64>>) {
        let own = [objective.clone()];
        let parts = if objective.parts().is_empty() { &own[..] } else { objective.parts() };
        for part in parts.iter().filter(|part| part.source() != Source::Time) {
            for row in self.rows.iter_mut().filter(|row| row.failure.is_none()) {
                if let Some(samples) = samples(part, row) {
                    row.measurement.values.insert(part.quantity().to_string(), samples);
                }
            }
        }
        self.ranking = Ranking::Known(objective.clone());
    }

    /// Returns the names of the numbers that rows have beside their times. A name may occur several
    /// times.
    pub fn numbers(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().flat_map(|row| row.measurement.values.keys()).map(String::as_str)
    }

    /// Returns the best correct row with its value of the objective. Returns `None` if all failed, or
    /// if the file does not state an objective that ranks them.
    pub fn best(&self) -> Option<(&Row, f64)> {
        let objective = self.objective().ok()?;
        let valued = self.rows.iter().filter_map(|row| Some((row, row.value(objective.quantity())?)));
        valued.min_by(|(_, one), (_, another)| objective.score(*one).total_cmp(&objective.score(*another)))
    }
}
