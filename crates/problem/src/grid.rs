//! Configurations of `[tuning] grid`.

use crate::{Problem, ProblemError};
use std::collections::HashSet;
use tunesmith_space::{ConfigId, Configuration, Space, Value};
use tunesmith_spec::Key;

/// Maximum number of combinations. A grid is meant to be walked through; more are a mistake.
const MOST: usize = 1 << 20;

impl Problem {
    /// Returns the valid configurations of the grid, each once, in the order of its tables. The
    /// last parameter of a table changes fastest. Returns `None` if the problem has no grid. Costs
    /// a rank for each combination.
    ///
    /// # Errors
    /// The grid has an unknown name or value, has more than a million combinations, or has none
    /// that is valid.
    pub fn grid(&self, space: &Space, base: Option<&Configuration>) -> Result<Option<Vec<ConfigId>>, ProblemError> {
        if self.spec.tuning().grid.is_empty() {
            return Ok(None);
        }
        let refuse = |text: String, remedy: &str| {
            self.error(&Key::of("tuning").field("grid"), format!("the grid: {text}"), Some(remedy.to_string()))
        };
        let (mut seen, mut configs) = (HashSet::new(), Vec::new());
        for table in &self.spec.tuning().grid {
            let combinations = table.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()));
            let combinations = combinations.filter(|all| *all <= MOST);
            let combinations =
                combinations.ok_or_else(|| refuse(format!("more than {MOST} combinations"), "name fewer values"))?;
            for index in 0..combinations {
                let configuration = space.configuration(&combination(table, index), base);
                let configuration =
                    configuration.map_err(|error| refuse(error.to_string(), "name values that the parameter has"))?;
                configs.extend(space.rank(&configuration).filter(|config| seen.insert(*config)));
            }
        }
        if configs.is_empty() {
            return Err(refuse("constraints exclude all of it".to_string(), "name other values"));
        }
        Ok(Some(configs))
    }
}

fn combination(table: &[(String, Vec<Value>)], mut index: usize) -> Vec<(&str, Value)> {
    let mut pairs = Vec::with_capacity(table.len());
    for (name, values) in table.iter().rev() {
        pairs.push((name.as_str(), values[index % values.len()].clone()));
        index /= values.len();
    }
    pairs
}
