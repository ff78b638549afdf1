//! The text of the nest, once all statements are read.

use crate::ImportOptions;
use crate::body::{Array, Body, Loop, Read};
use crate::finding::{Finding, ImportError};
use crate::function::ParameterKind;
use crate::sum::Sum;

impl Body<'_> {
    /// Returns the nest.
    ///
    /// # Errors
    ///
    /// Fails with everything that could not be read, with arrays that may overlap, and with arrays
    /// whose size is not known.
    pub(crate) fn finish(mut self, options: &ImportOptions) -> Result<Read, ImportError> {
        let extents: Vec<Result<Vec<Sum>, Finding>> = self.arrays.iter().map(|array| self.extents(array)).collect();
        let mut lines = Vec::new();
        for (array, extents) in self.arrays.iter().zip(extents).filter(|(array, _)| !array.first.is_empty()) {
            match extents {
                Ok(extents) => {
                    let keyword = if array.is_temporary { "temporary" } else { "array" };
                    let list: Vec<String> = extents.iter().map(ToString::to_string).collect();
                    let (name, element) = (&array.name, array.declared.element.name());
                    lines.push(format!("{keyword} {name}[{}]: {element}", list.join(", ")));
                }
                Err(finding) => self.findings.push(finding),
            }
        }
        if !options.no_alias {
            self.findings.extend(self.overlaps());
        }
        if self.instructions.is_empty() && self.findings.is_empty() {
            self.findings.push(Finding {
                line: 1,
                column: 1,
                text: "the function computes nothing".into(),
                remedy: None,
            });
        }
        if !self.findings.is_empty() {
            self.findings.sort_by_key(|finding| (finding.line, finding.column));
            return Err(ImportError { findings: self.findings });
        }
        self.use_parameters();
        let sizes: Vec<String> = self.of_kind(ParameterKind::Size).map(str::to_string).collect();
        Ok(Read { nest: self.text(&sizes, lines), sizes, parameters: self.parameters })
    }

    fn of_kind(&self, kind: ParameterKind) -> impl Iterator<Item = &str> {
        self.parameters.iter().filter(move |own| own.kind == kind).map(|own| own.name.as_str())
    }

    /// Marks the arrays that the nest uses.
    fn use_parameters(&mut self) {
        for parameter in &mut self.parameters {
            let is_used = |array: &&Array<'_>| array.declared.name == parameter.name && !array.first.is_empty();
            if self.arrays.iter().find(is_used).is_some_and(|array| !array.is_temporary) {
                parameter.kind = ParameterKind::Array;
            }
        }
    }

    fn text(&self, sizes: &[String], arrays: Vec<String>) -> String {
        let mut lines = vec!["# A function imported from C.".to_string(), self.declarations[0].clone()];
        if !sizes.is_empty() {
            lines.push(format!("sizes {}", sizes.join(", ")));
            let positive: Vec<String> = sizes.iter().map(|size| format!("{size} > 0")).collect();
            lines.push(format!("assume {}", positive.join(", ")));
        }
        lines.extend(arrays);
        let arguments = self.parameters.iter().filter(|own| own.kind == ParameterKind::Argument);
        lines.extend(arguments.map(|own| format!("argument {}: {}", own.name, own.element.name())));
        lines.extend_from_slice(&self.declarations[1..]);
        lines.extend(self.loops.iter().map(|own| own.text.clone()));
        lines.extend(self.instructions.iter().map(|own| own.text.clone()));
        lines.push(String::new());
        lines.join("\n")
    }

    /// Returns the sizes of an array's axes. That of a first axis without one follows from the
    /// accesses: it is as long as they need.
    fn extents(&self, array: &Array<'_>) -> Result<Vec<Sum>, Finding> {
        let mut extents = Vec::new();
        for size in &array.axes {
            extents.push(match size {
                Some(size) => size.clone(),
                None => self.reached(array)?,
            });
        }
        Ok(extents)
    }

    fn reached(&self, array: &Array<'_>) -> Result<Sum, Finding> {
        let unknown = || {
            let text = format!("the size of `{}` does not follow from its accesses", array.declared.name);
            Finding::at(array.declared.node, text, Some("declare it: `a[n]` or `a[n][m]`"))
        };
        let mut longest: Option<Sum> = None;
        for (subscript, loops) in &array.first {
            let mut last = subscript.clone();
            for own in loops.iter().rev().map(|at| &self.loops[*at]) {
                last = own.greatest(&last).ok_or_else(unknown)?;
            }
            let extent = last.plus(&Sum::constant(1)).ok_or_else(unknown)?;
            let is_as_long = |one: &Sum, other: &Sum| one.minus(other).is_some_and(|rest| rest.is_at_least_zero());
            longest = Some(match longest {
                None => extent,
                Some(known) if is_as_long(&known, &extent) => known,
                Some(known) if is_as_long(&extent, &known) => extent,
                Some(_) => return Err(unknown()),
            });
        }
        longest.ok_or_else(unknown)
    }

    /// Returns the arrays that may overlap with one that is written.
    fn overlaps(&self) -> Vec<Finding> {
        let used = || self.arrays.iter().filter(|array| !array.is_temporary && !array.first.is_empty());
        let may = |one: &&Array<'_>, other: &Array<'_>| {
            one.declared.name != other.declared.name && !one.declared.is_restrict && !other.declared.is_restrict
        };
        let overlap = |written: &Array<'_>| {
            let other = used().find(|other| may(other, written))?;
            let (one, other) = (&written.declared.name, &other.declared.name);
            let text = format!("`{one}` is written and may overlap `{other}`: neither is `restrict`");
            let remedy = "declare the arrays `restrict`, or state with `--no-alias` that no two overlap";
            Some(Finding::at(written.declared.node, text, Some(remedy)))
        };
        used().filter(|array| array.is_written).filter_map(overlap).collect()
    }
}

impl Loop {
    /// Returns the greatest value of a sum over the iterations of the loop, or a little more if its
    /// factor is no multiple of the step. `None` if a number is too large.
    fn greatest(&self, sum: &Sum) -> Option<Sum> {
        let (factor, first) = (sum.coefficient(&self.name), sum.with(&self.name, &self.start)?);
        let further = match factor {
            ..=0 => return Some(first),
            _ if factor % self.step == 0 => factor / self.step,
            _ => factor,
        };
        first.plus(&self.distance.times(&Sum::constant(further))?)
    }
}
