//! Compiles ahead of measurements. Programs come out as they are built.

#[cfg(test)]
mod tests;

use crate::backends::BuildError;
use crate::host::{POLL, Suspension};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tunesmith_core::{Clock as _, CompileLimit, Interrupt};
use tunesmith_kernel::{DeviceError, Scope};

/// Compiles on several threads, each configuration from its request on. A configuration that compiles for long holds no
/// other back. With one thread, the programs come out in the order of the requests.
///
/// `T` says what was requested. It comes back with the program.
pub struct Builds<B: Build, T> {
    backend: Arc<B>,
    /// Stops the processes that compile while something is measured. No build begins then, either.
    suspension: Arc<Suspension>,
    /// The configurations that were not returned yet, oldest first.
    queue: VecDeque<QueueEntry<B::Built, T>>,
    /// The ticket of the configuration that was announced as the next one.
    upcoming: Option<u64>,
    tasks: Option<Sender<BuildTask>>,
    results: Receiver<(u64, BuildResult<B>)>,
    /// The tasks as the threads receive them, and their answers.
    waiting: Arc<Mutex<Receiver<BuildTask>>>,
    done: Sender<(u64, BuildResult<B>)>,
    threads: Vec<JoinHandle<()>>,
    /// Maximum number of threads.
    jobs: usize,
    /// The limit of compilations.
    limit: Option<CompileLimit>,
    tickets: u64,
}

/// A build step that runs ahead of measurements.
pub trait Build: Send + Sync + 'static {
    /// The build of one configuration.
    type Built: Send;

    /// Builds one configuration. Called from several threads at once. Gives up soon after `cancel`
    /// is raised.
    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Self::Built, BuildError>;
}

/// The result of building one configuration.
pub type BuildResult<B> = Result<<B as Build>::Built, BuildError>;

/// A configuration whose build has come to its end.
pub struct FinishedBuild<B: Build, T> {
    /// The request.
    pub request: T,
    /// The names of the configuration.
    pub scope: Arc<Scope>,
    /// Its program, or the reason why there is none.
    pub result: BuildResult<B>,
    /// The limit at which its compilation was put aside. There is no program then.
    pub aside: Option<CompileLimit>,
}

struct QueueEntry<P, T> {
    ticket: u64,
    request: T,
    scope: Arc<Scope>,
    state: State<P>,
}

enum State<P> {
    Waiting,
    Building(Building),
    Done(Result<P, BuildError>),
    PutAside(CompileLimit),
}

/// A build in the hands of a thread.
#[derive(Clone, Default)]
struct Building {
    /// Raised to end the build.
    cancel: Interrupt,
    /// The time at which it began.
    start: Arc<OnceLock<Duration>>,
    /// The limit that ended it.
    aside: Option<CompileLimit>,
}

struct BuildTask {
    ticket: u64,
    scope: Arc<Scope>,
    building: Building,
}

impl<P, T> QueueEntry<P, T> {
    fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    fn is_building(&self) -> bool {
        matches!(self.state, State::Building(_))
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_) | State::PutAside(_))
    }
}

impl<B: Build, T> Builds<B, T> {
    /// Creates a queue that compiles `jobs` configurations at a time, but none during the pauses of `suspension`.
    pub fn new(backend: Arc<B>, jobs: usize, suspension: Arc<Suspension>) -> Self {
        let (tasks, waiting) = channel();
        let (done, results) = channel();
        Self {
            backend,
            suspension,
            queue: VecDeque::new(),
            upcoming: None,
            tasks: Some(tasks),
            results,
            waiting: Arc::new(Mutex::new(waiting)),
            done,
            threads: Vec::new(),
            jobs: jobs.max(1),
            limit: None,
            tickets: 0,
        }
    }

    /// Begins to build a configuration, once a thread is free.
    pub fn submit(&mut self, scope: Scope, request: T) {
        self.tickets += 1;
        let (ticket, scope) = (self.tickets, Arc::new(scope));
        self.queue.push_back(QueueEntry { ticket, request, scope, state: State::Waiting });
        self.release();
    }

    /// Ends compilations that take longer than `limit`, from now on, those under way included. Such a build
    /// comes out with the [limit](FinishedBuild::aside). Pauses do not count. The time is looked at while a build is waited for.
    pub fn limit(&mut self, limit: Option<CompileLimit>) {
        self.limit = limit;
    }

    /// Ends the builds that have taken longer than the limit.
    fn put_aside(&mut self) {
        let Some(limit) = self.limit else { return };
        let now = self.suspension.now();
        for entry in &mut self.queue {
            let State::Building(building) = &mut entry.state else { continue };
            let taken = building.start.get().map(|start| now.saturating_sub(*start).as_secs_f64() * 1e3);
            if building.aside.is_none() && taken.is_some_and(|taken| taken > limit.limit_ms) {
                building.aside = Some(limit);
                building.cancel.raise();
            }
        }
    }

    /// Waits until a configuration is built, and returns the request of the one that [`next`](Self::next) returns.
    /// Returns `None` if the queue is empty, or if interrupted.
    pub fn upcoming(&mut self, interrupt: &Interrupt) -> Option<&T> {
        let place = self.await_next(interrupt)?;
        self.queue.get(place).map(|entry| &entry.request)
    }

    /// Waits for a configuration that is built, and returns its place in the queue. One that was announced stays the
    /// next one, whatever is built meanwhile.
    fn await_next(&mut self, interrupt: &Interrupt) -> Option<usize> {
        self.release();
        self.receive();
        self.put_aside();
        while !interrupt.is_raised()
            && !self.queue.iter().any(QueueEntry::is_done)
            && self.queue.iter().any(QueueEntry::is_building)
        {
            if let Ok((ticket, result)) = self.results.recv_timeout(POLL) {
                self.finish(ticket, result);
            }
            self.put_aside();
        }
        // What is built is not measured any more, either.
        if interrupt.is_raised() {
            return None;
        }
        let announced = self.queue.iter().position(|entry| Some(entry.ticket) == self.upcoming && entry.is_done());
        let place = announced.or_else(|| self.queue.iter().position(QueueEntry::is_done))?;
        self.upcoming = self.queue.get(place).map(|entry| entry.ticket);
        Some(place)
    }

    /// Returns the oldest configuration that is built, with its program. Waits if there is none. Returns `None` if the
    /// queue is empty, or if interrupted. An interrupt ends all compilations and drops the oldest configuration.
    pub fn next(&mut self, interrupt: &Interrupt) -> Option<FinishedBuild<B, T>> {
        let Some(place) = self.await_next(interrupt) else {
            self.stop_all();
            self.queue.pop_front();
            return None;
        };
        let QueueEntry { request, scope, state, .. } = self.queue.remove(place)?;
        match state {
            State::Done(result) => Some(FinishedBuild { request, scope, result, aside: None }),
            State::PutAside(limit) => {
                Some(FinishedBuild { request, scope, result: Err(BuildError::Cancelled), aside: Some(limit) })
            }
            State::Waiting | State::Building(_) => None,
        }
    }

    /// Returns the builds that the next calls of [`next`](Self::next) return without waiting.
    pub fn built(&self) -> impl Iterator<Item = &B::Built> {
        self.queue.iter().filter_map(|entry| match &entry.state {
            State::Done(result) => result.as_ref().ok(),
            State::Waiting | State::Building(_) | State::PutAside(_) => None,
        })
    }

    /// Ends all compilations and drops all configurations.
    pub fn cancel(&mut self) {
        self.stop_all();
        self.queue.clear();
    }

    /// Takes the results that are there.
    fn receive(&mut self) {
        while let Ok((ticket, result)) = self.results.try_recv() {
            self.finish(ticket, result);
        }
    }

    /// Starts threads for `builds`, as far as there are none yet. Those that are there do the work of others that the
    /// system does not start. Without any, the builds are [broken](BuildError::Broken).
    fn start_threads(&mut self, builds: usize) {
        while self.threads.len() < self.jobs.min(builds) {
            let (backend, waiting, done) = (Arc::clone(&self.backend), Arc::clone(&self.waiting), self.done.clone());
            let suspension = Arc::clone(&self.suspension);
            let started =
                std::thread::Builder::new().spawn(move || work(backend.as_ref(), &suspension, &waiting, &done));
            match started {
                Ok(thread) => self.threads.push(thread),
                Err(_) if !self.threads.is_empty() => return,
                Err(error) => {
                    let problem = format!("no thread can be started: {error}; see `ulimit -u`, and resume the run");
                    for entry in self.queue.iter_mut().filter(|entry| entry.is_waiting()) {
                        let problem = problem.clone();
                        entry.state = State::Done(Err(BuildError::Broken(DeviceError::Machine { problem })));
                    }
                    return;
                }
            }
        }
    }

    /// Hands all waiting configurations to the threads.
    fn release(&mut self) {
        let unfinished = self.queue.iter().filter(|entry| !entry.is_done()).count();
        self.start_threads(unfinished);
        let Some(tasks) = &self.tasks else { return };
        for entry in self.queue.iter_mut().filter(|entry| entry.is_waiting()) {
            let (ticket, scope, building) = (entry.ticket, Arc::clone(&entry.scope), Building::default());
            // The threads live as long as this queue, so a task can always be sent.
            if tasks.send(BuildTask { ticket, scope, building: building.clone() }).is_ok() {
                entry.state = State::Building(building);
            }
        }
    }

    fn finish(&mut self, ticket: u64, result: BuildResult<B>) {
        if let Some(entry) = self.queue.iter_mut().find(|entry| entry.ticket == ticket) {
            entry.state = match (result, &entry.state) {
                (Err(BuildError::Cancelled), State::Building(Building { aside: Some(limit), .. })) => {
                    State::PutAside(*limit)
                }
                (Err(BuildError::Cancelled), _) => State::Waiting,
                (result, _) => State::Done(result),
            };
        }
    }

    /// Tells all compilations to end.
    fn raise_all(&self) {
        for entry in &self.queue {
            if let State::Building(building) = &entry.state {
                building.cancel.raise();
            }
        }
    }

    /// Ends all compilations. Unfinished configurations wait again.
    fn stop_all(&mut self) {
        self.raise_all();
        while self.queue.iter().any(QueueEntry::is_building) {
            match self.results.recv() {
                Ok((ticket, result)) => self.finish(ticket, result),
                Err(_) => return,
            }
        }
    }
}

impl<B: Build, T> Drop for Builds<B, T> {
    fn drop(&mut self) {
        self.raise_all();
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A panic of a thread has already been reported.
            let _ = thread.join();
        }
    }
}

fn work<B: Build>(
    backend: &B,
    suspension: &Suspension,
    tasks: &Mutex<Receiver<BuildTask>>,
    done: &Sender<(u64, BuildResult<B>)>,
) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(BuildTask { ticket, scope, building: Building { cancel, start, .. } }) = next else { return };
        suspension.wait(&cancel);
        // Nobody else sets it.
        let _ = start.set(suspension.now());
        let build = || if cancel.is_raised() { Err(BuildError::Cancelled) } else { backend.build(&scope, &cancel) };
        // Whoever waits for this build would wait for ever.
        let result = catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(|panic| {
            let problem = format!("the tuner failed in a build: {}; this is a bug", text_of(panic.as_ref()));
            Err(BuildError::Broken(DeviceError::Machine { problem }))
        });
        if done.send((ticket, result)).is_err() {
            return;
        }
    }
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}
