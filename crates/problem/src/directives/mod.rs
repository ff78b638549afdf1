//! Reads ATF's directives in a source (ATF paper, section 6): tuning parameters with ranges and
//! constraints, the search technique, the abort condition, and how the kernel or program is run.
//!
//! [`scan`] finds the directives and [`names`] knows their meanings. Expressions are C++;
//! [`translate`] and [`lambda`] convert them to ours. The result is the same document as that of a
//! problem file in TOML, so that every check and every meaning is the same. [`launch`] makes its
//! kernel and arguments, [`script`] its command.

mod inputs;
mod lambda;
mod launch;
mod names;
mod ranges;
mod scan;
mod script;
mod signature;
mod translate;
mod tuning;

use crate::diagnostic::Messages;
use crate::item::{Item, Located, Table};
use crate::{Diagnostic, Level, Problem, ProblemError, SourceFile, document};
use launch::Launch;
use names::Meaning;
use scan::Directive;
use script::Script;
use std::ops::Range;
use translate::{Translator, bracket};
use tunesmith_space::{Expr, Value, ValueKind, did_you_mean, lookup};

/// Returns true if a source has directives.
pub(crate) fn present(text: &str) -> bool {
    text.contains("#atf::")
}

/// Returns the problem that the directives of a source describe. `given` has values of variables,
/// by name or, for `$1`, `$2`, ..., by number.
pub(crate) fn read(source_file: SourceFile, given: &[(String, Value)]) -> Result<Problem, ProblemError> {
    let messages = Messages::new(source_file.clone());
    let text = source_file.text.clone();
    let clean = scan::without_comment_marks(&text);
    let directives = scan::directives(&text, &clean);
    let mut reader = Reader::new(&clean, &messages, given);
    // A launch may stand before the parameters that its sizes name.
    let is_launch = |directive: &&Directive| matches!(Meaning::of(&directive.name), Ok(Meaning::Launch(..)));
    directives.iter().filter(|directive| !is_launch(directive)).for_each(|directive| reader.directive(directive));
    directives.iter().filter(is_launch).for_each(|directive| reader.directive(directive));
    reader.finish();
    let is_own = reader.launch.source.is_none();
    let (document, obstacles) = reader.document(&source_file);
    let own_warnings = messages.finish()?;
    let mut problem = document::read_document(&document, source_file, &[])?;
    problem.warnings.splice(0..0, own_warnings);
    problem.obstacles = obstacles;
    // A parameter of the kernel may be called like a variable, since ATF's variables are no macros.
    let arguments = problem.arguments.iter().map(|argument| argument.name.clone());
    let own_names: Vec<String> = arguments.filter(|name| lookup(&problem.sizes, name).is_some()).collect();
    problem.kernels.iter_mut().for_each(|kernel| kernel.reading.own_names = own_names.clone());
    // A compiler must not see directives outside of comments.
    let bare = directives.iter().filter(|directive| !directive.in_comment);
    let bare: Vec<Range<usize>> = bare.map(|directive| scan::lines_of(&text, &directive.span)).collect();
    let kernels = problem.kernels.iter_mut().filter(|_| is_own);
    kernels.for_each(|kernel| kernel.reading.not_code.clone_from(&bare));
    Ok(problem)
}

/// A key of a document with its value.
type Entry = (Located<String>, Item);

/// Returns an entry whose key stands at `place`.
fn entry(key: &str, place: &Range<usize>, item: Item) -> Entry {
    (Located { value: key.to_string(), span: place.clone() }, item)
}

struct Reader<'a> {
    clean: &'a str,
    messages: &'a Messages,
    given: &'a [(String, Value)],
    /// The variables.
    sizes: Vec<(String, Value)>,
    size_places: Vec<Range<usize>>,
    /// The names of the parameters.
    parameters: Vec<String>,
    /// Those whose values are floating-point numbers.
    float_parameters: Vec<String>,
    ranges: Vec<Entry>,
    constraints: Vec<Entry>,
    tuning: Vec<Entry>,
    measure: Vec<Entry>,
    launch: Launch,
    script: Script,
}

impl<'a> Reader<'a> {
    fn new(clean: &'a str, messages: &'a Messages, given: &'a [(String, Value)]) -> Self {
        Self {
            clean,
            messages,
            given,
            sizes: Vec::new(),
            size_places: Vec::new(),
            parameters: Vec::new(),
            float_parameters: Vec::new(),
            ranges: Vec::new(),
            constraints: Vec::new(),
            tuning: Vec::new(),
            measure: Vec::new(),
            launch: Launch::default(),
            script: Script::default(),
        }
    }

    fn directive(&mut self, directive: &Directive) {
        let rest = scan::unquoted(self.clean, directive.rest.clone());
        let text = Located { value: self.clean[rest.clone()].to_string(), span: rest.clone() };
        match Meaning::of(&directive.name) {
            Ok(Meaning::Variable) => match directive.name.split_once("::") {
                Some(("var", name)) => self.variable(name, rest),
                _ => self.assigned_variable(rest),
            },
            Ok(Meaning::Parameter) => self.parameter(directive),
            Ok(Meaning::Technique) => {
                let strategy = tuning::strategy(&text.value).map(str::to_string);
                self.setting("strategy", strategy, &rest);
            }
            Ok(Meaning::Abort) => self.setting("stop", tuning::stop(&text.value), &rest),
            Ok(Meaning::Launch(api, part)) => self.launch(api, part, &directive.span, rest),
            Ok(Meaning::Source) => self.launch.source = Some(text),
            Ok(Meaning::Run) => self.script.run = Some(text),
            Ok(Meaning::Compile) => self.script.compile = Some(text),
            Ok(Meaning::CostFile) => self.script.cost_file = Some(text),
            Err(remedy) => {
                let text = format!("`#atf::{}` is not a directive", directive.name);
                self.messages.error(directive.span.clone(), text, Some(remedy));
            }
        }
    }

    /// Adds a key of `[tuning]`, or reports that its value is wrong.
    fn setting(&mut self, key: &str, value: Result<String, tuning::Fault>, place: &Range<usize>) {
        match value {
            Ok(text) => self.tuning.push(entry(key, place, Item::scalar(text.as_str(), place.clone()))),
            Err((text, remedy)) => self.messages.error(place.clone(), text, remedy),
        }
    }

    fn fault(&self, place: &Range<usize>, what: &str, (text, remedy): tuning::Fault) {
        self.messages.error(place.clone(), format!("{what}: {text}"), remedy);
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
            Ok(value) => {
                self.sizes.push((name.to_string(), value));
                self.size_places.push(place);
            }
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

    /// Returns our expression for one over variables and parameters. A generator has the variable
    /// `item`.
    fn expression(&self, text: &str, item: Option<&str>) -> Result<String, tuning::Fault> {
        let translator = Translator { parameter: item, whole_numbers: !self.has_floats(text) };
        let ours = translator.expression(text).map_err(|fault| (fault, None))?;
        let expr = Expr::parse(ours.trim()).map_err(|error| (error.message, error.remedy))?;
        let known = |name: &str| {
            Some(name) == item || lookup(&self.sizes, name).is_some() || self.parameters.iter().any(|one| one == name)
        };
        match expr.names().iter().find(|name| !known(&name.text)) {
            Some(name) => Err(self.unknown_name(&name.text)),
            None => Ok(ours.trim().to_string()),
        }
    }

    /// Returns true if an expression uses floating-point numbers.
    fn has_floats(&self, text: &str) -> bool {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        words.into_iter().any(|word| {
            let literal = word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
            let size = lookup(&self.sizes, word);
            literal
                || self.float_parameters.iter().any(|parameter| parameter == word)
                || size.is_some_and(|size| size.kind() == ValueKind::Float)
        })
    }

    /// Returns the fault of a name that is neither a variable nor a parameter.
    fn unknown_name(&self, name: &str) -> tuning::Fault {
        let sizes = self.sizes.iter().map(|(name, _)| name.as_str());
        let known: Vec<&str> = sizes.chain(self.parameters.iter().map(String::as_str)).collect();
        let listed = format!("variables and parameters are {}", known.join(", "));
        let remedy = did_you_mean(name, known).unwrap_or(listed);
        (format!("`{name}` is neither a variable nor a parameter"), Some(remedy))
    }

    /// Returns the place inside of the parentheses around a whole list of arguments, or `place`.
    fn listed(&self, place: Range<usize>) -> Range<usize> {
        let text = &self.clean[place.clone()];
        match bracket(text) {
            Ok((inside, rest)) if text.starts_with('(') && rest.trim().is_empty() => {
                scan::unquoted(self.clean, place.start + 1..place.start + 1 + inside.len())
            }
            _ => place,
        }
    }

    fn parameter(&mut self, directive: &Directive) {
        let parts = scan::parts(self.clean, directive.rest.clone());
        let part = |wanted: &str| {
            let found = parts.iter().find(|(word, _)| *word == wanted);
            found.map(|(_, span)| scan::unquoted(self.clean, span.clone()))
        };
        let (Some(name_place), Some(range)) = (part("name"), part("range")) else {
            let remedy = "write `#atf::tp name \"TILE\" range interval<size_t>(1, N) constraint divides(N)`";
            let text = "a tuning parameter needs a name and a range";
            return self.messages.error(directive.span.clone(), text, Some(remedy.to_string()));
        };
        let name = self.clean[name_place.clone()].to_string();
        let kind = part("type").map_or("", |place| &self.clean[place]);
        match self.values(&range, kind) {
            Ok(values) => {
                if values.has_floats() {
                    self.float_parameters.push(name.clone());
                }
                self.parameters.push(name.clone());
                self.ranges.push(entry(&name, &name_place, values));
            }
            Err((text, remedy)) => return self.messages.error(range, text, remedy),
        }
        if let Some(place) = part("constraint") {
            self.constraint(&name, &place);
        }
    }

    fn constraint(&mut self, parameter: &str, place: &Range<usize>) {
        let text = &self.clean[place.clone()];
        let floats = self.has_floats(text) || self.has_floats(parameter);
        let translator = Translator { parameter: Some(parameter), whole_numbers: !floats };
        let written = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let read = translator.expression(text).map_err(|text| (text, None));
        let read = read.and_then(|text| match Expr::parse(text.trim()) {
            Ok(_) => Ok(text.trim().to_string()),
            Err(error) => Err((error.message, error.remedy)),
        });
        match read {
            Ok(ours) => {
                let item = Item::scalar(ours.as_str(), place.clone());
                self.constraints.push(entry(&format!("{parameter}: {written}"), place, item));
            }
            Err(fault) => self.fault(place, &format!("the constraint of `{parameter}`"), fault),
        }
    }

    /// Reports the faults that concern all directives together.
    fn finish(&self) {
        if self.parameters.is_empty() && !self.messages.have_errors() {
            let remedy = "write `#atf::tp name \"TILE\" range {8, 16, 32}`".to_string();
            self.messages.error(0..0, "there is no tuning parameter", Some(remedy));
        }
        if let (Some(api), true) = (&self.launch.api, self.script.is_some()) {
            let remedy = "remove the directives of one: a script runs the kernel itself".to_string();
            self.messages.error(api.span.clone(), "there are directives of a kernel and of scripts", Some(remedy));
        }
        if let (Some(source), true) = (&self.launch.source, self.script.is_some()) {
            let remedy = "remove it: scripts know their files".to_string();
            self.messages.error(source.span.clone(), "`#atf::source` has no meaning for scripts", Some(remedy));
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

    /// Returns the problem as a document, with the reasons why nothing can be run, if there are
    /// any. Then the document has a space alone.
    fn document(mut self, source: &SourceFile) -> (Table, Vec<Diagnostic>) {
        let mut obstacles = Vec::new();
        let mut sections = Vec::new();
        if let Some(api) = &self.launch.api {
            match self.launch.sections(api.value, source) {
                Ok(launch) => {
                    sections = launch.entries;
                    self.tuning.extend(launch.device.map(|device| entry("device", &device.span.clone(), device)));
                }
                Err(missing) => obstacles = missing,
            }
        } else if self.script.is_some() {
            match self.script.section(source) {
                Ok(section) => sections.push(section),
                Err(missing) => obstacles = missing,
            }
        } else {
            obstacles.push(nothing_to_run(source));
        }
        let sizes = self.sizes.into_iter().zip(self.size_places);
        let sizes = sizes.map(|((name, value), place)| entry(&name, &place.clone(), Item::scalar(value, place)));
        let problem = vec![entry("sizes", &(0..0), Item::table(sizes.collect(), 0..0))];
        let own = [
            ("problem", problem),
            ("parameters", self.ranges),
            ("constraints", self.constraints),
            ("tuning", self.tuning),
            ("measure", self.measure),
        ];
        let own = own.map(|(key, entries)| entry(key, &(0..0), Item::table(entries, 0..0)));
        sections.extend(own);
        (Table { entries: sections }, obstacles)
    }
}

/// Returns the reason why a source that describes only a space cannot be tuned.
fn nothing_to_run(source: &SourceFile) -> Diagnostic {
    let text = "the directives describe a space, but nothing to run".to_string();
    let remedy = "add `#atf::ocl::kernel_name`, `#atf::ocl::input` for each argument, `#atf::ocl::global_size` and \
                  `#atf::ocl::local_size`, or those of `#atf::cuda::`, or `#atf::run_script`";
    source.diagnostic(Level::Error, 0..0, text, Some(remedy.to_string()))
}
