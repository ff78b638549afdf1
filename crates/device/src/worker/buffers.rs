//! The buffers of a worker. They are filled before launches, checked afterwards, and guarded on
//! both sides.

use crate::backends::{BufferId, Fault, LaunchArgument, Session};
use crate::data::layout::{BufferLayout, Layout, Passed, Role};
use crate::measure::compare::{Comparison, place};
use crate::problem::Memory;
use crate::worker::protocol::Ending;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The size in bytes of the guard zone on each side of a buffer, in which stray writes are found.
/// It is one page, so that the buffer begins on a page. An index that is off by a row of a thousand
/// floats still hits the zone.
const ZONE: usize = 4096;

/// The byte that fills the zones. Read as a float it is a huge negative number, and as a signed
/// integer a negative one. Kernels rarely write either.
const CANARY: u8 = 0xDB;

/// The size in bytes of the piece that is copied or compared at a time. A piece and its counterpart
/// fit into the second-level cache. A piece holds whole elements of every type.
const PIECE: usize = 128 << 10;

/// All buffers of a worker.
pub(crate) struct Buffers {
    slots: Vec<Slot>,
    /// True if inputs and zones are known to be intact.
    intact: bool,
    piece: Vec<u8>,
    counterpart: Vec<u8>,
}

/// The place of one argument.
enum Slot {
    Scalar,
    /// Local memory in the kernel's own process. It is ordinary memory, as large as the largest
    /// configuration so far needed. `None` if the device has local memory of its own.
    Local {
        name: String,
        block: Option<LocalBlock>,
    },
    Buffer {
        id: BufferId,
        layout: BufferLayout,
        pristine: Option<File>,
        expected: Option<File>,
        copy: DeviceCopy,
    },
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

/// Memory that stands in for local memory.
struct LocalBlock {
    id: BufferId,
    capacity: usize,
    /// The number of bytes that the current configuration uses.
    bytes: usize,
}

/// Reports a problem of the worker itself, not of the kernel.
fn unreadable(error: &io::Error) -> Fault {
    Fault::Failed(format!("the prepared data cannot be read: {error}"))
}

impl Buffers {
    /// Allocates memory for all `arguments`.
    pub(crate) fn allocate(session: &mut dyn Session, arguments: Vec<Layout>) -> Result<Self, String> {
        let slots = arguments.into_iter().map(|argument| Slot::new(session, argument)).collect::<Result<_, _>>()?;
        Ok(Self { slots, intact: false, piece: vec![0; PIECE], counterpart: vec![0; PIECE] })
    }

    /// Returns all arguments in the form of a launch. `passed` holds the configuration's scalars
    /// and local memory.
    pub(crate) fn launch_arguments(&self, passed: &[Passed]) -> Vec<LaunchArgument> {
        let arguments = self.slots.iter().zip(passed).map(|(slot, passed)| match (slot, passed) {
            (Slot::Buffer { id, layout, .. }, _) => {
                LaunchArgument::Buffer { id: *id, offset: ZONE, bytes: layout.bytes }
            }
            (Slot::Local { block: Some(LocalBlock { id, bytes, .. }), .. }, _) => {
                LaunchArgument::Buffer { id: *id, offset: ZONE, bytes: *bytes }
            }
            (_, Passed::Local(bytes)) => LaunchArgument::Local(*bytes),
            (_, Passed::Scalar(value)) => LaunchArgument::Scalar(value.clone()),
            (_, Passed::Buffer) => LaunchArgument::Scalar(Vec::new()),
        });
        arguments.collect()
    }

    /// Makes room for the local memory of a configuration, if it is memory of the process.
    pub(crate) fn place_locals(&mut self, session: &mut dyn Session, passed: &[Passed]) -> Result<(), Fault> {
        if session.has_local_memory() {
            return Ok(());
        }
        for (slot, passed) in self.slots.iter_mut().zip(passed) {
            let (Slot::Local { block, .. }, Passed::Local(bytes)) = (slot, passed) else { continue };
            let placed = match block.take() {
                Some(placed) if placed.capacity >= *bytes => LocalBlock { bytes: *bytes, ..placed },
                _ => {
                    let id = session.allocate(bytes.saturating_add(2 * ZONE), Memory::Global)?;
                    LocalBlock { id, capacity: *bytes, bytes: *bytes }
                }
            };
            guard(session, placed.id, placed.bytes)?;
            *block = Some(placed);
        }
        Ok(())
    }

    /// Returns the name, buffer and length of all memory between guard zones.
    fn guarded(&self) -> impl Iterator<Item = (&str, BufferId, usize)> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Buffer { id, layout, .. } => Some((layout.name.as_str(), *id, layout.bytes)),
            Slot::Local { name, block: Some(block) } => Some((name.as_str(), block.id, block.bytes)),
            Slot::Local { block: None, .. } | Slot::Scalar => None,
        })
    }

    /// Restores everything that an earlier program may have spoilt, before a program's first
    /// launch.
    pub(crate) fn renew(&mut self, session: &mut dyn Session) -> Result<(), Fault> {
        if self.intact {
            return Ok(());
        }
        for slot in &self.slots {
            let Slot::Buffer { id, layout, pristine, .. } = slot else { continue };
            guard(session, *id, layout.bytes)?;
            if let (Role::In, Some(file)) = (layout.role, pristine) {
                restore(session, *id, file, layout.bytes, &mut self.piece)?;
            }
        }
        self.intact = true;
        Ok(())
    }

    /// Poisons outputs and refills in-out buffers, before a program's first launch.
    pub(crate) fn restore(&mut self, session: &mut dyn Session) -> Result<(), Fault> {
        for slot in &mut self.slots {
            let Slot::Buffer { id, layout, pristine, copy, .. } = slot else { continue };
            match (layout.role, pristine) {
                (Role::InOut, Some(file)) => restore(session, *id, file, layout.bytes, &mut self.piece)?,
                (Role::Out, _) => poison(session, *id, layout, &mut self.piece)?,
                _ => continue,
            }
            copy.renew(session, *id, layout)?;
        }
        Ok(())
    }

    /// Poisons outputs and refills in-out buffers, before every later launch.
    pub(crate) fn restore_again(&mut self, session: &mut dyn Session) -> Result<(), Fault> {
        for slot in &self.slots {
            let Slot::Buffer { id, layout, pristine, copy, .. } = slot else { continue };
            match (layout.role, copy, pristine) {
                (Role::InOut | Role::Out, DeviceCopy::In(from), _) => session.copy(*from, *id, ZONE, layout.bytes)?,
                (Role::InOut, _, Some(file)) => restore(session, *id, file, layout.bytes, &mut self.piece)?,
                (Role::Out, ..) => poison(session, *id, layout, &mut self.piece)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks the memory after a launch: first for writes outside of buffers, then for writes to
    /// inputs, then for wrong outputs.
    pub(crate) fn check(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        self.intact = false;
        self.check_zones(session)?;
        self.check_inputs(session)?;
        self.intact = true;
        self.check_outputs(session)
    }

    fn check_zones(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        let mut zone = [0; ZONE];
        for (name, id, bytes) in self.guarded() {
            let spoilt = |byte: &u8| *byte != CANARY;
            session.read(id, 0, &mut zone)?;
            let before = zone.iter().rev().position(spoilt).map(|at| -1 - at as i64);
            session.read(id, ZONE + bytes, &mut zone)?;
            let behind = zone.iter().position(spoilt).map(|at| (bytes + at) as i64);
            if let Some(at) = behind.or(before) {
                return Err(Ending::Broken(stray_write(name, bytes, at)));
            }
        }
        Ok(())
    }

    fn check_inputs(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        for slot in &self.slots {
            let Slot::Buffer { id, layout, pristine: Some(file), .. } = slot else { continue };
            if layout.role != Role::In {
                continue;
            }
            let mut changed = None;
            let (piece, counterpart) = (&mut self.piece, &mut self.counterpart);
            for_pieces(session, *id, file, layout.bytes, piece, counterpart, |offset, pristine, found| {
                if changed.is_none() && pristine != found {
                    let at = pristine.iter().zip(found).position(|(a, b)| a != b);
                    changed = at.map(|at| changed_input(layout, (offset + at) as u64));
                }
            })?;
            changed.map_or(Ok(()), |message| Err(Ending::Wrong(message)))?;
        }
        Ok(())
    }

    fn check_outputs(&mut self, session: &mut dyn Session) -> Result<(), Ending> {
        for slot in &self.slots {
            let Slot::Buffer { id, layout, expected: Some(file), .. } = slot else { continue };
            let mut comparison = Comparison::new(layout.element, layout.tolerance, layout.role == Role::Out);
            let (piece, counterpart) = (&mut self.piece, &mut self.counterpart);
            for_pieces(session, *id, file, layout.bytes, piece, counterpart, |_, expected, found| {
                comparison.feed(expected, found);
            })?;
            let verdict = comparison.verdict(&layout.name, &layout.shape);
            verdict.map_or(Ok(()), |message| Err(Ending::Wrong(message)))?;
        }
        Ok(())
    }

    /// Writes the contents of the buffer at argument `position` to a file.
    pub(crate) fn save(&mut self, session: &mut dyn Session, position: usize, path: &Path) -> Result<(), Ending> {
        let Some(Slot::Buffer { id, layout, .. }) = self.slots.get(position) else { return Ok(()) };
        let cannot = |error: io::Error| Ending::Broken(format!("its result cannot be kept: {error}"));
        let mut to = BufWriter::new(File::create(path).map_err(cannot)?);
        for (offset, length) in pieces(layout.bytes) {
            session.read(*id, ZONE + offset, &mut self.piece[..length])?;
            to.write_all(&self.piece[..length]).map_err(cannot)?;
        }
        to.flush().map_err(cannot)
    }
}

impl Slot {
    fn new(session: &mut dyn Session, argument: Layout) -> Result<Self, String> {
        let layout = match argument {
            Layout::Buffer(layout) => layout,
            Layout::Local { name } => return Ok(Self::Local { name, block: None }),
            Layout::Scalar => return Ok(Self::Scalar),
        };
        let id = session.allocate(layout.bytes + 2 * ZONE, layout.memory).map_err(|fault| {
            let (Fault::Refused(reason) | Fault::Failed(reason)) = fault;
            format!("has no memory for argument `{}` ({} bytes): {reason}", layout.name, layout.bytes)
        })?;
        let open = |path: &Option<_>| path.as_ref().map(File::open).transpose();
        let cannot = |error: io::Error| format!("cannot read the prepared data: {error}");
        let pristine = open(&layout.pristine).map_err(cannot)?;
        let expected = open(&layout.expected).map_err(cannot)?;
        Ok(Self::Buffer { id, layout, pristine, expected, copy: DeviceCopy::Unknown })
    }
}

impl DeviceCopy {
    /// Copies the contents of `id`. Makes room for the copy on the first call.
    fn renew(&mut self, session: &mut dyn Session, id: BufferId, layout: &BufferLayout) -> Result<(), Fault> {
        if let Self::Unknown = self {
            let room = session.can_copy().then(|| session.allocate(layout.bytes + ZONE, layout.memory));
            *self = match room {
                Some(Ok(copy)) => Self::In(copy),
                Some(Err(_)) | None => Self::None,
            };
        }
        match self {
            Self::In(copy) => session.copy(id, *copy, ZONE, layout.bytes),
            Self::Unknown | Self::None => Ok(()),
        }
    }
}

impl From<Fault> for Ending {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Refused(reason) => Self::Refused(reason),
            Fault::Failed(reason) => Self::Broken(reason),
        }
    }
}

/// Fills the zones on both sides of a buffer.
fn guard(session: &mut dyn Session, id: BufferId, bytes: usize) -> Result<(), Fault> {
    [0, ZONE + bytes].into_iter().try_for_each(|zone| session.write(id, zone, &[CANARY; ZONE]))
}

/// Returns the offsets and lengths of the pieces of a buffer.
fn pieces(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..bytes).step_by(PIECE).map(move |offset| (offset, PIECE.min(bytes - offset)))
}

fn restore(session: &mut dyn Session, id: BufferId, file: &File, bytes: usize, piece: &mut [u8]) -> Result<(), Fault> {
    for (offset, length) in pieces(bytes) {
        file.read_exact_at(&mut piece[..length], offset as u64).map_err(|error| unreadable(&error))?;
        session.write(id, ZONE + offset, &piece[..length])?;
    }
    Ok(())
}

fn poison(session: &mut dyn Session, id: BufferId, layout: &BufferLayout, piece: &mut [u8]) -> Result<(), Fault> {
    let poison = layout.element.scalar().poison();
    let used = PIECE.min(layout.bytes);
    for lane in piece[..used].chunks_exact_mut(poison.len()) {
        lane.copy_from_slice(poison);
    }
    pieces(layout.bytes).try_for_each(|(offset, length)| session.write(id, ZONE + offset, &piece[..length]))
}

/// Calls `look` for every piece, with its offset, its bytes in the file and its bytes in the
/// buffer.
fn for_pieces(
    session: &mut dyn Session,
    id: BufferId,
    file: &File,
    bytes: usize,
    piece: &mut [u8],
    counterpart: &mut [u8],
    mut look: impl FnMut(usize, &[u8], &[u8]),
) -> Result<(), Fault> {
    for (offset, length) in pieces(bytes) {
        file.read_exact_at(&mut piece[..length], offset as u64).map_err(|error| unreadable(&error))?;
        session.read(id, ZONE + offset, &mut counterpart[..length])?;
        look(offset, &piece[..length], &counterpart[..length]);
    }
    Ok(())
}

fn stray_write(name: &str, bytes: usize, at: i64) -> String {
    let side = if at < 0 { "before its start" } else { "behind its end" };
    format!("the kernel wrote outside of `{name}`, {side}: at byte {at} of a buffer of {bytes} bytes")
}

fn changed_input(layout: &BufferLayout, position: u64) -> String {
    let place = place(&layout.name, layout.element, &layout.shape, position);
    format!("the kernel wrote to its input {place}; an argument that it changes needs access = \"inout\"")
}
