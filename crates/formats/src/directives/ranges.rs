//! Reads the ranges of tuning parameters.

use super::Reader;
use super::translate::{Translator, bracket, split};
use std::ops::Range;
use tunesmith_core::Refusal;
use tunesmith_space::{Expr, Value, lookup};
use tunesmith_spec::{Bounds, ValuesDraft};

/// The variable of a generator's expression.
const ITEM: &str = "item";

/// Maximum number of values. A range with more is a mistake.
const MOST: f64 = 4_194_304.0;

impl Reader<'_> {
    /// Returns the values of `{1, 2, 4}`, `set(1, 2)`, or `interval<T>(first, last)` with a step, a
    /// generator or both. `kind` is the type of an interval that has none.
    pub(super) fn values(&self, place: &Range<usize>, kind: &str) -> Result<ValuesDraft, Refusal> {
        let plain = self.clean[place.clone()].trim().trim_start_matches("atf::");
        let wrong = |text: String| Refusal::new(text, None);
        if plain.starts_with('{') || plain.starts_with("set") {
            let open = plain.find(['{', '(']).unwrap_or(0);
            let (inside, _) = bracket(&plain[open..]).map_err(wrong)?;
            // `set({1, 2})` is the C++ interface's form.
            let inside = inside.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(inside);
            let values: Result<Vec<Value>, Refusal> =
                split(inside).map_err(wrong)?.into_iter().map(|item| self.value(item)).collect();
            return values.map(ValuesDraft::List);
        }
        let Some(interval) = plain.strip_prefix("interval") else {
            let remedy = "ranges are {1, 2, 4} and interval<T>(first, last, step or generator)".to_string();
            return Err(Refusal::new(format!("`{plain}` is no range"), Some(remedy)));
        };
        let open = interval.find('(').ok_or_else(|| wrong("`interval` needs its ends in parentheses".to_string()))?;
        let own = interval[..open].trim().trim_start_matches('<').trim_end_matches('>').trim();
        let (inside, _) = bracket(&interval[open..]).map_err(wrong)?;
        self.interval(if own.is_empty() { kind } else { own }, &split(inside).map_err(wrong)?)
    }

    fn interval(&self, kind: &str, arguments: &[&str]) -> Result<ValuesDraft, Refusal> {
        let is_generator = |part: &&str| part.starts_with('[') || part.ends_with("pow_2");
        let (generators, numbers): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|part| is_generator(part));
        let [first, last, step @ ..] = &numbers[..] else {
            return Err(Refusal::new("`interval` needs a first and a last value".to_string(), None));
        };
        let (first, last) = (self.value(first)?, self.value(last)?);
        let step = step.first().map_or(Ok(Value::Int(1)), |step| self.value(step))?;
        let is_float = matches!(kind, "float" | "double");
        if !is_float && kind != "bool" && generators.is_empty() {
            return Ok(whole_range([whole(&first)?, whole(&last)?, whole(&step)?]));
        }
        let values =
            if is_float { float_interval(&first, &last, &step)? } else { whole_interval(&first, &last, &step)? };
        let values = match generators.first() {
            Some(generator) => self.generated(generator, values)?,
            None => values,
        };
        let truth = |value: &Value| Value::Bool(value.as_int() != Some(0));
        Ok(ValuesDraft::List(if kind == "bool" { values.iter().map(truth).collect() } else { values }))
    }

    /// Returns the result of the generator `[](auto i){ return ..; }` or `atf::pow_2` for each of
    /// `values`.
    fn generated(&self, generator: &str, values: Vec<Value>) -> Result<Vec<Value>, Refusal> {
        let generator = match generator.trim_start_matches("atf::") {
            "pow_2" => "[](auto i){ return pow(2, i); }",
            _ if generator.ends_with("pow_2") => {
                return Err(Refusal::new(format!("`{generator}` is no generator"), None));
            }
            _ => generator,
        };
        let translator = Translator { parameter: Some(ITEM), whole_numbers: !self.has_floats(generator) };
        let text = translator.expression(generator).map_err(|text| Refusal::new(text, None))?;
        let expr = Expr::parse(&text).map_err(|error| Refusal::new(error.message, error.remedy))?;
        let value = |item: Value| {
            let scope = |name: &str| if name == ITEM { Some(item.clone()) } else { lookup(&self.draft.sizes, name) };
            expr.evaluate(&scope).map_err(|error| Refusal::new(error.message, error.remedy))
        };
        values.into_iter().map(value).collect()
    }
}

/// Returns a range as a problem file has it, since a list of a million numbers would take its time.
fn whole_range(ends: [i64; 3]) -> ValuesDraft {
    let [first, last, step] = ends.map(|end| Expr::constant(Value::Int(end)));
    ValuesDraft::Range { bounds: Bounds { first, last, last_is_excluded: false }, step: Some(step) }
}

/// Returns a whole number. C++ drops the fraction of an end such as `std::log2(N)`.
fn whole(value: &Value) -> Result<i64, Refusal> {
    let truncated = || value.as_float().map(f64::trunc).filter(|number| number.abs() < 2f64.powi(53));
    value
        .as_int()
        .or_else(|| truncated().map(|number| number as i64))
        .ok_or_else(|| Refusal::new(format!("{value} is not a whole number"), None))
}

fn whole_interval(first: &Value, last: &Value, step: &Value) -> Result<Vec<Value>, Refusal> {
    let values = tunesmith_space::Values::range(whole(first)?, whole(last)?, whole(step)?);
    values.map_err(|error| Refusal::new(error.to_string(), None))
}

/// Returns `first`, `first + step`, ... up to `last` as floating-point numbers.
fn float_interval(first: &Value, last: &Value, step: &Value) -> Result<Vec<Value>, Refusal> {
    let number = |value: &Value| value.as_float().ok_or_else(|| Refusal::new(format!("{value} is not a number"), None));
    let (first, last, step) = (number(first)?, number(last)?, number(step)?);
    // The last value must not be lost to half an ulp of rounding.
    let count = ((last - first) / step * (1.0 + f64::EPSILON)).floor();
    if !(0.0..MOST).contains(&count) {
        return Err(Refusal::new(
            format!("the interval from {first} to {last} in steps of {step} has no values"),
            None,
        ));
    }
    Ok((0..=count as u32).map(|index| Value::Float(first + f64::from(index) * step)).collect())
}
