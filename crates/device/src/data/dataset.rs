//! The initial contents of all buffers.

use crate::data::layout::{BufferLayout, Compared, Layout, Role};
use crate::data::similar::write_similar;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tunesmith_kernel::data::{Given, Passed, Places, Scratch, write_contents};
use tunesmith_kernel::{Access, Argument, ArgumentKind, DataError, DeviceError, KernelSpec, Shape};
use tunesmith_space::closest;

/// The initial contents of a problem's buffers, as files. The correct results are not among them:
/// only the tuner's memory holds them ([`Expected`](crate::data::Expected)).
#[derive(Debug)]
pub(crate) struct DataSet {
    scratch: Scratch,
    /// The sets of data. The first has the problem's own seed.
    sets: Vec<Origin>,
    /// The number of elements that the files of buffers with varying extents hold, by position.
    lengths: Vec<u64>,
}

/// The origin of the random numbers in a set of data.
#[derive(Clone, Copy, Debug)]
enum Origin {
    Seed(u64),
    /// The set of the first number, in which few elements are those of the second.
    Similar(usize, usize),
}

impl DataSet {
    /// Finds a place for the inputs. They are [written](Self::add) later.
    pub(crate) fn place(spec: &KernelSpec, places: &Places) -> Result<Self, DeviceError> {
        check_names(spec)?;
        check_outputs(spec)?;
        let scratch = Scratch::create(bytes_needed(spec)?, places)?;
        let lengths = spec.arguments.iter().map(|argument| fixed_length(argument).unwrap_or(0)).collect();
        Ok(Self { scratch, sets: Vec::new(), lengths })
    }

    /// Writes a set of inputs. The random numbers of each set have another seed. Returns its number.
    pub(crate) fn add(&mut self, spec: &KernelSpec, seed: u64) -> Result<usize, DeviceError> {
        self.add_set(spec, Origin::Seed(seed))
    }

    /// Writes a set of inputs that equals the set `of`, except for few elements of the set `other`. Returns its
    /// number.
    pub(crate) fn add_similar(&mut self, spec: &KernelSpec, of: usize, other: usize) -> Result<usize, DeviceError> {
        self.add_set(spec, Origin::Similar(of, other))
    }

    fn add_set(&mut self, spec: &KernelSpec, origin: Origin) -> Result<usize, DeviceError> {
        let set = self.sets.len();
        for (position, argument) in spec.arguments.iter().enumerate() {
            self.write(spec, (set, origin), position, argument)?;
        }
        self.sets.push(origin);
        Ok(set)
    }

    /// Returns the number of sets.
    pub(crate) fn count(&self) -> usize {
        self.sets.len()
    }

    /// Lengthens the inputs whose extents depend on the parameters for a configuration with these
    /// values.
    pub(crate) fn grow(&mut self, spec: &KernelSpec, passed: &[Passed]) -> Result<(), DeviceError> {
        for (position, (argument, passed)) in spec.arguments.iter().zip(passed).enumerate() {
            let Passed::Sized(shape) = passed else { continue };
            let elements: u64 = shape.iter().product();
            if elements > self.lengths[position] {
                // Doubled, so that growing configurations do not each write all of it.
                self.lengths[position] = elements.max(2 * self.lengths[position]);
                // A set that is similar to others comes after them.
                let mut sets = self.sets.iter().copied().enumerate();
                sets.try_for_each(|set| self.write(spec, set, position, argument))?;
            }
        }
        Ok(())
    }

    fn write(
        &self,
        spec: &KernelSpec,
        (set, origin): (usize, Origin),
        position: usize,
        argument: &Argument,
    ) -> Result<(), DeviceError> {
        let ArgumentKind::Buffer { shape, fill, access: Access::In | Access::InOut, .. } = &argument.kind else {
            return Ok(());
        };
        let extents = match shape {
            Shape::Fixed(extents) => extents.as_slice(),
            Shape::Varying(_) => &self.lengths[position..=position],
        };
        let to = self.file(set, position);
        let written = match origin {
            Origin::Seed(seed) => {
                let given = Given { seed, sizes: &spec.sizes };
                write(&to, |to| write_contents(argument, extents, fill, given, to))
            }
            Origin::Similar(of, other) => {
                let (of, other) = (self.file(of, position), self.file(other, position));
                // Each argument differs at other places.
                let seed = spec.seed.wrapping_add(position as u64);
                write_similar(&to, &of, &other, argument.element.size(), seed).map_err(DataError::from)
            }
        };
        written.map_err(|source| DeviceError::Data { argument: argument.name.clone(), source })
    }

    fn file(&self, set: usize, position: usize) -> PathBuf {
        self.folder().join(format!("argument-{}.{}", position + 1, set + 1))
    }

    /// Returns the folder with all files of the run.
    pub(crate) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Returns the arguments in the form that a worker needs which launches on `sets`. It hands over
    /// the outputs for which `compares` is true of their positions.
    pub(crate) fn layout(&self, spec: &KernelSpec, sets: &[usize], compares: impl Fn(usize) -> bool) -> Vec<Layout> {
        let layout = |(position, argument): (usize, &Argument)| {
            let files = |role: Role| {
                let sets = sets.iter().filter(move |_| role.is_filled());
                sets.map(|set| self.file(*set, position)).collect()
            };
            let compared = if compares(position) { compared(spec, argument) } else { Compared::Nothing };
            lay_out(argument, files, compared)
        };
        spec.arguments.iter().enumerate().map(layout).collect()
    }

    /// Returns the total size of all buffers in bytes.
    pub(crate) fn bytes(&self, spec: &KernelSpec) -> u64 {
        let sizes = spec.arguments.iter().zip(&self.lengths);
        sizes.map(|(argument, length)| length.saturating_mul(argument.element.size() as u64)).sum()
    }
}

/// Returns the number of elements of a buffer with fixed extents.
fn fixed_length(argument: &Argument) -> Option<u64> {
    match &argument.kind {
        ArgumentKind::Buffer { shape: Shape::Fixed(shape), .. } => Some(shape.iter().product()),
        _ => None,
    }
}

/// Returns the part of an output that is compared.
pub(crate) fn compared(spec: &KernelSpec, argument: &Argument) -> Compared {
    let bytes = |elements: u64| usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(argument.element.size());
    match spec.verify.compare.get(&argument.name) {
        Some(ranges) => Compared::Ranges(ranges.iter().map(|range| bytes(range.start)..bytes(range.end)).collect()),
        None => Compared::All,
    }
}

fn check_names(spec: &KernelSpec) -> Result<(), DeviceError> {
    let known = |name: &str| spec.arguments.iter().any(|argument| argument.name == name && argument.is_output());
    let expected = spec.verify.expected.iter().map(|(name, _)| ("`expected` names the output", name));
    let tolerances = spec.verify.tolerances.keys().map(|name| ("a tolerance names the output", name));
    let ranges = spec.verify.compare.keys().map(|name| ("`compare` names the output", name));
    match expected.chain(tolerances).chain(ranges).find(|(_, name)| !known(name)) {
        None => Ok(()),
        Some((what, name)) => {
            let outputs = spec.arguments.iter().filter(|argument| argument.is_output());
            let suggestion = closest(name, outputs.map(|argument| argument.name.as_str())).map(str::to_owned);
            Err(DeviceError::UnknownArgument { what, name: name.clone(), suggestion })
        }
    }
}

/// Reports outputs that nothing computes although there is a reference, and ranges to compare that
/// leave an output.
fn check_outputs(spec: &KernelSpec) -> Result<(), DeviceError> {
    for (position, argument) in spec.arguments.iter().enumerate().filter(|(_, argument)| argument.is_output()) {
        if let Some(reference) = &spec.verify.reference
            && !spec.compares(position)
        {
            let message = format!(
                "it does not compute the output `{0}`; add `{0}` to its `arguments`, name a file under `expected`, \
                 or say access = \"scratch\" if the output does not matter",
                argument.name
            );
            let (file, function) = (reference.file.clone(), reference.function.clone());
            return Err(DeviceError::Reference { file, function, message });
        }
        if let Some(length) = fixed_length(argument) {
            check_ranges(spec, argument, length)?;
        }
    }
    Ok(())
}

/// Reports ranges to compare that leave an output of `length` elements.
pub(crate) fn check_ranges(spec: &KernelSpec, argument: &Argument, length: u64) -> Result<(), DeviceError> {
    let ranges = spec.verify.compare.get(&argument.name);
    match ranges.into_iter().flatten().find(|range| range.end > length || range.is_empty()) {
        None => Ok(()),
        Some(range) => Err(DeviceError::Ranges { argument: argument.name.clone(), range: range.clone(), length }),
    }
}

/// Returns the room in bytes for the contents before a launch, in three sets of data, and for the
/// outputs that two workers hand over.
fn bytes_needed(spec: &KernelSpec) -> Result<u64, DeviceError> {
    spec.arguments.iter().try_fold(0_u64, |sum, argument| {
        let files = if is_filled(argument) { 3 } else { 2 };
        Ok(sum.saturating_add((checked_bytes(argument)? as u64).saturating_mul(files)))
    })
}

fn is_filled(argument: &Argument) -> bool {
    matches!(argument.kind, ArgumentKind::Buffer { access: Access::In | Access::InOut, .. })
}

fn checked_bytes(argument: &Argument) -> Result<usize, DeviceError> {
    argument.bytes().ok_or_else(|| {
        let shape = match &argument.kind {
            ArgumentKind::Buffer { shape: Shape::Fixed(shape), .. } => shape.clone(),
            _ => Vec::new(),
        };
        DeviceError::TooLarge { argument: argument.name.clone(), shape }
    })
}

/// Returns the layout of an argument. `files` returns the files of a buffer with a role.
fn lay_out(argument: &Argument, files: impl Fn(Role) -> Vec<PathBuf>, compared: Compared) -> Layout {
    let (name, align) = (argument.name.clone(), argument.align);
    let (shape, access, memory) = match &argument.kind {
        ArgumentKind::Scalar(_) | ArgumentKind::Object(_) => return Layout::Scalar,
        ArgumentKind::Local { .. } => return Layout::Local { name, align },
        ArgumentKind::Buffer { shape, access, memory, .. } => (shape, access, memory),
    };
    let role = match access {
        Access::In => Role::In,
        Access::Out => Role::Out,
        Access::InOut => Role::InOut,
        Access::Scratch => Role::Scratch,
    };
    let shape = match shape {
        Shape::Fixed(shape) => Some(shape.clone()),
        Shape::Varying(_) => None,
    };
    let (element, memory) = (argument.element, *memory);
    Layout::Buffer(BufferLayout { name, element, shape, role, memory, align, pristine: files(role), compared })
}

fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut to = BufWriter::with_capacity(1 << 16, tunesmith_files::create(path)?);
    fill(&mut to)?;
    Ok(to.flush()?)
}
