//! Builds a configuration into a folder with its programs.

use crate::backends::BuildError;
use crate::backends::ahead::Build;
use crate::backends::command::digest::remember;
use crate::backends::command::folder::{OwnFolder, ProblemFolder, Surroundings};
use crate::backends::command::words::{environment, expand, step_words, with_folder};
use crate::backends::command::{judge, reach};
use crate::backends::compiling::SourceFiles;
use crate::host::{CommandTask, Finish, Input, Launcher, MemoryLimit, Ran, Streams, Suspension};
use crate::sandbox::{Confinement, Sandbox};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_core::{Clock, CompileData, Interrupt};
use tunesmith_files::remove_tree;
use tunesmith_kernel::command::CommandSpec;
use tunesmith_kernel::data::{Places, Scratch};
use tunesmith_kernel::measure::limits::human;
use tunesmith_kernel::{DeviceError, Scope, Template};

/// The copies of the problem's folder that a run has room for at least: those in flight and those of
/// the final re-measurement.
const COPIES: u64 = 8;

/// Runs the build steps of configurations.
pub(super) struct CommandBackend {
    pub(super) spec: CommandSpec,
    /// Starts build steps.
    pub(super) launcher: Launcher,
    /// Starts commands. They have a folder for temporary files of their own.
    runner: Launcher,
    /// That folder, in a sandbox.
    temporary: Option<PathBuf>,
    /// Stops the build steps while a command is measured. Their clock.
    pub(super) suspension: Arc<Suspension>,
    /// The time limit of each build step.
    limit: Duration,
    built: AtomicU64,
    pub(super) problem: ProblemFolder,
    surroundings: Surroundings,
    /// The files that commands read.
    pub(super) files: SourceFiles,
    /// A configuration that was built before it was requested.
    ahead: Mutex<Option<(Scope, BuiltCommand)>>,
    /// The folders of all configurations. Dropped last.
    scratch: Scratch,
}

/// A configuration that is ready to run. Dropping this value removes its folders.
#[derive(Debug)]
pub(super) struct BuiltCommand {
    /// The configuration's names, including its folder.
    pub(super) scope: Scope,
    /// The folder that `{OUT}` names, for what the build makes.
    pub(super) folder: PathBuf,
    /// The folder in which all commands run.
    pub(super) own: OwnFolder,
    /// The cost and result of building. `None` if there is nothing to build.
    pub(super) compile: Option<CompileData>,
    /// A digest of all files behind one of the first builds, if they can be read.
    pub(super) made: Option<String>,
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
        let problem = ProblemFolder::new(&spec, sandbox)?;
        let room = problem.bytes().saturating_mul(COPIES);
        let scratch = Scratch::create(room, &Places::new(launcher.keeps_files_in()))?;
        let surroundings = problem.surroundings(scratch.path());
        // No command may write the problem's folder, which all configurations read.
        let confinement = Confinement::of_run(sandbox, scratch.path())?;
        let temporary = confinement.as_ref().map(|_| scratch.path().join("tmp-run"));
        let of_runs = confinement.clone().zip(temporary.as_deref());
        let runner = launcher.clone().confined(of_runs.map(|(confinement, path)| confinement.with_temporary(path)));
        let suspension = Suspension::new(clock);
        let launcher = launcher.confined(confinement).suspended_by(&suspension);
        Ok(Self {
            spec,
            launcher,
            runner,
            temporary,
            suspension,
            limit,
            built: AtomicU64::new(0),
            problem,
            surroundings,
            files: SourceFiles::default(),
            ahead: Mutex::new(None),
            scratch,
        })
    }

    /// Returns the supervisor's task for running one of the commands.
    pub(super) fn task(&self, words: Vec<String>, prepared: &BuiltCommand) -> CommandTask {
        CommandTask {
            words,
            environment: environment(&self.spec, &prepared.scope),
            folder: prepared.own.path().to_owned(),
            input: Input::Nothing,
            memory: MemoryLimit::Open,
            confinement: None,
        }
    }

    /// Keeps a built configuration for its next request, because builds may take minutes.
    pub(super) fn keep(&self, scope: Scope, prepared: BuiltCommand) {
        *self.ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some((scope, prepared));
    }

    /// Makes the folders of a configuration.
    fn prepare(&self, scope: &Scope) -> Result<BuiltCommand, BuildError> {
        let number = self.built.fetch_add(1, Ordering::Relaxed);
        let folder = self.scratch.path().join(number.to_string());
        std::fs::create_dir(&folder).map_err(|error| no_folder(format!("{}: {error}", folder.display())))?;
        let scope = with_folder(scope, &folder);
        let [writes, command] = [&self.spec.writes, &self.spec.command].map(|words| expand(words, &scope));
        let build: Vec<String> = self.spec.build.iter().flat_map(|step| step_words(step, &scope)).collect();
        remember(&self.spec, &scope, &self.files).map_err(|error| no_folder(error.to_string()))?;
        let own = self.problem.copy(&self.surroundings, number, &writes, &command, &build);
        let own = own.map_err(|error| no_folder(error.to_string()))?;
        // What was copied is what was remembered.
        self.files.require_unchanged(|path| path.display().to_string()).map_err(BuildError::Broken)?;
        Ok(BuiltCommand { scope, folder, own, compile: None, made: None })
    }

    /// Removes what an earlier run of the configuration wrote. A run that writes nothing would
    /// otherwise be judged by the results of another.
    pub(super) fn remove_results(&self, prepared: &BuiltCommand) -> Result<(), DeviceError> {
        let names = expand(&self.spec.writes, &prepared.scope);
        prepared.own.remove_results(&names, &prepared.folder).map_err(|error| DeviceError::Command {
            key: "writes",
            text: format!("the file of an earlier run cannot be removed: {error}"),
            remedy: "name files in the problem's folder or in {OUT}".to_owned(),
        })
    }

    fn step(&self, words: &[Template], prepared: &BuiltCommand, cancel: &Interrupt) -> Result<(), BuildError> {
        let words = step_words(words, &prepared.scope);
        if words.is_empty() {
            return Ok(());
        }
        let task = self.task(words, prepared);
        let ran = self.launcher.run(&task, Streams::Apart, self.limit, cancel).map_err(BuildError::Broken)?;
        let message = match &ran.finish {
            Finish::Cancelled => return Err(BuildError::Cancelled),
            Finish::TimedOut => {
                let how = format!("did not end within {}", human(self.limit));
                judge::with_output(&format!("the build step `{}` {how}", task.words.join(" ")), &ran)
            }
            finish => match judge::unsuccessful(finish) {
                Some(how) => build_failure(&task, &how, &ran),
                None => return Ok(()),
            },
        };
        Err(BuildError::Failed(self.without_folders(&message, prepared)))
    }

    /// Replaces the configuration's folders in a message. Messages of different configurations
    /// become alike, and none names a folder that no longer exists.
    pub(super) fn without_folders(&self, text: &str, prepared: &BuiltCommand) -> String {
        let own = prepared.own.path().to_string_lossy();
        let text = text.replace(own.as_ref(), &self.spec.folder.to_string_lossy());
        text.replace(prepared.folder.to_string_lossy().as_ref(), "{OUT}")
    }

    /// Returns the words of all build steps of a configuration. Its folders have the same name in all of them.
    pub(super) fn build_words(&self, prepared: &BuiltCommand) -> Vec<String> {
        let steps: Vec<Vec<String>> = self.spec.build.iter().map(|step| step_words(step, &prepared.scope)).collect();
        steps.join(&"&&".to_owned()).iter().map(|word| self.without_folders(word, prepared)).collect()
    }

    /// Runs the command of a configuration once. Build steps stand still meanwhile.
    pub(super) fn run(
        &self,
        prepared: &BuiltCommand,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Ran, DeviceError> {
        let task = self.task(expand(&self.spec.command, &prepared.scope), prepared);
        let memory = self.spec.memory_limit.map_or(MemoryLimit::Open, MemoryLimit::AddressSpace);
        let task = CommandTask { memory, ..task };
        self.remove_results(prepared)?;
        let temporary = self.temporary()?;
        let _quiet = self.suspension.pause();
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

    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<BuiltCommand, BuildError> {
        let kept = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take_if(|(known, _)| known == scope);
        if let Some((_, prepared)) = kept {
            return Ok(prepared);
        }
        let mut prepared = self.prepare(scope)?;
        if self.spec.build.is_empty() {
            return Ok(prepared);
        }
        let start = self.suspension.now();
        for step in &self.spec.build {
            self.step(step, &prepared, cancel)?;
        }
        self.problem.restore(&prepared.own).map_err(|error| no_folder(error.to_string()))?;
        let time_ms = (self.suspension.now() - start).as_secs_f64() * 1e3;
        prepared.compile =
            Some(CompileData { time_ms, binary_bytes: bytes_in(&prepared.folder), ..CompileData::default() });
        if self.built.load(Ordering::Relaxed) <= reach::COMPARED {
            prepared.made = reach::digest([prepared.own.path(), &prepared.folder]).ok();
        }
        Ok(prepared)
    }
}

fn no_folder(problem: String) -> BuildError {
    let problem = format!("has no folder for a configuration: {problem}");
    BuildError::Broken(DeviceError::Worker { problem })
}

/// Returns the message of a failed step. Its first line stands alone. For that line, a compiler's
/// first error is best, and of other programs the last line of the standard error.
fn build_failure(task: &CommandTask, how: &str, ran: &Ran) -> String {
    let (stdout, stderr) = (ran.stdout.text(), ran.stderr.text());
    let is_error = |line: &&str| line.contains("error:") || line.contains("Error:");
    let error = stderr.lines().chain(stdout.lines()).find(is_error).map(judge::plain);
    let said = error.or_else(|| judge::last_line(&ran.stderr)).or_else(|| judge::last_line(&ran.stdout));
    let program = task.words.first().map_or("", String::as_str);
    let log = [stdout.trim_end(), stderr.trim_end()].into_iter().filter(|text| !text.is_empty());
    match said {
        Some(said) => {
            let log = log.collect::<Vec<_>>().join("\n");
            format!("`{program}`: {said}\n`{}` {how}:\n{log}", task.words.join(" "))
        }
        None => format!("the build step `{}` {how} and printed nothing", task.words.join(" ")),
    }
}

/// Returns the total size in bytes of the files in a folder. Returns `None` if it has none.
fn bytes_in(folder: &Path) -> Option<u64> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).filter(|file| file.is_file()).map(|file| file.len());
    sizes.reduce(|sum, size| sum + size)
}
