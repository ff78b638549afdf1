//! The space of a recording, and its rows as evaluations.

use super::{Recorded, Recording, Row};
use crate::counters::REGISTERS;
use crate::{Evaluation, Measurement, Request, statistics};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_space::{Constraint, Parameter, Space, SpaceError, Value};

impl Recording {
    /// Returns the recorded space. It is the space of the constraints if that has exactly the
    /// recorded rows, or else the space of the rows themselves.
    ///
    /// # Errors
    ///
    /// Fails if the diagram of the rows exceeds the library's limits.
    pub fn space(&self) -> Result<Space, SpaceError> {
        match self.constrained() {
            Some(space) if self.is_exactly(&space) => Ok(space),
            _ => self.space_of_rows(),
        }
    }

    /// Returns the space of the constraints, or `None` if there are none or they make no space.
    fn constrained(&self) -> Option<Space> {
        if self.constraints.is_empty() {
            return None;
        }
        let constraints: Vec<Constraint> =
            self.constraints.iter().map(|text| Constraint::parse(text).ok()).collect::<Option<_>>()?;
        let builder = self.parameters().iter().cloned().fold(Space::builder(), |builder, p| builder.parameter(p));
        constraints.into_iter().fold(builder, |builder, constraint| builder.constraint(constraint)).build().ok()
    }

    fn is_exactly(&self, space: &Space) -> bool {
        space.len() == Some(self.rows().len() as u128) && self.evaluations(space).len() == self.rows().len()
    }

    /// Returns the space whose configurations are the rows.
    ///
    /// It uses conditions on the beginnings of configurations. Each condition has one parameter
    /// more than the one before and allows the recorded beginnings. The diagram thus never looks at
    /// more combinations than rows times values. Conditions that exclude nothing are left out.
    ///
    /// A diagram orders its levels by the numbers of values unless conditions decide. A condition
    /// excludes no combination before the last of its parameters has its level. If the rows are
    /// few, the beginnings therefore follow that order.
    fn space_of_rows(&self) -> Result<Space, SpaceError> {
        let parameters = self.parameters();
        let mut builder = parameters.iter().cloned().fold(Space::builder(), |builder, p| builder.parameter(p));
        let mut varying: Vec<usize> = (0..parameters.len()).filter(|at| parameters[*at].values().len() > 1).collect();
        let combinations: f64 = parameters.iter().map(|parameter| parameter.values().len() as f64).product();
        if combinations > SPARSE * self.rows().len() as f64 {
            varying.sort_by_key(|at| (parameters[*at].values().len(), parameters[*at].name()));
        }
        let codes = Arc::new(Codes::new(varying.iter().map(|at| &parameters[*at])));
        let rows: Vec<Vec<u32>> = self.rows().iter().filter_map(|row| codes.of_row(row, &varying)).collect();
        let mut before = 1;
        for (last, at) in varying.iter().enumerate() {
            let allowed: HashSet<Box<[u32]>> = rows.iter().map(|row| Box::from(&row[..=last])).collect();
            let (count, possible) = (allowed.len(), before * parameters[*at].values().len());
            before = count;
            if count < possible {
                let scope: Vec<&str> = varying[..=last].iter().map(|at| parameters[*at].name()).collect();
                let codes = codes.clone();
                let name = format!("recorded up to {}", parameters[*at].name());
                let holds = move |values: &[Value]| codes.of(values).is_some_and(|codes| allowed.contains(&codes[..]));
                builder = builder.constraint(Constraint::closure(name, 1, &scope, holds));
            }
        }
        builder.build()
    }

    /// Returns the rows as evaluations of the configurations of `space` with the same values. Rows
    /// that are not configurations of it are left out. A parameter that one side lacks does not
    /// matter if the other side has a single value for it.
    ///
    /// Costs one rank per row.
    pub fn evaluations(&self, space: &Space) -> Vec<Evaluation> {
        self.recorded(space).into_iter().map(|recorded| recorded.evaluation).collect()
    }

    /// Returns the [`evaluations`](Self::evaluations) with their recorded noise and costs.
    pub fn recorded(&self, space: &Space) -> Vec<Recorded> {
        let Some(columns) = self.columns(space) else { return Vec::new() };
        let evaluation = |row: &Row| {
            let mut indices = Vec::with_capacity(columns.len());
            for (column, parameter) in columns.iter().zip(space.parameters()) {
                let index = match column {
                    Some(at) => parameter.index_alike(&row.values[*at])?,
                    None => 0,
                };
                indices.push(u32::try_from(index).ok()?);
            }
            let request = Request::timed(space.rank_indices(&indices)?);
            let (failure, measurement) = (row.failure.clone(), as_measured(row));
            let evaluation = Evaluation { request, failure, measurement, clock: Duration::ZERO, proposed: None };
            Some(Recorded { evaluation, rel_std: row.rel_std.or_else(|| spread(row)), cost_ms: row.cost_ms() })
        };
        self.rows().iter().filter_map(evaluation).collect()
    }

    /// Returns, for every parameter of `space`, the column with its values. Returns `None` if the
    /// parameters do not match.
    fn columns(&self, space: &Space) -> Option<Vec<Option<usize>>> {
        let is_fixed = |parameter: &Parameter| parameter.values().len() == 1;
        let extra = self.parameters().iter().any(|own| space.parameter_index(own.name()).is_none() && !is_fixed(own));
        let column = |parameter: &Parameter| {
            let at = self.parameters().iter().position(|own| own.name() == parameter.name());
            (at.is_some() || is_fixed(parameter)).then_some(at)
        };
        if extra { None } else { space.parameters().iter().map(column).collect() }
    }
}

/// Maximum number of combinations of values per row that may be looked at. Journals of searches
/// have few rows of large spaces.
const SPARSE: f64 = 1000.0;

/// The names that files of other tools give to what compilers tell, and ours ([`CompileData`]). What
/// CUDA calls shared memory, OpenCL and KTT call local.
const RESOURCES: [(&str, &str); 7] = [
    (REGISTERS, "registers"),
    ("private_mem_bytes", "local_bytes"),
    ("PrivateMemorySize", "local_bytes"),
    ("shared_mem_bytes", "shared_bytes"),
    ("LocalMemorySize", "shared_bytes"),
    ("const_mem_bytes", "constant_bytes"),
    ("ConstantMemorySize", "constant_bytes"),
];

/// Returns the standard deviation of the samples of a row as a share of their mean, if its time is one that the file
/// states.
fn spread(row: &Row) -> Option<f64> {
    let samples = &row.measurement.times_ms;
    row.stated_ms.filter(|_| samples.len() > 1)?;
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let variance = samples.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (samples.len() - 1) as f64;
    Some(variance.sqrt() / mean).filter(|spread| spread.is_finite())
}

/// Returns the measurement of a row as a device would yield it. A time that the file states is the only sample, so
/// that the row has this score everywhere. Of other numbers that do not pair with the samples, the median holds for
/// every sample. What the compiler told is added.
fn as_measured(row: &Row) -> Measurement {
    let mut measurement = row.measurement.clone();
    if let Some(stated) = row.stated_ms.filter(|stated| statistics::median(&measurement.times_ms) != Some(*stated)) {
        measurement.times_ms = vec![stated];
    }
    let samples = measurement.times_ms.len();
    for values in measurement.values.values_mut().filter(|values| samples > 0 && values.len() != samples) {
        *values = statistics::median(values).map_or_else(Vec::new, |median| vec![median; samples]);
    }
    let number = |name| measurement.values.get(name).and_then(|values: &Vec<f64>| values.first().copied());
    let known: Vec<(String, f64)> =
        RESOURCES.iter().filter_map(|(theirs, ours)| Some(((*ours).to_string(), number(*theirs)?))).collect();
    if !known.is_empty() {
        measurement.compile.get_or_insert_default().resources.extend(known);
    }
    measurement
}

/// The codes of the values of every parameter. Rows of codes take a fraction of the memory.
struct Codes(Vec<HashMap<Value, u32>>);

impl Codes {
    fn new<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Self {
        Self(parameters.map(|parameter| parameter.values().iter().cloned().zip(0..).collect()).collect())
    }

    /// Returns the codes of the first parameters' values.
    fn of(&self, values: &[Value]) -> Option<Vec<u32>> {
        values.iter().zip(&self.0).map(|(value, codes)| codes.get(value).copied()).collect()
    }

    fn of_row(&self, row: &Row, places: &[usize]) -> Option<Vec<u32>> {
        places.iter().zip(&self.0).map(|(at, codes)| codes.get(&row.values[*at]).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, FailureKind, Measurement, recording::Column};

    /// Returns the configurations of 4 x 4 x 4 x 1 without those of an irregular pattern.
    fn recording() -> Recording {
        let values =
            (0..64i64).filter(|at| (at * at * 7 + at / 3) % 5 < 2).map(|at| vec![at / 16, at / 4 % 4, at % 4, 9]);
        let row = |values: Vec<i64>| {
            let measurement = Measurement { times_ms: vec![1.0 + values[0] as f64], ..Measurement::default() };
            let failure = (values[2] == 3).then(|| Failure::new(FailureKind::Runtime, "x"));
            Row { values: values.into_iter().map(Value::Int).collect(), failure, measurement, ..Row::default() }
        };
        let columns = ["A", "B", "C", "D"].map(Column::of_rows).into();
        Recording::new("pattern", columns, values.map(row).collect()).unwrap()
    }

    #[test]
    fn the_numbers_of_other_tools_compilers_are_resources() {
        let mut rows = recording().rows().to_vec();
        let values = [("registers", 40.0), ("PrivateMemorySize", 8.0), ("global_size", 64.0)];
        rows[0].measurement.values = values.map(|(name, value)| (name.to_string(), vec![value])).into();
        let columns = recording().parameters().iter().map(|one| Column::of_rows(one.name())).collect();
        let recording = Recording::new("ktt", columns, rows).unwrap();
        let evaluations = recording.evaluations(&recording.space().unwrap());
        let known: Vec<_> = evaluations.iter().filter_map(|known| known.measurement.compile.as_ref()).collect();
        assert_eq!(known.len(), 1, "nothing is added where nothing is known");
        let resources = &known[0].resources;
        assert_eq!((resources.len(), resources["registers"], resources["local_bytes"]), (2, 40.0, 8.0));
    }

    #[test]
    fn without_constraints_the_rows_are_the_space() {
        let recording = recording();
        let space = recording.space().unwrap();
        assert_eq!(space.len(), Some(recording.rows().len() as u128));
        assert_eq!(recording.evaluations(&space).len(), recording.rows().len());
    }

    /// The journal of a search: few rows of 10^8 combinations, too many to enumerate.
    #[test]
    fn few_rows_of_many_combinations_are_a_space_at_once() {
        let lengths = [8, 8, 7, 2, 5, 6, 2, 5, 4, 4, 3, 7, 8, 2];
        let row = |number: i64| Row {
            values: (1..)
                .zip(lengths)
                .map(|(at, length)| Value::Int((number * number + number * at) / 3 % length))
                .collect(),
            ..Row::default()
        };
        let columns = (0..lengths.len()).map(|at| Column::of_rows(format!("P{at}"))).collect();
        let recording = Recording::new("journal", columns, (0..60).map(row).collect()).unwrap();
        let space = recording.space().unwrap();
        assert_eq!(space.len(), Some(recording.rows().len() as u128));
        assert_eq!(recording.evaluations(&space).len(), recording.rows().len());
        let combinations: f64 = space.parameters().iter().map(|parameter| parameter.values().len() as f64).product();
        assert!(combinations > 5e7 && recording.rows().len() > 30, "{combinations:e}");
    }

    #[test]
    fn constraints_count_only_when_they_give_exactly_the_rows() {
        let mut recording = recording();
        for wrong in ["A <= B", "A <", "A / 0 == 1", "A > 5", "UNKNOWN == 1"] {
            recording.constraints = vec![wrong.to_string()];
            assert_eq!(recording.space().unwrap().len(), Some(recording.rows().len() as u128), "{wrong}");
        }
        recording.constraints = vec!["(A*16+B*4+C) * (A*16+B*4+C) * 7 % 5 >= 0".to_string()];
        assert_eq!(recording.space().unwrap().len(), Some(recording.rows().len() as u128));
        recording.constraints = vec!["((A*16+B*4+C) * (A*16+B*4+C) * 7 + (A*16+B*4+C) // 3) % 5 < 2".to_string()];
        let space = recording.space().unwrap();
        assert_eq!(space.constraints().len(), 1, "exact constraints are taken");
    }

    #[test]
    fn rows_meet_the_configurations_of_another_space_by_value() {
        let list = |name: &str, values: &[i64]| Parameter::new(name, values.iter().map(|v| Value::Int(*v))).unwrap();
        let flag = Parameter::new("C", [Value::Bool(false), Value::Bool(true)]).unwrap();
        let space = Space::builder()
            .parameter(list("B", &[3, 2, 1, 0]))
            .parameter(list("A", &[0, 1, 2, 3]))
            .parameter(flag)
            .parameter(list("FIXED", &[7]))
            .build()
            .unwrap();
        let recording = recording();
        let evaluations = recording.evaluations(&space);
        let expected = recording.rows().iter().filter(|row| row.values[2].as_int() < Some(2)).count();
        assert_eq!(evaluations.len(), expected);
        let smaller = Space::builder().parameter(list("A", &[0, 1])).build().unwrap();
        assert!(recording.evaluations(&smaller).is_empty(), "B and C vary, and the space lacks them");
    }
}
