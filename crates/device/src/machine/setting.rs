//! The surroundings of this process that change the speed of what runs on the processor.

use super::{Device, Machine};
use std::sync::Arc;
use tunesmith_backend::host::{Tool, is_of_threads};
use tunesmith_core::SystemClock;

/// The names of the properties of [`Machine::setting`].
pub const SETTING: [&str; 2] = ["allowed processors", "environment"];

/// The compilers that makefiles call.
const COMPILERS: [&str; 3] = ["CC", "CXX", "FC"];

/// The options that makefiles hand to them.
const OPTIONS: [&str; 5] = ["CFLAGS", "CXXFLAGS", "CPPFLAGS", "FFLAGS", "LDFLAGS"];

impl Machine {
    /// Returns the properties of this process, by name, that a resumed run must share because they change times on
    /// the processor: `allowed processors`, if it may not use all of them, and `environment`, if a variable is set
    /// that the runtimes of `device` read. Empty for GPUs, recordings and formulas. Of a command they include the
    /// compilers that a makefile would call, each with its version. `own` are the variables that the problem itself
    /// sets for its command.
    ///
    /// Asks each compiler of a command's environment for its version. One that does not answer is named without it.
    pub fn setting(&self, device: &Device, own: &[&str]) -> Vec<(String, String)> {
        let is_read: &dyn Fn(&str) -> bool = match device {
            Device::Kernels(target) if target.is_processor() => &|name| target.reads_variable(name),
            Device::Command => &|name| {
                let is_of_build = COMPILERS.contains(&name) || OPTIONS.contains(&name);
                (is_of_build || is_of_threads(name)) && !own.contains(&name)
            },
            _ => return Vec::new(),
        };
        let set = self.environment.iter().filter(|(name, value)| is_read(name) && !value.is_empty());
        let texts: Vec<String> = set.map(|(name, value)| self.variable(name, value)).collect();
        let environment = (!texts.is_empty()).then(|| (SETTING[1].to_owned(), texts.join(", ")));
        let allowed = allowed_processors().map(|text| (SETTING[0].to_owned(), text));
        allowed.into_iter().chain(environment).collect()
    }

    /// Returns the text of a variable. That of a compiler tells its version.
    fn variable(&self, name: &str, value: &str) -> String {
        let version = COMPILERS.contains(&name).then(|| self.version(value)).flatten();
        format!("{name}={value}{}", version.map_or_else(String::new, |version| format!(" ({version})")))
    }

    /// Returns the first line of what the compiler says of its version.
    fn version(&self, command: &str) -> Option<String> {
        let words = shlex::split(command).filter(|words| !words.is_empty())?;
        let tool = Tool::new(words, &self.worker, Arc::new(SystemClock::new())).ok()?;
        tool.version().ok()?.ok()
    }
}

/// Returns how many processors this process may use of how many there are, or `None` if it may use all. Their numbers
/// are left out: a job on a shared machine gets others each time.
fn allowed_processors() -> Option<String> {
    let set = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).ok()?;
    let allowed = (0..nix::sched::CpuSet::count()).filter(|at| set.is_set(*at).unwrap_or(false)).count();
    let all = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN).ok()??;
    (allowed as i64 != all).then(|| format!("{allowed} of {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Replay;
    use tunesmith_backend::Target;

    fn machine(variables: &[(&str, &str)]) -> Machine {
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Machine { environment, ..Machine::default() }
    }

    fn environment(machine: &Machine, device: &Device, own: &[&str]) -> Option<String> {
        machine.setting(device, own).into_iter().find(|(name, _)| name == "environment").map(|(_, text)| text)
    }

    #[test]
    fn variables_that_change_times_belong_to_the_device_that_reads_them() {
        let set = [("CFLAGS", "-O1"), ("HOME", "/root"), ("KMP_AFFINITY", ""), ("OMP_PLACES", "cores"), ("PATH", "a")];
        let (machine, kernels) = (machine(&set), Device::Kernels(Target::processor()));
        assert_eq!(environment(&machine, &kernels, &[]).as_deref(), Some("OMP_PLACES=cores"));
        assert_eq!(environment(&machine, &Device::Command, &[]).as_deref(), Some("CFLAGS=-O1, OMP_PLACES=cores"));
        // What the problem sets itself is in its digest.
        assert_eq!(environment(&machine, &Device::Command, &["OMP_PLACES"]).as_deref(), Some("CFLAGS=-O1"));
        let recording = Device::Replay(Replay::new("r.json".into(), false));
        assert_eq!(machine.setting(&recording, &[]), []);
    }

    #[test]
    fn the_number_of_allowed_processors_counts() {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        let own = nix::unistd::Pid::from_raw(0);
        let all = sched_getaffinity(own).unwrap();
        let first = (0..CpuSet::count()).find(|at| all.is_set(*at).unwrap()).unwrap();
        let mut one = CpuSet::new();
        one.set(first).unwrap();
        // The affinity is that of this thread.
        sched_setaffinity(own, &one).unwrap();
        let named = allowed_processors();
        sched_setaffinity(own, &all).unwrap();
        let count = nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN).unwrap().unwrap();
        assert_eq!(named, (count > 1).then(|| format!("1 of {count}")));
    }
}
