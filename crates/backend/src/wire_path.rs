//! Paths in messages between processes. JSON holds text alone, so a path that is none is written as its
//! bytes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A path in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WirePath {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Path> for WirePath {
    fn from(path: &Path) -> Self {
        let bytes = |path: &OsStr| Self::Bytes(path.as_bytes().to_owned());
        path.to_str().map_or_else(|| bytes(path.as_os_str()), |text| Self::Text(text.to_owned()))
    }
}

impl From<WirePath> for PathBuf {
    fn from(path: WirePath) -> Self {
        match path {
            WirePath::Text(text) => text.into(),
            WirePath::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}

/// Writes a path.
pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    WirePath::from(path).serialize(serializer)
}

/// Reads a path.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    WirePath::deserialize(deserializer).map(PathBuf::from)
}

/// Lists of paths.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, PathBuf, Serializer, WirePath};

    /// Writes paths.
    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| WirePath::from(path.as_path())))
    }

    /// Reads paths.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<WirePath>::deserialize(deserializer)?;
        Ok(paths.into_iter().map(PathBuf::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Message {
        #[serde(with = "super")]
        one: PathBuf,
        #[serde(with = "super::list")]
        many: Vec<PathBuf>,
    }

    #[test]
    fn a_path_of_any_bytes_arrives_and_text_stays_text() {
        let one = PathBuf::from(OsStr::from_bytes(b"bad\xff"));
        let message = Message { many: vec!["/a b".into(), one.clone()], one };
        let json = serde_json::to_string(&message).unwrap();
        assert_eq!(json, r#"{"one":[98,97,100,255],"many":["/a b",[98,97,100,255]]}"#);
        assert_eq!(serde_json::from_str::<Message>(&json).unwrap(), message);
    }
}
