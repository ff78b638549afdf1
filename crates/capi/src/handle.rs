//! Handles: numbers that stand for objects.
//!
//! A handle is no address. It is looked up, so that one which was closed, never set or is of another
//! type gives an error. An object lives on while another thread uses it.

use crate::status::{Fault, fault, ts_status};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};
use tunesmith_choose::wisdom::Config;
use tunesmith_choose::{Online, Selector};
use tunesmith_core::AskTell;
use tunesmith_space::{Space, SpaceBuilder};

/// A configuration: values of parameters by name.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_config {
    /// Private.
    pub id: u64,
}

impl ts_config {
    /// Opens a handle of `config`.
    pub(crate) fn new(config: impl Into<Arc<Config>>) -> Self {
        Self { id: open::<Config>(config) }
    }
}

/// A space that is being described.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_space_builder {
    /// Private.
    pub id: u64,
}

/// A search space.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_space {
    /// Private.
    pub id: u64,
}

/// A search that is asked for configurations and told their costs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_search {
    /// Private.
    pub id: u64,
}

/// A choice among known configurations.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_selector {
    /// Private.
    pub id: u64,
}

/// Tuning while an application runs.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_online {
    /// Private.
    pub id: u64,
}

/// A call of the application that has begun and not ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_call {
    /// Private.
    pub id: u64,
}

/// A kernel that the library compiles and launches on the application's device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ts_launcher {
    /// Private.
    pub id: u64,
}

/// The number of bits of a handle that count. Those above tell the type.
const COUNTING: u32 = 56;

/// The names of the types, by their number in a handle.
const NAMES: [&str; 9] = [
    "nothing",
    "ts_config",
    "ts_space_builder",
    "ts_space",
    "ts_search",
    "ts_selector",
    "ts_online",
    "ts_call",
    "ts_launcher",
];

static NEXT: AtomicU64 = AtomicU64::new(1);

/// An object that handles of one type stand for.
pub(crate) trait Object: Send + Sync + Sized + 'static {
    /// The number of its type.
    const KIND: u64;

    /// Returns the objects of this type that are open.
    fn table() -> &'static Table<Self>;
}

/// The open objects of one type.
pub(crate) type Table<T> = LazyLock<RwLock<HashMap<u64, Arc<T>>>>;

/// Lets handles of the type with the number `$kind` stand for objects of type `$object`.
macro_rules! object {
    ($object:ty, $kind:literal) => {
        impl $crate::handle::Object for $object {
            const KIND: u64 = $kind;

            fn table() -> &'static $crate::handle::Table<Self> {
                static TABLE: $crate::handle::Table<$object> = ::std::sync::LazyLock::new(::std::sync::RwLock::default);
                &TABLE
            }
        }
    };
}
pub(crate) use object;

object!(Config, 1);
object!(Mutex<SpaceBuilder>, 2);
object!(Space, 3);
object!(Mutex<AskTell>, 4);
object!(Selector, 5);
object!(Online, 6);

/// Keeps `object` and returns the number of its handle.
pub(crate) fn open<T: Object>(object: impl Into<Arc<T>>) -> u64 {
    let id = T::KIND << COUNTING | NEXT.fetch_add(1, Ordering::Relaxed);
    T::table().write().unwrap_or_else(PoisonError::into_inner).insert(id, object.into());
    id
}

/// Returns the object of the handle `id`.
pub(crate) fn find<T: Object>(id: u64) -> Result<Arc<T>, Fault> {
    let table = T::table().read().unwrap_or_else(PoisonError::into_inner);
    table.get(&id).cloned().ok_or_else(|| missing::<T>(id))
}

/// Forgets the handle `id`, and returns its object.
pub(crate) fn close<T: Object>(id: u64) -> Result<Arc<T>, Fault> {
    let removed = T::table().write().unwrap_or_else(PoisonError::into_inner).remove(&id);
    removed.ok_or_else(|| missing::<T>(id))
}

/// Explains why there is no object for `id`.
fn missing<T: Object>(id: u64) -> Fault {
    let wanted = NAMES[T::KIND as usize];
    let (kind, count) = (id >> COUNTING, id & ((1 << COUNTING) - 1));
    let was_given = (1..NEXT.load(Ordering::Relaxed)).contains(&count);
    match NAMES.get(kind as usize) {
        _ if id == 0 => fault(ts_status::TS_NULL, format!("the {wanted} was never set")),
        Some(_) if kind == T::KIND && was_given => {
            fault(ts_status::TS_CLOSED, format!("the {wanted} was closed before"))
        }
        Some(name) if kind != 0 && was_given => {
            fault(ts_status::TS_WRONG_HANDLE, format!("the handle is a {name}; a {wanted} is needed"))
        }
        _ => fault(ts_status::TS_WRONG_HANDLE, format!("{id} is no handle of Tunesmith; a {wanted} is needed")),
    }
}
