//! Inputs of a problem: the listed ones, and combinations of its sizes.

use crate::{Input, Inputs, Problem, ProblemError};
use rand::SeedableRng as _;
use rand::seq::index;
use serde_json::{Map, Value as Json};
use tunesmith_core::Rng;
use tunesmith_space::{Constraint, Expr, Value, lookup};
use tunesmith_spec::{Key, MOST_INPUTS};

impl Problem {
    /// Returns the inputs of `[inputs]`: first those listed, then the combinations of its sizes.
    /// With `count`, that many combinations are drawn at random with its seed. Each input has all
    /// sizes of the problem. Costs an evaluation of the filter for each combination.
    ///
    /// # Errors
    /// There is no `[inputs]`, there are too many combinations, or none is left; or an expression
    /// cannot be evaluated.
    pub fn input_sizes(&self) -> Result<Vec<Input>, ProblemError> {
        let Some(inputs) = self.spec.inputs() else {
            let remedy = "write [inputs] with sizes or a list; see docs/predictive.md".to_string();
            return Err(self.error(&Key::default(), "the problem has no `[inputs]`".to_string(), Some(remedy)));
        };
        let (mut all, mut drawn) = (self.listed(inputs)?, self.combined(inputs)?);
        if let Some(count) = inputs.count.filter(|count| *count < drawn.len()) {
            let chosen = index::sample(&mut Rng::seed_from_u64(inputs.seed), drawn.len(), count);
            let mut chosen = chosen.into_vec();
            chosen.sort_unstable();
            drawn = chosen.into_iter().map(|index| drawn[index].clone()).collect();
        }
        drawn.retain(|input| !all.contains(input));
        all.extend(drawn);
        if all.is_empty() {
            let remedy = "widen the sizes or weaken the filter".to_string();
            return Err(self.error(&Key::of("inputs"), "`filter` leaves no input".to_string(), Some(remedy)));
        }
        Ok(all)
    }

    /// Returns all inputs that `[inputs]` could draw from, whatever its `count`: those listed, then every combination
    /// of its sizes that the filter passes. There are none without `[inputs]`.
    ///
    /// # Errors
    /// There are too many combinations, or an expression cannot be evaluated.
    pub fn all_input_sizes(&self) -> Result<Vec<Input>, ProblemError> {
        let Some(inputs) = self.spec.inputs() else { return Ok(Vec::new()) };
        Ok(self.listed(inputs)?.into_iter().chain(self.combined(inputs)?).collect())
    }

    /// Returns all sizes of the input that has the `given` ones, if the filter of `[inputs]` passes it. Sizes that follow
    /// from others there follow from them.
    ///
    /// # Errors
    /// An expression cannot be evaluated.
    pub fn admitted(&self, given: &[(String, Value)]) -> Result<Option<Input>, ProblemError> {
        let none = Inputs::default();
        let inputs = self.spec.inputs().unwrap_or(&none);
        let is_free = |(name, _): &&(String, Value)| inputs.derived.iter().all(|(derived, _)| derived != name);
        let input = self.completed(inputs, given.iter().filter(is_free).cloned().collect())?;
        Ok(self.passes(inputs, &input)?.then_some(input))
    }

    /// Returns the inputs that are listed one by one.
    fn listed(&self, inputs: &Inputs) -> Result<Vec<Input>, ProblemError> {
        inputs.list.iter().map(|input| self.completed(inputs, input.clone())).collect()
    }

    /// Returns the combinations of sizes that the filter passes.
    fn combined(&self, inputs: &Inputs) -> Result<Vec<Input>, ProblemError> {
        let Some(combinations) = inputs.combinations() else {
            let text = format!("there are more than {MOST_INPUTS} combinations of sizes");
            return Err(self.error(&Key::of("inputs"), text, Some("name fewer values".to_string())));
        };
        let mut passing = Vec::new();
        for index in 0..combinations {
            let input = self.completed(inputs, inputs.combination(index))?;
            if self.passes(inputs, &input)? {
                passing.push(input);
            }
        }
        Ok(passing)
    }

    /// Returns all sizes of the problem, with those of `input` and those derived from them.
    fn completed(&self, inputs: &Inputs, input: Input) -> Result<Input, ProblemError> {
        let mut sizes = self.spec.sizes().to_vec();
        for (name, value) in &input {
            replace(&mut sizes, name, value.clone());
        }
        for (name, expr) in inputs.derived.iter().filter(|(name, _)| lookup(&input, name).is_none()) {
            let value = expr.evaluate_int(&|name| lookup(&sizes, name));
            let key = Key::of("inputs").field("sizes").field(name);
            let value =
                value.map_err(|error| self.in_expression(expr, &key, &error.to_string(), error.remedy.clone()))?;
            replace(&mut sizes, name, Value::Int(value));
        }
        Ok(sizes)
    }

    /// Returns the features of inputs as journals write them.
    pub fn input_features(&self) -> Map<String, Json> {
        let features = self.spec.inputs().into_iter().flat_map(|inputs| &inputs.features);
        features.map(|(name, expr)| (name.clone(), Json::from(expr.text()))).collect()
    }

    /// Returns the constraints as journals write them.
    pub fn named_constraints(&self) -> Map<String, Json> {
        let text = |constraint: &Constraint| Json::from(constraint.expr().text());
        // A constraint that is a closure cannot be written down.
        let written = self.spec.constraints().iter().filter(|constraint| constraint.closure_version().is_none());
        written.map(|constraint| (constraint.name().to_string(), text(constraint))).collect()
    }

    fn passes(&self, inputs: &Inputs, input: &Input) -> Result<bool, ProblemError> {
        let Some(filter) = &inputs.filter else { return Ok(true) };
        let key = Key::of("inputs").field("filter");
        let value = filter.evaluate(&|name| lookup(input, name));
        let value =
            value.map_err(|error| self.in_expression(filter, &key, &error.to_string(), error.remedy.clone()))?;
        match value.as_float() {
            Some(number) => Ok(number != 0.0),
            None => Err(self.in_expression(filter, &key, &format!("must be true or false, but is {value}"), None)),
        }
    }

    fn in_expression(&self, expr: &Expr, key: &Key, error: &str, remedy: Option<String>) -> ProblemError {
        self.error(key, format!("in `{}`: {error}", expr.text()), remedy)
    }
}

fn replace(sizes: &mut Input, name: &str, value: Value) {
    sizes.iter_mut().filter(|(known, _)| known == name).for_each(|(_, old)| *old = value.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the values of `names` in each input of a problem with these `[inputs]`.
    fn inputs(text: &str, names: &[&str]) -> Vec<Vec<i64>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        let head = "[problem]\nsizes = { M = 1, N = 2, K = 3 }\n[parameters]\nX = [1]\n[inputs]\n";
        std::fs::write(&path, format!("{head}{text}")).unwrap();
        let all = Problem::load(&path, &[]).unwrap().input_sizes().unwrap();
        let value = |input: &Input, name: &str| lookup(input, name).and_then(|value| value.as_int()).unwrap();
        all.iter().map(|input| names.iter().map(|name| value(input, name)).collect()).collect()
    }

    #[test]
    fn combinations_come_in_order_with_what_follows_from_them_and_other_sizes_as_they_are() {
        let found =
            inputs("filter = \"M * N <= 40\"\nsizes = { M = [4, 8], N = [5, 6], K = \"M + N\" }\n", &["M", "N", "K"]);
        assert_eq!(found, [[4, 5, 9], [4, 6, 10], [8, 5, 13]]);
        assert_eq!(inputs("sizes = { M = [4] }\n", &["M", "N", "K"]), [[4, 2, 3]]);
    }

    #[test]
    fn a_listed_input_keeps_what_it_names_and_is_not_drawn_again() {
        let text = "list = [{ M = 4 }, { M = 4, K = 9 }]\nsizes = { M = [4, 5], K = \"2 * M\" }\n";
        assert_eq!(inputs(text, &["M", "K"]), [[4, 8], [4, 9], [5, 10]]);
    }

    #[test]
    fn as_many_as_wanted_are_drawn_without_repeats_and_a_seed_draws_the_same() {
        let of_seed = |seed: u64| {
            let text = format!("count = 10\nseed = {seed}\nsizes = {{ M = {{ range = \"1..=20\" }}, N = [1, 2] }}\n");
            inputs(&text, &["M", "N"])
        };
        let found = of_seed(1);
        let distinct: std::collections::BTreeSet<_> = found.iter().collect();
        assert_eq!((found.len(), distinct.len()), (10, 10));
        assert_eq!(found, of_seed(1));
        assert_ne!(found, of_seed(2));
    }
}
