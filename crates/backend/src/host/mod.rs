//! The parts of this machine that every backend may use: its compilers, its processor, and the
//! processes started on it.

mod cgroup;
mod channel;
mod companion;
mod compilers;
mod dependencies;
mod ending;
mod entry;
pub mod faults;
mod launcher;
mod leftovers;
mod output;
mod process;
mod processor;
mod quota;
mod standing;
mod supervisor;
mod suspension;
mod system;
mod tool;

pub use channel::{Channel, MOST, Packet};
pub use companion::{Companion, Heard};
pub use compilers::{Compiler, Compilers, CudaSetup, GpuSetup, HipSetup};
pub use ending::describe;
pub use entry::{GUARD, SUPERVISOR, WORKER, WorkerCommand, was_not_entered};
pub use leftovers::end_descendants;
pub use process::{Process, Processes, Received};
pub use processor::{instruction_set, is_of_threads, threads};
pub use quota::{MemoryQuota, limit_processes, machine_memory, offer_memory};
pub use standing::{KeptProcessors, Standing};
pub use supervisor::supervise;
pub use suspension::{Pause, Suspension};
pub use system::SystemProcesses;
pub use tool::{Ended, Tool};

pub(crate) use ending::{STRAY_ACCESS, ended_badly, signal};
pub(crate) use launcher::{Finish, Launcher, Ran, Streams};
pub(crate) use output::{KEPT, Output};
pub(crate) use processor::{limits, processor_name};
pub(crate) use supervisor::{CommandTask, Input, MemoryLimit, ProcessReport};
pub(crate) use suspension::Membership;

use std::time::Duration;

/// The interval at which waiting for a process or a build looks at the interrupt.
pub const POLL: Duration = Duration::from_millis(50);
