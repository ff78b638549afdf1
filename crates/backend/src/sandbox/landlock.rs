//! Rules for files, connections and signals.

use crate::sandbox::files::readable;
use crate::sandbox::{Confinement, Role};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::path::Path;

/// The newest version of the rules that this module knows. Of an older kernel's, the rules take
/// what it has.
const VERSION: ABI = ABI::V7;

/// Returns the rules of a process.
///
/// # Errors
/// The system refuses them.
pub(super) fn rules(confinement: &Confinement, role: Role) -> Result<RulesetCreated, String> {
    build(confinement, role).map_err(|error| format!("Landlock refuses its rules: {error}"))
}

fn build(confinement: &Confinement, role: Role) -> Result<RulesetCreated, RulesetError> {
    let mut handled = Ruleset::default().handle_access(AccessFs::from_all(VERSION))?.scope(Scope::from_all(VERSION))?;
    if !role.may_connect() {
        handled = handled.handle_access(AccessNet::from_all(VERSION))?;
    }
    let mut rules = handled.create()?;
    // Names may be listed everywhere. What a file holds is another right.
    rules = allow(rules, Path::new("/"), AccessFs::ReadDir.into())?;
    for path in readable(&confinement.private) {
        rules = allow(rules, &path, AccessFs::from_read(VERSION))?;
    }
    for path in confinement.writable(role) {
        rules = allow(rules, &path, AccessFs::from_all(VERSION))?;
    }
    for path in Confinement::devices(role) {
        rules = allow(rules, &path, AccessFs::WriteFile | AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::IoctlDev)?;
    }
    if let Some(threads) = Confinement::of_threads(role) {
        rules = allow(rules, Path::new(threads), AccessFs::WriteFile | AccessFs::Truncate)?;
        if role == Role::Driver {
            // A rule binds to what the system holds of the folder, which the system may forget while
            // nobody has the folder open.
            std::mem::forget(PathFd::new(threads));
        }
    }
    Ok(rules)
}

/// Allows `access` to everything beneath `path`. A path that does not exist, or that even the user
/// must not open, needs no rule.
fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(VERSION) };
    rules.add_rule(PathBeneath::new(opened, access))
}

/// Restricts the calling thread. Returns the version of the rules that the system applies, or
/// `None` if it has no Landlock.
///
/// # Errors
/// The system refuses the rules.
pub(super) fn enter(rules: RulesetCreated) -> Result<Option<String>, String> {
    let status = rules.restrict_self().map_err(|error| format!("Landlock refuses its rules: {error}"))?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (_, LandlockStatus::Available { effective_abi, .. }) => Some(format!("landlock {}", effective_abi as i32)),
        _ => Some("landlock".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Cage, Sandbox};
    use std::fs::OpenOptions;

    /// Overwrites the name of the calling thread as CUDA's driver does, in the sandbox of `role`.
    fn renamed(role: Role) -> std::io::Result<()> {
        let trial = move || {
            let folder = tempfile::tempdir().unwrap();
            let confinement = Confinement::of_run(Some(&Sandbox::default()), folder.path()).unwrap();
            // A system without a sandbox lets everybody do it.
            if let (Some(confinement), Ok(_)) = (confinement, Sandbox::support()) {
                Cage::build(&confinement, role).unwrap().enter().unwrap();
            }
            let name = format!("/proc/self/task/{}/comm", nix::unistd::gettid());
            OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(name)
                .and_then(|mut file| std::io::Write::write_all(&mut file, b"renamed"))
        };
        std::thread::spawn(trial).join().unwrap()
    }

    #[test]
    fn a_driver_can_name_its_threads_and_a_kernel_cannot() {
        renamed(Role::Driver).unwrap();
        if Sandbox::support().is_ok() {
            renamed(Role::Kernel).unwrap_err();
        }
    }
}
