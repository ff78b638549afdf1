//! Tuning while an application runs.

use crate::handle::{close, find, object, open, ts_call, ts_config, ts_online, ts_space};
use crate::memory::{check, items, optional_text, put, put_if, put_text, text};
use crate::search::strategy;
use crate::selector::{sizes, ts_size, warning};
use crate::status::{Fault, guard, refused, ts_status};
use std::ffi::c_char;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_choose::wisdom::Config;
use tunesmith_choose::{Ending, Next, Online, OnlineOptions, Ticket};
use tunesmith_explore::{CANDIDATES, SpaceExploration};
use tunesmith_space::Space;
use tunesmith_time::{Clock, SystemClock};

/// The clock of calls that the library times.
static CLOCK: LazyLock<SystemClock> = LazyLock::new(SystemClock::new);

/// A call that has begun.
pub struct CallState {
    online: Arc<Online>,
    ticket: Mutex<Option<Ticket>>,
    config: ts_config,
    start: Duration,
}

object!(CallState, 7);

/// Settings of tuning while an application runs. Begin with `ts_online_defaults`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ts_online_options {
    /// The strategy that proposes candidates, as for `ts_search_new`. NULL is the recommended one.
    pub strategy: *const c_char,
    /// The file of wisdom that results are read from and appended to. NULL keeps them in memory.
    pub wisdom: *const c_char,
    /// The work of a call, an expression over the sizes such as `2 * M * N * K`. With it, similar
    /// sizes are tuned together. NULL tunes every input for itself.
    pub work: *const c_char,
    /// The seed of the strategy. 0 is another one in every process, as suits processes that share a
    /// file.
    pub seed: u64,
    /// The number of candidates for each input.
    pub candidates: usize,
    /// Maximum cost of all trials together, as a share of the time of the other calls.
    pub slowdown: f64,
    /// The assumed slowdown of a trial relative to the best known configuration.
    pub worst: f64,
    /// Number of calls that decide about a candidate.
    pub samples: usize,
    /// The share by which a candidate must beat the best known configuration to replace it.
    pub margin: f64,
    /// The others are tried again once the best known configuration takes this many times as long as
    /// when it won.
    pub drift: f64,
    /// Sizes that differ by less than about this many doublings are tuned together, if `work` is
    /// given.
    pub resolution: f64,
}

/// Returns the default settings.
#[unsafe(no_mangle)]
pub extern "C" fn ts_online_defaults() -> ts_online_options {
    let OnlineOptions { slowdown, worst, samples, margin, drift, resolution } = OnlineOptions::default();
    let none = std::ptr::null();
    ts_online_options {
        strategy: none,
        wisdom: none,
        work: none,
        seed: 0,
        candidates: CANDIDATES,
        slowdown,
        worst,
        samples,
        margin,
        drift,
        resolution,
    }
}

/// Tunes `kernel` on `device` among the configurations of `space`, while the application runs.
///
/// `initial` is the configuration that the application would use without tuning. Any two texts name
/// the kernel and the device; results in a file are kept by them. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_new(
    kernel: *const c_char,
    device: *const c_char,
    space: ts_space,
    initial: ts_config,
    options: *const ts_online_options,
    online: *mut ts_online,
) -> ts_status {
    guard(|| unsafe {
        check(online, "online")?;
        let (kernel, device) = (text(kernel, "kernel")?, text(device, "device")?);
        let (space, initial) = (find::<Space>(space.id)?, find::<Config>(initial.id)?);
        let defaults = ts_online_defaults();
        let options = items(options, usize::from(!options.is_null()), "options")?.first().unwrap_or(&defaults);
        let large = || refused(format!("a space of {} configurations is too large to search", space.size()));
        space.len().ok_or_else(large)?;
        let seed = if options.seed == 0 { u64::from(std::process::id()) } else { options.seed };
        let exploration = SpaceExploration::new(space, strategy(options.strategy)?);
        let exploration = exploration.with_seed(seed).with_candidates(options.candidates);
        let new = Online::exploring(kernel, device, (*initial).clone(), Box::new(exploration));
        put(online, ts_online { id: open(prepare(new, options)?) }, "online")
    })
}

/// Applies the settings.
unsafe fn prepare(online: Online, options: &ts_online_options) -> Result<Online, Fault> {
    let ts_online_options { slowdown, worst, samples, margin, drift, resolution, .. } = *options;
    let shares = [("slowdown", slowdown, 0.0), ("worst", worst, 1.0), ("margin", margin, 0.0), ("drift", drift, 1.0)];
    if let Some((name, value, least)) = shares.into_iter().find(|(_, value, least)| value.is_nan() || value < least) {
        return Err(refused(format!("`{name}` is {value}; it is at least {least}")));
    }
    let mut online = online.with_options(OnlineOptions { slowdown, worst, samples, margin, drift, resolution });
    if let Some(work) = unsafe { optional_text(options.work, "work") }? {
        online = online.with_work(work).map_err(|error| refused(format!("the work `{work}`: {}", error.message)))?;
    }
    // The file comes last: it is read with all other settings.
    match unsafe { optional_text(options.wisdom, "wisdom") }? {
        Some(path) => Ok(online.with_file(path)),
        None => Ok(online),
    }
}

/// Begins a call for an input. `config` is the configuration to run with; it belongs to the call and
/// is closed with it.
///
/// Every call that begins has to end: by `ts_call_end` with the kernel's time, by `ts_call_stop` now,
/// by `ts_call_fail` if the configuration failed, or by `ts_call_abandon`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_begin(
    online: ts_online,
    sizes: *const ts_size,
    count: usize,
    call: *mut ts_call,
    config: *mut ts_config,
) -> ts_status {
    guard(|| unsafe {
        check(call, "call")?;
        check(config, "config")?;
        let online = find::<Online>(online.id)?;
        let ticket = online.begin(&self::sizes(sizes, count)?);
        let of_call = ts_config::new(Arc::clone(ticket.config()));
        let state = CallState { online, ticket: Mutex::new(Some(ticket)), config: of_call, start: CLOCK.now() };
        put(config, of_call, "config")?;
        put(call, ts_call { id: open(state) }, "call")
    })
}

/// Ends a call whose kernel took `seconds`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_call_end(call: ts_call, seconds: f64) -> ts_status {
    guard(|| {
        let bad = |_| refused(format!("a time of {seconds} seconds; abandon the call if its time is unknown"));
        let time = Duration::try_from_secs_f64(seconds).map_err(bad)?;
        end(call, |_| Ending::Took(time)).map(drop)
    })
}

/// Ends a call. Its time is that since it began.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_call_stop(call: ts_call) -> ts_status {
    guard(|| end(call, Ending::Took).map(drop))
}

/// Ends a call whose configuration failed. It is not tried again. If `repeat` becomes true, another
/// configuration is there: begin the call again. `repeat` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_call_fail(call: ts_call, repeat: *mut bool) -> ts_status {
    guard(|| unsafe {
        let next = end(call, Ending::Failed)?;
        put_if(repeat, next == Next::Repeat);
        Ok(())
    })
}

/// Ends a call that was given up for a reason that has nothing to do with its configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_call_abandon(call: ts_call) -> ts_status {
    guard(|| end(call, |_| Ending::Abandoned).map(drop))
}

fn end(call: ts_call, ending: impl FnOnce(Duration) -> Ending) -> Result<Next, Fault> {
    let state = close::<CallState>(call.id)?;
    // The application may have closed the configuration before.
    let _ = close::<Config>(state.config.id);
    let ticket = state.ticket.lock().unwrap_or_else(PoisonError::into_inner).take();
    let took = CLOCK.now().saturating_sub(state.start);
    Ok(ticket.map_or(Next::Done, |ticket| state.online.end(ticket, ending(took))))
}

/// Counts the seconds that the application took to prepare the configuration of a call, to compile it
/// for example. They are part of the cost of tuning: the next candidate begins only when the budget
/// covers as much again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_call_prepared(call: ts_call, seconds: f64) -> ts_status {
    guard(|| {
        let state = find::<CallState>(call.id)?;
        let bad = |_| refused(format!("a time of {seconds} seconds"));
        state.online.prepared(Duration::try_from_secs_f64(seconds).map_err(bad)?);
        Ok(())
    })
}

/// Finds out whether a call tries a candidate, and the seconds after which it has lost (infinity if it
/// is no trial): an application that can stop its kernel does so then, and calls `ts_call_fail`. Either
/// pointer may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_call_trial(call: ts_call, is_trial: *mut bool, limit: *mut f64) -> ts_status {
    guard(|| unsafe {
        let state = find::<CallState>(call.id)?;
        let ticket = state.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        let of_trial = ticket.as_ref().filter(|ticket| ticket.is_trial());
        put_if(is_trial, of_trial.is_some());
        let seconds = of_trial.and_then(Ticket::limit).map_or(f64::INFINITY, |limit| limit.as_secs_f64());
        put_if(limit, seconds);
        Ok(())
    })
}

/// Gets the best configuration known for an input. Close it with `ts_config_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_best(
    online: ts_online,
    sizes: *const ts_size,
    count: usize,
    config: *mut ts_config,
) -> ts_status {
    guard(|| unsafe {
        check(config, "config")?;
        let best = find::<Online>(online.id)?.best(&self::sizes(sizes, count)?);
        put(config, ts_config::new(best), "config")
    })
}

/// Finds out whether nothing is left to try for an input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_is_settled(
    online: ts_online,
    sizes: *const ts_size,
    count: usize,
    is_settled: *mut bool,
) -> ts_status {
    guard(|| unsafe {
        let found = find::<Online>(online.id)?.is_settled(&self::sizes(sizes, count)?);
        put(is_settled, found, "is_settled")
    })
}

/// Gets the seconds that tuning has cost, and those of all calls with the best known configurations.
/// Either pointer may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_cost(online: ts_online, excess: *mut f64, useful: *mut f64) -> ts_status {
    guard(|| unsafe {
        let cost = find::<Online>(online.id)?.cost();
        put_if(excess, cost.excess.as_secs_f64());
        put_if(useful, cost.useful.as_secs_f64());
        Ok(())
    })
}

/// Gets the number of warnings about the file and about the work of inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_warnings(online: ts_online, count: *mut usize) -> ts_status {
    guard(|| unsafe { put(count, find::<Online>(online.id)?.warnings().len(), "count") })
}

/// Copies the warning at `index`, counted from 0, as `ts_config_text` copies a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_warning(
    online: ts_online,
    index: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> ts_status {
    guard(|| unsafe { put_text(warning(&find::<Online>(online.id)?.warnings(), index)?, buffer, capacity, length) })
}

/// Closes the tuning. Results are in the file already. Calls that have begun may still end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_online_close(online: ts_online) -> ts_status {
    guard(|| close::<Online>(online.id).map(drop))
}
