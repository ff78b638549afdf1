//! The connection of a simulated worker, and the turns that tuner and worker take.
//!
//! A worker has a thread of its own, because its code waits in the middle of a job. Only one of
//! tuner and worker runs at a time: the tuner lets the worker run until it waits. What the worker
//! sends then carries the time at which it arrives. The tuner receives it when that time has come.

use super::dice::Dice;
use super::world::World;
use crate::worker::Wire;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::os::fd::BorrowedFd;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_backend::host::Packet;
use tunesmith_core::Clock;

/// The end of a simulated process: its status in the form of `wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exit(pub(super) i32);

/// The status of a process that was ended by force.
pub(super) const KILLED: Exit = Exit(9);

/// The treatment of messages on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Weather {
    /// They arrive at once.
    #[default]
    Clear,
    /// They arrive in order, but late.
    Late,
    /// Some are lost, doubled or overtaken by later ones.
    Foul,
}

/// In foul weather, one message in this many is lost, one is doubled and one is overtaken.
const FOUL: u64 = 40;

/// The most that a message is late. All time limits are longer.
const LATEST: u64 = 150;

/// A line between the tuner and a worker.
#[derive(Debug)]
pub(super) struct Line {
    world: Arc<World>,
    weather: Weather,
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Debug)]
pub(super) struct State {
    /// True while it is the worker's turn.
    is_running: bool,
    /// The packets to the worker, each with the job whose process it is for.
    inbox: VecDeque<(Option<u32>, Vec<u8>)>,
    /// The packets on their way to the tuner, by the time of their arrival.
    outbox: BTreeMap<(Duration, u64), Parcel>,
    sent: u64,
    /// The arrival of the last packet. Later ones arrive later, unless the weather is foul.
    last: Duration,
    /// The worker's time.
    local: Duration,
    is_closed: bool,
    is_killed: bool,
    /// The job whose process is ended by force.
    killed_job: Option<u32>,
    /// The worker's process, and the job's if there is one.
    worker: u32,
    pub(super) job: Option<u32>,
    /// The last job's process that ended, and the time.
    pub(super) job_over: Option<(u32, Duration)>,
    pub(super) over: Option<(Exit, Duration)>,
    /// The envelope of the last request.
    envelope: Vec<u8>,
    dice: Dice,
}

/// A packet on its way to the tuner.
#[derive(Clone, Debug)]
pub(super) struct Parcel {
    pub(super) bytes: Vec<u8>,
    pub(super) sender: u32,
    /// The job whose connection carries it. `None` is the worker's own.
    pub(super) job: Option<u32>,
    /// The job's process that comes with it.
    pub(super) offers: Option<u32>,
}

/// The worker's end of a line.
#[derive(Debug)]
pub(super) struct SimulatedWire {
    pub(super) line: Arc<Line>,
    /// The job whose process holds this end. `None` is the worker.
    pub(super) job: Option<u32>,
}

impl Line {
    /// Creates the line of the worker with process id `worker`.
    pub(super) fn new(world: &Arc<World>, weather: Weather, worker: u32) -> Arc<Self> {
        let state = State {
            is_running: false,
            inbox: VecDeque::new(),
            outbox: BTreeMap::new(),
            sent: 0,
            last: Duration::ZERO,
            local: world.now(),
            is_closed: false,
            is_killed: false,
            killed_job: None,
            worker,
            job: None,
            job_over: None,
            over: None,
            envelope: Vec::new(),
            dice: Dice::new(world.throw(Dice::next), "line"),
        };
        Arc::new(Self { world: Arc::clone(world), weather, state: Mutex::new(state), turn: Condvar::new() })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the worker run until it waits. Called by the tuner.
    pub(super) fn run(&self) {
        let mut state = self.lock();
        if state.over.is_some() {
            return;
        }
        state.local = state.local.max(self.world.now());
        state.is_running = true;
        self.turn.notify_all();
        drop(self.turn.wait_while(state, |state| state.is_running));
    }

    /// Sends a packet to the worker, or to the process of a job.
    pub(super) fn post(&self, job: Option<u32>, packet: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if state.over.is_some() || (job.is_some() && state.job != job) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.envelope = packet[..16].to_vec();
        let is_foul = self.weather == Weather::Foul;
        let copies = match () {
            () if is_foul && state.dice.once_in(FOUL) => 0,
            () if is_foul && state.dice.once_in(FOUL) => 2,
            () => 1,
        };
        (0..copies).for_each(|_| state.inbox.push_back((job, packet.to_vec())));
        drop(state);
        self.run();
        Ok(())
    }

    /// Ends the process of a job by force.
    pub(super) fn kill_job(&self, job: u32) {
        self.lock().killed_job = Some(job);
        self.run();
    }

    /// Closes the connection. Ends the worker by force if it is `at_once`, or does not end by
    /// itself.
    pub(super) fn close(&self, at_once: bool) {
        let job = {
            let mut state = self.lock();
            state.is_closed = true;
            state.is_killed |= at_once;
            state.job
        };
        // A worker whose connection closes ends its job.
        self.lock().killed_job = job;
        self.run();
        self.lock().is_killed = true;
        self.run();
    }

    /// Removes the next packet that has arrived by `until`, of the worker's connection or of
    /// `job`'s. Returns it with its time.
    pub(super) fn take(&self, job: Option<u32>, until: Duration) -> Option<(Duration, Parcel)> {
        let mut state = self.lock();
        let is_visible = |parcel: &Parcel| parcel.job.is_none() || parcel.job == job;
        let next = state.outbox.iter().find(|(_, parcel)| is_visible(parcel)).map(|(key, _)| *key)?;
        if next.0 > until {
            return None;
        }
        state.outbox.remove(&next).map(|parcel| (next.0, parcel))
    }

    /// Returns true if packets of `job`'s connection are on their way. `None` is the worker's.
    pub(super) fn is_pending(&self, job: Option<u32>) -> bool {
        self.lock().outbox.values().any(|parcel| parcel.job == job)
    }

    // What follows is called by the worker's thread.

    /// Waits for the first turn.
    pub(super) fn begin(&self) {
        let state = self.lock();
        drop(self.turn.wait_while(state, |state| !state.is_running));
    }

    /// Waits until the tuner lets the worker run and `is_due`. Does not return if the process is
    /// ended meanwhile.
    fn wait<T>(&self, mut is_due: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            self.die_if_killed(&state);
            if let Some(due) = is_due(&mut state) {
                return due;
            }
            state.is_running = false;
            self.turn.notify_all();
            state = self.turn.wait_while(state, |state| !state.is_running).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn die_if_killed(&self, state: &State) {
        if state.is_killed || (state.job.is_some() && state.killed_job == state.job) {
            resume_unwind(Box::new(KILLED));
        }
    }

    /// Does nothing any more until the process is ended.
    pub(super) fn hang(&self) -> ! {
        match self.wait(|_| None::<Infallible>) {}
    }

    /// Takes a step of the worker. Someone else may end the process before it.
    pub(super) fn step(&self) {
        let is_killed = self.world.worker_step();
        let state = self.lock();
        self.die_if_killed(&state);
        if is_killed {
            resume_unwind(Box::new(KILLED));
        }
    }

    /// Lets the worker's time pass.
    pub(super) fn pass(&self, time: Duration) {
        self.lock().local += time;
    }

    /// Throws the dice of the line.
    pub(super) fn throw<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut self.lock().dice)
    }

    /// Returns the envelope of the last request.
    pub(super) fn envelope(&self) -> Vec<u8> {
        self.lock().envelope.clone()
    }

    /// Returns the process that runs: the present job's, or else the worker.
    pub(super) fn sender(&self) -> u32 {
        let state = self.lock();
        state.job.unwrap_or(state.worker)
    }

    /// Sends a packet to the tuner, `after` some time of its own.
    pub(super) fn send(&self, parcel: Parcel, after: Duration) {
        let mut state = self.lock();
        let mut late = after;
        if self.weather != Weather::Clear {
            late += Duration::from_millis(state.dice.below(LATEST));
        }
        let is_foul = self.weather == Weather::Foul;
        if is_foul && state.dice.once_in(FOUL) {
            return;
        }
        let copies = if is_foul && state.dice.once_in(FOUL) { 2 } else { 1 };
        let overtakes = is_foul && state.dice.once_in(FOUL);
        for _ in 0..copies {
            let mut at = state.local + late;
            // What comes from elsewhere later is in nobody's way.
            if !overtakes && after.is_zero() {
                at = at.max(state.last);
                state.last = at;
            }
            state.sent += 1;
            let key = (at, state.sent);
            state.outbox.insert(key, parcel.clone());
        }
    }

    /// Begins the process of a job.
    pub(super) fn fork(&self, job: u32) {
        let mut state = self.lock();
        state.job = Some(job);
        // Requests to an earlier job die with it.
        state.inbox.retain(|(to, _)| to.is_none());
    }

    /// Ends the process of the present job.
    pub(super) fn end_job(&self) {
        let mut state = self.lock();
        let at = state.local.max(state.last);
        let job = state.job.take();
        state.job_over = job.map(|job| (job, at));
        state.inbox.retain(|(to, _)| to.is_none());
        // The worker ends what the job left behind.
        state.outbox.retain(|(arrival, _), parcel| parcel.job != job || job == Some(parcel.sender) || *arrival <= at);
    }

    /// Ends the worker.
    pub(super) fn end(&self, exit: Exit) {
        let mut state = self.lock();
        let at = state.local.max(state.last);
        state.over = Some((exit, at));
        state.job_over = state.job.take().map(|job| (job, at)).or(state.job_over);
        state.is_running = false;
        self.turn.notify_all();
    }
}

impl Clock for Line {
    fn now(&self) -> Duration {
        self.lock().local
    }

    fn unix(&self) -> Duration {
        self.now()
    }
}

impl Wire for SimulatedWire {
    fn receive(&self) -> io::Result<Option<Packet>> {
        let bytes = self.line.wait(|state| {
            let next = state.inbox.iter().position(|(to, _)| *to == self.job);
            match next.and_then(|at| state.inbox.remove(at)) {
                Some((_, bytes)) => Some(Some(bytes)),
                None => state.is_closed.then_some(None),
            }
        });
        self.line.step();
        Ok(bytes.map(|bytes| Packet { bytes, sender: 1, descriptors: Vec::new() }))
    }

    fn send(&self, packet: &[u8], _: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.line.step();
        let (sender, offers) = {
            let state = self.line.lock();
            let is_offer = self.job.is_none() && state.job.is_some();
            (self.job.unwrap_or(state.worker), state.job.filter(|_| is_offer))
        };
        self.line.send(Parcel { bytes: packet.to_vec(), sender, job: self.job, offers }, Duration::ZERO);
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}
