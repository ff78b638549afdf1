//! Notes on the counters that a profiled run lacks.

use crate::counter_models::unknown;
use tunesmith_core::Measurement;
use tunesmith_core::counters::{CounterSet, Hardware};
use tunesmith_model::bottleneck::{Quantity, Rules, Variant, analyse};
use tunesmith_search::profile_guided::{name_of, readings, size};

/// Returns notes on the counters that a run lacks for bottlenecks.
pub fn lacking(measurement: &Measurement) -> Vec<String> {
    let names = || measurement.counters.keys().map(String::as_str);
    let Some((set, (family, readings))) = CounterSet::of(names()).zip(readings(measurement)) else {
        let some: Vec<String> = names().take(3).map(|name| format!("`{name}`")).collect();
        let text = format!("no table has the counters of this device ({})", some.join(", "));
        return vec![format!("{text}: the search goes on by times")];
    };
    let unknown = names().filter(|name| !CounterSet::knows(name)).map(|name| unknown(name, set));
    let mut notes: Vec<String> = unknown.collect();
    let size = size(&Hardware::default());
    let analysis = match analyse(&readings, family, size, &Rules::of_run(Variant::Mended, &readings, family, size)) {
        Ok(analysis) => analysis,
        Err(error) => {
            notes.push(format!("{error}: the search goes on by times"));
            return notes;
        }
    };
    let listed = |quantities: &[Quantity]| {
        let names = quantities.iter().filter_map(|quantity| name_of(set, *quantity));
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    if !analysis.missing.is_empty() {
        let missing = listed(&analysis.missing);
        notes.push(format!("without a usable value of {missing}: the bottlenecks that need it are left out"));
    }
    if !analysis.zero.is_empty() {
        let zero = listed(&analysis.zero);
        notes.push(format!("{zero} read 0 in a run that was busy: the bottlenecks that need it are taken to be 0"));
    }
    notes
}
