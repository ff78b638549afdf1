//! The filter of system calls that change a process named by its id: its limits, priorities,
//! affinity and pages. A process may change itself.

use crate::sandbox::Role;
use crate::sandbox::calls::{Rules, filter};
use nix::libc::{self, c_long};
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, Lt, Ne};
use seccompiler::{BackendError, BpfProgram, SeccompCmpOp, SeccompCondition, SeccompRule};

/// Calls whose first argument is the process that they change.
const OF_A_PROCESS: [c_long; 5] = [
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// The first argument of `setpriority` for a single process.
const PRIO_PROCESS: u32 = 0;

/// The first argument of `ioprio_set` for a single process.
const IOPRIO_WHO_PROCESS: u32 = 1;

/// The number of ids at the end of their range in which a process may get threads with smaller ids
/// than its own: the system then begins anew.
const LAST: u32 = 4096;

/// The ids that tell a process from others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    own: u32,
    parent: u32,
    /// The system's limit of ids.
    end: u32,
}

impl Ids {
    /// Returns the ids of this process.
    pub(super) fn of_this_process() -> Self {
        let end = tunesmith_files::system_text("/proc/sys/kernel/pid_max").and_then(|text| text.trim().parse().ok());
        Self { own: std::process::id(), parent: std::os::unix::process::parent_id(), end: end.unwrap_or(1 << 15) }
    }

    /// Returns true if every thread that the process starts gets a larger id than its own, unless
    /// the system starts thousands of others meanwhile.
    fn grow(self) -> bool {
        self.own.saturating_add(LAST) < self.end
    }
}

/// Returns the filter of a process, or `None` for programs, which start and place other processes.
///
/// # Errors
/// This processor is unknown.
pub(super) fn filter_of(role: Role, ids: Ids) -> Result<Option<BpfProgram>, String> {
    if role == Role::Program {
        return Ok(None);
    }
    let rules = rules(role, ids).map_err(|error| error.to_string())?;
    filter(rules, libc::EPERM).map(Some)
}

fn rules(role: Role, ids: Ids) -> Result<Rules, BackendError> {
    let other = |at| [(at, Ne, 0), (at, Ne, ids.own)];
    let mut limits = conditions(&other(0))?;
    // Without new limits, the call only tells the present ones.
    limits.push(SeccompCondition::new(2, Qword, Ne, 0)?);
    let mut rules = Rules::from([
        (libc::SYS_prlimit64, vec![SeccompRule::new(limits)?]),
        (libc::SYS_setpriority, vec![rule(&[(0, Ne, PRIO_PROCESS)])?, rule(&other(1))?]),
        (libc::SYS_ioprio_set, vec![rule(&[(0, Ne, IOPRIO_WHO_PROCESS)])?, rule(&other(1))?]),
        (libc::SYS_sched_setaffinity, affinity(role, ids)?),
    ]);
    for call in OF_A_PROCESS {
        rules.insert(call, vec![rule(&other(0))?]);
    }
    Ok(rules)
}

/// Returns the rules for the affinity. The C library names threads of the process by their ids, and
/// OpenMP binds its threads so. Those are larger than the id of the process. Drivers live long enough
/// for ids to begin anew, so that only their parent, the tuner, is safe from them.
fn affinity(role: Role, ids: Ids) -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = vec![rule(&[(0, Eq, ids.parent)])?];
    if role == Role::Kernel && ids.grow() {
        rules.push(rule(&[(0, Ne, 0), (0, Lt, ids.own)])?);
    }
    Ok(rules)
}

/// Returns the rule for calls whose arguments meet all conditions: the argument's place, the
/// comparison, and the value.
fn rule(wanted: &[(u8, SeccompCmpOp, u32)]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions(wanted)?)
}

fn conditions(wanted: &[(u8, SeccompCmpOp, u32)]) -> Result<Vec<SeccompCondition>, BackendError> {
    let condition = |(at, compare, value): &(u8, SeccompCmpOp, u32)| {
        SeccompCondition::new(*at, Dword, compare.clone(), u64::from(*value))
    };
    wanted.iter().map(condition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{sched_getaffinity, sched_setaffinity};
    use nix::unistd::{Pid, gettid};
    use rustix::process::{Resource, getpriority_process, prlimit, setpriority_process};

    /// Runs `trial` in a thread with the filter of `role`. The filter ends with the thread.
    fn filtered<T: Send + 'static>(role: Role, trial: impl FnOnce() -> T + Send + 'static) -> T {
        let with_filter = move || {
            let filter = filter_of(role, Ids::of_this_process()).unwrap();
            filter.iter().for_each(|filter| seccompiler::apply_filter(filter).unwrap());
            trial()
        };
        std::thread::spawn(with_filter).join().unwrap()
    }

    /// Sets the limits, the priority and the affinity of a process to what they are. Returns true
    /// for what is refused.
    fn set_again(id: i32) -> [bool; 3] {
        let (process, all) = (rustix::process::Pid::from_raw(id), sched_getaffinity(Pid::from_raw(id)).unwrap());
        // The parent of a test has the same limits.
        let limits = prlimit(process, Resource::Core, rustix::process::getrlimit(Resource::Core));
        let priority = getpriority_process(process).and_then(|priority| setpriority_process(process, priority));
        let affinity = sched_setaffinity(Pid::from_raw(id), &all);
        let is_refused = |ended: Result<(), i32>| ended == Err(libc::EPERM);
        let refused = [limits.map(drop), priority].map(|ended| is_refused(ended.map_err(|error| error.raw_os_error())));
        [refused[0], refused[1], is_refused(affinity.map_err(|error| error as i32))]
    }

    #[test]
    fn kernels_and_drivers_cannot_change_the_process_that_started_them() {
        let parent = i32::try_from(std::os::unix::process::parent_id()).unwrap();
        for role in [Role::Kernel, Role::Driver] {
            assert_eq!(filtered(role, move || set_again(parent)), [true; 3], "{role:?}");
        }
    }

    #[test]
    fn everybody_can_change_itself() {
        let own = i32::try_from(std::process::id()).unwrap();
        for role in [Role::Kernel, Role::Driver, Role::Program] {
            assert_eq!(filtered(role, || set_again(0)), [false; 3], "{role:?}");
            assert_eq!(filtered(role, move || set_again(own)), [false; 3], "{role:?}");
        }
    }

    #[test]
    fn a_thread_can_be_bound_by_its_id() {
        let bind = || sched_setaffinity(gettid(), &sched_getaffinity(Pid::from_raw(0)).unwrap());
        assert_eq!(filtered(Role::Kernel, bind), Ok(()));
    }

    #[test]
    fn groups_cannot_be_changed() {
        let group = || rustix::process::setpriority_pgrp(None, getpriority_process(None).unwrap());
        assert_eq!(filtered(Role::Kernel, group), Err(rustix::io::Errno::PERM));
    }

    #[test]
    fn the_affinity_of_smaller_ids_is_free_where_ids_begin_anew() {
        let near = |own| Ids { own, parent: 1, end: 32768 };
        assert!(near(2000).grow() && !near(30000).grow());
        assert_eq!(affinity(Role::Kernel, near(2000)).unwrap().len(), 2);
        assert_eq!(affinity(Role::Kernel, near(30000)).unwrap().len(), 1);
        assert_eq!(affinity(Role::Driver, near(2000)).unwrap().len(), 1);
    }
}
