//! Names the processor's events and derives counters from them. Pure functions: readings in,
//! counters out.

use perf_event::Builder;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Hardware};
use std::collections::BTreeMap;

/// An event that processors count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProcessorEvent {
    Instructions,
    Cycles,
    Branches,
    MissedBranches,
    /// Loads and stores, which are the requests to the first data cache.
    Loads,
    Stores,
    MissedLoads,
    /// Requests of loads and stores to the last cache, and the misses among them.
    LastReads,
    LastWrites,
    MissedLastReads,
    MissedLastWrites,
}

use ProcessorEvent::{
    Branches, Cycles, Instructions, LastReads, LastWrites, Loads, MissedBranches, MissedLastReads, MissedLastWrites,
    MissedLoads, Stores,
};

/// All events.
pub(super) const EVENTS: [ProcessorEvent; 11] = [
    Instructions,
    Cycles,
    Branches,
    MissedBranches,
    Loads,
    Stores,
    MissedLoads,
    LastReads,
    LastWrites,
    MissedLastReads,
    MissedLastWrites,
];

/// The number of instructions that a processor issues in a cycle: the least of the processors of
/// the last ten years. Wider processors seem busier than they are, equally for all configurations.
const WIDTH: f64 = 4.0;

impl ProcessorEvent {
    /// Returns the builder that opens the event, for this process's user code.
    pub(super) fn builder(self) -> Builder<'static> {
        let cache = |which, operation, result| Builder::new(Cache { which, operation, result });
        let (first, last) = (CacheId::L1D, CacheId::LL);
        let (all, missed) = (CacheResult::ACCESS, CacheResult::MISS);
        match self {
            Instructions => Builder::new(Hardware::INSTRUCTIONS),
            Cycles => Builder::new(Hardware::CPU_CYCLES),
            Branches => Builder::new(Hardware::BRANCH_INSTRUCTIONS),
            MissedBranches => Builder::new(Hardware::BRANCH_MISSES),
            Loads => cache(first, CacheOp::READ, all),
            Stores => cache(first, CacheOp::WRITE, all),
            MissedLoads => cache(first, CacheOp::READ, missed),
            LastReads => cache(last, CacheOp::READ, all),
            LastWrites => cache(last, CacheOp::WRITE, all),
            MissedLastReads => cache(last, CacheOp::READ, missed),
            MissedLastWrites => cache(last, CacheOp::WRITE, missed),
        }
    }
}

/// The system's reading of an event: its count, and how long it was enabled and was running, in
/// nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventReading {
    pub(super) count: u64,
    pub(super) enabled: u64,
    pub(super) running: u64,
}

/// Returns the events between two readings. If an event took turns on the processor's registers,
/// its count is scaled up to the whole time. An event without any turn is left out, because nothing
/// is known of it.
pub(super) fn counted(
    before: &BTreeMap<ProcessorEvent, EventReading>,
    after: &BTreeMap<ProcessorEvent, EventReading>,
) -> BTreeMap<ProcessorEvent, f64> {
    let between = |(event, after): (&ProcessorEvent, &EventReading)| {
        let before = before.get(event)?;
        let count = after.count.checked_sub(before.count)? as f64;
        let enabled = after.enabled.checked_sub(before.enabled)? as f64;
        let running = after.running.checked_sub(before.running)? as f64;
        (running > 0.0).then(|| (*event, count * (enabled / running).max(1.0)))
    };
    after.iter().filter_map(between).collect()
}

/// Returns the counts under the names of the processor's counter set. A counter is left out if a
/// count it needs is missing. `line` is the size of a cache line in bytes.
pub(super) fn named(counts: &BTreeMap<ProcessorEvent, f64>, line: f64) -> BTreeMap<String, f64> {
    let of = |event| counts.get(&event).copied();
    let bytes = |event| of(event).map(|lines| lines * line);
    let per_cycle = of(Instructions).zip(of(Cycles)).filter(|(_, cycles)| *cycles > 0.0);
    let all = [
        ("instructions", of(Instructions)),
        ("cycles", of(Cycles)),
        ("issue.utilisation", per_cycle.map(|(count, cycles)| (count / cycles / WIDTH).min(1.0))),
        ("instructions.branch", of(Branches)),
        ("branches.missed", of(MissedBranches)),
        ("instructions.memory", of(Loads).zip(of(Stores)).map(|(loads, stores)| loads + stores)),
        ("first_cache.missed", of(MissedLoads)),
        ("last_cache.bytes_read", bytes(LastReads)),
        ("last_cache.bytes_written", bytes(LastWrites)),
        ("memory.bytes_read", bytes(MissedLastReads)),
        ("memory.bytes_written", bytes(MissedLastWrites)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::counters::PROCESSOR;

    fn readings(list: &[(ProcessorEvent, u64, u64, u64)]) -> BTreeMap<ProcessorEvent, EventReading> {
        list.iter()
            .map(|(event, count, enabled, running)| {
                (*event, EventReading { count: *count, enabled: *enabled, running: *running })
            })
            .collect()
    }

    #[test]
    fn events_that_took_turns_are_scaled_and_those_without_a_turn_left_out() {
        let before =
            readings(&[(Instructions, 100, 50, 50), (Cycles, 10, 50, 20), (Branches, 0, 50, 0), (Stores, 9, 0, 0)]);
        let after = readings(&[
            (Instructions, 1100, 1050, 1050),
            (Cycles, 510, 1050, 270),
            (Branches, 0, 1050, 0),
            (Stores, 5, 10, 10),
            (Loads, 7, 10, 10),
        ]);
        // Stores ran backwards, and loads had no first reading: neither gives a count.
        assert_eq!(counted(&before, &after), [(Instructions, 1000.0), (Cycles, 2000.0)].into());
        assert_eq!(counted(&after, &after), BTreeMap::new(), "no time passed");
    }

    #[test]
    fn counts_become_counters_of_the_set_and_what_lacks_a_count_is_left_out() {
        let counts: BTreeMap<ProcessorEvent, f64> = EVENTS.into_iter().map(|event| (event, 1000.0)).collect();
        let all = named(&counts, 64.0);
        assert!(all.keys().all(|name| PROCESSOR.counter(name).is_some()), "{all:?}");
        assert_eq!((all["memory.bytes_read"], all["instructions.memory"]), (64_000.0, 2000.0));
        assert_eq!(all["issue.utilisation"], 0.25);
        let few = named(&[(Instructions, 9e3), (Loads, 5.0), (Cycles, 0.0)].into(), 64.0);
        assert_eq!(few.keys().map(String::as_str).collect::<Vec<_>>(), ["cycles", "instructions"]);
        assert_eq!(named(&[(Instructions, 9e3), (Cycles, 1e3)].into(), 64.0)["issue.utilisation"], 1.0);
    }
}
