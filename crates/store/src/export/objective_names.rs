//! The objective as files of other tools name it.

use tunesmith_core::recording::Ranking;
use tunesmith_core::{Direction, Objective, Recording};

/// The objective as files of other tools name it.
pub(super) struct ObjectiveNames<'a> {
    pub(super) name: &'a str,
    pub(super) direction: Option<Direction>,
    pub(super) unit: Option<&'a str>,
    /// The objectives of a front, of which other tools know the first.
    pub(super) front: Option<&'a Objective>,
}

impl<'a> ObjectiveNames<'a> {
    /// Returns the names of the objective of `recording`.
    pub(super) fn of(recording: &'a Recording) -> Self {
        let single = |objective: &'a Objective| Self {
            name: objective.name(),
            direction: Some(objective.direction()),
            unit: objective.unit(),
            front: None,
        };
        match recording.ranking() {
            Ranking::Undirected { name, unit } => Self { name, direction: None, unit: unit.as_deref(), front: None },
            Ranking::Known(objective) => match objective.parts() {
                [] => single(objective),
                [first, ..] => Self { front: Some(objective), ..single(first) },
            },
        }
    }

    /// Returns the names of the objectives.
    pub(super) fn names(&self) -> Vec<&'a str> {
        self.front.map_or(vec![self.name], |front| front.parts().iter().map(Objective::name).collect())
    }
}
