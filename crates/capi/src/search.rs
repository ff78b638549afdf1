//! Ask and tell.

use crate::handle::{close, find, open, ts_config, ts_search, ts_space};
use crate::memory::{check, optional_text, put};
use crate::status::{Fault, fault, guard, refused, ts_status};
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tunesmith_choose::wisdom::Config;
use tunesmith_core::{AskTell, Failure, FailureKind, TellError};
use tunesmith_explore::{config_of, id_of};
use tunesmith_search::{Knowledge, StrategySpec};
use tunesmith_space::{ConfigId, Space};

/// The reason why a configuration has no cost.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ts_failure {
    /// It does not compile.
    TS_FAILURE_COMPILE = 0,
    /// It crashed or stopped with an error.
    TS_FAILURE_RUNTIME = 1,
    /// It did not end in time.
    TS_FAILURE_TIMEOUT = 2,
    /// Its result is wrong.
    TS_FAILURE_CORRECTNESS = 3,
    /// The device refused it.
    TS_FAILURE_CONSTRAINTS = 4,
}

/// Reads a strategy as the command line does: `NAME` or `NAME(option=value, ...)`. NULL is the
/// recommended one.
pub(crate) unsafe fn strategy(pointer: *const c_char) -> Result<StrategySpec, Fault> {
    match unsafe { optional_text(pointer, "strategy") }? {
        Some(text) => text.parse().map_err(refused),
        None => Ok(StrategySpec::default()),
    }
}

/// Begins a search of `space`.
///
/// `strategy` is written as on the command line, `NAME` or `NAME(option=value, ...)`; NULL is the
/// recommended one. `budget` is the number of evaluations that are intended, which cooling schedules
/// use; 0 says nothing. The same seed, questions and answers give the same configurations.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_new(
    space: ts_space,
    strategy: *const c_char,
    seed: u64,
    budget: u64,
    search: *mut ts_search,
) -> ts_status {
    guard(|| unsafe {
        check(search, "search")?;
        let space = find::<Space>(space.id)?;
        let searcher = self::strategy(strategy)?.build(&Knowledge::default()).map_err(refused)?;
        let large = || refused(format!("a space of {} configurations is too large to search", space.size()));
        space.len().ok_or_else(large)?;
        let new = AskTell::new(space, searcher, seed);
        let new = if budget > 0 { new.with_budget(budget) } else { new };
        put(search, ts_search { id: open(Mutex::new(new)) }, "search")
    })
}

/// Asks for at most `room` configurations to evaluate, and writes them to `configs` and their number
/// to `count`. None of them was told or asked for before. Close each with `ts_config_close`.
///
/// No configurations mean that the strategy waits for an answer. `TS_END` means that it has nothing
/// left to ask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_ask(
    search: ts_search,
    room: usize,
    configs: *mut ts_config,
    count: *mut usize,
) -> ts_status {
    let mut is_over = false;
    let status = guard(|| unsafe {
        check(count, "count")?;
        check(configs, "configs")?;
        let search = find::<Mutex<AskTell>>(search.id)?;
        let mut search = lock(&search);
        let asked = search.ask(room);
        is_over = asked.is_empty() && room > 0 && search.in_flight() == 0;
        for (at, id) in asked.iter().enumerate() {
            configs.add(at).write(ts_config::new(config_of(search.space(), *id)));
        }
        put(count, asked.len(), "count")
    });
    if is_over { ts_status::TS_END } else { status }
}

/// Tells the cost of a configuration: a finite number of any sign and unit, smaller is better. Answers may
/// come in any order, and for configurations that were not asked for.
/// A cost that is no finite number is refused, and the configuration counts as failed at run time,
/// so that the strategy goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_tell(search: ts_search, config: ts_config, cost: f64) -> ts_status {
    guard(|| tell(search, config, Ok(cost)))
}

/// Tells that a configuration failed, with a `ts_failure`. `message` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_fail(
    search: ts_search,
    config: ts_config,
    failure: i32,
    message: *const c_char,
) -> ts_status {
    guard(|| unsafe {
        let kind = match failure {
            _ if failure == ts_failure::TS_FAILURE_COMPILE as i32 => FailureKind::Compile,
            _ if failure == ts_failure::TS_FAILURE_RUNTIME as i32 => FailureKind::Runtime,
            _ if failure == ts_failure::TS_FAILURE_TIMEOUT as i32 => FailureKind::Timeout,
            _ if failure == ts_failure::TS_FAILURE_CORRECTNESS as i32 => FailureKind::Correctness,
            _ if failure == ts_failure::TS_FAILURE_CONSTRAINTS as i32 => FailureKind::Constraints,
            _ => return Err(refused(format!("{failure} is no ts_failure"))),
        };
        tell(search, config, Err(Failure::new(kind, optional_text(message, "message")?.unwrap_or_default())))
    })
}

fn tell(search: ts_search, config: ts_config, cost: Result<f64, Failure>) -> Result<(), Fault> {
    let (search, config) = (find::<Mutex<AskTell>>(search.id)?, find::<Config>(config.id)?);
    let mut search = lock(&search);
    let id = id_of(search.space(), &config);
    let id = id.ok_or_else(|| refused("the configuration is not in the space of the search"))?;
    search.tell(id, cost).map_err(|error| match error {
        TellError::ToldTwice => fault(ts_status::TS_TOLD_TWICE, error),
        _ => refused(error),
    })
}

/// Gets the best configuration told so far, and its cost unless `cost` is NULL. Close it with
/// `ts_config_close`. `TS_NOT_FOUND` means that no cost was told yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_best(search: ts_search, config: *mut ts_config, cost: *mut f64) -> ts_status {
    guard(|| unsafe {
        check(config, "config")?;
        let search = find::<Mutex<AskTell>>(search.id)?;
        let search = lock(&search);
        let none = || fault(ts_status::TS_NOT_FOUND, "no cost was told yet");
        let (best, of_best): (ConfigId, f64) = search.best().ok_or_else(none)?;
        crate::memory::put_if(cost, of_best);
        put(config, ts_config::new(config_of(search.space(), best)), "config")
    })
}

/// Gets the number of configurations that were told, failures included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_told(search: ts_search, count: *mut usize) -> ts_status {
    guard(|| unsafe { put(count, lock(&*find::<Mutex<AskTell>>(search.id)?).told(), "count") })
}

/// Closes a search.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_search_close(search: ts_search) -> ts_status {
    guard(|| close::<Mutex<AskTell>>(search.id).map(drop))
}

fn lock(search: &Mutex<AskTell>) -> MutexGuard<'_, AskTell> {
    search.lock().unwrap_or_else(PoisonError::into_inner)
}
