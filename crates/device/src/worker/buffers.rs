//! The buffers of a worker. They are filled before launches and checked afterwards. Their outputs go
//! to the tuner, which alone knows the correct ones.

use crate::data::layout::{BufferLayout, Layout, Role};
use crate::measure::compare::place;
use crate::measure::fingerprint::Fingerprint;
use crate::worker::block::{Block, Wanted, pieces};
use crate::worker::protocol::Ending;
use nix::errno::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tunesmith_backend::{BufferId, Fault, LaunchArgument, PIECE, Pixels, Session};
use tunesmith_kernel::Memory;
use tunesmith_kernel::data::Passed;

/// All buffers of a worker.
pub(crate) struct Buffers {
    slots: Vec<Slot>,
    /// The set of data that the buffers hold, or will hold once they are renewed.
    set: usize,
    /// True if inputs and zones are known to be intact.
    intact: bool,
    /// The word that fills local memory before a launch, where it is an ordinary buffer. `None` leaves it as it is.
    pub(crate) local_word: Option<u32>,
    /// The file for outputs.
    results: Option<File>,
}

/// The place of one argument.
enum Slot {
    Scalar,
    /// Local memory in the kernel's own process. It is ordinary memory, as large as the largest
    /// configuration so far needed. `None` if the device has local memory of its own.
    Local {
        name: String,
        align: usize,
        block: Option<Block>,
    },
    Buffer(Box<Buffer>),
}

/// A buffer and its contents before a launch.
struct Buffer {
    layout: BufferLayout,
    /// The extents in the current configuration.
    shape: Vec<u64>,
    /// `None` while no job has told the extents.
    block: Option<Block>,
    /// The contents in each set of data.
    pristine: Vec<File>,
    /// The digest of the contents that the buffer holds, if it is an input.
    digest: Option<u64>,
    copy: DeviceCopy,
}

/// A copy of a buffer's initial contents in the device's own memory, where copying is fast.
///
/// It is made anew from the file for each configuration. A kernel that writes into it spoils only
/// its own result.
#[derive(Clone, Copy)]
enum DeviceCopy {
    /// Not tried yet.
    Unknown,
    /// The copy is in this buffer.
    In(BufferId),
    /// The device has no room for a copy, or cannot copy.
    None,
}

impl Buffers {
    /// Allocates memory for all `arguments`, and opens the file for their outputs.
    pub(crate) fn allocate(
        session: &mut dyn Session,
        arguments: Vec<Layout>,
        results: Option<&Path>,
    ) -> Result<Self, String> {
        let slots = arguments.into_iter().map(|argument| Slot::new(session, argument)).collect::<Result<_, _>>()?;
        let results = results.map(|path| File::options().write(true).open(path)).transpose();
        let results = results.map_err(|error| format!("cannot open the file for its results: {error}"))?;
        Ok(Self { slots, set: 0, intact: false, local_word: None, results })
    }

    /// Returns true if a kernel that is launched again finds the same inputs. Its outputs may hold
    /// the results of the launch before.
    pub(crate) fn repeat_alike(&self) -> bool {
        let is_changed = |slot: &Slot| match slot {
            Slot::Buffer(buffer) => matches!(buffer.layout.role, Role::InOut | Role::Scratch),
            Slot::Scalar | Slot::Local { .. } => false,
        };
        !self.slots.iter().any(is_changed)
    }

    /// Returns all arguments in the form of a launch. `passed` holds the configuration's scalars
    /// and local memory.
    pub(crate) fn launch_arguments(&self, passed: &[Passed]) -> Vec<LaunchArgument> {
        let arguments = self.slots.iter().zip(passed).map(|(slot, passed)| match (slot.block(), passed) {
            (Some(block), _) => match slot {
                Slot::Buffer(buffer) => buffer.pixels().map_or_else(|| block.argument(), |pixels| block.image(pixels)),
                _ => block.argument(),
            },
            (None, Passed::Local(bytes)) => LaunchArgument::Local(*bytes),
            (None, Passed::Scalar(value)) => LaunchArgument::Scalar(value.clone()),
            (None, Passed::Buffer | Passed::Sized(_)) => LaunchArgument::Scalar(Vec::new()),
        });
        arguments.collect()
    }

    /// Returns the size in bytes of all buffers in a configuration.
    pub(crate) fn bytes(&self, passed: &[Passed]) -> u64 {
        let size = |(slot, passed): (&Slot, &Passed)| match (slot, passed) {
            (Slot::Buffer(buffer), Passed::Sized(shape)) => buffer.layout.bytes_of(shape) as u64,
            (slot, _) => slot.block().map_or(0, |block| block.bytes as u64),
        };
        self.slots.iter().zip(passed).map(size).fold(0, u64::saturating_add)
    }

    /// Makes room for the memory whose size depends on the configuration.
    pub(crate) fn place(&mut self, session: &mut dyn Session, passed: &[Passed]) -> Result<(), Fault> {
        for (slot, passed) in self.slots.iter_mut().zip(passed) {
            match (slot, passed) {
                (Slot::Local { name, align, block }, Passed::Local(bytes)) if !session.has_local_memory() => {
                    let wanted = Wanted { name, align: *align, keeps: false, memory: Memory::Global };
                    let placed = Block::resized(block.take(), session, *bytes, wanted)?;
                    placed.guard(session)?;
                    *block = Some(placed);
                }
                (Slot::Buffer(buffer), Passed::Sized(shape)) => {
                    buffer.resize(session, shape)?;
                    self.intact = false;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Chooses the set of data for the next launches. Returns true if it is another than before.
    pub(crate) fn choose(&mut self, set: usize) -> bool {
        let is_other = self.set != set;
        self.intact &= !is_other;
        self.set = set;
        is_other
    }

    /// Restores everything that an earlier program may have spoilt, before a program's first
    /// launch.
    pub(crate) fn renew(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        if self.intact {
            return Ok(());
        }
        let set = self.set;
        for buffer in self.buffers_mut() {
            let Some(block) = &buffer.block else { continue };
            block.guard(session)?;
            if buffer.layout.role == Role::In {
                buffer.digest = Some(buffer.restore(session, set)?);
            }
        }
        self.intact = true;
        Ok(())
    }

    /// Poisons outputs and scratch, and refills in-out buffers, before a program's first launch.
    pub(crate) fn restore(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        for buffer in self.buffers().filter(|buffer| buffer.layout.role == Role::Scratch) {
            buffer.poison(session)?;
        }
        self.refill(session)
    }

    /// Poisons outputs and refills in-out buffers, after another set of data was chosen.
    pub(crate) fn refill(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        self.fill_local(session)?;
        let set = self.set;
        for buffer in self.buffers_mut() {
            match buffer.layout.role {
                Role::In | Role::Scratch => continue,
                Role::InOut => drop(buffer.restore(session, set)?),
                Role::Out => buffer.poison(session)?,
            }
            buffer.renew_copy(session)?;
        }
        Ok(())
    }

    /// Poisons outputs and refills in-out buffers, before every later launch.
    pub(crate) fn restore_again(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        self.fill_local(session)?;
        let set = self.set;
        for buffer in self.buffers_mut() {
            match (buffer.layout.role, buffer.copy, &buffer.block) {
                (Role::In | Role::Scratch, ..) => {}
                (_, DeviceCopy::In(from), Some(block)) => block.copy(session, from, block.id)?,
                (Role::InOut, ..) => drop(buffer.restore(session, set)?),
                (Role::Out, ..) => buffer.poison(session)?,
            }
        }
        Ok(())
    }

    /// Fills local memory that is an ordinary buffer, if there is a word for it.
    fn fill_local(&self, session: &mut dyn Session) -> Result<(), Fault> {
        let Some(word) = self.local_word else { return Ok(()) };
        let locals = self.slots.iter().filter(|slot| matches!(slot, Slot::Local { .. }));
        locals.filter_map(Slot::block).try_for_each(|block| block.fill(session, &word.to_ne_bytes()))
    }

    /// Checks the memory after a launch: first for writes outside of buffers, then for writes to
    /// inputs.
    pub(crate) fn check(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        self.intact = false;
        for slot in &self.slots {
            let Some((name, block)) = slot.name().zip(slot.block()) else { continue };
            if let Some(at) = block.stray_write(session)? {
                return Err(Ending::Broken(stray_write(name, block.bytes, at)));
            }
        }
        for buffer in self.buffers() {
            buffer.check_input(session, self.set)?;
        }
        self.intact = true;
        Ok(())
    }

    /// Returns true if any output is compared.
    pub(crate) fn are_compared(&self) -> bool {
        self.buffers().any(Buffer::is_compared)
    }

    /// Returns the digest of everything that is compared.
    pub(crate) fn fingerprint(&self, session: &mut dyn Session) -> Result<u64, Ending> {
        let mut fingerprint = Fingerprint::default();
        self.view_outputs(session, &mut |bytes| {
            fingerprint.add(bytes);
            Ok(())
        })?;
        Ok(fingerprint.digest())
    }

    /// Writes everything that is compared to the file for outputs, in the order of the arguments.
    pub(crate) fn hand_over(&self, session: &mut dyn Session) -> Result<(), Ending> {
        let Some(results) = &self.results else { return Ok(()) };
        let mut at = 0;
        self.view_outputs(session, &mut |bytes| {
            results.write_all_at(bytes, at)?;
            at += bytes.len() as u64;
            Ok(())
        })
    }

    fn view_outputs(
        &self,
        session: &mut dyn Session,
        see: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<(), Ending> {
        let mut seen = Ok(());
        for buffer in self.buffers() {
            let Some(block) = &buffer.block else { continue };
            for range in buffer.layout.compared.ranges(block.bytes) {
                let range = range.start.min(block.bytes)..range.end.min(block.bytes);
                block.view(session, range, &mut |bytes| {
                    if seen.is_ok() {
                        seen = see(bytes);
                    }
                })?;
            }
        }
        seen.map_err(|error| of_file("its outputs cannot be handed over", &error))
    }

    fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        self.slots.iter().filter_map(|slot| if let Slot::Buffer(buffer) = slot { Some(buffer.as_ref()) } else { None })
    }

    fn buffers_mut(&mut self) -> impl Iterator<Item = &mut Buffer> {
        self.slots
            .iter_mut()
            .filter_map(|slot| if let Slot::Buffer(buffer) = slot { Some(buffer.as_mut()) } else { None })
    }
}

impl Slot {
    fn new(session: &mut dyn Session, argument: Layout) -> Result<Self, String> {
        let layout = match argument {
            Layout::Buffer(layout) => layout,
            Layout::Local { name, align } => return Ok(Self::Local { name, align, block: None }),
            Layout::Scalar => return Ok(Self::Scalar),
        };
        let allocate = |shape: &Vec<u64>| {
            let bytes = layout.bytes_of(shape);
            Block::allocate(session, bytes, wanted(&layout)).map_err(|fault| {
                let reason = fault.into_text();
                format!("has no memory for argument `{}` ({bytes} bytes): {reason}", layout.name)
            })
        };
        let block = layout.shape.as_ref().map(allocate).transpose()?;
        let pristine = layout.pristine.iter().map(File::open).collect::<io::Result<_>>();
        let pristine = pristine.map_err(|error| format!("cannot read the prepared data: {error}"))?;
        let shape = layout.shape.clone().unwrap_or_default();
        Ok(Self::Buffer(Box::new(Buffer { layout, shape, block, pristine, digest: None, copy: DeviceCopy::Unknown })))
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Scalar => None,
            Self::Local { name, .. } => Some(name),
            Self::Buffer(buffer) => Some(&buffer.layout.name),
        }
    }

    fn block(&self) -> Option<&Block> {
        match self {
            Self::Scalar => None,
            Self::Local { block, .. } => block.as_ref(),
            Self::Buffer(buffer) => buffer.block.as_ref(),
        }
    }
}

impl Buffer {
    fn is_compared(&self) -> bool {
        !self.layout.compared.ranges(1).is_empty()
    }

    /// Makes room for the extents of a configuration.
    fn resize(&mut self, session: &mut dyn Session, shape: &[u64]) -> Result<(), Fault> {
        let before = self.block.as_ref().map(|block| block.id);
        let bytes = self.layout.bytes_of(shape);
        let block = Block::resized(self.block.take(), session, bytes, wanted(&self.layout))?;
        if before != Some(block.id) {
            self.copy = DeviceCopy::Unknown;
        }
        self.block = Some(block);
        self.shape = shape.to_vec();
        Ok(())
    }

    /// Returns the form of an image. `None` for any other memory.
    fn pixels(&self) -> Option<Pixels> {
        let Memory::Image(image) = self.layout.memory else { return None };
        let extent = |from_last: usize| {
            let extent = self.shape.len().checked_sub(from_last + 1).map(|at| self.shape[at]);
            extent.map(|extent| usize::try_from(extent).unwrap_or(usize::MAX))
        };
        let is_written = self.layout.role != Role::In;
        let (width, element) = (extent(0)?, self.layout.element);
        Some(Pixels { image, element, width, height: extent(1), depth: extent(2), is_written })
    }

    /// Copies the initial contents in set `set` to the buffer. Returns their digest.
    fn restore(&self, session: &mut dyn Session, set: usize) -> Result<u64, Ending> {
        let mut fingerprint = Fingerprint::default();
        if let (Some(block), Some(file)) = (&self.block, self.pristine.get(set)) {
            let mut piece = vec![0; PIECE.min(block.bytes)];
            for (offset, length) in pieces(block.bytes) {
                read(file, &mut piece[..length], offset)?;
                block.write(session, offset, &piece[..length])?;
                fingerprint.add(&piece[..length]);
            }
        }
        Ok(fingerprint.digest())
    }

    fn poison(&self, session: &mut dyn Session) -> Result<(), Fault> {
        self.block.as_ref().map_or(Ok(()), |block| block.fill(session, self.layout.element.scalar().poison()))
    }

    /// Copies the buffer's contents in the device. Makes room for the copy on the first call.
    fn renew_copy(&mut self, session: &mut dyn Session) -> Result<(), Fault> {
        let Some(block) = &self.block else { return Ok(()) };
        if let DeviceCopy::Unknown = self.copy {
            let room = session.can_copy().then(|| block.allocate_copy(session, self.layout.memory));
            self.copy = match room {
                Some(Ok(copy)) => DeviceCopy::In(copy),
                Some(Err(_)) | None => DeviceCopy::None,
            };
        }
        match self.copy {
            DeviceCopy::In(copy) => block.copy(session, block.id, copy),
            DeviceCopy::Unknown | DeviceCopy::None => Ok(()),
        }
    }

    /// Compares an input with its initial contents in set `set`.
    fn check_input(&self, session: &mut dyn Session, set: usize) -> Result<(), Ending> {
        let (Some(block), Some(digest)) = (&self.block, self.digest) else { return Ok(()) };
        let mut fingerprint = Fingerprint::default();
        block.view(session, 0..block.bytes, &mut |bytes| fingerprint.add(bytes))?;
        if fingerprint.digest() == digest {
            return Ok(());
        }
        match self.first_change(session, block, set)? {
            Some(at) => Err(Ending::Wrong(self.changed_input(at))),
            None => Ok(()),
        }
    }

    /// Returns the position of the first byte that differs from the initial contents.
    fn first_change(&self, session: &mut dyn Session, block: &Block, set: usize) -> Result<Option<usize>, Ending> {
        let Some(file) = self.pristine.get(set) else { return Ok(None) };
        let mut piece = vec![0; PIECE];
        for (offset, length) in pieces(block.bytes) {
            read(file, &mut piece[..length], offset)?;
            let mut changed = None;
            let mut at = 0;
            block.view(session, offset..offset + length, &mut |bytes| {
                let pristine = &piece[at..at + bytes.len()];
                changed = changed.or_else(|| bytes.iter().zip(pristine).position(|(a, b)| a != b).map(|by| at + by));
                at += bytes.len();
            })?;
            if let Some(at) = changed {
                return Ok(Some(offset + at));
            }
        }
        Ok(None)
    }

    fn changed_input(&self, at: usize) -> String {
        let place = place(&self.layout.name, self.layout.element, &self.shape, at as u64);
        format!("the kernel wrote to its input {place}; an argument that it changes needs access = \"inout\"")
    }
}

impl From<Fault> for Ending {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(reason) => Self::Refused(reason),
            Fault::Failed(reason) => Self::Broken(reason),
            Fault::Machine(reason) => Self::Unfit(reason),
            Fault::Device(trouble) => Self::Troubled(trouble),
        }
    }
}

/// Returns the properties of a buffer's memory. An input keeps its contents wherever it lies.
fn wanted(layout: &BufferLayout) -> Wanted<'_> {
    let BufferLayout { name, align, role, memory, .. } = layout;
    Wanted { name, align: *align, keeps: *role == Role::In, memory: *memory }
}

fn read(file: &File, piece: &mut [u8], offset: usize) -> Result<(), Ending> {
    file.read_exact_at(piece, offset as u64).map_err(|error| of_file("the prepared data cannot be read", &error))
}

/// Returns the end of a job that could not use one of the worker's files. The machine is to blame,
/// unless a kernel closed the file or took a buffer away.
fn of_file(what: &str, error: &io::Error) -> Ending {
    match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EBADF) => Ending::Broken(format!("{what}: the kernel closed files that it did not open")),
        Some(Errno::EFBIG) => Ending::Broken(format!("{what}: the kernel lowered the limit of the size of files")),
        Some(Errno::EFAULT) => Ending::Broken(format!("{what}: the kernel unmapped or protected its buffers")),
        _ => Ending::Unfit(format!("{what}: {error}")),
    }
}

fn stray_write(name: &str, bytes: usize, at: i64) -> String {
    let side = if at < 0 { "before its start" } else { "behind its end" };
    format!("the kernel wrote outside of `{name}`, {side}: at byte {at} of a buffer of {bytes} bytes")
}
