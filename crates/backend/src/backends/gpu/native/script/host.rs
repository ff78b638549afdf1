//! Runs a script's kernels on the processor, so that they compute what their sources say.
//!
//! The script names a compiler: a program that makes a program of a kernel. This one reads the device's
//! memory and a launch, and writes the memory as the kernel leaves it. A kernel that crashes ends its own
//! process alone, and one that hangs is ended with the worker's group of processes.

use super::memory::DeviceMemory;
use crate::backends::gpu::GpuTask;
use crate::backends::gpu::native::{Address, ErrorKind};
use nix::sys::signal::Signal;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// A launch that has not run yet.
pub(super) struct HostLaunch {
    pub(super) program: PathBuf,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) parameters: Vec<Vec<u8>>,
    /// The memory of the module's variables, by their names.
    pub(super) symbols: HashMap<String, Address>,
}

/// Compiles a kernel by the script's compiler, which gets the source, its name in messages, the kernel,
/// the path of the program to make, the number of variables in constant memory with their names, and the
/// options. Returns the program.
///
/// # Errors
/// The source is wrong. The text is what the compiler prints.
pub(in crate::backends::gpu::native) fn compile(compiler: &Path, task: &GpuTask) -> Result<PathBuf, String> {
    let program = task.binary.with_extension("host");
    let mut command = Command::new(compiler);
    command.arg(&task.source).args([&task.name, &task.function]).arg(&program);
    command.arg(task.symbols.len().to_string()).args(&task.symbols).args(&task.options);
    let ran = command.stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("`{}` cannot be started: {error}", compiler.display()))?;
    if ran.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&ran.stderr).into_owned()) }
}

impl HostLaunch {
    /// Runs the kernel on the device's memory.
    ///
    /// # Errors
    /// The kernel crashed.
    pub(super) fn run(&self, memory: &mut DeviceMemory) -> Result<(), ErrorKind> {
        let started = Command::new(&self.program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|_| ErrorKind::InvalidImage)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        // A kernel that crashes reads or writes a part only. Its end says so.
        let sent = input.map(|mut input| self.send(memory, &mut input));
        let mut after = Vec::new();
        let read = output.map(|mut output| output.read_to_end(&mut after));
        let status = child.wait().map_err(|_| ErrorKind::LaunchFailed)?;
        if let Some(kind) = crash(status) {
            return Err(kind);
        }
        let is_whole = matches!((sent, read), (Some(Ok(())), Some(Ok(_))));
        if is_whole && memory.replace(&after) { Ok(()) } else { Err(ErrorKind::LaunchFailed) }
    }

    /// Sends the launch and the memory: numbers of 64 bits, and bytes behind their number.
    fn send(&self, memory: &DeviceMemory, to: &mut impl Write) -> std::io::Result<()> {
        let mut head = Vec::new();
        let number = |head: &mut Vec<u8>, number: usize| head.extend((number as u64).to_ne_bytes());
        self.grid.iter().chain(&self.block).for_each(|extent| number(&mut head, *extent as usize));
        number(&mut head, self.parameters.len());
        for bytes in &self.parameters {
            number(&mut head, bytes.len());
            head.extend(bytes);
        }
        number(&mut head, self.symbols.len());
        for (name, address) in &self.symbols {
            number(&mut head, name.len());
            head.extend(name.as_bytes());
            head.extend(address.0.to_ne_bytes());
        }
        let blocks: Vec<(u64, &[u8])> = memory.blocks().collect();
        number(&mut head, blocks.len());
        to.write_all(&head)?;
        for (address, bytes) in blocks {
            to.write_all(&address.to_ne_bytes())?;
            to.write_all(&(bytes.len() as u64).to_ne_bytes())?;
            to.write_all(bytes)?;
        }
        Ok(())
    }
}

/// Returns the error of a process that did not end well.
fn crash(status: ExitStatus) -> Option<ErrorKind> {
    let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
    match signal {
        Some(Signal::SIGSEGV | Signal::SIGBUS) => Some(ErrorKind::IllegalAddress),
        Some(Signal::SIGABRT) => Some(ErrorKind::Assert),
        Some(Signal::SIGILL) => Some(ErrorKind::IllegalInstruction),
        _ => (!status.success()).then_some(ErrorKind::LaunchFailed),
    }
}
