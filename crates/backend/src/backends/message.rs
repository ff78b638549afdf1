//! Messages between the two sides of a backend. All other code carries them and reads none.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// A message that the backend of this name understands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendMessage {
    backend: Cow<'static, str>,
    value: Value,
}

impl BackendMessage {
    /// Creates a message.
    pub fn new(backend: &'static str, value: &impl Serialize) -> Self {
        Self { backend: backend.into(), value: encoded(value) }
    }

    /// Returns the name of the backend.
    pub(crate) fn backend(&self) -> &str {
        &self.backend
    }

    /// Returns the message itself.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }
}

/// Returns a value as messages hold it. One that JSON cannot express, such as a path that is no text, becomes null,
/// which no backend understands.
pub(crate) fn encoded(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Returns the value of a message. Returns `None` if it has another type.
pub(crate) fn decoded<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(value).ok()
}

/// The session that a worker opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionKind {
    /// The device, as its backend describes it to the worker.
    pub device: BackendMessage,
    /// True if each job runs in a process of its own, forked from the worker. Drivers do not survive a fork.
    pub forks: bool,
    /// True if the session can tell the troubles of its device.
    pub knows_troubles: bool,
}

impl SessionKind {
    /// Creates the kind of sessions that run each job in a process of its own.
    pub fn forking(device: BackendMessage) -> Self {
        Self { forks: true, ..Self::of_driver(device) }
    }

    /// Creates the kind of sessions that run their jobs in the worker itself, because they have a driver.
    pub fn of_driver(device: BackendMessage) -> Self {
        Self { device, forks: false, knows_troubles: false }
    }
}
