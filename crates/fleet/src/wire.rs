//! The messages between a coordinator and a worker.
//!
//! A frame is a length of four bytes, the most significant first, and as many bytes. A message is a
//! frame of JSON. The contents of files are frames of bytes, which follow the message that announces
//! them. Frames are bounded by their receiver before it reads them.

use crate::FleetError;
use crate::digest::digest_of;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::io::{Read, Write};
use std::time::Duration;
use tunesmith_backend::BackendMessage;
use tunesmith_core::{Bound, Claim};
use tunesmith_device::MOST_PARCEL;
use tunesmith_store::{Entry, WorkerRole};

/// The version of the messages. Both sides must have the same.
pub const PROTOCOL: u32 = 4;

/// Maximum length of a message from a worker: an evaluation with the messages of a compiler.
pub(crate) const FROM_WORKER: usize = 4 << 20;

/// Maximum length of a message from the coordinator: a list of files.
pub(crate) const FROM_COORDINATOR: usize = 16 << 20;

/// Maximum length of a piece of a file.
pub(crate) const PIECE: usize = 1 << 20;

/// A message from a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The first message, after both sides have proved that they know the token.
    Join(Introduction),
    /// The files that it lacks, by their digests.
    Want { digests: Vec<String> },
    /// The device and its limits.
    Offer { target: Option<BackendMessage>, limits: Map<String, Json> },
    /// It can evaluate configurations, or compile them.
    Ready(Readiness),
    /// The answer to a lease.
    Answer { job: u64, attempt: u32, answer: Box<Answer> },
    /// The answer to a lease for compiling: a parcel, whose content follows in frames of bytes, or the
    /// reason why there is none.
    Compiled { job: u64, parcel: Result<Parcel, String> },
    /// It cannot go on, or cannot begin.
    Unable { reason: String },
}

/// The words of a worker about itself. Only the first two are the same in all versions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub(crate) protocol: u32,
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) process: u32,
    #[serde(default)]
    pub(crate) role: WorkerRole,
    /// The name of the running system: hosts of one name may be several machines.
    #[serde(default)]
    pub(crate) machine: String,
    /// The processors that it keeps to. Empty for all.
    #[serde(default)]
    pub(crate) cpus: Vec<usize>,
}

/// The words of a worker that can begin to work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Readiness {
    /// Device, driver, compiler and kernel.
    pub(crate) identity: Map<String, Json>,
    /// The digests of the problem and of its space.
    pub(crate) problem: String,
    pub(crate) space: String,
    /// A digest of the instructions that its processor knows.
    pub(crate) instructions: String,
    /// Number of configurations that it compiles at once.
    pub(crate) room: usize,
}

/// Machine code of a configuration, by the digest of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parcel {
    pub(crate) digest: String,
    pub(crate) bytes: u64,
}

/// A message from the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum FromCoordinator {
    /// The problem: its file among `files`, its sizes, and the device to use.
    Problem { file: String, sizes: Map<String, Json>, device: Option<String>, files: Vec<FileEntry> },
    /// The content of a file or a parcel follows in frames of bytes.
    Content { digest: String, bytes: u64 },
    /// The worker may open its device.
    Begin { counters: bool, energy: bool },
    /// The worker is to compile for this device, whose limits the space depends on.
    Compile { target: Option<BackendMessage>, limits: Map<String, Json> },
    /// Work. `parcel` is the digest of a content that was sent before.
    Lease { job: u64, attempt: u32, task: Task, bar_ms: Option<f64>, bound: LeaseBound, parcel: Option<String> },
    /// The worker is to end. It is refused, or the run has ended.
    End { reason: Option<String> },
}

/// A [`Bound`] of the time of launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LeaseBound {
    Open,
    Best(Duration),
    Own(Duration),
    Beyond(Duration),
}

impl From<Bound> for LeaseBound {
    fn from(bound: Bound) -> Self {
        match bound {
            Bound::Open => Self::Open,
            Bound::Best(time) => Self::Best(time),
            Bound::Own(time) => Self::Own(time),
            Bound::Beyond(limit) => Self::Beyond(limit),
        }
    }
}

impl From<LeaseBound> for Bound {
    fn from(bound: LeaseBound) -> Self {
        match bound {
            LeaseBound::Open => Self::Open,
            LeaseBound::Best(time) => Self::Best(time),
            LeaseBound::Own(time) => Self::Own(time),
            LeaseBound::Beyond(limit) => Self::Beyond(limit),
        }
    }
}

/// A file of the problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    /// The path in the problem's folder.
    pub(crate) path: String,
    /// SHA-256 of its content, in hexadecimal.
    pub(crate) digest: String,
    pub(crate) bytes: u64,
    pub(crate) is_executable: bool,
}

/// The work of a lease. Configurations are named by their rank, in decimal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Evaluates a configuration.
    Evaluate { config: String, profiled: bool },
    /// Takes more samples of it.
    Resample { config: String, samples: usize },
    /// Verifies it on other data.
    Confirm { config: String, claim: Claim },
    /// Compiles it, and runs nothing.
    Compile { config: String },
}

impl Task {
    /// Returns the rank of the configuration, in decimal.
    pub(crate) fn config(&self) -> &str {
        match self {
            Self::Evaluate { config, .. } | Self::Resample { config, .. } => config,
            Self::Confirm { config, .. } | Self::Compile { config } => config,
        }
    }
}

/// The answer to a lease.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The evaluation, as a journal keeps it.
    pub(crate) entry: Entry,
    /// Seconds of the measuring thread: compiling, running, verifying.
    pub(crate) spent: [f64; 3],
    pub(crate) unprofiled: Option<String>,
    /// Of a confirmation: the launches compared, and remarks.
    pub(crate) launches: u64,
    pub(crate) notes: Vec<String>,
}

/// Writes a message.
pub(crate) fn say(to: &mut impl Write, message: &impl Serialize) -> Result<(), FleetError> {
    let bytes = serde_json::to_vec(message).map_err(|error| FleetError::Protocol(error.to_string()))?;
    write_frame(to, &bytes)
}

/// Reads a message of at most `most` bytes.
pub(crate) fn hear<T: DeserializeOwned>(from: &mut impl Read, most: usize) -> Result<T, FleetError> {
    let bytes = read_frame(from, most)?;
    serde_json::from_slice(&bytes).map_err(|error| FleetError::Protocol(format!("a message cannot be read: {error}")))
}

/// Writes a frame.
pub(crate) fn write_frame(to: &mut impl Write, bytes: &[u8]) -> Result<(), FleetError> {
    let length = u32::try_from(bytes.len()).map_err(|_| FleetError::Protocol("a message is too long".to_string()))?;
    let mut frame = Vec::with_capacity(bytes.len() + 4);
    frame.extend(length.to_be_bytes());
    frame.extend(bytes);
    Ok(to.write_all(&frame)?)
}

/// Writes a content in frames.
pub(crate) fn write_content(to: &mut impl Write, content: &[u8]) -> Result<(), FleetError> {
    content.chunks(PIECE).try_for_each(|piece| write_frame(to, piece))
}

/// Reads a content of this length.
pub(crate) fn read_content(from: &mut impl Read, bytes: u64) -> Result<Vec<u8>, FleetError> {
    let mut content = Vec::new();
    while (content.len() as u64) < bytes {
        let piece = read_frame(from, PIECE.min((bytes - content.len() as u64) as usize))?;
        if piece.is_empty() {
            return Err(FleetError::Protocol("a piece of a content is empty".to_string()));
        }
        content.extend(piece);
    }
    Ok(content)
}

/// Reads the content of a parcel, which must have its digest.
pub(crate) fn read_parcel(from: &mut impl Read, parcel: &Parcel) -> Result<Vec<u8>, FleetError> {
    let Parcel { digest, bytes } = parcel;
    if *bytes > MOST_PARCEL {
        return Err(FleetError::Protocol(format!("a parcel of {bytes} bytes, more than {MOST_PARCEL}")));
    }
    let content = read_content(from, *bytes)?;
    if digest_of(&content) != *digest {
        return Err(FleetError::Protocol("the content of a parcel does not have its digest".to_string()));
    }
    Ok(content)
}

/// Reads a frame of at most `most` bytes. Memory grows with the bytes that arrive, not with the
/// length that the peer claims.
pub(crate) fn read_frame(from: &mut impl Read, most: usize) -> Result<Vec<u8>, FleetError> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > most {
        return Err(FleetError::Protocol(format!("a message of {length} bytes, more than {most}")));
    }
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(FleetError::Lost(std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_and_no_longer_one_is_begun() {
        let mut bytes = Vec::new();
        let task = Task::Resample { config: "12".to_string(), samples: 3 };
        say(&mut bytes, &task).unwrap();
        assert_eq!(hear::<Task>(&mut &bytes[..], 100).unwrap(), task);
        let error = hear::<Task>(&mut &bytes[..], 10).unwrap_err().to_string();
        assert!(error.contains("more than 10"), "{error}");
        for cut in 0..bytes.len() {
            assert!(matches!(hear::<Task>(&mut &bytes[..cut], 100), Err(FleetError::Lost(_))), "{cut}");
        }
        // A length without bytes claims memory that is never taken.
        let claimed = [0xff, 0xff, 0xff, 0xff];
        assert!(read_frame(&mut &claimed[..], usize::MAX).is_err());
        assert!(hear::<Task>(&mut &b"\0\0\0\x02{}"[..], 100).is_err());
    }

    #[test]
    fn a_parcel_has_the_digest_and_the_length_that_were_announced() {
        let (content, mut sent) = (vec![7; PIECE + 5], Vec::new());
        write_content(&mut sent, &content).unwrap();
        let right = Parcel { digest: digest_of(&content), bytes: content.len() as u64 };
        assert_eq!(read_parcel(&mut &sent[..], &right).unwrap(), content);
        let refused = |parcel: Parcel, text: &str| {
            let error = read_parcel(&mut &sent[..], &parcel).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        refused(Parcel { digest: digest_of(b""), ..right.clone() }, "does not have its digest");
        refused(Parcel { bytes: MOST_PARCEL + 1, ..right.clone() }, "a parcel of 67108865 bytes");
        refused(Parcel { bytes: right.bytes + 1, ..right.clone() }, "");
        refused(Parcel { bytes: right.bytes - 1, ..right }, "more than 4");
    }
}
