//! A scope of signals: a thread that has entered one reaches no process but those that it started
//! afterwards, and their descendants.
//!
//! All of them can therefore be ended by one call, however fast they fork.

use landlock::{
    AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
    Scope as Scoped,
};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getppid};
use std::marker::PhantomData;

/// A scope that the thread has entered which holds this value. Nobody can leave it.
#[derive(Debug)]
pub struct Scope {
    /// A scope is one of a thread.
    _of_this_thread: PhantomData<*const ()>,
}

impl Scope {
    /// Puts the calling thread into a scope of its own, with all processes and threads that it starts
    /// afterwards. Returns `None` if the system has no scopes: before Linux 6.12.
    pub fn enter() -> Option<Self> {
        let is_entered = restrict() == Some(RulesetStatus::FullyEnforced);
        (is_entered && is_closed()).then_some(Self { _of_this_thread: PhantomData })
    }

    /// Ends all processes in the scope but this one by force. None of them can fork meanwhile. If
    /// signals of this process reach beyond the scope, sends none and returns false.
    pub(crate) fn end_all(&self) -> bool {
        // Outside of a scope, the signal would go to all processes of the user.
        let is_closed = is_closed();
        if is_closed {
            // An error means that there is none.
            let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
        }
        is_closed
    }
}

/// Returns true if this process must not send a signal to its parent, which is never in its scope.
fn is_closed() -> bool {
    kill(getppid(), None) == Err(Errno::EPERM)
}

/// Restricts the signals of the calling thread, and nothing else. Returns `None` if the system refuses.
fn restrict() -> Option<RulesetStatus> {
    let rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    // The system takes the right to move files between folders from whoever enters any rules, and
    // gives it back only by name.
    let rules = rules.handle_access(AccessFs::Refer).ok()?.scope(Scoped::Signal).ok()?.create().ok()?;
    let rules = rules.add_rule(PathBeneath::new(PathFd::new("/").ok()?, AccessFs::Refer)).ok()?;
    Some(rules.restrict_self().ok()?.ruleset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    fn sleeper() -> Child {
        Command::new("sleep").arg("600").spawn().unwrap()
    }

    #[test]
    #[allow(clippy::print_stdout)] // says why it is left out
    fn the_end_of_a_scope_ends_what_was_started_in_it_and_nothing_else() {
        let mut outside = sleeper();
        let inside = std::thread::spawn(|| {
            let scope = Scope::enter()?;
            let mut inside = [sleeper(), sleeper()];
            assert!(scope.end_all());
            Some(inside.each_mut().map(|process| process.wait().unwrap().signal()))
        });
        let ends = inside.join().unwrap();
        let lives = outside.try_wait().unwrap().is_none();
        outside.kill().unwrap();
        outside.wait().unwrap();
        match ends {
            Some(ends) => assert_eq!((ends, lives), ([Some(9), Some(9)], true)),
            None => println!("skipped: this system has no scopes of signals"),
        }
    }

    #[test]
    fn a_scope_restricts_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir(&from).unwrap();
        std::fs::create_dir(&to).unwrap();
        std::fs::write(from.join("file"), "").unwrap();
        let moved = std::thread::spawn(move || {
            let _scope = Scope::enter();
            std::fs::rename(from.join("file"), to.join("file"))
        });
        moved.join().unwrap().unwrap();
    }

    #[test]
    fn outside_of_a_scope_signals_reach_the_parent() {
        assert!(!is_closed());
    }
}
