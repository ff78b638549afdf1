//! The files of one worker: the outputs that it hands over, and its temporary folder.

use crate::data::layout::Layout;
use crate::worker::protocol::Setup;
use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tunesmith_backend::host::WorkerCommand;
use tunesmith_files::remove_tree;

/// The files of a worker that is about to start.
pub(super) struct Prepared {
    /// The file has a name only until the worker has opened it.
    results: NamedTempFile,
    temporary: Option<Temporary>,
    bytes: u64,
}

/// The files of a worker. Dropping this value removes them.
pub(super) struct Handover {
    results: File,
    /// The folder for temporary files of the worker's jobs, if it runs in a sandbox.
    _temporary: Option<Temporary>,
    /// The known length of the outputs.
    bytes: u64,
}

/// A temporary folder.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        // What remains is removed with the folder of the run.
        let _ = remove_tree(&self.0);
    }
}

impl Prepared {
    /// Makes the files in the folder of the run.
    pub(super) fn new(folder: &Path, command: &WorkerCommand, setup: &Setup) -> io::Result<Self> {
        let results = tempfile::Builder::new().prefix("results").tempfile_in(folder)?;
        let temporary = command.confinement().map(|_| tempfile::Builder::new().prefix("tmp-").tempdir_in(folder));
        let temporary = temporary.transpose()?.map(|made| Temporary(made.keep()));
        Ok(Self { results, temporary, bytes: handed_over(&setup.arguments) })
    }

    /// Returns the worker's command, which knows its temporary folder.
    pub(super) fn command(&self, command: &WorkerCommand) -> WorkerCommand {
        self.temporary.as_ref().map_or_else(|| command.clone(), |Temporary(path)| command.with_temporary(path))
    }

    /// Returns the worker's setup, which knows the file of results.
    pub(super) fn setup(&self, setup: &Setup) -> Setup {
        Setup { results: Some(self.results.path().to_owned()), ..setup.clone() }
    }

    /// Takes the name of the file of results away. The worker has opened it.
    pub(super) fn opened(self) -> Handover {
        Handover { results: self.results.into_file(), _temporary: self.temporary, bytes: self.bytes }
    }
}

impl Handover {
    /// Returns the file of results.
    pub(super) fn results(&self) -> &File {
        &self.results
    }

    /// Empties the file of results before a job, which must not find what an earlier one handed over.
    /// Reserves the room for its own.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.results.set_len(0)?;
        self.reserve();
        Ok(())
    }

    /// Reserves the room for outputs, so that a kernel that fills the disk does not keep them from being
    /// handed over. Not every file system can. If there is no room, the worker will find out.
    pub(super) fn reserve(&self) {
        if self.bytes > 0 {
            let _ = fallocate(&self.results, FallocateFlags::KEEP_SIZE, 0, self.bytes);
        }
    }
}

/// Returns the length of the outputs that are handed over, as far as it does not depend on parameters.
fn handed_over(arguments: &[Layout]) -> u64 {
    let length = |layout: &Layout| match layout {
        Layout::Buffer(buffer) => buffer.shape.as_ref().map_or(0, |shape| buffer.handed_over(shape) as u64),
        Layout::Scalar | Layout::Local { .. } => 0,
    };
    arguments.iter().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::layout::{BufferLayout, Compared, Role};
    use crate::worker::protocol::Setup;
    use std::io::Write;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use tunesmith_backend::{BackendMessage, SessionKind};
    use tunesmith_kernel::{Memory, ScalarType};

    fn setup(elements: u64) -> Setup {
        let layout = BufferLayout {
            name: "c".to_owned(),
            element: ScalarType::F32.into(),
            shape: Some(vec![elements]),
            role: Role::Out,
            memory: Memory::Global,
            align: 64,
            pristine: Vec::new(),
            compared: Compared::All,
        };
        let session = SessionKind::forking(BackendMessage::new("c", &()));
        Setup { session, arguments: vec![Layout::Buffer(layout)], results: None, energy: None }
    }

    #[test]
    fn results_find_their_room_before_and_after_they_are_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let prepared = Prepared::new(folder.path(), &WorkerCommand::current(), &setup(1 << 20)).unwrap();
        let handover = prepared.opened();
        for _ in 0..2 {
            handover.clear().unwrap();
            let found = handover.results().metadata().unwrap();
            assert_eq!(found.len(), 0, "a kernel finds no earlier results");
            assert!(found.blocks() * 512 >= 4 << 20, "{} blocks are reserved", found.blocks());
            handover.results().write_all_at(&[1; 100], 4000).unwrap();
        }
    }

    #[test]
    fn a_worker_without_a_sandbox_has_the_temporary_folder_of_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let handover = Prepared::new(folder.path(), &WorkerCommand::current(), &setup(1)).unwrap().opened();
        assert!(handover._temporary.is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_temporary_folder_is_removed_with_its_worker() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tmp");
        std::fs::create_dir_all(path.join("a/b")).unwrap();
        File::create(path.join("a/b/file")).unwrap().write_all(b"left behind").unwrap();
        let _temporary = Some(Temporary(path.clone()));
        let handover = Handover { results: tempfile::tempfile().unwrap(), _temporary, bytes: 0 };
        drop(handover);
        assert!(!path.exists());
    }
}
