//! The device of a simulated worker: it does what the truth says of each configuration.

use super::line::{Exit, Line, Parcel};
use super::truth::{Deed, Forgery, Truth, space};
use crate::worker::envelope::Envelope;
use crate::worker::protocol::{Ending, JobReport, Message, Phase};
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::energy::Trouble;
use tunesmith_backend::{BufferId, Fault, Launch, LaunchArgument, Program, Session};
use tunesmith_kernel::Memory as Kind;
use tunesmith_space::ConfigId;

/// The status of a process that violated its memory, in the form of `wait`.
const SEGMENTATION_FAULT: Exit = Exit(11);

/// The number of messages of one kind that a configuration forges.
const FORGED: u64 = 500;

/// The time between two of them in milliseconds. It is shorter than any limit.
const BEFORE_A_LIMIT: u64 = 900;

/// The memory of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    buffers: Vec<Vec<u8>>,
    /// True if an earlier configuration spoilt it.
    is_spoilt: bool,
    /// The first result of the loaded configuration.
    remembered: Option<Vec<u8>>,
}

/// A device that computes the complement of its input.
pub(super) struct SimulatedSession {
    line: Arc<Line>,
    memory: Rc<RefCell<Memory>>,
    truth: Truth,
    /// The process id of the child that a configuration forks.
    child: u32,
    loaded: Option<ConfigId>,
    launches: u64,
}

/// Returns the program of a configuration, among those in `folder`.
pub(super) fn program(folder: &Path, config: ConfigId) -> Program {
    Program::new("simulated", folder.join(config.to_string()))
}

/// Returns the right output for an input.
pub(super) fn right(input: &[u8]) -> Vec<u8> {
    input.iter().map(|byte| !byte).collect()
}

impl SimulatedSession {
    /// Opens the device.
    pub(super) fn new(line: Arc<Line>, memory: Rc<RefCell<Memory>>, truth: Truth, child: u32) -> Self {
        Self { line, memory, truth, child, loaded: None, launches: 0 }
    }

    /// Does to its process what the loaded configuration does at this launch.
    fn misbehave(&mut self, deed: Deed) -> Result<(), Fault> {
        let is_now = |launch: u64| self.launches == launch;
        match deed {
            Deed::IsRefused => return Err(Fault::Refused("the device refuses it".to_owned())),
            Deed::Hangs(launch) if is_now(launch) => self.line.hang(),
            Deed::Dies(launch) if is_now(launch) => resume_unwind(Box::new(SEGMENTATION_FAULT)),
            Deed::Exits(launch) if is_now(launch) => resume_unwind(Box::new(Exit(0))),
            Deed::Fails(launch) if is_now(launch) => return Err(Fault::Failed("the device fails".to_owned())),
            Deed::Forks if is_now(1) => self.fork(),
            Deed::Talks => self.talk(),
            Deed::Forges(forgery) if is_now(1) => self.forge_as_job(forgery),
            Deed::Spoils => self.memory.borrow_mut().is_spoilt = true,
            _ => {}
        }
        Ok(())
    }

    /// Computes the output of this launch.
    fn compute(&self, deed: Deed, input: &[u8]) -> Vec<u8> {
        let mut output = right(input);
        let is_wrong = match deed {
            Deed::IsWrong(launch) => self.launches >= launch,
            Deed::IsWrongOnce(launch) => self.launches == launch,
            Deed::IsWrongAtTimes => self.launches.is_multiple_of(2),
            Deed::Forges(_) => true,
            _ => false,
        };
        if is_wrong && let Some(byte) = output.last_mut() {
            *byte ^= 1;
        }
        if deed == Deed::Remembers {
            output = self.memory.borrow_mut().remembered.get_or_insert(output).clone();
        }
        output
    }

    /// Lets a child of the kernel go on as the worker would: it reports at once, and again later,
    /// that all is well and fast.
    fn fork(&self) {
        for after in [1, 20, 60, 200] {
            let after = Duration::from_millis(after + self.line.throw(|dice| dice.below(50)));
            self.forge(&fast(), &self.line.envelope(), self.child, after);
        }
    }

    /// Writes into the connection: noise, and a report with a random number that is guessed.
    fn talk(&self) {
        let sender = self.line.sender();
        let mut guessed = self.line.envelope();
        guessed[8] ^= 1;
        self.forge(&fast(), &guessed, sender, Duration::ZERO);
        let (noise, job) = (b"hello".to_vec(), self.line.lock().job);
        self.line.send(Parcel { bytes: noise, sender, job, offers: None }, Duration::ZERO);
    }

    /// Sends messages in the place of the job, and with all that tells its messages from others.
    fn forge_as_job(&self, forgery: Forgery) {
        let send = |message: &Message, after: u64| {
            let after = Duration::from_millis(after);
            self.forge(message, &self.line.envelope(), self.line.sender(), after);
        };
        match forgery {
            Forgery::Machine => send(&Message::Machine("the machine has no process left".to_owned()), 0),
            Forgery::Ready => send(&Message::Ready, 0),
            Forgery::JobEnded => send(&Message::JobEnded(0), 0),
            Forgery::Finished => {
                send(&Message::Finished(Box::new(JobReport::new())), 0);
                self.line.hang();
            }
            Forgery::Unfit => send(&ended(Ending::Unfit("No space left on device".to_owned())), 0),
            Forgery::Troubled => send(&ended(Ending::Troubled(Trouble::Lost("it is gone".to_owned()))), 0),
            Forgery::Steps => {
                (0..FORGED).for_each(|at| send(&Message::Phase(Phase::Launching), at * BEFORE_A_LIMIT));
                self.line.hang();
            }
            Forgery::Outputs => {
                (1..=FORGED).for_each(|at| send(&Message::Outputs { launch: at as usize }, at * BEFORE_A_LIMIT));
                self.line.hang();
            }
        }
    }

    /// Sends a message that the tuner must not believe.
    fn forge(&self, message: &Message, envelope: &[u8], sender: u32, after: Duration) {
        let number = |at: usize| envelope.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        let number = |at: usize| number(at).map_or(0, u64::from_le_bytes);
        let envelope = Envelope { job: number(0), nonce: number(8) };
        let message = serde_json::to_vec(message).unwrap_or_default();
        let job = self.line.lock().job;
        for bytes in envelope.packets(&message) {
            self.line.send(Parcel { bytes, sender, job, offers: None }, after);
        }
    }

    fn deed(&self) -> Deed {
        self.loaded.map_or(Deed::Right, |config| self.truth.deed(config))
    }
}

/// Returns the report that all is well and fast.
fn fast() -> Message {
    let report = JobReport { warmup_ms: Some(0.01), times_ms: vec![0.01; 7], ..JobReport::new() };
    Message::Finished(Box::new(report))
}

/// Returns the report of a job that ended in this way.
fn ended(ending: Ending) -> Message {
    Message::Finished(Box::new(JobReport { ending, ..JobReport::new() }))
}

/// Returns the place of a buffer in memory.
fn place(memory: &mut Memory, buffer: BufferId, offset: usize, bytes: usize) -> Result<&mut [u8], Fault> {
    let buffer = memory.buffers.get_mut(buffer.0).and_then(|buffer| buffer.get_mut(offset..offset + bytes));
    buffer.ok_or_else(|| Fault::Failed("there is no such memory".to_owned()))
}

impl Session for SimulatedSession {
    fn allocate(&mut self, bytes: usize, _: Kind) -> Result<BufferId, Fault> {
        let mut memory = self.memory.borrow_mut();
        memory.buffers.push(vec![0; bytes]);
        Ok(BufferId(memory.buffers.len() - 1))
    }

    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault> {
        place(&mut self.memory.borrow_mut(), buffer, offset, data.len())?.copy_from_slice(data);
        Ok(())
    }

    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault> {
        into.copy_from_slice(place(&mut self.memory.borrow_mut(), buffer, offset, into.len())?);
        Ok(())
    }

    fn guard_zone(&self) -> usize {
        0
    }

    fn has_local_memory(&self) -> bool {
        true
    }

    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault> {
        self.line.step();
        self.line.pass(Duration::from_millis(2));
        let rank = programs.iter().find_map(|program| program.path().file_name()?.to_str()?.parse().ok());
        self.loaded = rank.and_then(|rank: u128| space().id(rank));
        self.launches = 0;
        let is_spoilt = {
            let mut memory = self.memory.borrow_mut();
            memory.remembered = None;
            std::mem::take(&mut memory.is_spoilt)
        };
        if is_spoilt || self.deed() == Deed::DiesWhenLoaded {
            resume_unwind(Box::new(SEGMENTATION_FAULT));
        }
        Ok(())
    }

    fn launch(&mut self, _: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault> {
        self.line.step();
        started();
        self.launches += 1;
        let deed = self.deed();
        self.misbehave(deed)?;
        let buffer = |argument: &&LaunchArgument| match argument {
            LaunchArgument::Buffer { id, offset, bytes } => Some((*id, *offset, *bytes)),
            _ => None,
        };
        let buffers: Vec<_> = launch.arguments.iter().filter_map(buffer).collect();
        let [(input, from, bytes), (output, to, _)] = buffers[..] else {
            return Err(Fault::Failed("the arguments are not those of the problem".to_owned()));
        };
        let data = place(&mut self.memory.borrow_mut(), input, from, bytes)?.to_vec();
        let result = self.compute(deed, &data);
        let mut memory = self.memory.borrow_mut();
        place(&mut memory, output, to, bytes)?.copy_from_slice(&result);
        match deed {
            Deed::WritesInput => place(&mut memory, input, from, bytes)?[0] ^= 1,
            Deed::WritesBeside => place(&mut memory, output, to + bytes, 1)?[0] ^= 1,
            _ => {}
        }
        drop(memory);
        let time = self.loaded.map_or(Duration::ZERO, |config| self.truth.time_of_launch(config, self.launches));
        self.line.pass(time);
        Ok(time)
    }

    fn flush_caches(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn unload(&mut self) {
        self.loaded = None;
    }
}
