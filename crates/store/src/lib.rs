//! Stores the journal of a tuning run on disk, and reads and writes recordings in other tools'
//! formats: [`import`] and [`export`]. [`import_with_outline`] reads a journal once for both of its
//! views.
//!
//! A journal is a file of JSON lines. Its first line is a [`Header`] with the subject of the run,
//! the device and the settings. Then follow a line per evaluation, a line per later measurement of
//! one ([`Again`]), per answer that came twice ([`Second`]), and a verdict ([`VerdictLine`]).
//!
//! The file is only ever appended to. Each line is written before the searcher learns of it, so
//! that a killed run loses at most the evaluation in flight. A last line cut short by a kill is
//! dropped on reading. Every line ends with its checksum, so that damage in the middle is found.
//! Nothing waits for the disk: a power cut loses what the system had not written yet.
//!
//! Evaluations are keyed by configuration, not by index: an index means nothing without the space's
//! digest.

mod again;
mod disk;
mod entries;
mod error;
mod export;
mod find;
mod fleet;
mod follow;
mod formula;
mod header;
mod import;
mod journal;
mod line;
mod plain;
mod read;
mod sum;

pub use again::{Again, DriftLine, Second, VerdictLine};
pub use disk::{Disk, DiskFile, SystemDisk};
pub use entries::{Brief, Entries, Repeated, Times, UNLISTED};
pub use error::StoreError;
pub use export::{ExportError, Format, export, refuse_overwriting};
pub use find::{FoundRun, find_run};
pub use fleet::{FleetReport, WorkerReport, WorkerRole, WorkerState};
pub use follow::{Follow, Gained, Growth, NewEvaluation};
pub use header::{DATA, Difference, FORMAT_VERSION, Header, HistoryFile};
pub use import::{ImportError, import, import_with_outline};
pub use journal::{Journal, Resumed};
pub use line::{CutLine, Entry, LimitKind, arguments};
pub use read::{Outline, Recorded, RecordedOf, read, read_brief, read_header};
