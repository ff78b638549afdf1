//! Evaluates configurations of a command.

use crate::backends::BuildError;
use crate::backends::ahead::{Build, BuildResult, Builds, FinishedBuild};
use crate::backends::command::backend::{BuiltCommand, CommandBackend};
use crate::backends::command::digest::digest;
use crate::backends::command::lookup::{NoProgram, find};
use crate::backends::command::measure::{CommandBench, MeasuredCommand};
use crate::backends::command::reach::Reach;
use crate::backends::command::words::{environment, expand, step_words, with_folder};
use crate::host::{KEPT, Launcher, WorkerCommand, processor_name, threads};
use crate::sandbox::Sandbox;
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{
    Bound, Clock, CompileLimit, Completion, Error, Evaluator, Failure, FailureKind, Interrupt, Request, Spent,
    SystemClock,
};
use tunesmith_kernel::command::{CommandSpec, Cost, OUT};
use tunesmith_kernel::measure::Policy;
use tunesmith_kernel::measure::limits::Pace;
use tunesmith_kernel::{DeviceError, Scope, Template, TemplateError};
use tunesmith_power::Powercap;
use tunesmith_space::{ConfigId, Space, Value};

/// The options of a [`CommandEvaluator`].
#[derive(Clone)]
pub struct CommandOptions {
    /// The command to tune.
    pub spec: CommandSpec,
    /// The problem's sizes.
    pub sizes: Vec<(String, Value)>,
    /// The rules of measuring.
    pub policy: Policy,
    /// Maximum number of concurrent builds. 0 means the number of processors.
    pub jobs: usize,
    /// The executable that supervises commands. It is the same as for workers.
    pub worker: WorkerCommand,
    /// The sandbox of the commands, on systems that have one. `None` runs them without.
    pub sandbox: Option<Sandbox>,
    /// The folder of the processors' energy counters, if the energy of every run is measured. A
    /// command that prints its own energy needs none.
    pub energy: Option<PathBuf>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
}

impl CommandOptions {
    /// Returns the default options for a command.
    pub fn new(spec: CommandSpec) -> Self {
        Self {
            spec,
            sizes: Vec::new(),
            policy: Policy::default(),
            jobs: 0,
            worker: WorkerCommand::current(),
            sandbox: None,
            energy: None,
            clock: Arc::new(SystemClock::new()),
        }
    }
}

/// Evaluates configurations of any program (ATF's generic cost function).
///
/// Requests are built in parallel and run one by one, as they are built; see [`Evaluator`]. Build steps
/// stand still while a command runs. Each configuration is run once untimed and judged. Then it is run until
/// its median cost is stable ([`sampling::decide`](tunesmith_kernel::measure::sampling::decide)). A run that
/// takes several times as long as the best one is ended together with its process group.
pub struct CommandEvaluator {
    space: Space,
    sizes: Vec<(String, Value)>,
    policy: Policy,
    clock: Arc<dyn Clock>,
    backend: Arc<CommandBackend>,
    builds: Builds<CommandBackend, Request>,
    /// The time since the latest answer in which the next one was waited for.
    waited: Duration,
    expected: Option<String>,
    identity: Vec<(String, String)>,
    /// The median times from start to end of correct configurations, which bound runs.
    pace: Pace,
    /// The time in milliseconds that the next configurations race against.
    bar_ms: Option<f64>,
    /// The meter of the energy of runs, if it is measured.
    meter: Option<RefCell<Powercap>>,
    /// Configurations that were re-measured and may be re-measured again.
    kept: HashMap<ConfigId, BuiltCommand>,
    /// The results of the first builds.
    reach: Reach,
    /// Remarks that were not passed on yet.
    notes: Vec<String>,
}

impl CommandEvaluator {
    /// Checks names and files. Runs none of the user's code yet.
    ///
    /// # Errors
    /// A template contains an unknown name, a file cannot be read, or there is no room for
    /// temporary files.
    pub fn new(space: &Space, mut options: CommandOptions) -> Result<Self, DeviceError> {
        let spec = &mut options.spec;
        spec.folder = std::path::absolute(&spec.folder).map_err(|source| DeviceError::Source {
            what: "the command",
            path: spec.folder.clone(),
            source,
        })?;
        let scope = with_folder(&Scope::example(&options.sizes, space), Path::new(OUT));
        check_names(spec, &scope)?;
        let expected = spec.verify.expected_output.as_deref().map(read_expected).transpose()?;
        let launcher = Launcher::new(options.worker, Arc::clone(&options.clock))?;
        let limit = options.policy.limits.compile;
        let backend = Arc::new(CommandBackend::new(
            options.spec,
            launcher,
            options.sandbox.as_ref(),
            limit,
            Arc::clone(&options.clock),
        )?);
        let spec = &backend.spec;
        let digest = digest(spec, &scope, backend.problem.sources(), &backend.files);
        let digest =
            digest.map_err(|source| DeviceError::Source { what: "the command", path: spec.folder.clone(), source })?;
        let identity = [("backend", "command".to_owned()), ("device", processor_name()), ("command", digest)];
        let jobs = if options.jobs == 0 { threads() } else { options.jobs };
        Ok(Self {
            space: space.clone(),
            sizes: options.sizes,
            policy: options.policy,
            clock: options.clock,
            builds: Builds::new(Arc::clone(&backend), jobs, Arc::clone(&backend.suspension)),
            waited: Duration::ZERO,
            backend,
            expected,
            identity: identity.map(|(name, value)| (name.to_owned(), value)).into(),
            pace: Pace::default(),
            bar_ms: None,
            meter: options.energy.as_deref().map(Powercap::open).transpose()?.map(RefCell::new),
            kept: HashMap::new(),
            reach: Reach::default(),
            notes: Vec::new(),
        })
    }

    /// Builds one configuration to check that all programs exist. The next request for the
    /// configuration reuses the build. Any other build error is ignored here, because other
    /// configurations may succeed.
    ///
    /// # Errors
    /// A program is neither installed, nor in the problem's folder, nor made by the build
    /// ([`DeviceError::Command`]).
    pub fn preflight(&mut self, config: ConfigId) -> Result<(), DeviceError> {
        self.unbuilt(config).map(drop)
    }

    /// Builds one configuration as [`preflight`](Self::preflight) does. Returns the message if a
    /// build step fails.
    ///
    /// # Errors
    /// Those of [`preflight`](Self::preflight).
    pub fn unbuilt(&mut self, config: ConfigId) -> Result<Option<String>, DeviceError> {
        let spec = &self.backend.spec;
        let scope = self.scope(config);
        // Later steps may run programs that earlier steps have made.
        let is_installed = |word: &str| !word.contains('/');
        for (at, step) in spec.build.iter().enumerate() {
            let words = step_words(step, &scope);
            if let Some(program) = words.first().filter(|program| at == 0 || is_installed(program)) {
                require("build", program, &spec.folder)?;
            }
        }
        let prepared = match self.backend.build(&scope, self.backend.launcher.interrupt()) {
            Ok(prepared) => prepared,
            Err(BuildError::Broken(error)) => return Err(error),
            Err(BuildError::Failed(message) | BuildError::Refused(message)) => return Ok(Some(message)),
            Err(BuildError::Cancelled) => return Err(DeviceError::Interrupted),
            Err(BuildError::Signature(_)) => return Ok(None),
        };
        let command = [("command", &spec.command)];
        let check = spec.verify.check.iter().map(|check| ("check", check));
        for (key, words) in command.into_iter().chain(check) {
            require(key, &first_word(words, &prepared.scope), prepared.own.path())?;
        }
        self.backend.keep(scope, prepared);
        Ok(None)
    }

    /// Returns the values that must stay the same when a run is resumed, by name: the device, and a
    /// digest of the command and of the files it names.
    pub fn identity(&self) -> Vec<(String, String)> {
        self.identity.clone()
    }

    /// Returns a shell script that builds, runs and checks a configuration in the same way as an
    /// evaluation.
    pub fn script(&self, config: ConfigId) -> String {
        let spec = &self.backend.spec;
        let scope = with_folder(&self.scope(config), Path::new("/tmp/tunesmith-out"));
        let quoted = |words: Vec<String>| shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        let mut lines = vec![format!("cd {}", shell_word(&spec.folder))];
        for (name, value) in environment(spec, &scope) {
            lines.push(format!("export {name}={}", quoted(vec![value])));
        }
        lines.push(format!("mkdir -p \"${OUT}\""));
        for (key, words) in spec.commands() {
            let words = if key == "build" { step_words(words, &scope) } else { expand(words, &scope) };
            let line = quoted(words);
            if key == "command" && !spec.writes.is_empty() {
                lines.push(format!("rm -f -- {}", quoted(expand(&spec.writes, &scope))));
            }
            lines.push(match key {
                // The check reads the command's output.
                "command" if spec.verify.check.is_some() => format!("{line} | tee \"${OUT}.output\""),
                "check" => format!("{line} < \"${OUT}.output\""),
                _ => line,
            });
        }
        lines.join("\n") + "\n"
    }

    fn scope(&self, config: ConfigId) -> Scope {
        Scope::of(&self.sizes, &self.space, config)
    }

    fn bench<'a>(&'a self, interrupt: &'a Interrupt) -> CommandBench<'a> {
        CommandBench {
            backend: &self.backend,
            expected: self.expected.as_deref(),
            policy: &self.policy,
            bar_ms: self.bar_ms,
            limit: self.pace.limit(&self.policy.limits, None),
            clock: self.clock.as_ref(),
            meter: self.meter.as_ref(),
            interrupt,
        }
    }

    /// Returns the completion of a configuration, whether it was built or not. Returns `None` if
    /// interrupted.
    fn complete(
        &mut self,
        result: BuildResult<CommandBackend>,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, DeviceError> {
        let prepared = match result {
            Ok(prepared) => prepared,
            Err(error) => return not_built(error),
        };
        if let Some(made) = &prepared.made {
            self.notes.extend(self.reach.add(self.backend.build_words(&prepared), made.clone()));
        }
        let Some(measured) = self.bench(interrupt).measure(&prepared)? else { return Ok(None) };
        if let Some(wall) = measured.wall() {
            self.pace.add(wall);
        }
        Ok(Some(completion(measured, &prepared)))
    }

    /// Takes more samples of a configuration. Builds it if it was not kept. Returns `None` if
    /// interrupted.
    fn again(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, DeviceError> {
        let scope = self.scope(config);
        let is_new = match self.kept.entry(config) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => match self.backend.build(&scope, interrupt) {
                Ok(prepared) => {
                    place.insert(prepared);
                    true
                }
                Err(error) => return not_built(error),
            },
        };
        let Some(prepared) = self.kept.get(&config) else { return Ok(None) };
        let warmup = is_new && self.backend.spec.warmup;
        let measured = self.bench(interrupt).again(prepared, samples, warmup)?;
        Ok(measured.map(|measured| completion(measured, prepared)))
    }
}

impl Evaluator for CommandEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.builds.submit(self.scope(request.config), request);
        Ok(())
    }

    fn runs_here(&self) -> bool {
        true
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.upcoming(interrupt)?;
        let Some(FinishedBuild { request, result, aside, .. }) = self.builds.next(interrupt) else { return Ok(None) };
        let mut completion = match aside {
            Some(limit) => Some(Completion { failure: Some(Failure::put_aside(limit)), ..Completion::default() }),
            None => self.complete(result, interrupt)?,
        };
        if let Some(completion) = &mut completion {
            completion.request = Some(request);
            completion.spent.compile = std::mem::take(&mut self.waited);
        }
        Ok(completion)
    }

    fn upcoming(&mut self, interrupt: &Interrupt) -> Result<Option<Request>, Error> {
        let start = self.clock.now();
        let request = self.builds.upcoming(interrupt).copied();
        self.waited += self.clock.now() - start;
        Ok(request)
    }

    fn cancel(&mut self) {
        self.builds.cancel();
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar_ms = bar_ms;
    }

    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        self.builds.limit(limit);
    }

    fn has_limits(&self) -> bool {
        true
    }

    fn bound(&mut self, bound: Bound) {
        // A bound is a cost. A run that lasts long may have a small cost, unless it is the duration.
        let is_duration = matches!(self.backend.spec.cost, Cost::Wall);
        self.pace.bind(if is_duration { bound } else { Bound::Open });
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        Ok(self.again(config, samples, interrupt)?)
    }

    fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

fn completion(measured: MeasuredCommand, prepared: &BuiltCommand) -> Completion {
    let MeasuredCommand { failure, mut measurement, run, verify, .. } = measured;
    measurement.compile = prepared.compile.clone();
    let spent = Spent { run, verify, ..Spent::default() };
    Completion { failure, measurement, spent, ..Completion::default() }
}

/// Interprets an unsuccessful build.
fn not_built(error: BuildError) -> Result<Option<Completion>, DeviceError> {
    let failure = match error {
        BuildError::Cancelled => return Ok(None),
        BuildError::Broken(error) => return Err(error),
        BuildError::Failed(log) => Failure::new(FailureKind::Compile, log),
        // A command has no signature.
        other => Failure::new(FailureKind::Compile, format!("{other:?}")),
    };
    Ok(Some(Completion { failure: Some(failure), ..Completion::default() }))
}

/// Reports unknown names.
fn check_names(spec: &CommandSpec, scope: &Scope) -> Result<(), DeviceError> {
    let words = spec.commands().flat_map(|(key, words)| words.iter().map(move |word| (key, word)));
    let environment = spec.environment.iter().map(|(_, value)| ("environment", value));
    for (key, word) in words.chain(environment) {
        word.check(scope).map_err(|error| DeviceError::Command {
            key,
            text: format!("in `{word}`: {error}"),
            remedy: unknown_name(&error),
        })?;
    }
    Ok(())
}

/// Returns the remedy for an unknown name: its braces may have been meant as braces.
fn unknown_name(error: &TemplateError) -> String {
    let names = format!("names are sizes, parameters and {OUT}, the folder of a configuration");
    match error {
        TemplateError::UnknownName { name, .. } => {
            format!("{names}; write `{{{{{name}}}}}` if the braces stand for themselves")
        }
        _ => names,
    }
}

/// Returns a path as a word of a shell. `printf` writes the bytes of a name that is no text.
fn shell_word(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return shlex::try_quote(text).unwrap_or_default().into_owned();
    }
    let bytes: String = path.as_os_str().as_encoded_bytes().iter().map(|byte| format!("\\{byte:03o}")).collect();
    // The shell drops line breaks at the end of what a command prints.
    format!("\"$(printf '{bytes}/.')\"")
}

fn first_word(words: &[Template], scope: &Scope) -> String {
    words.first().map(|word| word.expand(scope)).unwrap_or_default()
}

fn require(key: &'static str, program: &str, folder: &Path) -> Result<(), DeviceError> {
    let missing = |NoProgram { problem, remedy }| DeviceError::Command {
        key,
        text: format!("the program `{program}` {problem}"),
        remedy,
    };
    find(program, folder).map(drop).map_err(missing)
}

/// Returns the expected standard output. Of an output, only a limited part is kept for comparison.
fn read_expected(path: &Path) -> Result<String, DeviceError> {
    let unreadable = |source| DeviceError::Source { what: "the expected output", path: path.to_owned(), source };
    let bytes = tunesmith_files::read(path, tunesmith_files::DATA).map_err(unreadable)?;
    if bytes.len() > 2 * KEPT {
        let text = format!("the expected output in {} is longer than {} MiB", path.display(), (2 * KEPT) >> 20);
        let remedy = "let a `check` command compare it".to_owned();
        return Err(DeviceError::Command { key: "expected_output", text, remedy });
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
