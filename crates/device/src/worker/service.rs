//! The worker's own loop.

use crate::worker::bench::JobBench;
use crate::worker::buffers::Buffers;
use crate::worker::link::Link;
use crate::worker::protocol::{Job, JobReport, Message, Phase, Purpose, Request, Setup};
use crate::worker::state::ProcessState;
use crate::worker::watcher::Watcher;
use crate::worker::zygote::Zygote;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use tunesmith_backend::sandbox::{Cage, Confinement, Role};
use tunesmith_backend::table::{self, DriverCompilers};
use tunesmith_backend::{Program, Session, SessionKind};
use tunesmith_core::Clock;
use tunesmith_files::empty_tree;

/// The maximum length in bytes of a file that a kernel in the sandbox writes, beyond the length of its
/// buffers. A kernel that writes without an end is ended before it has filled the disk.
const LONGEST_FILE: u64 = 1 << 30;

/// Limits the length of the files that this process writes. A lower limit stays.
fn limit_files(most: u64) -> nix::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_FSIZE)?;
    setrlimit(Resource::RLIMIT_FSIZE, most.min(soft), most.min(hard))
}

/// The parts of a machine that a worker uses beside its connection. A simulation can take their
/// place.
pub(crate) trait Surroundings {
    /// Returns the clock that measures kernels.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Opens a device.
    fn open(&self, session: SessionKind) -> Result<Box<dyn Session>, String>;

    /// Prepares this process to run each job in a process of its own, in a sandbox if jobs are
    /// `confined`.
    fn become_zygote(&self, confined: bool) -> io::Result<Zygote>;

    /// Returns the state of this process.
    fn state(&self) -> ProcessState {
        ProcessState::default()
    }

    /// Runs a job in a process of its own, and reports its end.
    fn run_apart(&self, zygote: &Zygote, device: &mut ReadyDevice, job: &Job, link: &mut Link) -> io::Result<()>;
}

/// Answers all requests that come over a link, until the tuner is gone.
pub(crate) fn answer_all(mut link: Link, surroundings: &dyn Surroundings) -> io::Result<()> {
    let mut prepared = None;
    let mut compilers = DriverCompilers::default();
    let mut confinement = None;
    while let Some(request) = link.receive()? {
        match request {
            Request::Confine(wanted) => confinement = Some(wanted),
            Request::Prepare(setup) => {
                let answer = match prepare(setup, confinement.take(), surroundings) {
                    Ok(ready) => {
                        prepared = Some(ready);
                        Message::Ready
                    }
                    Err(reason) => Message::Unusable(reason),
                };
                link.send(&answer)?;
            }
            Request::Ask(question) => {
                let answer =
                    table::answer(&question).ok_or_else(|| io::Error::other("no driver knows the question"))?;
                link.send(&Message::Answer(answer))?;
            }
            Request::Compile(task) => {
                // A driver runs kernels to compile them.
                if let Some(confinement) = confinement.take() {
                    let cage = Cage::build(&confinement, Role::Driver);
                    cage.and_then(Cage::enter).map_err(io::Error::other)?;
                }
                let mut launching = || drop(link.send(&Message::Phase(Phase::Starting)));
                let compiled = compilers.compile(&task, &mut launching);
                link.send(&Message::Compiled(compiled))?;
            }
            // A verdict that nobody asked for belongs to a job that has ended.
            Request::Verdict { .. } => {}
            Request::Load(programs) => link.send(&ready(&mut prepared)?.load(&programs))?,
            Request::Run(job) => ready(&mut prepared)?.answer(&job, &mut link, surroundings)?,
        }
    }
    Ok(())
}

fn ready(prepared: &mut Option<ReadyDevice>) -> io::Result<&mut ReadyDevice> {
    prepared.as_mut().ok_or_else(|| io::Error::other("a job came before its buffers"))
}

/// A device with filled buffers, ready for jobs.
pub(crate) struct ReadyDevice {
    session: Box<dyn Session>,
    clock: Arc<dyn Clock>,
    /// Runs each job in a process of its own, if the session can be forked.
    zygote: Option<Rc<Zygote>>,
    /// The sandbox that the process of a job enters.
    cage: Option<Cage>,
    /// The folder for temporary files of a job.
    temporary: Option<PathBuf>,
    buffers: Buffers,
    watcher: Option<Watcher>,
    /// The state of this process after the last job.
    state: ProcessState,
}

fn prepare(
    setup: Setup,
    confinement: Option<Confinement>,
    surroundings: &dyn Surroundings,
) -> Result<ReadyDevice, String> {
    let forks = setup.session.forks;
    let role = if forks { Role::Kernel } else { Role::Driver };
    let temporary = confinement.as_ref().map(|confinement| confinement.temporary.clone());
    let mut cage = confinement.map(|confinement| Cage::build(&confinement, role)).transpose()?;
    if !forks {
        // Threads that a driver starts are in the sandbox only if it is entered before.
        cage.take().map_or(Ok(String::new()), Cage::enter)?;
    }
    let mut session = surroundings.open(setup.session)?;
    let mut buffers = Buffers::allocate(session.as_mut(), setup.arguments, setup.results.as_deref())?;
    buffers.renew(session.as_mut()).map_err(|ending| format!("cannot fill its buffers: {ending:?}"))?;
    let watcher = Watcher::new(session.as_mut(), setup.energy.as_ref())?;
    let zygote = forks.then(|| surroundings.become_zygote(cage.is_some())).transpose();
    let zygote = zygote.map_err(|error| format!("cannot prepare for its jobs: {error}"))?.map(Rc::new);
    let (clock, state) = (surroundings.clock(), surroundings.state());
    Ok(ReadyDevice { session, clock, zygote, cage, temporary, buffers, watcher, state })
}

impl ReadyDevice {
    /// Runs a job and reports on it.
    fn answer(&mut self, job: &Job, link: &mut Link, surroundings: &dyn Surroundings) -> io::Result<()> {
        if let Some(zygote) = self.zygote.clone() {
            return surroundings.run_apart(&zygote, self, job, link);
        }
        self.begin(job).map_err(io::Error::other)?;
        let report = self.run(job, link);
        let state = surroundings.state();
        let changes = state.changes_since(&self.state);
        if !changes.is_empty() {
            self.state = state;
            link.send(&Message::Changed(changes))?;
        }
        link.send(&Message::Finished(Box::new(report)))
    }

    /// Loads programs, which the session keeps. A process that forks for its jobs must not: the user's
    /// code would run in it.
    fn load(&mut self, programs: &[Program]) -> Message {
        if self.zygote.is_some() {
            return Message::NotLoaded;
        }
        let start = self.clock.now();
        let programs: Vec<_> = programs.iter().collect();
        let loaded = self.session.load(&programs);
        self.session.unload();
        let took = self.clock.now() - start;
        loaded.map_or(Message::NotLoaded, |()| Message::Loaded { took })
    }

    /// Removes what a job left in its temporary folder. What remains goes with the folder of the run.
    pub(crate) fn empty_temporary(&self) {
        if let Some(temporary) = &self.temporary {
            let _ = empty_tree(temporary);
        }
    }

    /// Prepares a process that was forked for a job. Opens what the sandbox refuses, and enters the
    /// sandbox.
    ///
    /// # Errors
    /// The system refuses the sandbox.
    pub(crate) fn begin(&mut self, job: &Job) -> Result<(), String> {
        if let Some(zygote) = &self.zygote {
            zygote.limit_memory();
        }
        if self.zygote.is_some() && self.cage.is_some() {
            limit_files(LONGEST_FILE.saturating_add(self.buffers.bytes(&job.passed)))
                .map_err(|error| format!("the system refuses a limit of files: {error}"))?;
        }
        self.session.begin(matches!(job.purpose, Purpose::Measure { profile: true, .. }));
        self.cage.take().map_or(Ok(String::new()), Cage::enter).map(drop)
    }

    /// Undoes what a job that ran apart did to this process from outside.
    ///
    /// # Errors
    /// The process stays changed.
    pub(crate) fn settle(&self, zygote: &Zygote) -> io::Result<()> {
        zygote.restore();
        let changes = ProcessState::current().changes_since(&self.state);
        if changes.is_empty() { Ok(()) } else { Err(io::Error::other(changes.join("; "))) }
    }

    /// Runs a job in this process.
    pub(crate) fn run(&mut self, job: &Job, link: &mut Link) -> JobReport {
        let Self { session, clock, buffers, watcher, .. } = self;
        let (session, watcher) = (session.as_mut(), watcher.as_mut());
        JobBench { session, buffers, clock: clock.as_ref(), watcher, tuner: link }.run(job)
    }
}
