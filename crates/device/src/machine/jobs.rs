//! The number of concurrent builds that a machine carries.

use super::Machine;
use nix::sys::resource::{Resource, getrlimit};
use tunesmith_backend::host::{machine_memory, threads};
use tunesmith_core::Refusal;

/// The memory in bytes that a compiler needs at least.
const MEMORY: u64 = 64 << 20;

/// The processes of a build: its supervisor, the compiler's driver, the compiler proper and its assembler or linker.
const PROCESSES: u64 = 4;

impl Machine {
    /// Refuses more concurrent builds than this machine carries: each takes memory, and processes of this user.
    ///
    /// # Errors
    /// There are too many.
    pub fn check_jobs(&self) -> Result<(), Refusal> {
        let Some(jobs) = self.jobs else { return Ok(()) };
        let bounds =
            [(machine_memory().map(|bytes| bytes / MEMORY), "memory"), (processes(), "processes of this user")];
        let known = bounds.into_iter().filter_map(|(most, what)| Some((most?.max(1), what)));
        match known.min_by_key(|(most, _)| *most) {
            Some((most, what)) if jobs as u64 > most => Err(Refusal::new(
                format!("{jobs} builds at once are more than this machine carries: its {what} suffice for {most}"),
                Some(format!("--jobs {} has one for each processor; {most} are possible", threads())),
            )),
            _ => Ok(()),
        }
    }
}

/// Returns the number of builds for which the limit of processes suffices, if there is one.
fn processes() -> Option<u64> {
    let (soft, _) = getrlimit(Resource::RLIMIT_NPROC).ok()?;
    (soft != nix::libc::RLIM_INFINITY).then_some(soft / PROCESSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_builds_than_the_machine_carries_are_refused_with_the_number_that_it_carries() {
        let check = |jobs| Machine { jobs, ..Machine::default() }.check_jobs();
        assert!(check(None).is_ok() && check(Some(1)).is_ok());
        let refusal = check(Some(1_000_000_000)).unwrap_err();
        assert!(refusal.text.contains("more than this machine carries") && refusal.remedy.is_some(), "{refusal:?}");
        let most = machine_memory().unwrap() / MEMORY;
        assert!(check(Some(most as usize + 1)).is_err());
    }
}
