//! A job of HyperQueue, whose tasks are workers.

use super::ask::{Answer, ask};
use super::{Patience, WorkerProgram, ending, own_name};
use crate::{FleetError, Token};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tunesmith_core::Interrupt;

/// Maximum time for `hq submit`, which asks a server.
const SUBMIT: Duration = Duration::from_secs(60);

/// Maximum time for `hq job cancel` at the end of a run.
const CANCEL: Duration = Duration::from_secs(10);

/// A job that was submitted. Dropping it cancels the job: it runs on without its submitter.
pub(super) struct Job {
    id: Option<String>,
    /// The file from which its tasks read the token.
    token_file: PathBuf,
    cancel: Duration,
}

impl Job {
    /// Submits a job. HyperQueue hands no environment to tasks, so that they read the token from a file of this
    /// user, which must be on a file system that the hosts share.
    pub(super) fn submit(
        words: &[String],
        worker: &WorkerProgram,
        connect: &[String],
        token: &Token,
        patience: &Patience<'_>,
    ) -> Result<Self, FleetError> {
        let cancel = CANCEL.min(patience.time);
        let mut job = Self { id: None, token_file: token_file(token)?, cancel };
        let mut command = Command::new("hq");
        command.args(["submit", "--output-mode", "quiet"]);
        // Workers tell the coordinator what there is to say; files of their output would lie in the
        // folder of the problem.
        for stream in ["--stdout", "--stderr"] {
            if !words.iter().any(|word| word.starts_with(stream)) {
                command.args([stream, "none"]);
            }
        }
        command.args(words).arg("--").arg(&worker.program);
        command.args(connect).arg("--token-file").arg(&job.token_file);
        job.id = Some(submitted(&mut command, SUBMIT.min(patience.time), patience.interrupt)?);
        Ok(job)
    }

    /// Returns the name of the job for users.
    pub(super) fn name(&self) -> String {
        format!("job {} of HyperQueue", self.id.as_deref().unwrap_or_default())
    }
}

/// Runs `hq submit`. Returns the job's id.
fn submitted(command: &mut Command, limit: Duration, interrupt: &Interrupt) -> Result<String, FleetError> {
    let failed = |reason: String| FleetError::Engine { command: "hq submit".to_string(), reason };
    let start = |source| FleetError::Start { program: "hq".to_string(), source };
    let said = |last: Option<&str>| last.map_or_else(String::new, |last| format!(" (it said last: {last})"));
    match ask(command, limit, interrupt).map_err(start)? {
        Answer::Interrupted => Err(FleetError::Device(Box::new(tunesmith_kernel::DeviceError::Interrupted.into()))),
        Answer::Late(all) => Err(failed(format!(
            "it did not answer within {} s, and is ended{}; does `hq server info` answer?",
            limit.as_secs_f64(),
            said(all.last())
        ))),
        Answer::Ended(status, all) if !status.success() => {
            Err(failed(format!("it {}{}; does `hq server info` answer?", ending(status), said(all.last()))))
        }
        // Others may write before it, or after it, such as the profile of a shell.
        Answer::Ended(_, all) => all.lines().rev().find(|line| is_id(line)).map(str::to_string).ok_or_else(|| {
            failed(format!(
                "it named no job{}; run it by hand, as `hq submit --output-mode quiet true`",
                said(all.last())
            ))
        }),
    }
}

fn is_id(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit())
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            // If this fails, the tasks find nobody and end.
            let _ = ask(Command::new("hq").args(["job", "cancel", id]), self.cancel, &Interrupt::default());
        }
        let _ = std::fs::remove_file(&self.token_file);
    }
}

/// The beginning of the names of token files.
const TOKEN_FILE: &str = ".tunesmith-fleet-";

/// Writes the token into a file of the working folder that nobody else may read. Removes those that runs
/// of this host left when they were killed.
fn token_file(token: &Token) -> io::Result<PathBuf> {
    use std::os::unix::fs::OpenOptionsExt;
    let of_host = format!("{TOKEN_FILE}{}-", own_name());
    for entry in std::fs::read_dir(".")?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(&of_host).and_then(|process| process.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let path = std::path::absolute(format!("{of_host}{}", std::process::id()))?;
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(token.secret().as_bytes())?;
    Ok(path)
}
