//! `tunesmith devices`.

use super::{describe_sandbox, machine};
use crate::args::DevicesArgs;
use crate::{Ending, output};
use serde_json::{Value as Json, json};
use tunesmith::Error;
use tunesmith::core::counters::{Counter, VOLTA};
use tunesmith::device::{ChipCounters, DeviceInfo, Missing, ResolvedCounter};

pub(crate) fn devices(args: &DevicesArgs) -> Result<Ending, Error> {
    if args.counters {
        return counters(args);
    }
    let machine = machine(None)?;
    let sandbox = describe_sandbox(&machine);
    let (devices, missing) = tunesmith::devices(&machine);
    if args.json {
        let devices: Vec<Json> = devices.iter().map(device).collect();
        let missing: Vec<Json> = missing.iter().map(absent).collect();
        output::json(&json!({ "devices": devices, "missing": missing, "sandbox": sandbox }));
        return Ok(Ending::Done);
    }
    for device in &devices {
        output::print(&format!("{}  {}, {}\n", device.id, device.name, device.driver));
        for (name, value) in &device.limits {
            output::print(&format!("     {name} = {value}\n"));
        }
    }
    for missing in &missing {
        output::print(&format!("{} is missing: {}; {}\n", missing.backend, missing.reason, missing.remedy));
    }
    output::print(&format!("sandbox: {sandbox}\n"));
    Ok(Ending::Done)
}

fn device(device: &DeviceInfo) -> Json {
    let DeviceInfo { id, name, backend, driver, limits } = device;
    json!({ "id": id, "name": name, "backend": backend, "driver": driver, "limits": limits })
}

fn absent(missing: &Missing) -> Json {
    json!({ "backend": missing.backend, "reason": missing.reason, "remedy": missing.remedy })
}

fn counters(args: &DevicesArgs) -> Result<Ending, Error> {
    let machine = machine(None)?;
    let chips = tunesmith::device::counters(&args.chip, machine.compilers.cuda.libraries.as_deref(), &machine.worker)?;
    if args.json {
        output::json(&json!({ "counters": chips.iter().map(chip).collect::<Vec<_>>() }));
        return Ok(Ending::Done);
    }
    for chip in &chips {
        output::print(&format!("{}: {} counters in {} passes\n", chip.chip, chip.counters.len(), chip.passes));
        chip.counters.iter().for_each(|counter| output::print(&line(counter)));
        for name in &chip.unavailable {
            output::print(&format!("     {name} is not available\n"));
        }
    }
    Ok(Ending::Done)
}

fn line(resolved: &ResolvedCounter) -> String {
    let ResolvedCounter { name, metric, passes } = resolved;
    let of = if name == metric { String::new() } else { format!(", there {metric}") };
    let quantity = described(name).map(|counter| counter.quantity).unwrap_or_default();
    let alone = if *passes == 1 { String::new() } else { format!(" ({passes} passes alone)") };
    format!("     {quantity:<12} {name}{of}{alone}\n")
}

fn chip(chip: &ChipCounters) -> Json {
    let counter = |resolved: &ResolvedCounter| {
        let ResolvedCounter { name, metric, passes } = resolved;
        let counter = described(name);
        json!({
            "name": name, "metric": metric, "passes": passes,
            "quantity": counter.map(|counter| counter.quantity), "unit": counter.map(|counter| counter.unit),
        })
    };
    json!({
        "chip": chip.chip, "passes": chip.passes, "unavailable": chip.unavailable,
        "counters": chip.counters.iter().map(counter).collect::<Vec<_>>(),
    })
}

/// Returns the table's entry for a counter.
fn described(name: &str) -> Option<&'static Counter> {
    VOLTA.counter(name)
}
