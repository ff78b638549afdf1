//! The support of this system for sandboxes.

use crate::sandbox::{Cage, Confinement, Role, Sandbox};
use std::path::PathBuf;

impl Sandbox {
    /// Enters the sandbox in a thread that ends at once. Returns what the system applies: the
    /// version of Landlock's rules, and seccomp.
    ///
    /// # Errors
    /// The system has no sandbox. The text gives the reason.
    pub fn support() -> Result<String, String> {
        let confinement = Confinement::new(&Self::default(), PathBuf::from("/"), PathBuf::from("/"));
        let enter = move || Cage::build(&confinement, Role::Kernel)?.enter();
        let trial = std::thread::Builder::new().spawn(enter).map_err(|error| format!("no thread: {error}"))?;
        let applied = trial.join().unwrap_or_else(|_| Err("its trial panicked".to_owned()))?;
        // Without rules for files, a filter of calls promises little.
        if applied.starts_with("landlock") { Ok(applied) } else { Err("this kernel has no Landlock".to_owned()) }
    }
}
