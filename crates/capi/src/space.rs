//! Search spaces.

use crate::handle::{close, find, open, ts_config, ts_space, ts_space_builder};
use crate::memory::{check, items, put, put_text, text};
use crate::status::{Fault, fault, guard, refused, ts_status};
use rand::SeedableRng;
use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};
use tunesmith_choose::wisdom::Config;
use tunesmith_core::Rng;
use tunesmith_explore::{config_of, id_of};
use tunesmith_space::{Constraint, Parameter, Space, SpaceBuilder, Value, parse_values};

/// Begins the description of a space.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_new(builder: *mut ts_space_builder) -> ts_status {
    guard(|| unsafe {
        check(builder, "builder")?;
        put(builder, ts_space_builder { id: open(Mutex::new(SpaceBuilder::default())) }, "builder")
    })
}

/// Adds a tuning parameter of integers. Parameters keep the order in which they were added.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_ints(
    builder: ts_space_builder,
    name: *const c_char,
    values: *const i64,
    count: usize,
) -> ts_status {
    guard(|| unsafe {
        let values = items(values, count, "values")?.iter().map(|value| Value::Int(*value)).collect();
        add_parameter(builder, text(name, "name")?, values)
    })
}

/// Adds a tuning parameter of floating-point numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_floats(
    builder: ts_space_builder,
    name: *const c_char,
    values: *const f64,
    count: usize,
) -> ts_status {
    guard(|| unsafe {
        let values = items(values, count, "values")?.iter().map(|value| Value::Float(*value)).collect();
        add_parameter(builder, text(name, "name")?, values)
    })
}

/// Adds a tuning parameter of texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_texts(
    builder: ts_space_builder,
    name: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> ts_status {
    guard(|| unsafe {
        let values = items(values, count, "values")?.iter();
        let values = values.map(|value| Ok(Value::from(text(*value, "values")?))).collect::<Result<_, Fault>>()?;
        add_parameter(builder, text(name, "name")?, values)
    })
}

/// Adds a tuning parameter that is off (false) or on (true).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_switch(builder: ts_space_builder, name: *const c_char) -> ts_status {
    guard(|| unsafe { add_parameter(builder, text(name, "name")?, vec![Value::Bool(false), Value::Bool(true)]) })
}

/// Adds a tuning parameter whose values a Python expression lists: `[1, 2, 4]`, `range(8, 65, 8)` or
/// `[2**i for i in range(5)]`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_values(
    builder: ts_space_builder,
    name: *const c_char,
    values: *const c_char,
) -> ts_status {
    guard(|| unsafe {
        let (name, values) = (text(name, "name")?, text(values, "values")?);
        let values = parse_values(values, &|_| None)
            .map_err(|error| refused(format!("the values of parameter `{name}`: {}", error.message)))?;
        add_parameter(builder, name, values)
    })
}

/// Defines an integer that constraints may name, such as a problem size or a limit of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_constant(
    builder: ts_space_builder,
    name: *const c_char,
    value: i64,
) -> ts_status {
    guard(|| unsafe {
        let name = text(name, "name")?;
        change(builder, |space| Ok(space.constant(name, Value::Int(value))))
    })
}

/// Adds a constraint: a condition over parameters and constants in Python's syntax, such as
/// `TILE % THREADS == 0 and TILE * TILE <= 4096`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_constraint(
    builder: ts_space_builder,
    constraint: *const c_char,
) -> ts_status {
    guard(|| unsafe {
        let constraint = text(constraint, "constraint")?;
        let parsed = Constraint::parse(constraint)
            .map_err(|error| refused(format!("the constraint `{constraint}`: {}", error.message)))?;
        change(builder, |space| Ok(space.constraint(parsed)))
    })
}

/// Builds the space and closes the builder. After an error, the builder is still open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_build(builder: ts_space_builder, space: *mut ts_space) -> ts_status {
    guard(|| unsafe {
        check(space, "space")?;
        let description = find::<Mutex<SpaceBuilder>>(builder.id)?;
        let description = description.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let built = description.build().map_err(refused)?;
        close::<Mutex<SpaceBuilder>>(builder.id)?;
        put(space, ts_space { id: open(built) }, "space")
    })
}

/// Closes a builder whose space is not wanted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_builder_close(builder: ts_space_builder) -> ts_status {
    guard(|| close::<Mutex<SpaceBuilder>>(builder.id).map(drop))
}

fn add_parameter(builder: ts_space_builder, name: &str, values: Vec<Value>) -> Result<(), Fault> {
    let parameter = Parameter::new(name, values).map_err(refused)?;
    change(builder, |space| Ok(space.parameter(parameter)))
}

fn change(
    builder: ts_space_builder,
    change: impl FnOnce(SpaceBuilder) -> Result<SpaceBuilder, Fault>,
) -> Result<(), Fault> {
    let space = find::<Mutex<SpaceBuilder>>(builder.id)?;
    let mut space = space.lock().unwrap_or_else(PoisonError::into_inner);
    *space = change(std::mem::take(&mut *space))?;
    Ok(())
}

/// Gets the number of configurations. A space of more than 2^64 - 1 gives `TS_BAD_VALUE`; see
/// `ts_space_size_text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_size(space: ts_space, size: *mut u64) -> ts_status {
    guard(|| unsafe {
        let space = find::<Space>(space.id)?;
        let known = space.len().and_then(|size| u64::try_from(size).ok());
        let large = || refused(format!("the space has {} configurations; call ts_space_size_text", space.size()));
        put(size, known.ok_or_else(large)?, "size")
    })
}

/// Copies the number of configurations in decimal digits, as `ts_config_text` copies a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_size_text(
    space: ts_space,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> ts_status {
    guard(|| unsafe { put_text(&find::<Space>(space.id)?.size().to_string(), buffer, capacity, length) })
}

/// Gets the configuration at `index`, counted from 0. Close it with `ts_config_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_at(space: ts_space, index: u64, config: *mut ts_config) -> ts_status {
    guard(|| unsafe {
        check(config, "config")?;
        let space = find::<Space>(space.id)?;
        let missing = || fault(ts_status::TS_NOT_FOUND, format!("there is no index {index} of {}", space.size()));
        let id = space.id(index.into()).ok_or_else(missing)?;
        put(config, ts_config::new(config_of(&space, id)), "config")
    })
}

/// Gets the index of a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_index(space: ts_space, config: ts_config, index: *mut u64) -> ts_status {
    guard(|| unsafe {
        let (space, config) = (find::<Space>(space.id)?, find::<Config>(config.id)?);
        let missing = || fault(ts_status::TS_NOT_FOUND, "the space does not have this configuration");
        let rank = id_of(&space, &config).ok_or_else(missing)?.rank();
        let large = |_| refused(format!("the index {rank} does not fit into 64 bits"));
        put(index, u64::try_from(rank).map_err(large)?, "index")
    })
}

/// Finds out whether the space has a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_contains(space: ts_space, config: ts_config, contains: *mut bool) -> ts_status {
    guard(|| unsafe {
        let (space, config) = (find::<Space>(space.id)?, find::<Config>(config.id)?);
        put(contains, id_of(&space, &config).is_some(), "contains")
    })
}

/// Draws a configuration uniformly. The same seed gives the same one. Close it with
/// `ts_config_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_sample(space: ts_space, seed: u64, config: *mut ts_config) -> ts_status {
    guard(|| unsafe {
        check(config, "config")?;
        let space = find::<Space>(space.id)?;
        let large = || refused(format!("a space of {} configurations has too many to draw from", space.size()));
        space.len().ok_or_else(large)?;
        let id = space.sample(&mut Rng::seed_from_u64(seed));
        put(config, ts_config::new(config_of(&space, id)), "config")
    })
}

/// Gets the configuration with the given values, written `NAME=VALUE,NAME=VALUE`. A parameter that
/// is not named takes its first value. Close it with `ts_config_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_config(space: ts_space, values: *const c_char, config: *mut ts_config) -> ts_status {
    guard(|| unsafe {
        check(config, "config")?;
        let space = find::<Space>(space.id)?;
        let found = read_config(&space, text(values, "values")?)?;
        put(config, ts_config::new(found), "config")
    })
}

fn read_config(space: &Space, text: &str) -> Result<Config, Fault> {
    let mut pairs = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let form = || refused(format!("`{part}` is no NAME=VALUE"));
        let (name, value) = part.split_once('=').ok_or_else(form)?;
        let (name, value) = (name.trim(), value.trim());
        let parameter = space.parameters().iter().find(|parameter| parameter.name() == name);
        // An unknown name gets the error of the space, which suggests another one.
        let like = parameter.map_or(&[][..], Parameter::values);
        pairs.push((name, Value::parse_as(value, like).unwrap_or_else(|| value.into())));
    }
    let configuration = space.configuration(&pairs, None).map_err(refused)?;
    let excluded = || {
        let names: Vec<&str> = space.violated(&configuration).iter().map(|constraint| constraint.name()).collect();
        refused(format!("the configuration `{text}` violates `{}`", names.join("`, `")))
    };
    Ok(config_of(space, space.rank(&configuration).ok_or_else(excluded)?))
}

/// Closes a space. Searches and tuning of it go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ts_space_close(space: ts_space) -> ts_status {
    guard(|| close::<Space>(space.id).map(drop))
}
