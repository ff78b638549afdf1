//! Reads ATF's directives in a kernel source (ATF paper, section 6): tuning parameters with ranges
//! and constraints, the search technique and the abort condition.
//!
//! Their expressions are C++; [`translate`] converts them to ours. Other directives, about devices,
//! arguments and launches, are ignored: a problem file describes these.

mod scan;
mod translate;
mod tuning;

use crate::diagnostic::Messages;
use crate::problem::Places;
use crate::{Problem, ProblemError, SourceFile, Tuning};
use scan::Directive;
use std::ops::Range;
use translate::{Translator, bracket, split};
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{Constraint, Expr, Parameter, Value, ValueKind, Values};

/// Returns true if a source has directives.
pub(crate) fn present(text: &str) -> bool {
    text.contains("#atf::")
}

/// Returns the problem that the directives of a source describe. `given` has values of variables,
/// by name or, for `$1`, `$2`, ..., by number.
pub(crate) fn read(source_file: SourceFile, given: &[(String, Value)]) -> Result<Problem, ProblemError> {
    let messages = Messages::new(source_file);
    let text = messages.source.text.clone();
    let clean = scan::without_comment_marks(&text);
    let mut reader = Reader::new(&clean, &messages, given);
    for directive in scan::directives(&text, &clean) {
        reader.directive(&directive);
    }
    reader.finish();
    let problem = reader.problem();
    let warnings = messages.finish()?;
    Ok(Problem { warnings, ..problem })
}

struct Reader<'a> {
    clean: &'a str,
    messages: &'a Messages,
    given: &'a [(String, Value)],
    sizes: Vec<(String, Value)>,
    parameters: Vec<(Parameter, Range<usize>)>,
    constraints: Vec<(Constraint, Range<usize>)>,
    tuning: Tuning,
}

impl<'a> Reader<'a> {
    fn new(clean: &'a str, messages: &'a Messages, given: &'a [(String, Value)]) -> Self {
        let tuning = Tuning::default();
        Self { clean, messages, given, sizes: Vec::new(), parameters: Vec::new(), constraints: Vec::new(), tuning }
    }

    fn directive(&mut self, directive: &Directive) {
        if !directive.in_comment {
            let remedy = "write `//` before each of its lines".to_string();
            self.messages.warning(
                directive.span.clone(),
                "compilers refuse a directive outside of comments",
                Some(remedy),
            );
        }
        let rest = scan::trimmed(self.clean, directive.rest.clone());
        let (kind, detail) = directive.name.split_once("::").unwrap_or((&directive.name, ""));
        match (kind.split('<').next().unwrap_or(kind), detail) {
            ("var", "") => self.assigned_variable(rest),
            ("var", name) => self.variable(name, rest),
            ("tp", "") => self.parameter(directive),
            ("search_technique", "") => match tuning::strategy(&self.clean[rest.clone()]) {
                Ok(strategy) => self.tuning.strategy = Some(strategy),
                Err((text, remedy)) => self.messages.error(rest, text, remedy),
            },
            ("abort_condition", "") => match tuning::stop(&self.clean[rest.clone()]) {
                Ok(stop) => self.tuning.stop = Some(stop),
                Err((text, remedy)) => self.messages.error(rest, text, remedy),
            },
            ("ocl" | "cuda" | "source" | "device_info" | "run_script" | "compile_script" | "cost_file" | "cf", _) => {
                let text = format!("`#atf::{}` is not used", directive.name);
                let remedy = "a problem file (see `tunesmith init`) says how a kernel is run".to_string();
                self.messages.warning(directive.span.clone(), text, Some(remedy));
            }
            _ => {
                let known = ["var", "tp", "search_technique", "abort_condition"];
                let listed = format!("directives are #atf::{}", known.join(", #atf::"));
                let remedy = did_you_mean(&directive.name, known).unwrap_or(listed);
                let text = format!("`#atf::{}` is not a directive", directive.name);
                self.messages.error(directive.span.clone(), text, Some(remedy));
            }
        }
    }

    /// Reads `#atf::var<int> M = 8`.
    fn assigned_variable(&mut self, rest: Range<usize>) {
        let text = &self.clean[rest.clone()];
        match text.split_once('=') {
            Some((name, value)) => {
                let start = rest.start + text.len() - value.len();
                self.variable(name.trim(), scan::trimmed(self.clean, start..rest.end));
            }
            None => self.messages.error(rest, "a variable needs a value", Some("write `#atf::var::M 512`".to_string())),
        }
    }

    fn variable(&mut self, name: &str, place: Range<usize>) {
        let text = &self.clean[place.clone()];
        let named = lookup(self.given, name);
        let value = match (named, text.strip_prefix('$')) {
            (Some(value), _) => Ok(value),
            (None, Some(number)) => {
                let numbered = lookup(self.given, number).or_else(|| lookup(self.given, text));
                numbered.ok_or_else(|| {
                    let remedy = format!("add --size {name}=VALUE");
                    (
                        format!("`{name}` is value {number} of the command line, but that value is not given"),
                        Some(remedy),
                    )
                })
            }
            (None, None) => self.value(text),
        };
        match value {
            Ok(value) => self.sizes.push((name.to_string(), value)),
            Err((text, remedy)) => self.messages.error(place, text, remedy),
        }
    }

    /// Returns the value of an expression over the variables before it.
    fn value(&self, text: &str) -> Result<Value, tuning::Fault> {
        let translator = Translator { parameter: None, whole_numbers: !self.has_floats(text) };
        let text = translator.expression(text).map_err(|text| (text, None))?;
        if text.contains("device.") {
            let remedy = Some("use it in a constraint".to_string());
            return Err(("a device limit is not known before the device is".to_string(), remedy));
        }
        let value = Expr::parse(&text).and_then(|expr| expr.evaluate(&|name| lookup(&self.sizes, name)));
        value.map_err(|error| (error.message, error.remedy))
    }

    /// Returns true if an expression uses floating-point numbers.
    fn has_floats(&self, text: &str) -> bool {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        words.into_iter().any(|word| {
            let literal = word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
            let parameter = self.parameters.iter().find(|(parameter, _)| parameter.name() == word);
            let size = lookup(&self.sizes, word);
            literal
                || parameter.is_some_and(|(parameter, _)| parameter.kind() == ValueKind::Float)
                || size.is_some_and(|size| size.kind() == ValueKind::Float)
        })
    }

    fn parameter(&mut self, directive: &Directive) {
        let parts = scan::parts(self.clean, directive.rest.clone());
        let part = |wanted: &str| parts.iter().find(|(word, _)| *word == wanted).map(|(_, span)| span.clone());
        let (Some(name_place), Some(range)) = (part("name"), part("range")) else {
            let remedy = "write `#atf::tp name \"TILE\" range interval<size_t>(1, N) constraint divides(N)`";
            let text = "a tuning parameter needs a name and a range";
            return self.messages.error(directive.span.clone(), text, Some(remedy.to_string()));
        };
        let name = self.clean[name_place.clone()].trim_matches('"').to_string();
        let values = self.values(&self.clean[range.clone()]);
        let parameter =
            values.and_then(|values| Parameter::new(&*name, values).map_err(|error| (error.to_string(), None)));
        match parameter {
            Ok(parameter) => self.parameters.push((parameter, name_place)),
            Err((text, remedy)) => return self.messages.error(range, text, remedy),
        }
        if let Some(place) = part("constraint") {
            self.constraint(&name, place);
        }
    }

    fn constraint(&mut self, parameter: &str, place: Range<usize>) {
        let text = &self.clean[place.clone()];
        let floats = self.has_floats(text) || self.has_floats(parameter);
        let translator = Translator { parameter: Some(parameter), whole_numbers: !floats };
        let written = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let read = translator
            .expression(text)
            .map_err(|text| (text, None))
            .and_then(|text| Expr::parse(text.trim()).map_err(|error| (error.message, error.remedy)));
        match read {
            Ok(expr) => self.constraints.push((Constraint::new(format!("{parameter}: {written}"), expr), place)),
            Err((text, remedy)) => {
                self.messages.error(place, format!("the constraint of `{parameter}`: {text}"), remedy)
            }
        }
    }

    /// Returns the values of `{1, 2, 4}`, `set(1, 2)`, or `interval<T>(first, last)` with a step, a
    /// generator or both.
    fn values(&self, text: &str) -> Result<Vec<Value>, tuning::Fault> {
        let plain = text.trim().trim_start_matches("atf::");
        let wrong = |text: String| (text, None);
        if plain.starts_with('{') || plain.starts_with("set") {
            let open = plain.find(['{', '(']).unwrap_or(0);
            let (inside, _) = bracket(&plain[open..]).map_err(wrong)?;
            return split(inside).map_err(wrong)?.into_iter().map(|item| self.value(item)).collect();
        }
        let Some(interval) = plain.strip_prefix("interval") else {
            let remedy = "ranges are {1, 2, 4} and interval<T>(first, last, step or generator)".to_string();
            return Err((format!("`{plain}` is no range"), Some(remedy)));
        };
        let open = interval.find('(').ok_or_else(|| wrong("`interval` needs its ends in parentheses".to_string()))?;
        let kind = interval[..open].trim().trim_start_matches('<').trim_end_matches('>').trim();
        let (inside, _) = bracket(&interval[open..]).map_err(wrong)?;
        self.interval(kind, &split(inside).map_err(wrong)?)
    }

    fn interval(&self, kind: &str, arguments: &[&str]) -> Result<Vec<Value>, tuning::Fault> {
        let (generators, numbers): (Vec<&str>, Vec<&str>) = arguments.iter().partition(|part| part.starts_with('['));
        let [first, last, step @ ..] = &numbers[..] else {
            return Err(("`interval` needs a first and a last value".to_string(), None));
        };
        let (first, last) = (self.value(first)?, self.value(last)?);
        let step = step.first().map_or(Ok(Value::Int(1)), |step| self.value(step))?;
        let values = if matches!(kind, "float" | "double") {
            float_interval(&first, &last, &step)
        } else {
            let whole = |value: &Value| value.as_int().ok_or_else(|| (format!("{value} is not whole"), None));
            let values = Values::range(whole(&first)?, whole(&last)?, whole(&step)?);
            values.map_err(|error| (error.to_string(), None))
        }?;
        let values = match generators.first() {
            Some(generator) => self.generated(generator, values)?,
            None => values,
        };
        Ok(if kind == "bool" {
            values.iter().map(|value| Value::Bool(value.as_int() != Some(0))).collect()
        } else {
            values
        })
    }

    /// Returns the result of the generator `[](auto i){ return ..; }` for each of `values`.
    fn generated(&self, generator: &str, values: Vec<Value>) -> Result<Vec<Value>, tuning::Fault> {
        const ITEM: &str = "item";
        let translator = Translator { parameter: Some(ITEM), whole_numbers: !self.has_floats(generator) };
        let text = translator.expression(generator).map_err(|text| (text, None))?;
        let expr = Expr::parse(&text).map_err(|error| (error.message, error.remedy))?;
        let value = |item: Value| {
            let scope = |name: &str| if name == ITEM { Some(item.clone()) } else { lookup(&self.sizes, name) };
            expr.evaluate(&scope).map_err(|error| (error.message, error.remedy))
        };
        values.into_iter().map(value).collect()
    }

    /// Reports the faults that concern all directives together.
    fn finish(&self) {
        if self.parameters.is_empty() {
            let remedy = "write `#atf::tp name \"TILE\" range {8, 16, 32}`".to_string();
            self.messages.error(0..0, "there is no tuning parameter", Some(remedy));
        }
        for (name, _) in self.given {
            let is_number = name.trim_start_matches('$').bytes().all(|byte| byte.is_ascii_digit());
            if !is_number && lookup(&self.sizes, name).is_none() {
                let known: Vec<&str> = self.sizes.iter().map(|(known, _)| known.as_str()).collect();
                let listed = format!("its variables are {}", known.join(", "));
                let remedy = did_you_mean(name, known).unwrap_or(listed);
                self.messages.error(0..0, format!("the kernel has no variable `{name}`"), Some(remedy));
            }
        }
    }

    fn problem(self) -> Problem {
        let (parameters, parameter_places) = self.parameters.into_iter().unzip();
        let (constraints, constraint_places) = self.constraints.into_iter().unzip();
        Problem {
            sizes: self.sizes,
            parameters,
            constraints,
            tuning: self.tuning,
            places: Places { constraints: constraint_places, parameters: parameter_places, ..Places::default() },
            ..Problem::of(self.messages.source.clone())
        }
    }
}

/// Returns `first`, `first + step`, ... up to `last` as floating-point numbers.
fn float_interval(first: &Value, last: &Value, step: &Value) -> Result<Vec<Value>, tuning::Fault> {
    let number = |value: &Value| value.as_float().ok_or_else(|| (format!("{value} is not a number"), None));
    let (first, last, step) = (number(first)?, number(last)?, number(step)?);
    // The last value must not be lost to half an ulp of rounding.
    let count = ((last - first) / step * (1.0 + f64::EPSILON)).floor();
    if !(0.0..4_194_304.0).contains(&count) {
        return Err((format!("the interval from {first} to {last} in steps of {step} has no values"), None));
    }
    Ok((0..=count as u32).map(|index| Value::Float(first + f64::from(index) * step)).collect())
}
