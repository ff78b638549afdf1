//! Reads `[tuning]` and `[measure]`.

use super::arguments::word;
use super::judging;
use super::tree::{Node, Section};
use tunesmith_backend::DeviceChoice;
use tunesmith_core::{Target, TargetParseError, UserError as _};
use tunesmith_kernel::measure::{Cache, Launches, Policy};
use tunesmith_spec::{GridTable, Located, MOST_SAMPLES, MOST_WARMUPS, Tuning};

/// Returns the settings of `[tuning]`.
pub(super) fn read(section: &Section<'_>) -> Tuning {
    section.allow(&["strategy", "stop", "device", "objective", "seed", "room", "default", "grid"]);
    let default = section.get("default").and_then(|node| node.section()).map(|default| {
        let pair = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), node.required_scalar()?));
        default.entries().filter_map(pair).collect()
    });
    Tuning {
        strategy: section.get("strategy").and_then(|node| node.parsed(|_| None)),
        stop: section.get("stop").and_then(|node| node.parsed(|_| None)),
        device: section.get("device").and_then(|node| read_device(&node)),
        objective: section.get("objective").and_then(|node| read_objective(&node)),
        seed: section.get("seed").and_then(|node| node.count()),
        room: section.get("room").and_then(|node| node.whole(1..=MOST_ROOM)),
        default,
        grid: section.get("grid").map(|node| node.items()).unwrap_or_default().iter().filter_map(read_grid).collect(),
    }
}

/// Reads an objective, or a list of the objectives of a front.
fn read_objective(node: &Node<'_>) -> Option<Target> {
    let read = |part: &Node<'_>| part.parsed(TargetParseError::remedy);
    let parts = node.items().iter().map(read).collect::<Option<Vec<Target>>>()?;
    let refuse = |error: TargetParseError| node.error(error.to_string(), error.remedy().map(str::to_string));
    Target::joined(parts).map_err(refuse).ok()
}

/// Reads a device that runs something. Recordings and formulas belong to a run, not to a problem.
fn read_device(node: &Node<'_>) -> Option<DeviceChoice> {
    let choice = node.string()?.parse::<DeviceChoice>();
    match choice {
        Ok(DeviceChoice::Replay { .. } | DeviceChoice::Synthetic(_) | DeviceChoice::Function(_)) => {
            let remedy = "name it on the command line: `--device`".to_string();
            node.error(format!("`{}` is a device that runs kernels or commands", node.name()), Some(remedy));
            None
        }
        Ok(choice) => Some(choice),
        Err(error) => {
            node.error(error.to_string(), error.remedy().map(str::to_string));
            None
        }
    }
}

/// Reads a table of the grid: for each parameter a value or a list of them.
fn read_grid(node: &Node<'_>) -> Option<GridTable> {
    let values = |(name, node): (Located<&str>, Node<'_>)| {
        Some((name.value.to_string(), node.items().iter().filter_map(Node::required_scalar).collect()))
    };
    Some(node.section()?.entries().filter_map(values).collect())
}

const MEASURE_KEYS: &[&str] = &[
    "cache",
    "graphs",
    "warmups",
    "min_samples",
    "max_samples",
    "stable",
    "time_cap",
    "first_limit",
    "launch_limit",
    "limit_factor",
    "compile_limit",
    "reference_limit",
];

/// Maximum factor of the limit of a launch.
const MOST_FACTOR: usize = 1_000_000;

/// Maximum number of requests in flight.
const MOST_ROOM: usize = 1 << 16;

/// Returns the policy: the defaults, replaced by the values of the section. Times are in seconds.
pub(super) fn read_policy(section: &Section<'_>) -> Policy {
    section.allow(&[MEASURE_KEYS, judging::KEYS].concat());
    let mut policy = Policy::default();
    set(&mut policy.cache, word(section, "cache", &[("warm", Cache::Warm), ("cold", Cache::Cold)]));
    if judging::switched_off(section, "graphs") {
        policy.launches = Launches::Single;
    }
    let seconds = |key| section.get(key).and_then(|node| node.seconds());
    let count = |key, most| section.get(key).and_then(|node| node.whole(1..=most));
    let sampling = &mut policy.sampling;
    set(&mut sampling.warmups, count("warmups", MOST_WARMUPS));
    set(&mut sampling.min_samples, count("min_samples", MOST_SAMPLES));
    set(&mut sampling.max_samples, count("max_samples", MOST_SAMPLES));
    set(&mut sampling.stable, section.get("stable").and_then(|node| node.positive(1.0)));
    set(&mut sampling.time_cap, seconds("time_cap"));
    let limits = &mut policy.limits;
    set(&mut limits.first, seconds("first_limit"));
    set(&mut limits.floor, seconds("launch_limit"));
    set(&mut limits.factor, count("limit_factor", MOST_FACTOR).and_then(|factor| u32::try_from(factor).ok()));
    set(&mut limits.compile, seconds("compile_limit"));
    set(&mut limits.reference, seconds("reference_limit"));
    policy
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
