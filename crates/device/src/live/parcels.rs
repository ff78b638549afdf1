//! Parcels: the programs of a configuration, compiled on one machine and measured on another.
//!
//! A parcel is a length of four bytes, the most significant first, a list of programs in JSON of that
//! length, and their binaries one after the other. Whoever measures takes nothing from it on trust but
//! the machine code: paths, launches and digests are its own.

use crate::live::open::Opener;
use crate::live::programs::{BuiltKernels, Programs};
use crate::live::{LiveEvaluator, LiveOptions, names};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use tunesmith_backend::host::Suspension;
use tunesmith_backend::sandbox::Confinement;
use tunesmith_backend::{Backend, BuildError, Built, Origin, Program};
use tunesmith_core::{CompileData, Interrupt};
use tunesmith_kernel::data::{Places, Scratch};
use tunesmith_kernel::{DeviceError, Scope};
use tunesmith_power::Knob;
use tunesmith_space::{ConfigId, Space, Value, hex};

/// Maximum length of a parcel in bytes.
pub const MOST_PARCEL: u64 = 64 << 20;

/// One program of a parcel.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    program: Program,
    bytes: u64,
    time_ms: f64,
    resources: BTreeMap<String, f64>,
    /// True if programs with equal machine code take the same time.
    is_whole: bool,
}

/// Compiles configurations for other machines, and opens no device. Several threads may share it.
pub struct Packer {
    programs: Programs,
    identity: Vec<(String, String)>,
    sizes: Vec<(String, Value)>,
    space: Space,
    knobs: Vec<Knob>,
    /// Dropped last, because the compilers use it.
    _folder: Scratch,
}

/// The reason why there is no parcel.
#[derive(Debug)]
pub enum Unpacked {
    /// It was interrupted.
    Interrupted,
    /// The configuration does not compile, or its device refuses it. Whoever measures finds out again.
    Failed(String),
    /// The compiler cannot be used.
    Broken(DeviceError),
}

impl Packer {
    /// Finds the compilers and reads the sources.
    ///
    /// # Errors
    /// A source cannot be read, a name in the problem is wrong, or a compiler is missing.
    pub fn open(space: &Space, mut options: LiveOptions) -> Result<Self, DeviceError> {
        let scope = Scope::example(&options.spec.sizes, space).without(&options.knobs);
        names::check(&options.spec, &scope)?;
        let folder = Scratch::create(MOST_PARCEL, &Places::new(options.worker.keeps_files_in()))?;
        let confinement = Confinement::of_run(options.sandbox.as_ref(), folder.path())?;
        options.worker = options.worker.confined(confinement);
        let suspension = Suspension::new(Arc::clone(&options.clock));
        let programs = Opener::new(&options, folder.path(), &suspension).programs()?;
        Ok(Self {
            identity: programs.identity(&scope)?,
            programs,
            sizes: options.spec.sizes.clone(),
            space: space.clone(),
            knobs: options.knobs.clone(),
            _folder: folder,
        })
    }

    /// Returns the device, the compilers and digests of the kernels, by name.
    pub fn identity(&self) -> &[(String, String)] {
        &self.identity
    }

    /// Compiles a configuration.
    ///
    /// # Errors
    /// It does not compile, its programs are longer than [`MOST_PARCEL`], or it was interrupted.
    pub fn pack(&self, config: ConfigId, interrupt: &Interrupt) -> Result<Vec<u8>, Unpacked> {
        let scope = Scope::of(&self.sizes, &self.space, config).without(&self.knobs);
        let built = self.programs.build_apart(&scope, interrupt).map_err(|error| match error {
            BuildError::Cancelled => Unpacked::Interrupted,
            BuildError::Broken(error) => Unpacked::Broken(error),
            BuildError::Failed(text) | BuildError::Refused(text) => Unpacked::Failed(text),
            BuildError::Signature(mismatch) => Unpacked::Failed(mismatch.message),
        })?;
        pack(&built.programs).map_err(Unpacked::Failed)
    }
}

fn pack(programs: &[Built]) -> Result<Vec<u8>, String> {
    let (mut entries, mut binaries) = (Vec::new(), Vec::new());
    for built in programs {
        let binary = tunesmith_files::read(built.program.path(), MOST_PARCEL).map_err(|error| error.to_string())?;
        entries.push(Entry {
            program: built.program.clone(),
            bytes: binary.len() as u64,
            time_ms: built.compile.time_ms,
            resources: built.compile.resources.clone(),
            is_whole: built.digest.is_some(),
        });
        binaries.extend(binary);
    }
    parcel(&entries, &binaries)
}

fn parcel(entries: &[Entry], binaries: &[u8]) -> Result<Vec<u8>, String> {
    let list = serde_json::to_vec(entries).map_err(|error| error.to_string())?;
    let length = u32::try_from(list.len()).map_err(|error| error.to_string())?;
    let parcel = [&length.to_be_bytes()[..], &list, binaries].concat();
    if parcel.len() as u64 > MOST_PARCEL {
        return Err(format!("its machine code is longer than {} MiB", MOST_PARCEL >> 20));
    }
    Ok(parcel)
}

/// Returns the programs of a parcel and their binaries. Returns `None` if it is none.
fn parts(parcel: &[u8]) -> Option<Vec<(Entry, &[u8])>> {
    let (length, rest) = parcel.split_first_chunk::<4>()?;
    let (list, mut binaries) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let entries: Vec<Entry> = serde_json::from_slice(list).ok()?;
    let mut parts = Vec::with_capacity(entries.len());
    for entry in entries {
        let (binary, behind) = binaries.split_at_checked(usize::try_from(entry.bytes).ok()?)?;
        parts.push((entry, binary));
        binaries = behind;
    }
    binaries.is_empty().then_some(parts)
}

/// Writes a binary where `backend` wants it.
fn unpack(backend: &dyn Backend, (entry, binary): (Entry, &[u8]), scope: &Scope) -> Option<Built> {
    let Entry { program, time_ms, resources, is_whole, .. } = entry;
    // Dropping this value removes the file.
    let mut built = Built::new(backend.adopt(program, scope).ok()?);
    tunesmith_files::write(built.program.path(), binary).ok()?;
    built.origin = Origin::Elsewhere;
    built.digest = is_whole.then(|| hex(&Sha256::digest(binary)));
    let binary_bytes = Some(binary.len() as u64);
    built.compile = CompileData { time_ms, binary_bytes, resources, ..CompileData::default() };
    Some(built)
}

impl Programs {
    /// Returns the programs that a parcel has for the configuration of `scope`. Returns `None` if the
    /// parcel is of no use; the configuration is then compiled here.
    pub(super) fn unpack(&self, scope: &Scope, parcel: &[u8]) -> Option<BuiltKernels> {
        let mut parts = parts(parcel)?.into_iter();
        // Names were given when the programs were built.
        let built = self.assemble(scope, |backend| {
            parts.next().and_then(|part| unpack(backend, part, scope)).ok_or_else(BuildError::foreign)
        });
        let built = built.ok()?;
        parts.next().is_none().then_some(built)
    }
}

impl LiveEvaluator {
    /// Hands the parcel of a configuration, if one arrived, to the next build of its scope.
    pub(super) fn receive(&self, config: ConfigId, scope: &Scope) {
        let parcel = self.options.parcels.as_ref().and_then(|parcels| parcels.take(config.rank()));
        if let Some(parcel) = parcel {
            self.programs.deliver(scope, parcel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(folder: &std::path::Path, name: &str, content: &[u8]) -> Built {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        Built::new(Program::new("c", path))
    }

    #[test]
    fn a_parcel_has_what_was_packed_and_no_other_bytes_are_one() {
        let folder = tempfile::tempdir().unwrap();
        let built = [built(folder.path(), "a", b"first"), built(folder.path(), "b", b"")];
        let parcel = pack(&built).unwrap();
        let found = parts(&parcel).unwrap();
        let binaries: Vec<&[u8]> = found.iter().map(|(_, binary)| *binary).collect();
        assert_eq!(binaries, [&b"first"[..], b""]);
        assert_eq!(found[0].0.program, Program::new("c", folder.path().join("a")));
        for cut in 0..parcel.len() {
            assert!(parts(&parcel[..cut]).is_none(), "{cut}");
        }
        assert!(parts(&[&parcel[..], b"x"].concat()).is_none());
        assert!(parts(&[0xff; 64]).is_none());
    }
}
