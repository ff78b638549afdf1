//! Simulated workers: the tuner's handle on them, and the process that runs the real worker's loop.

use super::Plant;
use super::kernel::{Memory, SimulatedSession};
use super::line::{Exit, KILLED, Line, SimulatedWire, Weather};
use super::truth::Truth;
use super::world::World;
use crate::worker::protocol::{Job, Message};
use crate::worker::{Link, ReadyDevice, Surroundings, Zygote, answer_all};
use std::cell::RefCell;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitStatus;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tunesmith_backend::host::WorkerCommand;
use tunesmith_backend::host::{Packet, Process, Processes, Received};
use tunesmith_backend::{Session, SessionKind};
use tunesmith_core::Clock;

/// The exit status of a process that cannot send its report, in the form of `wait`.
const MUTE: i32 = 117 << 8;

/// The id of the first worker.
const FIRST: u32 = 100;

/// Starts simulated workers.
#[derive(Debug)]
pub(super) struct Workers {
    world: Arc<World>,
    truth: Truth,
    weather: Weather,
    plant: Option<Plant>,
    ids: AtomicU32,
    /// True if the last worker was refused: the system was busy.
    refused: AtomicBool,
}

/// In foul weather, the system is too busy for one start of a worker in this many. It never is for
/// the first, nor twice in succession.
const BUSY: u64 = 6;

impl Workers {
    /// Creates a machine without workers.
    pub(super) fn new(world: &Arc<World>, truth: &Truth, weather: Weather, plant: Option<Plant>) -> Arc<Self> {
        let (world, truth) = (Arc::clone(world), truth.clone());
        Arc::new(Self { world, truth, weather, plant, ids: AtomicU32::new(FIRST), refused: AtomicBool::new(false) })
    }

    fn id(&self) -> u32 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    fn process(self: &Arc<Self>) -> io::Result<Box<dyn Process>> {
        self.world.step("start a worker");
        if self.world.is_exhausted() {
            return Err(io::Error::other("the system has no process left"));
        }
        let may_refuse = self.weather == Weather::Foul && self.ids.load(Ordering::Relaxed) > FIRST;
        let refuses = may_refuse && self.world.throw(|dice| dice.once_in(BUSY));
        if refuses && !self.refused.swap(true, Ordering::Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.refused.store(false, Ordering::Relaxed);
        let id = self.id();
        let line = Line::new(&self.world, self.weather, id);
        let (own, workers) = (Arc::clone(&line), Arc::clone(self));
        let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(move || live(&workers, &own))?;
        line.run();
        let (world, plant) = (Arc::clone(&self.world), self.plant);
        Ok(Box::new(SimulatedProcess {
            world,
            line,
            thread: Some(thread),
            id,
            job: None,
            offered: None,
            told: None,
            envelope: Vec::new(),
            sent: 0,
            plant,
        }))
    }
}

/// The machine as the tuner sees it.
#[derive(Debug)]
pub(super) struct Factory(pub(super) Arc<Workers>);

impl Processes for Factory {
    fn start(&self, _: &WorkerCommand) -> io::Result<Box<dyn Process>> {
        self.0.process()
    }

    fn nonce(&self) -> u64 {
        self.0.world.throw(super::dice::Dice::next)
    }
}

/// The life of a worker.
fn live(workers: &Arc<Workers>, line: &Arc<Line>) {
    line.begin();
    let wire = SimulatedWire { line: Arc::clone(line), job: None };
    let machine = Machine { workers: Arc::clone(workers), line: Arc::clone(line), memory: Rc::default() };
    let end = catch_unwind(AssertUnwindSafe(|| answer_all(Link::new(Box::new(wire)), &machine)));
    line.end(match end {
        Ok(Ok(())) => Exit(0),
        Ok(Err(_)) => Exit(1 << 8),
        Err(end) => exit(&workers.world, end.as_ref()),
    });
}

/// Returns the status of a process that ended in the middle of something. A panic is a bug.
fn exit(world: &World, end: &(dyn std::any::Any + Send)) -> Exit {
    end.downcast_ref::<Exit>().copied().unwrap_or_else(|| {
        world.broke("the worker panics".to_owned());
        Exit(101 << 8)
    })
}

/// The machine that a simulated worker sees.
struct Machine {
    workers: Arc<Workers>,
    line: Arc<Line>,
    memory: Rc<RefCell<Memory>>,
}

impl Surroundings for Machine {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.line) as Arc<dyn Clock>
    }

    fn open(&self, _: SessionKind) -> Result<Box<dyn Session>, String> {
        let (line, memory) = (Arc::clone(&self.line), Rc::clone(&self.memory));
        Ok(Box::new(SimulatedSession::new(line, memory, self.workers.truth.clone(), self.workers.id())))
    }

    fn become_zygote(&self, _: bool) -> io::Result<Zygote> {
        Ok(Zygote::default())
    }

    /// Plays the job's process in the worker's thread. Its memory is a copy of the worker's, so what
    /// it did to it is undone.
    fn run_apart(&self, _: &Zygote, device: &mut ReadyDevice, job: &Job, link: &mut Link) -> io::Result<()> {
        let id = self.workers.id();
        self.line.fork(id);
        link.send(&Message::Forked(id))?;
        let memory = self.memory.borrow().clone();
        let mut own = link.over(Box::new(SimulatedWire { line: Arc::clone(&self.line), job: Some(id) }));
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let report = device.run(job, &mut own);
            own.send(&Message::Finished(Box::new(report)))
        }));
        *self.memory.borrow_mut() = memory;
        let status = match ran {
            Ok(Ok(())) => 0,
            Ok(Err(_)) => MUTE,
            Err(end) => exit(&self.workers.world, end.as_ref()).0,
        };
        self.line.end_job();
        link.send(&Message::JobEnded(status))
    }
}

/// The tuner's handle on a simulated worker.
#[derive(Debug)]
struct SimulatedProcess {
    world: Arc<World>,
    line: Arc<Line>,
    thread: Option<JoinHandle<()>>,
    id: u32,
    /// The adopted process.
    job: Option<u32>,
    /// The process that came with the last packet.
    offered: Option<u32>,
    /// The job whose end was told.
    told: Option<u32>,
    /// The envelope of the last request.
    envelope: Vec<u8>,
    /// The number of packets that were sent to it.
    sent: u64,
    plant: Option<Plant>,
}

impl SimulatedProcess {
    /// Returns the next event by `until`, with its time.
    fn next(&mut self, until: Duration) -> Option<(Duration, Received)> {
        if let Some((at, parcel)) = self.line.take(self.job, until) {
            self.offered = parcel.offers;
            let mut packet = Packet { bytes: parcel.bytes, sender: parcel.sender, descriptors: Vec::new() };
            // The planted bug: nothing tells the packets of other processes and jobs apart.
            if self.plant == Some(Plant::NoNumbers) && packet.bytes.len() > self.envelope.len() {
                packet.bytes[..self.envelope.len()].copy_from_slice(&self.envelope);
                packet.sender = self.job.unwrap_or(self.id);
            }
            return Some((at, Received::Packet(packet)));
        }
        let (over, job_over) = {
            let state = self.line.lock();
            (state.over, state.job_over)
        };
        let closed = job_over.filter(|(job, _)| self.job == Some(*job) && self.told != Some(*job));
        if let Some((job, at)) = closed.filter(|(job, at)| *at <= until && !self.line.is_pending(Some(*job))) {
            self.told = Some(job);
            return Some((at, Received::JobClosed));
        }
        let (_, at) = over.filter(|(_, at)| *at <= until && !self.line.is_pending(None))?;
        Some((at, Received::Closed))
    }
}

impl Process for SimulatedProcess {
    fn id(&self) -> u32 {
        self.id
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.world.step("send");
        self.envelope = packet[..16].to_vec();
        self.sent += 1;
        self.line.post(self.job, packet)
    }

    fn receive(&mut self, limit: Duration) -> Received {
        let until = self.world.now() + limit;
        match self.next(until) {
            Some((at, received)) => {
                self.world.pass_until(at);
                self.world.step("receive");
                received
            }
            None => {
                self.world.pass_until(until);
                self.world.wait();
                Received::Nothing
            }
        }
    }

    fn adopt(&mut self) -> bool {
        self.job = self.offered.take();
        self.job.is_some()
    }

    fn end_job(&mut self) {
        self.world.step("end a job");
        if let Some(job) = self.job.take() {
            self.line.kill_job(job);
        }
    }

    fn forget_job(&mut self) {
        self.job = None;
    }

    fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        self.world.step("end a worker");
        self.job = None;
        self.line.close(patience.is_zero());
        if let Some(thread) = self.thread.take()
            && let Err(fault) = thread.join()
            && !std::thread::panicking()
        {
            resume_unwind(fault);
        }
        let exit = self.line.lock().over.map_or(KILLED, |(exit, _)| exit);
        Some(ExitStatus::from_raw(exit.0))
    }

    /// Grows with every packet, so that workers are replaced after some jobs.
    fn memory(&self) -> Option<u64> {
        Some(self.sent << 24)
    }

    fn take_printed(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

impl Drop for SimulatedProcess {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end(Duration::ZERO);
        }
    }
}
