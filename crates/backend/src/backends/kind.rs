//! The face of a backend.

use crate::backends::compiling::Compiled;
use crate::backends::question::Drivers;
use crate::backends::{DeviceInfo, Missing, Session, Target, WhichDevice};
use crate::host::{Compilers, WorkerCommand};
use serde_json::Value;
use std::fmt::Debug;
use tunesmith_kernel::DeviceError;

/// A backend: everything that the rest of the crate knows of one of the folders beside this file. The
/// [table](crate::backends::table) lists all of them.
pub trait BackendKind: Debug + Sync {
    /// Returns what `--device` calls its devices. Programs and messages bear the same name.
    fn name(&self) -> &'static str;

    /// Returns the text that may follow the name in `--device`, for messages. Empty if nothing may.
    fn form(&self) -> &'static str;

    /// Returns true if some of its devices are the processors of this machine.
    fn may_use_processor(&self) -> bool;

    /// Lists the usable devices, and the unusable parts with the reasons.
    fn list(&self, means: Means<'_>) -> (Vec<DeviceInfo>, Vec<Missing>);

    /// Finds a device that the user names.
    ///
    /// # Errors
    /// The machine has no such device.
    fn find(&self, which: &WhichDevice, means: Means<'_>) -> Result<Target, DeviceError>;

    /// Returns a device of another machine, which its target described there. Returns `None` if `description` is none.
    fn described(&self, _description: &Value) -> Option<Target> {
        None
    }

    /// Opens the session of a device, in a worker.
    ///
    /// # Errors
    /// The reason why the device cannot be used.
    fn open(&self, device: &Value) -> Result<Box<dyn Session>, String>;

    /// Returns the compiler that a compile worker keeps open. Returns `None` if a program compiles.
    fn compiler(&self) -> Option<Box<dyn DriverCompiler>> {
        None
    }

    /// Asks the driver, in a worker. Returns `None` if it does not understand the question.
    fn answer(&self, _question: &Value) -> Option<Value> {
        None
    }
}

/// The means to find devices.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// The compilers of this machine.
    pub compilers: &'a Compilers,
    /// The executable that supervises compilers.
    pub worker: &'a WorkerCommand,
    /// The processes in which drivers answer.
    pub drivers: Drivers<'a>,
}

/// A compiler that is part of a driver, in a compile worker.
pub trait DriverCompiler {
    /// Compiles one configuration. Calls `launching` before a kernel runs, because a later crash
    /// need not be the compiler's fault.
    fn compile(&mut self, task: &Value, launching: &mut dyn FnMut()) -> Compiled;
}
