//! The parts of this machine that every backend may use: its compilers, its processor, and the
//! processes started on it.

mod cgroup;
mod channel;
mod companion;
mod compilers;
mod dependencies;
mod ending;
mod entry;
pub(crate) mod faults;
mod launcher;
mod leftovers;
mod output;
mod process;
mod processor;
mod quota;
mod standing;
mod supervisor;
mod system;
mod tool;

pub use channel::Packet;
pub use companion::{Companion, Heard};
pub use compilers::{Compilers, CudaSetup, GpuSetup, HipSetup};
pub use entry::WorkerCommand;
pub use process::{Process, Processes, Received};
pub use processor::instruction_set;
pub use system::SystemProcesses;

pub(crate) use channel::{Channel, MOST};
pub(crate) use compilers::Compiler;
pub(crate) use ending::{STRAY_ACCESS, describe, ended_badly, signal};
pub(crate) use entry::{GUARD, SUPERVISOR, WORKER, was_not_entered};
pub(crate) use launcher::{Finish, Launcher, Ran, Streams};
pub(crate) use leftovers::end_descendants;
pub(crate) use output::{KEPT, Output};
pub(crate) use processor::{is_of_threads, limits, processor_name, threads};
pub(crate) use quota::{MemoryQuota, limit_processes, machine_memory, offer_memory};
pub(crate) use standing::{KeptProcessors, Standing};
pub(crate) use supervisor::{CommandTask, Input, MemoryLimit, ProcessReport, supervise};
pub(crate) use tool::{Ended, Tool};

use std::time::Duration;

/// The interval at which waiting for a process or a build looks at the interrupt.
pub(crate) const POLL: Duration = Duration::from_millis(50);
