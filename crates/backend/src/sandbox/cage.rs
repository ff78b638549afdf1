//! The rules of one process, ready to be entered.

use crate::sandbox::targets::{Ids, filter_of};
use crate::sandbox::{Confinement, Role, calls, landlock};
use ::landlock::RulesetCreated;
use seccompiler::BpfProgram;

/// The rules of one process. They are built where time does not matter, because a user's folder may
/// hold thousands of entries. To enter them takes some microseconds.
#[derive(Debug)]
pub struct Cage {
    rules: RulesetCreated,
    filters: Vec<BpfProgram>,
    role: Role,
}

impl Cage {
    /// Builds the rules.
    ///
    /// # Errors
    /// The system refuses them. The text gives the reason.
    pub fn build(confinement: &Confinement, role: Role) -> Result<Self, String> {
        Ok(Self { rules: landlock::rules(confinement, role)?, filters: calls::filters(role)?, role })
    }

    /// Restricts the calling thread, and all processes and threads that it starts. Nobody can lift
    /// the restrictions. Returns their description.
    ///
    /// # Errors
    /// The system refuses the rules. The thread may be restricted in part.
    pub fn enter(self) -> Result<String, String> {
        // The rule about other processes needs the id of this one, which may be a fork of the one
        // that built the rest.
        let others = filter_of(self.role, Ids::of_this_process())?;
        let files = landlock::enter(self.rules)?;
        for filter in self.filters.iter().chain(&others) {
            seccompiler::apply_filter(filter).map_err(|error| format!("seccomp refuses its filter: {error}"))?;
        }
        Ok(match files {
            Some(files) => format!("{files}, seccomp"),
            None => "seccomp".to_owned(),
        })
    }
}
