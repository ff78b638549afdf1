//! Compile workers: processes in which drivers compile. Their number follows the demand.

use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Phase, Request};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tunesmith_backend::BackendMessage;
use tunesmith_backend::compiling::{CompileOutcome, CompileService, Compiled};
use tunesmith_backend::host::{Processes, WorkerCommand};
use tunesmith_core::{Clock, Interrupt};
use tunesmith_kernel::DeviceError;

/// Workers that each compile one task after the other. Reuse pays, because a driver's compiler
/// takes most of a second to start.
pub(crate) struct CompileWorkers {
    processes: Arc<dyn Processes>,
    command: WorkerCommand,
    clock: Arc<dyn Clock>,
    idle: Mutex<Vec<Worker>>,
}

impl CompileWorkers {
    /// Creates an empty pool. Workers start on demand.
    pub(crate) fn new(processes: Arc<dyn Processes>, command: WorkerCommand, clock: Arc<dyn Clock>) -> Self {
        Self { processes, command, clock, idle: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CompileService for CompileWorkers {
    /// Compiles in a worker that is idle.
    fn compile(
        &self,
        task: &BackendMessage,
        limit: Duration,
        cancel: &Interrupt,
    ) -> Result<CompileOutcome, DeviceError> {
        loop {
            let idle = self.lock().pop();
            let mut worker = match idle {
                Some(worker) => worker,
                None => Worker::spawn(&self.processes, &self.command, Arc::clone(&self.clock))?,
            };
            let outcome = follow(&mut worker, task, limit, self.clock.as_ref(), cancel);
            match &outcome {
                // The kernel of an earlier task may have damaged the worker's memory, or left a
                // thread that holds a lock. The task is tried again in another worker.
                CompileOutcome::Crashed(_) | CompileOutcome::CrashedLater | CompileOutcome::TimedOut
                    if worker.is_tainted() =>
                {
                    continue;
                }
                CompileOutcome::Compiled(Compiled::Built(made)) if made.retires_its_worker() => {}
                CompileOutcome::Compiled(_) if worker.is_worn(0) => {}
                CompileOutcome::Compiled(_) => self.lock().push(worker),
                _ => {}
            }
            return Ok(outcome);
        }
    }
}

/// Sends the task and waits for its end. The compilation may take as long as `limit`, and so may the
/// kernel that a driver then starts. A worker that announces this start again says what no worker
/// says: it would hold the run.
fn follow(
    worker: &mut Worker,
    task: &BackendMessage,
    limit: Duration,
    clock: &dyn Clock,
    cancel: &Interrupt,
) -> CompileOutcome {
    // If the task cannot be written, the worker has ended. Waiting reports its end.
    let _ = worker.send(&Request::Compile(task.clone()));
    let mut starting = false;
    let mut deadline = clock.now() + limit;
    loop {
        match worker.wait(deadline.saturating_sub(clock.now()), cancel) {
            Waited::Message(Message::Phase(Phase::Starting)) if !starting => {
                starting = true;
                deadline = clock.now() + limit;
            }
            // A driver's worker knows whether it can compile before it starts the kernel, which may forge this.
            Waited::Message(Message::Compiled(Compiled::Unusable(_))) if starting => {
                return CompileOutcome::CrashedLater;
            }
            Waited::Message(Message::Compiled(compiled)) => return CompileOutcome::Compiled(compiled),
            Waited::Message(_) | Waited::Ended(_) | Waited::Forged(_) if starting => {
                return CompileOutcome::CrashedLater;
            }
            Waited::Message(_) => return CompileOutcome::Crashed("its worker speaks another protocol".to_owned()),
            Waited::Ended(how) | Waited::Forged(how) => return CompileOutcome::Crashed(how),
            Waited::TimedOut => return CompileOutcome::TimedOut,
            Waited::Interrupted => return CompileOutcome::Cancelled,
        }
    }
}
