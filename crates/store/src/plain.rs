//! Reads the lines of evaluations as this program writes them, faster than as any JSON.
//!
//! An intact line begins with its index, configuration, status, depth and samples, and ends with its
//! clock. These fields are found by their places. A line that has another form is left to the parser
//! of JSON, which gives the same answer.

use crate::line::{CompileLimitLine, CompileLine, CutLine, made_by};
use crate::sum;
use memchr::{memchr, memchr_iter, memrchr};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;
use tunesmith_core::{CompileData, CompileLimit, Cut, Depth, Evaluation, Failure, FailureKind, Measurement, Request};
use tunesmith_space::Space;

/// The fields at the beginning of an intact line, and the text of the others.
pub(crate) struct Plain<'a> {
    pub(crate) index: u128,
    pub(crate) failure: Option<FailureKind>,
    pub(crate) depth: Depth,
    pub(crate) times_ms: Vec<f64>,
    /// From the comma behind the samples to the end of the line.
    rest: &'a [u8],
}

/// The other fields, whose number differs from line to line.
#[derive(Deserialize)]
struct Rest {
    #[serde(default)]
    warmup_ms: Option<f64>,
    #[serde(default)]
    parts_ms: BTreeMap<String, Vec<f64>>,
    #[serde(default)]
    values: BTreeMap<String, Vec<f64>>,
    #[serde(default)]
    counters: BTreeMap<String, f64>,
    #[serde(default)]
    compile: Option<CompileLine>,
    #[serde(default)]
    cut: Option<CutLine>,
    #[serde(default)]
    aside: Option<CompileLimitLine>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    proposed: Option<u64>,
    #[serde(default)]
    worker: Option<String>,
    #[serde(default)]
    took: Option<f64>,
    #[serde(default)]
    rooms: Vec<usize>,
    clock: f64,
}

impl<'a> Plain<'a> {
    /// Returns the fields of `line`, whose checksum is intact. Returns `None` if it has another
    /// form.
    pub(crate) fn of(line: &'a [u8]) -> Option<Self> {
        let (index, config) = indexed(line)?;
        let (status, rest) = word(behind_config(config)?)?;
        let failure = match status {
            "correct" => None,
            word => Some(FailureKind::from_word(word)?),
        };
        let (depth, rest) = word(rest.strip_prefix(b",\"depth\":\"")?)?;
        let (times_ms, rest) = times(rest.strip_prefix(b",\"times_ms\":[")?)?;
        Some(Self { index, failure, depth: Depth::from_word(depth)?, times_ms, rest })
    }

    /// Returns the line's last field before its checksum: seconds since the start of the run.
    pub(crate) fn clock(&self) -> Option<f64> {
        let content = sum::content(self.rest)?;
        let colon = memrchr(b':', content)?;
        number(&content[colon + 1..]).filter(|_| content[..colon].ends_with(b",\"clock\""))
    }

    /// Returns the evaluation, whose configuration is known by its index in `space`. Uses `buffer`
    /// as it likes. Returns `None` if the line has another form.
    ///
    /// Fails with the reason if the space has no such configuration.
    pub(crate) fn evaluation(self, space: &Space, buffer: &mut Vec<u8>) -> Result<Option<Box<Evaluation>>, String> {
        buffer.clear();
        buffer.push(b'{');
        buffer.extend(self.rest.strip_prefix(b",").unwrap_or_default());
        let Ok(rest) = serde_json::from_slice::<Rest>(buffer) else { return Ok(None) };
        let Ok(clock) = Duration::try_from_secs_f64(rest.clock) else { return Ok(None) };
        let Self { index, failure, depth, times_ms, .. } = self;
        let config = space.id(index).ok_or_else(|| format!("the space has no configuration {index}"))?;
        let Rest {
            warmup_ms,
            parts_ms,
            values,
            counters,
            compile,
            message,
            proposed,
            worker,
            took,
            rooms,
            cut,
            aside,
            ..
        } = rest;
        let (failure, note) = match failure {
            None => (None, message),
            Some(kind) => {
                let (cut, aside) = (cut.map(Cut::from), aside.map(CompileLimit::from));
                (Some(Failure { cut, aside, ..Failure::new(kind, message.unwrap_or_default()) }), None)
            }
        };
        let compile = compile.map(CompileData::from);
        let by = made_by(worker, took);
        let measurement = Measurement { times_ms, warmup_ms, parts_ms, values, counters, compile, note, by, rooms };
        let request = Request { config, depth };
        Ok(Some(Box::new(Evaluation { request, failure, measurement, clock, proposed })))
    }
}

/// Returns the index of an evaluation's line and the rest of the line from its configuration.
pub(crate) fn indexed(line: &[u8]) -> Option<(u128, &[u8])> {
    let rest = line.strip_prefix(b"{\"index\":\"")?;
    let digits = rest.iter().position(|byte| !byte.is_ascii_digit())?;
    let (index, rest) = rest.split_at(digits);
    Some((str::from_utf8(index).ok()?.parse().ok()?, rest.strip_prefix(b"\",\"config\":")?))
}

/// Returns the text of the status and all that follows it, from the rest of a line from its
/// configuration.
fn behind_config(config: &[u8]) -> Option<&[u8]> {
    // A text in JSON has no quotation mark of its own, so that this is found in none.
    const STATUS: &[u8] = b"},\"status\":\"";
    let at = memchr_iter(b'}', config).find(|at| config[*at..].starts_with(STATUS))?;
    Some(&config[at + STATUS.len()..])
}

/// Splits the rest of a line behind the quotation mark at the end of a word.
fn word(rest: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr(b'"', rest)?;
    Some((str::from_utf8(&rest[..end]).ok()?, &rest[end + 1..]))
}

/// Reads the samples at the beginning of the rest of a line, up to their bracket.
fn times(rest: &[u8]) -> Option<(Vec<f64>, &[u8])> {
    let end = memchr(b']', rest)?;
    let (list, rest) = (&rest[..end], &rest[end + 1..]);
    if list.is_empty() {
        return Some((Vec::new(), rest));
    }
    let mut times = Vec::with_capacity(1 + memchr_iter(b',', list).count());
    for text in list.split(|byte| *byte == b',') {
        times.push(number(text)?);
    }
    Some((times, rest))
}

/// Reads a number that is not negative, as this program writes it.
fn number(text: &[u8]) -> Option<f64> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_number = is_digit(text.first()) && is_digit(text.last());
    let number: f64 = str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, sum::seal};
    use proptest::collection::{btree_map, vec};
    use proptest::option::of;
    use proptest::prelude::*;
    use tunesmith_core::MadeBy;
    use tunesmith_space::{Parameter, Values};

    /// A space whose texts look like the ends of configurations.
    fn space() -> Space {
        let texts = ["plain", "a\"},\"status\":\"correct\",\"depth\":\"timed", "}\\", "},", "é{"];
        Space::builder()
            .parameter(Parameter::new("TILE", Values::list([8, 16, 32, 64])).unwrap())
            .parameter(Parameter::new("TEXT", Values::list(texts)).unwrap())
            .parameter(Parameter::new("SCALE", Values::list([0.5, 1e-9, 2.5e300])).unwrap())
            .build()
            .unwrap()
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![1e-9..1e9, any::<f64>().prop_map(|x| if x.is_finite() { x.abs() } else { 1.0 })]
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![any::<String>(), Just("\",\"clock\":5".to_string()), Just("],\"times_ms\":[1".to_string())]
    }

    fn measurement() -> impl Strategy<Value = Measurement> {
        let compile = (number(), of(any::<u64>()), btree_map(text(), number(), 0..3), any::<bool>(), of(text()));
        let compile = compile.prop_map(|(time_ms, binary_bytes, resources, same_binary, code)| CompileData {
            time_ms,
            binary_bytes,
            resources,
            same_binary,
            code,
        });
        let lists = || btree_map(text(), vec(number(), 0..3), 0..3);
        let counters = btree_map(text(), number(), 0..3);
        let took = (0..1_u64 << 40).prop_map(Duration::from_nanos);
        let by = (text(), took).prop_map(|(name, took)| Box::new(MadeBy { name, took }));
        let rooms = vec(1..100_usize, 0..3);
        (vec(number(), 0..40), of(number()), lists(), lists(), counters, of(compile), of(by), rooms).prop_map(
            |(times_ms, warmup_ms, parts_ms, values, counters, compile, by, rooms)| Measurement {
                times_ms,
                warmup_ms,
                parts_ms,
                values,
                counters,
                compile,
                note: None,
                by,
                rooms,
            },
        )
    }

    fn evaluation() -> impl Strategy<Value = Evaluation> {
        let clock = (0..1_u64 << 40).prop_map(Duration::from_nanos);
        let kind = of(proptest::sample::select(&FailureKind::ALL[..]));
        (0..60_u128, any::<bool>(), kind, of(text()), measurement(), clock, of(any::<u64>())).prop_map(
            |(rank, profiled, kind, message, mut measurement, clock, proposed)| {
                let config = space().id(rank).unwrap();
                let request = if profiled { Request::profiled(config) } else { Request::timed(config) };
                measurement.note = message.clone().filter(|_| kind.is_none());
                let cut = proposed.map(|number| Cut { limit_ms: number as f64, best_ms: 0.25 });
                let failure = kind.map(|kind| Failure { cut, ..Failure::new(kind, message.unwrap_or_default()) });
                Evaluation { request, failure, measurement, clock, proposed }
            },
        )
    }

    proptest! {
        #[test]
        fn a_line_that_this_program_writes_is_read_as_by_the_parser_of_json(evaluation in evaluation()) {
            let space = space();
            let mut line = serde_json::to_vec(&Entry::new(&space, &evaluation)).unwrap();
            seal(&mut line);
            line.pop();
            let parsed: Entry = serde_json::from_slice(&line).unwrap();
            let plain = Plain::of(&line).unwrap();
            prop_assert_eq!(plain.clock(), Some(parsed.clock));
            prop_assert_eq!(&plain.times_ms, &parsed.times_ms);
            let (plain, parsed) = (plain.evaluation(&space, &mut Vec::new()), parsed.evaluation(&space));
            prop_assert_eq!(plain.map(|plain| plain.map(|plain| *plain)), parsed.map(Some));
        }
    }

    #[test]
    fn a_line_of_another_form_is_left_to_the_parser_of_json() {
        let usual = r#"{"index":"7","config":{"A":1},"status":"correct","depth":"timed","times_ms":[1.5,2],"clock":3,"sum":"00000000"}"#;
        let plain = Plain::of(usual.as_bytes()).unwrap();
        assert_eq!((plain.index, plain.times_ms.as_slice(), plain.clock()), (7, [1.5, 2.0].as_slice(), Some(3.0)));
        for (from, to) in [
            ("{\"index\"", "{ \"index\""),
            ("\"7\"", "7"),
            ("\"7\"", "\"\""),
            ("\"config\"", "\"configuration\""),
            (",\"status\"", ", \"status\""),
            ("correct", "corr\\u0065ct"),
            ("correct", "unheard-of"),
            ("timed", "deep"),
            ("\"depth\"", "\"compile\":null,\"depth\""),
            ("[1.5,2]", "null"),
            ("1.5", "-1.5"),
            ("1.5", "inf"),
            ("1.5", "1e999"),
            ("1.5", "\"a]\""),
        ] {
            assert!(Plain::of(usual.replacen(from, to, 1).as_bytes()).is_none(), "{to}");
        }
        for (from, to) in [("\"clock\":3", "\"clock\":3,\"more\":4"), (",\"sum\":\"00000000\"", ""), (":3", ": 3")] {
            let line = usual.replacen(from, to, 1);
            assert_eq!(Plain::of(line.as_bytes()).unwrap().clock(), None, "{to}");
        }
    }
}
