//! Builds a configuration into a folder with its programs.

use crate::backends::BuildError;
use crate::backends::ahead::Build;
use crate::backends::command::spec::OUT;
use crate::backends::command::{CommandSpec, judge};
use crate::data::{Places, Scratch};
use crate::error::DeviceError;
use crate::host::{CommandTask, Finish, Input, Launcher, Output, Ran, Streams};
use crate::measure::limits::human;
use crate::problem::{Scope, Template};
use crate::sandbox::{Confinement, Sandbox};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_core::{Clock, CompileData, Interrupt};
use tunesmith_files::remove_tree;
use tunesmith_space::Value;

/// Runs the build steps of configurations.
pub(super) struct CommandBackend {
    pub(super) spec: CommandSpec,
    /// Starts build steps.
    pub(super) launcher: Launcher,
    /// Starts commands. They have a folder for temporary files of their own.
    runner: Launcher,
    /// That folder, in a sandbox.
    temporary: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    /// The time limit of each build step.
    limit: Duration,
    built: AtomicU64,
    /// A configuration that was built before it was requested.
    ahead: Mutex<Option<(Scope, BuiltCommand)>>,
    /// The folders of all configurations. Dropped last.
    scratch: Scratch,
}

/// A configuration that is ready to run. Dropping this value removes its folder.
#[derive(Debug)]
pub(super) struct BuiltCommand {
    /// The configuration's names, including its folder.
    pub(super) scope: Scope,
    pub(super) folder: PathBuf,
    /// The cost and result of building. `None` if there is nothing to build.
    pub(super) compile: Option<CompileData>,
}

impl Drop for BuiltCommand {
    fn drop(&mut self) {
        // A folder that cannot be removed now is removed with all folders at the end.
        let _ = remove_tree(&self.folder);
    }
}

impl CommandBackend {
    /// Creates a backend that works below a temporary folder of its own.
    pub(super) fn new(
        spec: CommandSpec,
        launcher: Launcher,
        sandbox: Option<&Sandbox>,
        limit: Duration,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeviceError> {
        let scratch = Scratch::create(0, &Places::new(launcher.keeps_files_in()))?;
        let confinement = Confinement::of_run(sandbox, scratch.path())?;
        let confinement = confinement.map(|confinement| confinement.with_own_folder(&spec.folder));
        let temporary = confinement.as_ref().map(|_| scratch.path().join("tmp-run"));
        let of_runs = confinement.clone().zip(temporary.as_deref());
        let runner = launcher.clone().confined(of_runs.map(|(confinement, path)| confinement.with_temporary(path)));
        let launcher = launcher.confined(confinement);
        let (built, ahead) = (AtomicU64::new(0), Mutex::new(None));
        Ok(Self { spec, launcher, runner, temporary, clock, limit, built, ahead, scratch })
    }

    /// Returns the supervisor's task for running one of the commands.
    pub(super) fn task(&self, words: &[Template], scope: &Scope) -> CommandTask {
        CommandTask {
            words: expand(words, scope),
            environment: environment(&self.spec, scope),
            folder: self.spec.folder.clone(),
            input: Input::Nothing,
            memory_limit: None,
            confinement: None,
        }
    }

    /// Keeps a built configuration for its next request, because builds may take minutes.
    pub(super) fn keep(&self, scope: Scope, prepared: BuiltCommand) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some((scope, prepared));
    }

    fn prepare(&self, scope: &Scope) -> Result<BuiltCommand, BuildError> {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        let folder = self.scratch.path().join(number.to_string());
        std::fs::create_dir(&folder).map_err(|error| {
            let problem = format!("has no folder for a configuration: {}: {error}", folder.display());
            BuildError::Broken(DeviceError::Worker { problem })
        })?;
        Ok(BuiltCommand { scope: with_folder(scope, &folder), folder, compile: None })
    }

    fn step(&self, words: &[Template], scope: &Scope, cancel: &Interrupt) -> Result<(), BuildError> {
        let task = self.task(words, scope);
        let ran = self.launcher.run(&task, Streams::Together, self.limit, cancel).map_err(BuildError::Broken)?;
        let message = match &ran.finish {
            Finish::Cancelled => return Err(BuildError::Cancelled),
            Finish::TimedOut => {
                let how = format!("did not end within {}", human(self.limit));
                judge::with_output(&format!("the build step `{}` {how}", task.words.join(" ")), &ran)
            }
            finish => match judge::unsuccessful(finish) {
                Some(how) => build_failure(&task, &how, &ran.stdout),
                None => return Ok(()),
            },
        };
        Err(BuildError::Failed(self.without_folder(&message, scope)))
    }

    /// Replaces the configuration's folder in a message. Messages of different configurations
    /// become alike, and none names a folder that no longer exists.
    pub(super) fn without_folder(&self, text: &str, scope: &Scope) -> String {
        match scope.get(OUT) {
            Some(Value::Str(folder)) => text.replace(folder.as_ref(), "{OUT}"),
            _ => text.to_owned(),
        }
    }

    /// Runs the command of a configuration once.
    pub(super) fn run(
        &self,
        prepared: &BuiltCommand,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Ran, DeviceError> {
        let task = self.task(&self.spec.command, &prepared.scope);
        let task = CommandTask { memory_limit: self.spec.memory_limit, ..task };
        let temporary = self.temporary()?;
        let ran = self.runner.run(&task, Streams::Apart, limit, interrupt);
        // Nothing that the command started is left. What it wrote must not fill the disk for others.
        // The next command finds out what remains.
        let _ = temporary.map_or(Ok(()), remove_tree);
        ran
    }

    /// Makes an empty folder for temporary files of a command.
    fn temporary(&self) -> Result<Option<&Path>, DeviceError> {
        let Some(path) = self.temporary.as_deref() else { return Ok(None) };
        // A command may have put a link or a file there.
        let _ = std::fs::remove_file(path);
        remove_tree(path).and_then(|()| std::fs::create_dir(path)).map_err(|error| DeviceError::Worker {
            problem: format!("has no folder for temporary files: {}: {error}", path.display()),
        })?;
        Ok(Some(path))
    }
}

impl Build for CommandBackend {
    type Built = BuiltCommand;

    /// Returns true: build steps run on the same processors as the measured commands.
    fn shares_processor(&self) -> bool {
        true
    }

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<BuiltCommand, BuildError> {
        let kept = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take_if(|(known, _)| known == scope);
        if let Some((_, prepared)) = kept {
            return Ok(prepared);
        }
        let mut prepared = self.prepare(scope)?;
        if self.spec.build.is_empty() {
            return Ok(prepared);
        }
        let start = self.clock.now();
        for step in &self.spec.build {
            self.step(step, &prepared.scope, cancel)?;
        }
        let time_ms = (self.clock.now() - start).as_secs_f64() * 1e3;
        prepared.compile =
            Some(CompileData { time_ms, binary_bytes: bytes_in(&prepared.folder), ..CompileData::default() });
        Ok(prepared)
    }
}

/// Returns the scope of a configuration whose folder is `folder`.
pub(super) fn with_folder(scope: &Scope, folder: &Path) -> Scope {
    let own = scope.iter().map(|(name, value)| (name.to_owned(), value.clone()));
    Scope::new(own.chain([(OUT.to_owned(), Value::from(folder.to_string_lossy().as_ref()))]))
}

/// Returns the words of a command for a configuration.
pub(super) fn expand(words: &[Template], scope: &Scope) -> Vec<String> {
    words.iter().map(|word| word.expand(scope)).collect()
}

/// Returns the environment variables of all commands: first sizes, parameters and the folder by
/// their names, then the problem's own variables.
pub(super) fn environment(spec: &CommandSpec, scope: &Scope) -> Vec<(String, String)> {
    let names = scope.iter().map(|(name, value)| (name.to_owned(), value.define()));
    let named = spec.environment.iter().map(|(name, value)| (name.clone(), value.expand(scope)));
    names.chain(named).collect()
}

/// Returns the message of a failed step. Its first line stands alone. For that line, a compiler's
/// first error is best, and the last line of other programs.
fn build_failure(task: &CommandTask, how: &str, log: &Output) -> String {
    let text = log.text();
    let is_error = |line: &&str| line.contains("error:") || line.contains("Error:");
    let said = text.lines().find(is_error).or_else(|| text.lines().rev().find(|line| !line.trim().is_empty()));
    let program = task.words.first().map_or("", String::as_str);
    match said {
        Some(said) => format!("`{program}`: {}\n`{}` {how}:\n{}", said.trim(), task.words.join(" "), text.trim_end()),
        None => format!("the build step `{}` {how} and printed nothing", task.words.join(" ")),
    }
}

/// Returns the total size in bytes of the files in a folder. Returns `None` if it has none.
fn bytes_in(folder: &Path) -> Option<u64> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).filter(|file| file.is_file()).map(|file| file.len());
    sizes.reduce(|sum, size| sum + size)
}
