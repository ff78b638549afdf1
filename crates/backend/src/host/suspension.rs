//! Stops compilers while something is measured on their processors.
//!
//! A compilation takes longer than most measurements, so that compilers run at any time. One that ran beside a
//! measurement would spoil it. Each compiler has a process group of its own, which is sent SIGSTOP before the first
//! timed launch and SIGCONT after the last. If the tuner dies meanwhile, the system itself continues and ends the
//! stopped groups, because nobody is left who could.

use crate::host::POLL;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};

/// The compilers of a run, which stand still during its measurements.
///
/// It is also their clock. The clock stands still with them, so that neither a time limit nor the time of a
/// compilation counts what is measured meanwhile.
pub struct Suspension {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    continued: Condvar,
}

#[derive(Default)]
struct State {
    /// The process groups of the compilers that run.
    groups: BTreeSet<u32>,
    /// The number of measurements under way.
    pauses: usize,
    /// The start of the present pause.
    since: Option<Duration>,
    /// The total length of earlier pauses.
    stopped: Duration,
}

/// A pause of all compilers. They continue when this value is dropped.
pub struct Pause {
    suspension: Arc<Suspension>,
}

/// The membership of a process group in a [`Suspension`]. Must be dropped before the group's first process is waited
/// for, because the number of the group may then belong to another.
#[derive(Debug)]
pub(crate) struct Membership {
    suspension: Arc<Suspension>,
    group: u32,
}

impl Suspension {
    /// Creates a suspension without compilers, whose time is that of `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { clock, state: Mutex::default(), continued: Condvar::new() })
    }

    /// Stops all compilers, and those that start later, until the value is dropped.
    pub fn pause(self: &Arc<Self>) -> Pause {
        let mut state = self.lock();
        state.pauses += 1;
        if state.pauses == 1 {
            state.send(Signal::SIGSTOP);
            state.since = Some(self.clock.now());
        }
        Pause { suspension: Arc::clone(self) }
    }

    /// Adds the process group that `group` leads.
    pub(crate) fn add(self: &Arc<Self>, group: u32) -> Membership {
        let mut state = self.lock();
        state.groups.insert(group);
        if state.pauses > 0 {
            send(group, Signal::SIGSTOP);
        }
        Membership { suspension: Arc::clone(self), group }
    }

    /// Waits until no pause is under way, or `cancel` is raised.
    pub fn wait(&self, cancel: &Interrupt) {
        let mut state = self.lock();
        while state.pauses > 0 && !cancel.is_raised() {
            state = self.continued.wait_timeout(state, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for Suspension {
    fn now(&self) -> Duration {
        let state = self.lock();
        state.since.unwrap_or_else(|| self.clock.now()).saturating_sub(state.stopped)
    }

    fn unix(&self) -> Duration {
        self.clock.unix()
    }
}

impl fmt::Debug for Suspension {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Suspension").field("groups", &self.lock().groups).finish_non_exhaustive()
    }
}

impl State {
    fn send(&self, signal: Signal) {
        self.groups.iter().for_each(|group| send(*group, signal));
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut state = self.suspension.lock();
        state.pauses -= 1;
        if state.pauses > 0 {
            return;
        }
        if let Some(since) = state.since.take() {
            state.stopped += self.suspension.clock.now().saturating_sub(since);
        }
        state.send(Signal::SIGCONT);
        self.suspension.continued.notify_all();
    }
}

impl Drop for Membership {
    /// Continues the group, so that it can end by itself.
    fn drop(&mut self) {
        let mut state = self.suspension.lock();
        state.groups.remove(&self.group);
        if state.pauses > 0 {
            send(self.group, Signal::SIGCONT);
        }
    }
}

fn send(group: u32, signal: Signal) {
    if let Ok(group) = i32::try_from(group) {
        // An error means that the group is empty.
        let _ = killpg(Pid::from_raw(group), signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};
    use tunesmith_core::ManualClock;

    /// Returns the state of a process, such as `T` if it is stopped.
    fn state(child: &Child) -> Option<char> {
        let stat = tunesmith_files::system_text(format!("/proc/{}/stat", child.id()))?;
        stat.rsplit_once(')')?.1.trim().chars().next()
    }

    /// Waits until a process is stopped, or is not.
    fn await_state(child: &Child, is_stopped: bool) {
        while (state(child) == Some('T')) != is_stopped {
            std::thread::yield_now();
        }
    }

    fn sleep() -> Child {
        Command::new("sleep").arg("600").process_group(0).stdin(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn compilers_stand_still_until_the_last_pause_is_over_and_so_does_their_clock() {
        let clock = Arc::new(ManualClock::default());
        let suspension = Suspension::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let (mut early, mut late) = (sleep(), sleep());
        let first = suspension.add(early.id());
        clock.advance(Duration::from_secs(1));
        let pauses = [suspension.pause(), suspension.pause()];
        let second = suspension.add(late.id());
        await_state(&early, true);
        await_state(&late, true);
        clock.advance(Duration::from_secs(5));
        assert_eq!(suspension.now(), Duration::from_secs(1));
        drop(second);
        // Whoever leaves continues.
        await_state(&late, false);
        let [one, other] = pauses;
        drop(one);
        assert_eq!(state(&early), Some('T'));
        drop(other);
        await_state(&early, false);
        clock.advance(Duration::from_secs(2));
        assert_eq!(suspension.now(), Duration::from_secs(3));
        drop(first);
        for child in [&mut early, &mut late] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn nothing_begins_during_a_pause_unless_it_is_to_end() {
        let suspension = Suspension::new(Arc::new(ManualClock::default()));
        let (interrupt, pause) = (Interrupt::default(), suspension.pause());
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| suspension.wait(&Interrupt::default()));
            let cancelled = threads.spawn(|| suspension.wait(&interrupt));
            interrupt.raise();
            cancelled.join().unwrap();
            assert!(!waiting.is_finished());
            drop(pause);
            waiting.join().unwrap();
        });
    }
}
