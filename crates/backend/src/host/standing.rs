//! The limits, the priority and the affinity of this process, which other processes of the user may
//! change.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::unistd::Pid;
use rustix::process::{getpriority_process, setpriority_process};
use std::marker::PhantomData;

/// The limits that matter to what a process starts.
const LIMITS: [Resource; 15] = [
    Resource::RLIMIT_AS,
    Resource::RLIMIT_CORE,
    Resource::RLIMIT_CPU,
    Resource::RLIMIT_DATA,
    Resource::RLIMIT_FSIZE,
    Resource::RLIMIT_LOCKS,
    Resource::RLIMIT_MEMLOCK,
    Resource::RLIMIT_MSGQUEUE,
    Resource::RLIMIT_NICE,
    Resource::RLIMIT_NOFILE,
    Resource::RLIMIT_NPROC,
    Resource::RLIMIT_RSS,
    Resource::RLIMIT_RTPRIO,
    Resource::RLIMIT_SIGPENDING,
    Resource::RLIMIT_STACK,
];

/// The limits, priority and affinity of the calling thread at some time. The default knows none.
#[derive(Debug, Default)]
pub struct Standing {
    limits: Vec<(Resource, (rlim_t, rlim_t))>,
    priority: Option<i32>,
    processors: Option<CpuSet>,
}

impl Standing {
    /// Returns the present ones.
    pub fn current() -> Self {
        let limits = LIMITS.into_iter().filter_map(|limit| Some((limit, getrlimit(limit).ok()?)));
        Self { limits: limits.collect(), priority: getpriority_process(None).ok(), processors: processors() }
    }

    /// Restores those that have changed, as far as this user may.
    pub fn restore(&self) {
        for (limit, (soft, hard)) in &self.limits {
            if getrlimit(*limit).is_ok_and(|present| present != (*soft, *hard)) {
                let _ = setrlimit(*limit, *soft, *hard);
            }
        }
        if let Some(priority) = self.priority.filter(|_| getpriority_process(None).ok() != self.priority) {
            let _ = setpriority_process(None, priority);
        }
        restore_processors(self.processors.as_ref());
    }
}

/// The processors to which the calling thread was bound when user code was about to run. What the
/// thread starts inherits them. They are restored when this value is dropped, in the same thread.
#[derive(Debug)]
pub struct KeptProcessors {
    processors: Option<CpuSet>,
    /// An affinity is one of a thread.
    _of_this_thread: PhantomData<*const ()>,
}

impl KeptProcessors {
    /// Returns the present ones.
    pub fn current() -> Self {
        Self { processors: processors(), _of_this_thread: PhantomData }
    }

    /// Binds the thread to them once more, if something has bound it to others.
    pub fn restore(&self) {
        restore_processors(self.processors.as_ref());
    }
}

impl Drop for KeptProcessors {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Returns the processors that the calling thread may use. Returns `None` on machines with more
/// processors than the type can tell.
fn processors() -> Option<CpuSet> {
    sched_getaffinity(Pid::from_raw(0)).ok()
}

fn restore_processors(wanted: Option<&CpuSet>) {
    if let Some(wanted) = wanted.filter(|wanted| processors().is_some_and(|present| present != **wanted)) {
        // An error means that the system has taken some of them.
        let _ = sched_setaffinity(Pid::from_raw(0), wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binds the calling thread to the first of its processors.
    fn bind_to_one() -> CpuSet {
        let all = processors().unwrap();
        let first = (0..CpuSet::count()).find(|processor| all.is_set(*processor).unwrap()).unwrap();
        let mut one = CpuSet::new();
        one.set(first).unwrap();
        sched_setaffinity(Pid::from_raw(0), &one).unwrap();
        one
    }

    #[test]
    fn limits_and_processors_are_restored() {
        let ended = std::thread::spawn(|| {
            let before = Standing::current();
            let (soft, hard) = getrlimit(Resource::RLIMIT_MSGQUEUE).unwrap();
            setrlimit(Resource::RLIMIT_MSGQUEUE, soft / 2, hard).unwrap();
            bind_to_one();
            before.restore();
            let after = Standing::current();
            (before.limits == after.limits, before.processors == after.processors, soft > 0)
        });
        assert_eq!(ended.join().unwrap(), (true, true, true));
    }

    #[test]
    fn a_thread_keeps_its_processors_until_user_code_has_ended_and_may_then_change_them() {
        let ended = std::thread::spawn(|| {
            let all = processors();
            let kept = KeptProcessors::current();
            bind_to_one();
            drop(kept);
            let is_restored = processors() == all;
            let one = bind_to_one();
            drop(KeptProcessors::current());
            (is_restored, processors() == Some(one))
        });
        assert_eq!(ended.join().unwrap(), (true, true));
    }
}
