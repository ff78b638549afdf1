//! The world of a simulated run: its time, its steps, and the end of those who live in it.

use super::dice::Dice;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};

/// The most touches of the world in one life of the tuner. The longest honest run stays below a
/// tenth of it.
const MOST_TOUCHES: u64 = 400_000;

/// The world. All time passes in it, and every effect on it is a step at which the tuner may die.
#[derive(Debug)]
pub(super) struct World(Mutex<State>);

#[derive(Debug)]
struct State {
    now: Duration,
    /// The effects of the tuner's present life.
    steps: u64,
    /// The effects, and the times that the tuner waited in vain.
    touches: u64,
    /// The steps of all workers in it.
    worker_steps: u64,
    fate: Fate,
    interrupt: Interrupt,
    dice: Dice,
    /// The invariants that were broken.
    broken: Vec<String>,
    /// The events so far, if somebody wants to read them.
    story: Option<Vec<String>>,
}

/// The sudden end of a tuner.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Death {
    /// It was killed.
    Killed,
    /// It took more than the allowed number of steps.
    Endless,
}

/// The events that befall the tuner and its workers in one of its lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// The step before which the tuner is killed.
    pub(super) killed_at: Option<u64>,
    /// The step at which the user interrupts the run.
    pub(super) interrupted_at: Option<u64>,
    /// The step of the workers before which someone else ends one.
    pub(super) worker_killed_at: Option<u64>,
    /// The system refuses one worker in this many. 0 means none.
    pub(super) refuses_processes: u64,
}

impl World {
    /// Creates the world of `seed`. It keeps its story if `told`.
    pub(super) fn new(seed: u64, told: bool) -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            now: Duration::ZERO,
            steps: 0,
            touches: 0,
            worker_steps: 0,
            fate: Fate::default(),
            interrupt: Interrupt::default(),
            dice: Dice::new(seed, "world"),
            broken: Vec::new(),
            story: told.then(Vec::new),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lives one life of the tuner. Returns its result, or its sudden end.
    pub(super) fn live<T>(&self, fate: Fate, life: impl FnOnce(Interrupt) -> T) -> Result<T, Death> {
        let interrupt = Interrupt::default();
        {
            let mut state = self.lock();
            (state.steps, state.touches, state.worker_steps) = (0, 0, 0);
            state.fate = fate;
            state.interrupt = interrupt.clone();
        }
        catch_unwind(AssertUnwindSafe(|| life(interrupt))).map_err(|end| match end.downcast::<Death>() {
            Ok(death) => *death,
            Err(fault) => resume_unwind(fault),
        })
    }

    /// Takes a step of the tuner. This call does not return if the tuner is killed before it.
    pub(super) fn step(&self, what: &str) {
        self.touch(what, true);
    }

    /// Counts an attempt of the tuner that had no effect.
    pub(super) fn wait(&self) {
        self.touch("wait", false);
    }

    fn touch(&self, what: &str, has_effect: bool) {
        // What a dying tuner still drops has no effect on the world.
        if std::thread::panicking() {
            return;
        }
        let mut state = self.lock();
        state.touches += 1;
        state.steps += u64::from(has_effect);
        let (steps, touches) = (state.steps, state.touches);
        if has_effect && state.fate.interrupted_at == Some(steps) {
            state.interrupt.raise();
        }
        let death = match state.fate.killed_at {
            _ if touches > MOST_TOUCHES => Death::Endless,
            Some(at) if has_effect && steps >= at => Death::Killed,
            _ => return,
        };
        state.tell(|| format!("step {steps}, {what}: {death:?}"));
        drop(state);
        resume_unwind(Box::new(death));
    }

    /// Returns the number of steps in the present life of the tuner.
    pub(super) fn steps(&self) -> u64 {
        self.lock().steps
    }

    /// Throws the dice of the world.
    pub(super) fn throw<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut self.lock().dice)
    }

    /// Lets time pass.
    pub(super) fn pass(&self, time: Duration) {
        self.lock().now += time;
    }

    /// Lets time pass until `then`, unless that is over.
    pub(super) fn pass_until(&self, then: Duration) {
        let mut state = self.lock();
        state.now = state.now.max(then);
    }

    /// Takes a step of a worker. Returns true if someone else ends its process before it.
    pub(super) fn worker_step(&self) -> bool {
        let mut state = self.lock();
        state.worker_steps += 1;
        state.fate.worker_killed_at == Some(state.worker_steps)
    }

    /// Returns the number of steps that workers took in the present life of the tuner.
    pub(super) fn worker_steps(&self) -> u64 {
        self.lock().worker_steps
    }

    /// Returns true if the system has no process for one more worker.
    pub(super) fn is_exhausted(&self) -> bool {
        let mut state = self.lock();
        let rate = state.fate.refuses_processes;
        state.dice.once_in(rate)
    }

    /// Records a broken invariant.
    pub(super) fn broke(&self, invariant: String) {
        let mut state = self.lock();
        state.tell(|| format!("BROKEN: {invariant}"));
        state.broken.push(invariant);
    }

    /// Returns the first invariant that was broken.
    pub(super) fn broken(&self) -> Option<String> {
        self.lock().broken.first().cloned()
    }

    /// Adds an event to the story, if somebody wants to read it.
    pub(super) fn tell(&self, event: impl FnOnce() -> String) {
        self.lock().tell(event);
    }

    /// Returns the story so far.
    pub(super) fn story(&self) -> String {
        self.lock().story.as_ref().map(|events| events.join("\n")).unwrap_or_default()
    }
}

impl State {
    fn tell(&mut self, event: impl FnOnce() -> String) {
        if let Some(story) = &mut self.story {
            story.push(format!("{:>10.3} ms  {}", self.now.as_secs_f64() * 1e3, event()));
        }
    }
}

impl Clock for World {
    fn now(&self) -> Duration {
        self.lock().now
    }

    fn unix(&self) -> Duration {
        self.now()
    }
}
