//! Reads ATF's directives in a source (ATF paper, section 6): tuning parameters with ranges and
//! constraints, the search technique, the abort condition, and how the kernel or program is run.
//!
//! [`scan`] finds the directives and [`names`] knows their meanings. Expressions are C++;
//! [`translate`] and [`lambda`] convert them to ours. [`launch`] makes the kernel and its arguments,
//! [`script`] the command.

mod input;
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

use crate::problem_file::ProblemFile;
use launch::{Launch, Parts};
use names::Meaning;
use scan::Directive;
use script::Script;
use std::collections::HashSet;
use std::ops::Range;
use translate::{Translator, bracket};
use tunesmith_core::Refusal;
use tunesmith_kernel::Reading;
use tunesmith_search::StrategyError;
use tunesmith_space::{Constraint, Expr, Value, ValueKind, did_you_mean, lookup};
use tunesmith_spec::{
    Diagnostic, Draft, KernelDraft, Key, Level, Located, Messages, ParameterDraft, Places, ProblemError, SourceFile,
    SubjectDraft, ValuesDraft, number_for_truth,
};

/// Returns true if a source has directives.
pub(crate) fn present(text: &str) -> bool {
    text.contains("#atf::")
}

/// Returns the problem that the directives of a source describe. `given` has values of variables,
/// by name or, for `$1`, `$2`, ..., by number.
pub(crate) fn read(source_file: SourceFile, given: &[(String, Value)]) -> Result<ProblemFile, ProblemError> {
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
    // A compiler must not see directives outside of comments.
    let is_own = reader.launch.source.is_none();
    let bare = directives.iter().filter(|directive| is_own && !directive.in_comment);
    let not_code = bare.map(|directive| scan::lines_of(&text, &directive.span)).collect();
    let obstacles = reader.add_subject(not_code);
    let Reader { draft, places, .. } = reader;
    if messages.have_errors() {
        return Err(ProblemError { messages: messages.into_list(), source_file });
    }
    Ok(ProblemFile { obstacles, ..ProblemFile::new(draft, places, messages) })
}

struct Reader<'a> {
    clean: &'a str,
    messages: &'a Messages,
    given: &'a [(String, Value)],
    /// The parts so far. Its sizes are the variables.
    draft: Draft,
    places: Places,
    /// The settings that a directive stated.
    stated: HashSet<&'static str>,
    /// The names of the parameters.
    parameters: Vec<String>,
    /// Those whose values are floating-point numbers.
    float_parameters: Vec<String>,
    launch: Launch,
    script: Script,
}

impl<'a> Reader<'a> {
    fn new(clean: &'a str, messages: &'a Messages, given: &'a [(String, Value)]) -> Self {
        Self {
            clean,
            messages,
            given,
            draft: Draft { name: messages.source.stem(), ..Draft::default() },
            places: Places::default(),
            stated: HashSet::new(),
            parameters: Vec::new(),
            float_parameters: Vec::new(),
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
                let strategy = tuning::strategy(&text.value);
                let strategy = strategy.and_then(|name| {
                    name.parse().map_err(|error: StrategyError| Refusal::new(error.to_string(), None))
                });
                self.draft.tuning.strategy = self.setting("tuning.strategy", strategy, &rest);
            }
            Ok(Meaning::Abort) => {
                self.draft.tuning.stop = self.setting("tuning.stop", tuning::stop(&text.value), &rest);
            }
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

    /// Returns the value of a setting. Reports that it is wrong, or that another directive states the setting, too.
    fn setting<T>(&mut self, name: &'static str, value: Result<T, Refusal>, place: &Range<usize>) -> Option<T> {
        self.once(name, place);
        value.map_err(|fault| self.messages.error(place.clone(), fault.text, fault.remedy)).ok()
    }

    /// Reports a setting that another directive states, too.
    fn once(&mut self, name: &'static str, place: &Range<usize>) {
        if !self.stated.insert(name) {
            let remedy = "remove one, or give it another name".to_string();
            self.messages.error(place.clone(), format!("`{name}` is there twice"), Some(remedy));
        }
    }

    fn fault(&self, place: &Range<usize>, what: &str, fault: Refusal) {
        self.messages.error(place.clone(), format!("{what}: {}", fault.text), fault.remedy);
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
                    let text = format!("`{name}` is value {number} of the command line, but that value is not given");
                    Refusal::new(text, Some(remedy))
                })
            }
            (None, None) => self.value(text),
        };
        match value {
            Ok(value) => {
                self.places.add(Key::of("problem").field("sizes").field(name), place);
                self.draft.sizes.push((name.to_string(), value));
            }
            Err(fault) => self.messages.error(place, fault.text, fault.remedy),
        }
    }

    /// Returns the value of an expression over the variables before it.
    fn value(&self, text: &str) -> Result<Value, Refusal> {
        let translator = Translator { parameter: None, whole_numbers: !self.has_floats(text) };
        let text = translator.expression(text).map_err(|text| Refusal::new(text, None))?;
        if text.contains("device.") {
            let remedy = Some("use it in a constraint".to_string());
            return Err(Refusal::new("a device limit is not known before the device is", remedy));
        }
        let value = Expr::parse(&text).and_then(|expr| expr.evaluate(&|name| lookup(&self.draft.sizes, name)));
        value.map_err(|error| Refusal::new(error.message, error.remedy))
    }

    /// Returns our expression for one over variables and parameters. A generator has the variable
    /// `item`.
    fn expression(&self, text: &str, item: Option<&str>) -> Result<Expr, Refusal> {
        let translator = Translator { parameter: item, whole_numbers: !self.has_floats(text) };
        let ours = translator.expression(text).map_err(|fault| Refusal::new(fault, None))?;
        let expr = Expr::parse(ours.trim()).map_err(|error| Refusal::new(error.message, error.remedy))?;
        let known = |name: &str| {
            Some(name) == item
                || lookup(&self.draft.sizes, name).is_some()
                || self.parameters.iter().any(|one| one == name)
        };
        match expr.names().iter().find(|name| !known(&name.text)) {
            Some(name) => Err(self.unknown_name(&name.text)),
            None => Ok(expr),
        }
    }

    /// Returns true if an expression uses floating-point numbers.
    fn has_floats(&self, text: &str) -> bool {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        words.into_iter().any(|word| {
            let literal = word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
            let size = lookup(&self.draft.sizes, word);
            literal
                || self.float_parameters.iter().any(|parameter| parameter == word)
                || size.is_some_and(|size| size.kind() == ValueKind::Float)
        })
    }

    /// Returns the fault of a name that is neither a variable nor a parameter.
    fn unknown_name(&self, name: &str) -> Refusal {
        let sizes = self.draft.sizes.iter().map(|(name, _)| name.as_str());
        let known: Vec<&str> = sizes.chain(self.parameters.iter().map(String::as_str)).collect();
        let listed = format!("variables and parameters are {}", known.join(", "));
        let remedy = did_you_mean(name, known).unwrap_or(listed);
        Refusal::new(format!("`{name}` is neither a variable nor a parameter"), Some(remedy))
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
                let is_float = |value: &Value| matches!(value, Value::Float(_));
                if matches!(&values, ValuesDraft::List(values) if values.iter().any(is_float)) {
                    self.float_parameters.push(name.clone());
                }
                self.parameters.push(name.clone());
                let key = Key::of("parameters").field(&name);
                self.places.add(key.label(), name_place);
                self.places.add(key, range);
                self.draft.space.parameters.push(ParameterDraft { name: name.clone(), values });
            }
            Err(fault) => return self.messages.error(range, fault.text, fault.remedy),
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
        let read = translator.expression(text).map_err(|text| Refusal::new(text, None));
        let read =
            read.and_then(|text| Expr::parse(text.trim()).map_err(|error| Refusal::new(error.message, error.remedy)));
        match read {
            Ok(expr) => self.add_constraint(format!("{parameter}: {written}"), expr, place),
            Err(fault) => self.fault(place, &format!("the constraint of `{parameter}`"), fault),
        }
    }

    fn add_constraint(&mut self, name: String, expr: Expr, place: &Range<usize>) {
        if let Some(doubt) = number_for_truth(&name, &expr) {
            self.messages.warning(place.clone(), doubt.text, doubt.remedy);
        }
        self.places.add(Key::of("constraints").field(&name), place.clone());
        self.draft.space.constraints.push(Constraint::new(name, expr));
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
            if !is_number && lookup(&self.draft.sizes, name).is_none() {
                let known: Vec<&str> = self.draft.sizes.iter().map(|(known, _)| known.as_str()).collect();
                let listed = format!("its variables are {}", known.join(", "));
                let remedy = did_you_mean(name, known).unwrap_or(listed);
                self.messages.error(0..0, format!("the kernel has no variable `{name}`"), Some(remedy));
            }
        }
    }

    /// Adds what is run. Returns the reasons why nothing can be, if there are any: then the problem is a space alone.
    fn add_subject(&mut self, not_code: Vec<Range<usize>>) -> Vec<Diagnostic> {
        let source = &self.messages.source;
        if let Some(api) = self.launch.api.clone() {
            match self.launch.parts(api.value, self.messages, &mut self.places) {
                Ok(parts) => {
                    self.draft.tuning.device = self.launch.device_choice(api.value, self.messages);
                    self.add_kernel(parts, not_code);
                }
                Err(missing) => return missing,
            }
        } else if self.script.is_some() {
            match self.script.command(source, &mut self.places) {
                Ok(command) => self.draft.subject = SubjectDraft::Command(Box::new(command)),
                Err(missing) => return missing,
            }
        } else {
            return vec![nothing_to_run(source)];
        }
        Vec::new()
    }

    fn add_kernel(&mut self, Parts { kernel, arguments, reference }: Parts, not_code: Vec<Range<usize>>) {
        // A parameter of the kernel may be called like a variable, since ATF's variables are no macros.
        let own_names = arguments.iter().map(|argument| argument.name.clone());
        let own_names = own_names.filter(|name| lookup(&self.draft.sizes, name).is_some()).collect();
        let kernel = kernel.map(|kernel| KernelDraft { reading: Reading { not_code, own_names }, ..kernel });
        self.draft.subject = SubjectDraft::Kernels(Vec::from_iter(kernel));
        self.draft.arguments = arguments;
        self.draft.verify.reference = reference;
    }
}

/// Returns the reason why a source that describes only a space cannot be tuned.
fn nothing_to_run(source: &SourceFile) -> Diagnostic {
    let text = "the directives describe a space, but nothing to run".to_string();
    let remedy = "add `#atf::ocl::kernel_name`, `#atf::ocl::input` for each argument, `#atf::ocl::global_size` and \
                  `#atf::ocl::local_size`, or those of `#atf::cuda::`, or `#atf::run_script`";
    source.diagnostic(Level::Error, 0..0, text, Some(remedy.to_string()))
}
