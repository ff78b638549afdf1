//! Recordings: measurements of a space by any tool. All files of measurements are read into this
//! form.

mod context;
mod difference;
mod error;
mod mismatch;
mod possible;
mod ranking;
mod row;
mod space;

pub use context::Context;
pub use difference::subject_differences;
pub use error::RecordingError;
pub use ranking::Ranking;
pub use row::{Costs, Row};

use crate::counters::Hardware;
use crate::{DeviceClass, Evaluation, Launch};
use std::collections::{BTreeMap, HashMap, HashSet};
use tunesmith_space::{Parameter, SpaceError, Value, ValueKind, of_one_kind};

/// The measurements of many configurations of one kernel on one device, and the number that ranks
/// them. Times are in milliseconds, whatever the unit of the file.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The name in reports.
    pub name: String,
    /// The kernel, if the file names it.
    pub kernel: Option<String>,
    /// The device, if the file names it.
    pub device: Option<String>,
    /// The class of the device, if the file states it.
    pub device_class: Option<DeviceClass>,
    /// The size of the device, if the file states it.
    pub hardware: Hardware,
    /// The input and the device of the recording, as far as the file states them.
    pub context: Context,
    /// The constraints of the space as expressions, if the file has them.
    pub constraints: Vec<String>,
    /// The work-items of the launches on a GPU, if the file states them.
    pub launch: Option<Launch>,
    /// Further statements of the file about the subject of the measurements, by name: problem sizes, the
    /// precision, arguments. Recordings that differ in one of them are no repeats of one another.
    pub subject: BTreeMap<String, String>,
    /// The assumptions of the reader, where the file says nothing, each as a sentence
    /// without its full stop.
    pub assumptions: Vec<String>,
    ranking: Ranking,
    parameters: Vec<Parameter>,
    rows: Vec<Row>,
}

/// A column of a file: a parameter, with its values if the file lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The parameter's name.
    pub name: String,
    /// Its values in the user's order. With `None` they come from the rows: numbers ascending,
    /// texts in order of appearance.
    pub values: Option<Vec<Value>>,
}

impl Column {
    /// Creates a column with the values that occur in the rows.
    pub fn of_rows(name: impl Into<String>) -> Self {
        Self { name: name.into(), values: None }
    }
}

/// A row as an evaluation in a space, with the numbers that a replay of its noise and its costs
/// needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The measurement.
    pub evaluation: Evaluation,
    /// The standard deviation of the samples as a share of their mean, if the file has it.
    pub rel_std: Option<f64>,
    /// The wall time of the evaluation in milliseconds ([`Row::cost_ms`]).
    pub cost_ms: f64,
}

impl From<Evaluation> for Recorded {
    /// Creates a record without noise or cost.
    fn from(evaluation: Evaluation) -> Self {
        Self { evaluation, rel_std: None, cost_ms: 0.0 }
    }
}

impl Recording {
    /// Creates the recording of `rows`, whose values are in the order of `columns`.
    ///
    /// If several rows have the same configuration, the first one counts. Later rows with the same
    /// outcome are repeats: they add their samples, and counters that the first row lacks.
    ///
    /// # Errors
    ///
    /// Fails if there are no rows or columns, if two columns have the same name, if a row has another
    /// length, if a column does not list a value, or if values do not make a parameter.
    ///
    /// Numbers that no clock shows are left out. A row that is left without a time above 0 becomes
    /// a failure: as 0 it would win.
    ///
    /// Costs one hash per row.
    pub fn new(name: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Result<Self, RecordingError> {
        Self::ranked(name, columns, rows, Ranking::default())
    }

    /// Creates the recording of `rows` whose file states the objective `ranking`.
    ///
    /// # Errors
    ///
    /// As of [`new`](Self::new). A row without the number that ranks it becomes a failure.
    pub fn ranked(
        name: impl Into<String>,
        columns: Vec<Column>,
        rows: Vec<Row>,
        ranking: Ranking,
    ) -> Result<Self, RecordingError> {
        let name = name.into();
        if rows.is_empty() || columns.is_empty() {
            return Err(RecordingError::Empty);
        }
        if let Some(name) = repeated(&columns) {
            return Err(RecordingError::Parameter(SpaceError::DuplicateName { name: name.to_string() }));
        }
        if let Some(row) = rows.iter().position(|row| row.values.len() != columns.len()) {
            return Err(RecordingError::Length { row, found: rows[row].values.len(), expected: columns.len() });
        }
        let parameter = |(at, column): (usize, Column)| {
            let values = column.values.unwrap_or_else(|| distinct(rows.iter().map(|row| &row.values[at])));
            Parameter::new(column.name, of_one_kind(values)).map_err(RecordingError::Parameter)
        };
        let parameters: Vec<Parameter> =
            columns.into_iter().enumerate().map(parameter).collect::<Result<_, RecordingError>>()?;
        let quantities = ranking.quantities();
        let possible = rows.into_iter().map(|row| possible::row(row, &quantities)).collect();
        let rows = merged(&parameters, possible)?;
        Ok(Self {
            name,
            kernel: None,
            device: None,
            hardware: Hardware::default(),
            context: Context::default(),
            constraints: Vec::new(),
            device_class: None,
            launch: None,
            subject: BTreeMap::new(),
            assumptions: Vec::new(),
            ranking,
            parameters,
            rows,
        })
    }

    /// Returns the parameters, in the file's order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the rows, each configuration once, in the file's order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the class of the device: the one that the file states, or that of a GPU if it states a launch on one.
    pub fn device_class(&self) -> Option<DeviceClass> {
        self.device_class.or_else(|| self.launch.as_ref().map(|_| DeviceClass::Gpu))
    }

    /// Returns the work-items of the launches on a GPU: those that the file states, or else those that the names of the
    /// parameters tell ([`Launch::by_names`]).
    pub fn launch(&self) -> Option<Launch> {
        self.launch.clone().or_else(|| Launch::by_names(&self.parameters))
    }

    /// Returns the number of correct configurations.
    pub fn correct(&self) -> usize {
        self.rows.iter().filter(|row| row.failure.is_none()).count()
    }

    /// Removes the configurations that failed, for comparison with papers that count only those
    /// that ran. If all failed, removes nothing, because a recording has rows.
    pub fn leave_out_failures(&mut self) {
        if self.correct() > 0 {
            self.rows.retain(|row| row.failure.is_none());
        }
    }

    /// Returns the time of the fastest correct configuration in milliseconds, or `None` if all
    /// failed.
    pub fn optimum_ms(&self) -> Option<f64> {
        self.rows.iter().filter_map(Row::time_ms).min_by(f64::total_cmp)
    }

    /// Adds the rows of `other`, a recording of the same parameters. Rows of configurations that both
    /// have become repeats, whatever they were measured on: [`join`](Self::join) asks for the same subject.
    ///
    /// # Errors
    ///
    /// Fails if the parameters or their values differ.
    pub fn merge(&mut self, other: Recording) -> Result<(), RecordingError> {
        if self.parameters != other.parameters {
            return Err(RecordingError::OtherSpace { first: self.name.clone(), second: other.name });
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.extend(other.rows);
        self.rows = merged(&self.parameters, rows)?;
        if self.constraints != other.constraints {
            self.constraints.clear();
        }
        let known = &self.assumptions;
        let new: Vec<String> = other.assumptions.into_iter().filter(|one| !known.contains(one)).collect();
        self.assumptions.extend(new);
        Ok(())
    }

    /// Adds the rows of `other`, a recording of the same subject, as [`merge`](Self::merge) does. Values that
    /// only one of them has for a parameter are added to the other one.
    ///
    /// # Errors
    ///
    /// Fails if the recordings differ in parameters, kernel, device, objective or anything else that
    /// a file states ([`differences`](Self::differences)).
    pub fn join(&mut self, mut other: Recording) -> Result<(), RecordingError> {
        let differences = self.differences(&other);
        if !differences.is_empty() {
            return Err(RecordingError::OtherSubject { first: self.name.clone(), second: other.name, differences });
        }
        let joined = |(own, theirs): (&Parameter, &Parameter)| {
            let new = theirs.values().iter().filter(|value| own.index_alike(value).is_none());
            let values = of_one_kind(own.values().iter().chain(new).cloned().collect());
            Parameter::new(own.name(), values).map_err(RecordingError::Parameter)
        };
        let parameters = self.parameters.iter().zip(&other.parameters).map(joined);
        self.parameters = parameters.collect::<Result<_, RecordingError>>()?;
        other.parameters.clone_from(&self.parameters);
        self.merge(other)
    }
}

/// Returns a name that two columns have.
fn repeated(columns: &[Column]) -> Option<&str> {
    let mut seen = HashSet::with_capacity(columns.len());
    columns.iter().map(|column| column.name.as_str()).find(|name| !seen.insert(*name))
}

/// Returns the values that occur: numbers and booleans ascending, so that neighbours are near, and
/// texts in order of appearance.
fn distinct<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut seen = HashMap::new();
    // By numeric value if there is one: 1 and 1.0 are the same value in a list of floats.
    let key = |value: &Value| match value {
        Value::Int(int) => (ValueKind::Float, (*int as f64).to_bits(), String::new()),
        Value::Float(float) => (ValueKind::Float, (float + 0.0).to_bits(), String::new()),
        other => (other.kind(), 0, other.to_string()),
    };
    let mut list: Vec<Value> = values.filter(|value| seen.insert(key(value), ()).is_none()).cloned().collect();
    if list.iter().all(|value| value.kind() != ValueKind::Str) {
        list.sort_by(|a, b| a.as_float().unwrap_or(0.0).total_cmp(&b.as_float().unwrap_or(0.0)));
    }
    list
}

/// Merges repeats. Returns the rows with each value in the form of its parameter.
fn merged(parameters: &[Parameter], rows: Vec<Row>) -> Result<Vec<Row>, RecordingError> {
    let mut places: HashMap<Vec<Value>, usize> = HashMap::with_capacity(rows.len());
    let mut merged: Vec<Row> = Vec::with_capacity(rows.len());
    for (at, mut row) in rows.into_iter().enumerate() {
        for (parameter, value) in parameters.iter().zip(&mut row.values) {
            let index = parameter.index_alike(value).ok_or_else(|| RecordingError::Value {
                row: at,
                parameter: parameter.name().to_string(),
                value: value.clone(),
            })?;
            *value = parameter.values()[index].clone();
        }
        match places.get(&row.values) {
            Some(place) => merged[*place].repeat(row),
            None => {
                places.insert(row.values.clone(), merged.len());
                merged.push(row);
            }
        }
    }
    Ok(merged)
}

impl Row {
    /// Adds the measurement of a repeated evaluation.
    fn repeat(&mut self, again: Row) {
        if self.failure.as_ref().map(|failure| failure.kind) != again.failure.as_ref().map(|failure| failure.kind) {
            return;
        }
        self.measurement.times_ms.extend(again.measurement.times_ms);
        for (name, samples) in again.measurement.values {
            let own = self.measurement.values.entry(name).or_default();
            if !is_one_number(own, &samples) {
                own.extend(samples);
            }
        }
        // A statement about some of the samples does not hold for all of them.
        (self.stated_ms, self.rel_std) = (None, None);
        for (name, value) in again.measurement.counters {
            self.measurement.counters.entry(name).or_insert(value);
        }
    }
}

/// Returns true if the samples of a number and those of its repeat are all the same: a property of the configuration,
/// such as its registers, and no measurement that was made again.
fn is_one_number(own: &[f64], again: &[f64]) -> bool {
    own.first().is_some_and(|first| own.iter().chain(again).all(|sample| sample == first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;

    fn row(values: &[i64], time: f64) -> Row {
        let measurement = Measurement { times_ms: vec![time], ..Measurement::default() };
        Row { values: values.iter().map(|value| Value::Int(*value)).collect(), measurement, ..Row::default() }
    }

    #[test]
    fn values_come_from_the_rows_in_ascending_order_and_repeats_are_put_together() {
        let columns = vec![Column::of_rows("X"), Column::of_rows("Y")];
        let rows = vec![row(&[4, 1], 3.0), row(&[2, 1], 1.0), row(&[4, 1], 5.0)];
        let recording = Recording::new("r", columns, rows).unwrap();
        assert_eq!(recording.parameters()[0].values(), [Value::Int(2), Value::Int(4)]);
        assert_eq!(recording.rows().len(), 2);
        assert_eq!(recording.rows()[0].measurement.times_ms, [3.0, 5.0]);
        assert_eq!(recording.rows()[0].time_ms(), Some(4.0));
        assert_eq!((recording.optimum_ms(), recording.correct()), (Some(1.0), 2));
    }

    #[test]
    fn a_number_that_repeats_share_stays_one_and_others_become_samples() {
        let with = |registers: f64, power: f64| {
            let mut row = row(&[1], 1.0);
            row.measurement.values = [("registers", registers), ("power", power)]
                .map(|(name, number)| (name.to_string(), vec![number]))
                .into();
            row
        };
        let rows = vec![with(32.0, 50.0), with(32.0, 51.0), with(32.0, 50.0)];
        let recording = Recording::new("r", vec![Column::of_rows("X")], rows).unwrap();
        let Measurement { times_ms, values, .. } = &recording.rows()[0].measurement;
        assert_eq!(times_ms, &[1.0; 3]);
        assert_eq!((&values["registers"], &values["power"]), (&vec![32.0], &vec![50.0, 51.0, 50.0]));
    }

    #[test]
    fn an_evaluation_costs_what_the_file_says_and_else_its_launches() {
        let compile = Some(crate::CompileData { time_ms: 100.0, ..Default::default() });
        let mut row = row(&[1], 3.0);
        row.measurement.compile = compile;
        (row.costs.framework_ms, row.costs.search_ms) = (Some(10.0), Some(5000.0));
        row.measurement.warmup_ms = Some(4.0);
        assert_eq!(row.cost_ms(), 117.0);
        row.costs.benchmark_ms = Some(50.0);
        assert_eq!(row.cost_ms(), 160.0);
    }

    #[test]
    fn rows_that_do_not_fit_are_refused_with_their_number() {
        let listed = vec![Column { name: "X".into(), values: Some(vec![Value::Int(1)]) }];
        let error = Recording::new("r", listed, vec![row(&[1], 1.0), row(&[2], 1.0)]).unwrap_err();
        assert_eq!(error.row(), Some(1));
        let error = Recording::new("r", vec![Column::of_rows("X")], vec![row(&[1, 2], 1.0)]).unwrap_err();
        assert_eq!(error.to_string(), "2 values for 1 parameters");
        assert!(Recording::new("r", vec![Column::of_rows("X")], Vec::new()).is_err());
    }

    #[test]
    fn recordings_of_one_space_merge_and_others_are_refused() {
        let of = |rows| Recording::new("r", vec![Column::of_rows("X")], rows).unwrap();
        let mut first = of(vec![row(&[1], 1.0), row(&[2], 2.0)]);
        first.merge(of(vec![row(&[1], 3.0), row(&[2], 2.0)])).unwrap();
        assert_eq!(first.rows()[0].measurement.times_ms, [1.0, 3.0]);
        assert!(first.merge(of(vec![row(&[3], 1.0)])).is_err());
    }

    #[test]
    fn recordings_of_one_subject_join_and_others_are_refused_with_every_difference() {
        let of = |name: &str, rows| Recording::new("r", vec![Column::of_rows(name)], rows).unwrap();
        let mut first = of("X", vec![row(&[1], 1.0), row(&[2], 2.0)]);
        first.join(of("X", vec![row(&[3], 1.0), row(&[1], 3.0)])).unwrap();
        assert_eq!(first.parameters()[0].values(), [1, 2, 3].map(Value::Int));
        assert_eq!((first.rows().len(), first.rows()[0].time_ms()), (3, Some(2.0)));
        let mut other = of("X", vec![row(&[1], 1.0)]);
        other.device = Some("a".into());
        other.subject.insert("precision".into(), "64".into());
        let error = first.join(other).unwrap_err().to_string();
        assert_eq!(error, "`r` and `r` differ: device: not stated and `a`; precision: not stated and `64`");
        assert!(first.join(of("Y", vec![row(&[1], 1.0)])).is_err());
    }
}
