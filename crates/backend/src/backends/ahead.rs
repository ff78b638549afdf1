//! Compiles ahead of measurements. Programs come out in the order of the requests.

use crate::backends::BuildError;
use crate::host::POLL;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tunesmith_core::Interrupt;
use tunesmith_kernel::{DeviceError, Scope};

/// Compiles on several threads.
///
/// If the backend leaves the processors alone, compilation starts as soon as a request arrives. If
/// it shares the processors, compilation runs only while the tuner waits for a build. It then
/// finishes everything requested until then before the next measurement, because a concurrent
/// compilation would spoil the measurement.
pub struct Builds<B: Build> {
    backend: Arc<B>,
    queue: VecDeque<QueueEntry<B::Built>>,
    tasks: Option<Sender<BuildTask>>,
    results: Receiver<(u64, BuildResult<B>)>,
    /// The tasks as the threads receive them, and their answers.
    waiting: Arc<Mutex<Receiver<BuildTask>>>,
    done: Sender<(u64, BuildResult<B>)>,
    threads: Vec<JoinHandle<()>>,
    /// Maximum number of threads.
    jobs: usize,
    /// Raised to end the running compilations. Later compilations get a new one.
    cancel: Interrupt,
    tickets: u64,
}

/// A build step that runs ahead of measurements.
pub trait Build: Send + Sync + 'static {
    /// The build of one configuration.
    type Built: Send;

    /// Returns true if kernels run on the processors that compile. In this case nothing compiles
    /// during a measurement.
    fn shares_processor(&self) -> bool;

    /// Builds one configuration. Called from several threads at once. Gives up soon after `cancel`
    /// is raised.
    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Self::Built, BuildError>;
}

/// The result of building one configuration.
pub type BuildResult<B> = Result<<B as Build>::Built, BuildError>;

struct QueueEntry<P> {
    ticket: u64,
    scope: Arc<Scope>,
    state: State<P>,
}

enum State<P> {
    Waiting,
    Building,
    Done(Result<P, BuildError>),
}

struct BuildTask {
    ticket: u64,
    scope: Arc<Scope>,
    cancel: Interrupt,
}

impl<B: Build> Builds<B> {
    /// Creates a queue that compiles `jobs` configurations at a time.
    pub fn new(backend: Arc<B>, jobs: usize) -> Self {
        let (tasks, waiting) = channel();
        let (done, results) = channel();
        Self {
            backend,
            queue: VecDeque::new(),
            tasks: Some(tasks),
            results,
            waiting: Arc::new(Mutex::new(waiting)),
            done,
            threads: Vec::new(),
            jobs: jobs.max(1),
            cancel: Interrupt::default(),
            tickets: 0,
        }
    }

    /// Appends a configuration.
    pub fn submit(&mut self, scope: Scope) {
        self.tickets += 1;
        self.queue.push_back(QueueEntry { ticket: self.tickets, scope: Arc::new(scope), state: State::Waiting });
        if !self.backend.shares_processor() {
            self.release();
        }
    }

    /// Returns the oldest configuration with its program. Returns `None` if the queue is empty, or
    /// if interrupted. An interrupt drops the configuration.
    pub fn next(&mut self, interrupt: &Interrupt) -> Option<(Arc<Scope>, BuildResult<B>)> {
        // On a shared processor, new requests wait until all built programs have been measured. One
        // build after each measurement would never run beside others.
        let is_built = self.queue.front().is_some_and(|entry| matches!(entry.state, State::Done(_)));
        if !is_built || !self.backend.shares_processor() {
            self.release();
        }
        while self.must_wait() {
            if let Ok((ticket, result)) = self.results.recv_timeout(POLL) {
                self.finish(ticket, result);
            } else if interrupt.is_raised() {
                self.cancel_all();
                self.drop_oldest();
                return None;
            }
        }
        match self.queue.pop_front()? {
            QueueEntry { scope, state: State::Done(result), .. } => Some((scope, result)),
            QueueEntry { .. } => None,
        }
    }

    /// Returns the builds that the next calls of [`next`](Self::next) return without waiting.
    pub fn built(&self) -> impl Iterator<Item = &B::Built> {
        let results = self.queue.iter().map_while(|entry| match &entry.state {
            State::Done(result) => Some(result),
            State::Waiting | State::Building => None,
        });
        results.filter_map(|result| result.as_ref().ok())
    }

    /// Drops the oldest configuration.
    pub fn drop_oldest(&mut self) {
        self.queue.pop_front();
    }

    fn must_wait(&self) -> bool {
        let building = |entry: &QueueEntry<B::Built>| matches!(entry.state, State::Building);
        if self.backend.shares_processor() {
            self.queue.iter().any(building)
        } else {
            self.queue.front().is_some_and(building)
        }
    }

    /// Starts threads for `builds`, as far as there are none yet. Those that are there do the work of others that the
    /// system does not start. Without any, the builds are [broken](BuildError::Broken).
    fn start_threads(&mut self, builds: usize) {
        while self.threads.len() < self.jobs.min(builds) {
            let (backend, waiting, done) = (Arc::clone(&self.backend), Arc::clone(&self.waiting), self.done.clone());
            let started = std::thread::Builder::new().spawn(move || work(backend.as_ref(), &waiting, &done));
            match started {
                Ok(thread) => self.threads.push(thread),
                Err(_) if !self.threads.is_empty() => return,
                Err(error) => {
                    let problem = format!("no thread can be started: {error}; see `ulimit -u`, and resume the run");
                    for entry in self.queue.iter_mut().filter(|entry| matches!(entry.state, State::Waiting)) {
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
        let building = self.queue.iter().filter(|entry| !matches!(entry.state, State::Done(_))).count();
        self.start_threads(building);
        let Some(tasks) = &self.tasks else { return };
        for entry in self.queue.iter_mut().filter(|entry| matches!(entry.state, State::Waiting)) {
            let (ticket, scope) = (entry.ticket, Arc::clone(&entry.scope));
            // The threads live as long as this queue, so a task can always be sent.
            if tasks.send(BuildTask { ticket, scope, cancel: self.cancel.clone() }).is_ok() {
                entry.state = State::Building;
            }
        }
    }

    fn finish(&mut self, ticket: u64, result: BuildResult<B>) {
        if let Some(entry) = self.queue.iter_mut().find(|entry| entry.ticket == ticket) {
            entry.state = match result {
                Err(BuildError::Cancelled) => State::Waiting,
                result => State::Done(result),
            };
        }
    }

    /// Ends all compilations. Unfinished configurations wait again.
    fn cancel_all(&mut self) {
        std::mem::take(&mut self.cancel).raise();
        while self.queue.iter().any(|entry| matches!(entry.state, State::Building)) {
            match self.results.recv() {
                Ok((ticket, result)) => self.finish(ticket, result),
                Err(_) => return,
            }
        }
    }
}

impl<B: Build> Drop for Builds<B> {
    fn drop(&mut self) {
        self.cancel.raise();
        self.tasks = None;
        for thread in self.threads.drain(..) {
            // A panic of a thread has already been reported.
            let _ = thread.join();
        }
    }
}

fn work<B: Build>(backend: &B, tasks: &Mutex<Receiver<BuildTask>>, done: &Sender<(u64, BuildResult<B>)>) {
    loop {
        let next = tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(BuildTask { ticket, scope, cancel }) = next else { return };
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tunesmith_space::Value;

    /// "Compiles" a number N once the gate is open for it; fails for odd numbers.
    struct Gate {
        shares: bool,
        open: Mutex<bool>,
        opened: Condvar,
        started: AtomicUsize,
    }

    impl Gate {
        fn new(shares: bool, open: bool) -> Arc<Self> {
            Arc::new(Self { shares, open: Mutex::new(open), opened: Condvar::new(), started: AtomicUsize::new(0) })
        }
    }

    impl Build for Gate {
        type Built = i64;

        fn shares_processor(&self) -> bool {
            self.shares
        }

        fn build(&self, scope: &Scope, cancel: &Interrupt) -> BuildResult<Self> {
            self.started.fetch_add(1, Ordering::SeqCst);
            let number = scope.get("N").and_then(Value::as_int).unwrap();
            assert!(number >= 0, "{number} is below 0");
            let mut open = self.open.lock().unwrap();
            while !*open {
                if cancel.is_raised() {
                    return Err(BuildError::Cancelled);
                }
                open = self.opened.wait_timeout(open, POLL).unwrap().0;
            }
            if number % 2 == 1 {
                return Err(BuildError::Failed(format!("{number} is odd")));
            }
            Ok(number)
        }
    }

    fn builds(gate: &Arc<Gate>, jobs: usize, numbers: std::ops::Range<i64>) -> Builds<Gate> {
        let mut builds = Builds::new(gate.clone(), jobs);
        numbers.for_each(|number| builds.submit(Scope::new([("N".to_owned(), Value::Int(number))])));
        builds
    }

    fn number(next: &(Arc<Scope>, BuildResult<Gate>)) -> i64 {
        let number = next.0.get("N").and_then(Value::as_int).unwrap();
        match &next.1 {
            Ok(built) => assert_eq!(*built, number),
            Err(error) => assert!(matches!(error, BuildError::Failed(text) if *text == format!("{number} is odd"))),
        }
        number
    }

    #[test]
    fn results_come_in_the_order_submitted_whatever_the_number_of_threads() {
        for (jobs, shares) in [(1, true), (4, true), (4, false)] {
            let mut builds = builds(&Gate::new(shares, true), jobs, 0..20);
            let order: Vec<i64> = (0..20).map(|_| number(&builds.next(&Interrupt::default()).unwrap())).collect();
            assert_eq!(order, (0..20).collect::<Vec<_>>());
            assert!(builds.next(&Interrupt::default()).is_none());
        }
    }

    #[test]
    fn a_shared_processor_compiles_only_while_the_tuner_waits_and_then_everything() {
        let gate = Gate::new(true, true);
        let mut builds = builds(&gate, 2, 0..5);
        assert_eq!(gate.started.load(Ordering::SeqCst), 0);
        builds.next(&Interrupt::default());
        assert_eq!(gate.started.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn what_comes_while_built_configurations_wait_is_built_together_once_they_are_measured() {
        let gate = Gate::new(true, true);
        let mut builds = builds(&gate, 2, 0..3);
        for expected in 0..3 {
            assert_eq!(number(&builds.next(&Interrupt::default()).unwrap()), expected);
            assert_eq!(gate.started.load(Ordering::SeqCst), 3);
            let rest: Vec<i64> = (expected + 1..3).filter(|number| number % 2 == 0).collect();
            assert_eq!(builds.built().copied().collect::<Vec<_>>(), rest, "1 does not compile");
            builds.submit(Scope::new([("N".to_owned(), Value::Int(expected + 3))]));
        }
        assert_eq!(number(&builds.next(&Interrupt::default()).unwrap()), 3);
        assert_eq!(gate.started.load(Ordering::SeqCst), 6);
    }

    #[test]
    fn a_build_that_panics_is_waited_for_by_nobody() {
        for shares in [true, false] {
            let mut builds = builds(&Gate::new(shares, true), 2, -1..2);
            let next = |builds: &mut Builds<Gate>| builds.next(&Interrupt::default()).unwrap();
            let (_, panicked) = next(&mut builds);
            assert!(
                matches!(&panicked, Err(BuildError::Broken(DeviceError::Machine { problem })) if problem.contains("-1 is below 0")),
                "{:?}",
                panicked.err()
            );
            assert_eq!([number(&next(&mut builds)), number(&next(&mut builds))], [0, 1], "the thread goes on");
        }
    }

    #[test]
    fn no_more_threads_are_started_than_there_are_builds() {
        let mut builds = builds(&Gate::new(true, true), 1_000_000, 0..4);
        assert_eq!(number(&builds.next(&Interrupt::default()).unwrap()), 0);
        assert_eq!(builds.threads.len(), 4);
    }

    #[test]
    fn an_interrupt_drops_the_oldest_and_the_others_are_built_later() {
        let gate = Gate::new(true, false);
        let mut builds = builds(&gate, 2, 0..3);
        let interrupt = Interrupt::default();
        interrupt.raise();
        assert!(builds.next(&interrupt).is_none());
        *gate.open.lock().unwrap() = true;
        let rest: Vec<i64> = (0..2).map(|_| number(&builds.next(&Interrupt::default()).unwrap())).collect();
        assert_eq!(rest, [1, 2]);
    }
}
