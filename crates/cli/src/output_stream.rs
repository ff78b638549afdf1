//! `-o -`: the output of a command on standard output.
//!
//! Commands write files. For `-`, a command gets a file in a folder of its own, which is then copied to standard
//! output. What it says to people goes to standard error.

use crate::args::{Command, NestCommand, TrainCommand};
use crate::output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tunesmith::Error;
use tunesmith::core::Refusal;

/// The output of a command that goes to standard output.
pub(crate) struct OutputStream {
    folder: TempDir,
    name: String,
}

/// An option of a command that names its output.
struct OutputOption<'a> {
    path: &'a mut PathBuf,
    /// The name of a file of its format.
    name: String,
    /// True if the command prints JSON to standard output.
    json: bool,
}

impl OutputStream {
    /// Returns the stream if `command` is told to write to `-`, and makes it write to the stream's file.
    ///
    /// # Errors
    /// The command has two things to print, or standard output cannot tell the format.
    pub(crate) fn of(command: &mut Command) -> Result<Option<Self>, Error> {
        let is_stream = |path: &Path| path.as_os_str() == "-";
        let refuse = |text: &str, remedy: &str| Error::from(Refusal::new(text.to_string(), Some(remedy.to_string())));
        if let Command::Nest(NestCommand::Import(args)) = command
            && args.out.as_deref().is_some_and(is_stream)
        {
            let remedy = "name the nest: the problem and the reference are written beside it";
            return Err(refuse("`nest import` writes three files, which one stream cannot hold", remedy));
        }
        let hears_signals = match &*command {
            Command::Train(TrainCommand::Timing(args)) => args.judge,
            other => matches!(other, Command::Calibrate(_) | Command::Export(_)),
        };
        let Some(named) = named(command).filter(|named| is_stream(named.path)) else { return Ok(None) };
        if named.json {
            return Err(refuse("`-o -` and --json both write to standard output", "leave one of them out"));
        }
        if named.name.is_empty() {
            return Err(refuse("standard output has no suffix that tells the format", "add --to with a format"));
        }
        let folder = tempfile::tempdir().map_err(|error| {
            let path = std::env::temp_dir();
            refuse(
                &format!("cannot write to `{}`: {error}", path.display()),
                "set TMPDIR to a folder that can be written to",
            )
        })?;
        *named.path = folder.path().join(&named.name);
        output::take_standard_output(named.path);
        if !hears_signals {
            remove_on_signals(folder.path().to_path_buf());
        }
        Ok(Some(Self { folder, name: named.name }))
    }

    /// Copies the output to standard output.
    ///
    /// # Errors
    /// The command wrote nothing, or the disk failed.
    pub(crate) fn deliver(self) -> Result<(), Error> {
        let named = self.folder.path().join(&self.name);
        // A format may add a suffix of its own.
        let entries =
            || std::fs::read_dir(self.folder.path()).into_iter().flatten().flatten().map(|entry| entry.path());
        let path = if named.is_file() { named } else { entries().next().unwrap_or(named) };
        let content = std::fs::read(&path);
        output::bytes(&content.map_err(|error| Error::from(Refusal::new(format!("no output: {error}"), None)))?);
        for other in entries().filter(|other| *other != path) {
            let name = other.file_name().unwrap_or_default().to_string_lossy();
            output::note(&format!("note: `{name}` is left out; name a file with `-o` to have it, too"));
        }
        Ok(())
    }
}

/// Has a signal that ends this process remove `folder` first. Commands that use a device hear signals by themselves,
/// because they have more to clean up.
fn remove_on_signals(folder: PathBuf) {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    let wait = move || {
        if signals.forever().next().is_some() {
            let _ = std::fs::remove_dir_all(folder);
            std::process::exit(130);
        }
    };
    // Without the thread, a signal would have no effect at all.
    if std::thread::Builder::new().spawn(wait).is_err() {
        output::note("note: no thread can be started, so that Ctrl-C has no effect");
    }
}

/// Returns the option of `command` that names its one output.
fn named(command: &mut Command) -> Option<OutputOption<'_>> {
    let named = |path, name: &str, json| Some(OutputOption { path, name: name.to_string(), json });
    match command {
        Command::Convert(args) => {
            let name = match args.to.as_deref() {
                Some("csv") => "recording.csv",
                Some("t4") => "recording.json",
                Some("kernel-tuner") => "recording.cache.json",
                // An unknown format is refused by name.
                Some(_) => "recording",
                None => "",
            };
            named(&mut args.out, name, args.json)
        }
        Command::Report(args) => named(args.out.as_mut()?, "report.html", args.json),
        Command::Export(args) => named(args.out.as_mut()?, "tuned", args.json),
        Command::Estimate(args) => named(args.out.as_mut()?, "estimates.csv", args.json),
        Command::Calibrate(args) => named(&mut args.out, "device.json", args.json),
        Command::Train(TrainCommand::Counters(args)) => named(&mut args.out, "model.json", args.json),
        Command::Train(TrainCommand::Timing(args)) => named(&mut args.out, "model.json", args.json),
        _ => None,
    }
}
