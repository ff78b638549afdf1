//! The first line of a journal.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use tunesmith_core::DeviceClass;

/// The format version that this crate writes. Version 1 had no lines of later measurements: its
/// readers would take them for evaluations.
pub const FORMAT_VERSION: u32 = 2;

/// The name of the digest of data files in the identity. Earlier versions did not write it, so that
/// its absence says nothing.
pub const DATA: &str = "data";

/// The subject of a run, its device and its settings: the first line of its journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the journal's format.
    pub format: u32,
    /// The version of Tunesmith that wrote it.
    pub tunesmith: String,
    /// The name of the problem.
    pub problem: String,
    /// The identity that a resumed run must share: digests of space, problem and kernel, device,
    /// compiler, and measurement policy. Names and values are those that users read when they
    /// differ.
    pub identity: Map<String, Json>,
    /// The tuning parameters with their values, in the user's order.
    pub parameters: Map<String, Json>,
    /// The number of configurations, in decimal.
    pub space_size: String,
    /// The configuration that speed-ups refer to, if there is one.
    pub default: Option<Map<String, Json>>,
    /// The sizes of the input.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sizes: Map<String, Json>,
    /// Further features of the problem's inputs: names and expressions over sizes.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub features: Map<String, Json>,
    /// The constraints by name, as expressions.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub constraints: Map<String, Json>,
    /// The properties of the device as numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub device_features: BTreeMap<String, f64>,
    /// True if outputs are compared with correct results. `None` in journals of earlier versions,
    /// and for runs without outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// The objective with the inputs of its value. `None` in journals of earlier versions if it is time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Json>,
    /// The recordings that the strategy was given as history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryFile>,
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// The stop condition. A run that continues may have another one, which its journal does not
    /// keep. `None` in journals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// The seed of the generator.
    pub seed: u64,
    /// The class of the device, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_class: Option<DeviceClass>,
    /// The work-groups that the strategy takes for those of the launches on a GPU, and whether names alone tell them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<String>,
    /// The counter model, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The number of requests that the strategy may have in flight.
    pub room: usize,
    /// The start of the run, in seconds since the Unix epoch.
    pub started: f64,
}

/// A recording that a strategy was given as history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryFile {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// The digest of its bytes.
    pub digest: String,
}

/// A difference between a journal's run and the present one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The property that differs.
    pub what: String,
    /// Its value in the journal.
    pub journal: String,
    /// Its present value.
    pub now: String,
}

impl Header {
    /// Returns the differences between this header's run and that of `now`, in the
    /// [`identity`](Self::identity) and in sizes. Empty if a journal with this header may be
    /// resumed.
    pub fn differences(&self, now: &Header) -> Vec<Difference> {
        let text = |value: Option<&Json>| match value {
            None => "nothing".to_string(),
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let differing = |before: &Map<String, Json>, now: &Map<String, Json>, prefix: &str| -> Vec<Difference> {
            let added = now.keys().filter(|key| !before.contains_key(*key));
            let is_unknown = |key: &String| key == DATA && !before.contains_key(DATA);
            let differs = |key: &&String| before.get(*key) != now.get(*key) && !is_unknown(key);
            let keys = before.keys().chain(added).filter(differs);
            let difference = |key: &String| Difference {
                what: format!("{prefix}{key}"),
                journal: text(before.get(key)),
                now: text(now.get(key)),
            };
            keys.map(difference).collect()
        };
        let identity = differing(&self.identity, &now.identity, "");
        // Sizes change the digests. Their names tell the user more than the digests do.
        let has_sizes = !identity.is_empty() && !self.sizes.is_empty();
        let sizes = if has_sizes { differing(&self.sizes, &now.sizes, "size ") } else { Vec::new() };
        sizes.into_iter().chain(identity).collect()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} in the journal, {} now", self.what, self.journal, self.now)
    }
}
