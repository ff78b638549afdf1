//! The filter of system calls. It refuses the calls that change the system, that reach into other
//! processes, and that Landlock does not judge.

use crate::sandbox::Role;
use nix::libc::{self, c_long};
#[cfg(target_arch = "x86_64")]
use seccompiler::sock_filter;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

/// Calls that change the whole system, or that lead around the other rules.
const OF_THE_SYSTEM: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
];

/// Calls that reach into other processes. Those that change a process named by its id are in
/// [`targets`](crate::sandbox::targets).
const OF_OTHER_PROCESSES: &[c_long] = &[
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
];

/// Calls that change files in ways that Landlock does not judge, and the counters, which the worker
/// opens beforehand.
const OF_FILES: &[c_long] = &[
    libc::SYS_chroot,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_perf_event_open,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    // `fchmodat2`, which has this number everywhere, but no name in every version of `libc`.
    452,
];

/// Calls on memory, messages and semaphores that outlive every process, and that other programs of
/// the user share. Their numbers can be guessed.
const OF_THE_USER: &[c_long] = &[
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// The flags of `clone` that make namespaces. A process is root in its own user namespace.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// The families of sockets that lead out of the machine, or into the system's kernel.
const FAMILIES: [i32; 5] = [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG];

/// The requests to a terminal that put words into the mouth of its user.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];

/// The requests that make files unchangeable, by flags and by attributes. Root could not remove such a
/// file from a run's folder.
const FLAGS: [u64; 2] = [0x4008_6602, 0x401c_5820];

/// Returns the filters of a process. A call is refused if one of them refuses it.
///
/// # Errors
/// This processor is unknown.
pub(super) fn filters(role: Role) -> Result<Vec<BpfProgram>, String> {
    let refused = refused(role).map_err(|error| error.to_string())?;
    // The arguments of `clone3` lie in memory, where a filter cannot see them. The C library uses
    // `clone` in its place.
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let known =
        [(refused, libc::EPERM), (unknown, libc::ENOSYS)].into_iter().map(|(rules, error)| filter(rules, error));
    #[cfg(target_arch = "x86_64")]
    let known = known.chain([Ok(without_x32())]);
    known.collect()
}

/// Returns the filter that refuses the calls of x32, which some systems have. They are the known calls
/// under other numbers, which no other filter knows.
#[cfg(target_arch = "x86_64")]
fn without_x32() -> BpfProgram {
    /// Loads the number of the call; jumps if it is as large; returns.
    const LOAD: u16 = 0x20;
    const IS_AS_LARGE: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const X32: u32 = 0x4000_0000;
    const REFUSE: u32 = 0x0005_0000 | libc::ENOSYS as u32;
    const ALLOW: u32 = 0x7fff_0000;
    let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    vec![step(LOAD, 0, 0), step(IS_AS_LARGE, 1, X32), step(RETURN, 0, REFUSE), step(RETURN, 0, ALLOW)]
}

/// The rules by the numbers of calls. A call without rules is refused, whatever its arguments.
pub(super) type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Returns the filter that lets the calls fail with `error` to which a rule applies.
///
/// # Errors
/// This processor is unknown.
pub(super) fn filter(rules: Rules, error: i32) -> Result<BpfProgram, String> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture);
    filter.and_then(BpfProgram::try_from).map_err(|error| error.to_string())
}

fn refused(role: Role) -> Result<Rules, seccompiler::BackendError> {
    let mut lists = vec![OF_THE_SYSTEM];
    lists.extend((role != Role::Program).then_some(OF_OTHER_PROCESSES));
    if role == Role::Kernel {
        lists.extend([OF_FILES, OF_THE_USER]);
    }
    let mut rules: Rules = lists.into_iter().flatten().map(|call| (*call, Vec::new())).collect();
    let has = |flag: i32| {
        let flag = u64::from(flag.unsigned_abs());
        argument(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)
    };
    let is = |at, value| argument(at, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    rules.insert(libc::SYS_clone, NAMESPACES.into_iter().map(has).collect::<Result<_, _>>()?);
    let flags = FLAGS.into_iter().filter(|_| role == Role::Kernel);
    let requests = TERMINAL.into_iter().chain(flags).map(|request| is(1, request));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    if !role.may_connect() {
        let families = FAMILIES.into_iter().map(|family| is(0, u64::from(family.unsigned_abs())));
        rules.insert(libc::SYS_socket, families.collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

/// Returns the rule for calls with such an argument.
fn argument(
    at: u8,
    length: SeccompCmpArgLen,
    compare: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(at, length, compare, value)?])
}
