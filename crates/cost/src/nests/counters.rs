//! Symbolic counts of a kernel in place of hardware counters.

use crate::{Cache, CostModel, CostProperty, PropertyCounts, Resource};
use std::collections::BTreeMap;
use tunesmith_core::Measurement;
use tunesmith_core::counters::{GLOBAL_SIZE, LOCAL_SIZE};
use tunesmith_loopnest::{Memory, Operation, Property, Type};

/// The facts about a kernel that are known without running it.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Its count of each property.
    pub counts: PropertyCounts,
    /// Sizes in bytes of the arrays that it only reads, and of the arrays that it writes.
    pub arrays: (f64, f64),
    /// The numbers of work-items of the launch and of a work-group.
    pub items: (f64, f64),
}

impl Counted {
    /// Returns the operations as counters of the set for any processor. They depend on the
    /// configuration alone.
    fn operations(&self) -> BTreeMap<String, f64> {
        let items = || {
            self.counts.iter().filter_map(|(property, count)| match property {
                CostProperty::Items(property) => Some((property, count)),
                _ => None,
            })
        };
        let sum = |is_part: &dyn Fn(Property) -> bool| -> f64 {
            items().filter(|(property, _)| is_part(*property)).map(|(_, count)| count).sum()
        };
        let is_of = |property, kind| match property {
            Property::Operations(operation, own) => own == kind && !matches!(operation, Operation::Convert(_)),
            _ => false,
        };
        let floats = |kind: Type| sum(&|property| is_of(property, kind));
        let (singles, doubles) = (floats(Type::F32), floats(Type::F64));
        let memory = sum(&is_access);
        let bytes: f64 = items().filter_map(|(property, count)| Some(count * global_bits(property)? / 8.0)).sum();
        let beyond = |level: Cache| self.counts.of(CostProperty::Beyond(level)) > 0.0;
        let (read, written) = self.arrays;
        let counters = [
            ("instructions", singles + doubles + memory),
            ("instructions.f32", singles),
            ("instructions.f64", doubles),
            ("instructions.memory", memory),
            ("first_cache.bytes", bytes),
            ("memory.bytes_read", if beyond(Cache::Last) { read } else { 0.0 }),
            ("memory.bytes_written", if beyond(Cache::Last) { written } else { 0.0 }),
            ("last_cache.bytes_read", if beyond(Cache::First) { read } else { 0.0 }),
            ("last_cache.bytes_written", if beyond(Cache::First) { written } else { 0.0 }),
        ];
        counters.map(|(name, count)| (name.to_string(), count)).into()
    }

    /// Fills in a run that took `ms` as if its counters had been read: its operations, and the
    /// utilisation of memory, caches and arithmetic by the costs of `model`.
    pub fn fill(&self, model: &CostModel, ms: f64, measurement: &mut Measurement) {
        let busy = |is_part: &dyn Fn(CostProperty) -> bool| {
            let costs = model.terms.iter().filter(|term| is_part(term.property));
            let seconds = |term: &crate::Term| self.counts.counted(term.property) * term.weight;
            (costs.map(seconds).sum::<f64>() * 1e3 / ms).clamp(0.0, 1.0)
        };
        measurement.counters = self.operations();
        let shares = [
            ("memory.utilisation", busy(&|property| property == CostProperty::Beyond(Cache::Last))),
            (
                "last_cache.utilisation",
                busy(&|property| matches!(property, CostProperty::Beyond(Cache::First | Cache::Second))),
            ),
            ("first_cache.utilisation", busy(&is_global)),
            ("issue.utilisation", busy(&|property| property.resource() == Resource::Compute)),
        ];
        measurement.counters.extend(shares.map(|(name, share)| (name.to_string(), share)));
        let (launch, group) = self.items;
        measurement.values.insert(GLOBAL_SIZE.to_string(), vec![launch]);
        measurement.values.insert(LOCAL_SIZE.to_string(), vec![group]);
    }
}

/// Returns true if the property counts loads, stores or updates of memory. The lesser of loads and stores
/// does not count, because the other properties include it.
fn is_access(property: Property) -> bool {
    use Property::{Atomic, Global, LocalLoads, StridedLocalLoads};
    matches!(property, Global(..) | LocalLoads(_) | StridedLocalLoads(..) | Atomic(..))
}

/// Returns true if the property counts accesses to global memory, by work-items or by lanes.
fn is_global(property: CostProperty) -> bool {
    let (CostProperty::Items(own) | CostProperty::Lanes(own)) = property else { return false };
    matches!(own, Property::Global(..) | Property::LoadsAndStores(..) | Property::Atomic(_, _, Memory::Global, _))
}

/// Returns the bits of each access to global memory that the property counts, or `None` for other
/// properties.
fn global_bits(property: Property) -> Option<f64> {
    match property {
        Property::Global(bits, ..) => Some(f64::from(bits)),
        // A load and a store.
        Property::Atomic(_, kind, Memory::Global, _) => Some(2.0 * f64::from(kind.bits())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fitted::counts_of;
    use crate::{Case, Form, fit};

    fn counted(counts: &[(&str, f64)]) -> Counted {
        Counted { counts: counts_of(counts), arrays: (4000.0, 800.0), items: (512.0, 64.0) }
    }

    #[test]
    fn operations_are_summed_by_what_they_use() {
        let counted = counted(&[
            ("g:32:load:s1", 100.0),
            ("g:64:store:1/2", 10.0),
            ("g:32:min(load,store):s1", 7.0),
            ("l:32:load", 5.0),
            ("op:f32:add", 30.0),
            ("op:f64:mul", 2.0),
            ("cache:first", 4800.0),
        ]);
        let counters = counted.operations();
        let expected = [
            ("instructions", 147.0),
            ("instructions.f32", 30.0),
            ("instructions.f64", 2.0),
            ("instructions.memory", 115.0),
            ("first_cache.bytes", 480.0),
            ("last_cache.bytes_read", 4000.0),
            ("last_cache.bytes_written", 800.0),
            ("memory.bytes_read", 0.0),
        ];
        for (name, count) in expected {
            assert_eq!(counters[name], count, "{name}");
        }
    }

    #[test]
    fn a_part_is_as_busy_as_its_operations_take_of_the_time() {
        let counted = counted(&[("g:32:load:s1", 1e6), ("op:f32:add", 4e6)]);
        let case = |loads: f64, adds: f64| Case {
            kernel: format!("{loads}"),
            class: "c".into(),
            sizes: BTreeMap::new(),
            counts: counts_of(&[("g:32:load:s1", loads), ("op:f32:add", adds)]),
            seconds: 1e-5 + 1e-9 * loads + 2e-10 * adds,
        };
        let model = fit(&[case(1e6, 0.0), case(3e6, 0.0), case(1e5, 8e6), case(2e5, 1.6e7)], Form::Nnls).unwrap();
        let mut measurement = Measurement::default();
        counted.fill(&model, 4.0, &mut measurement);
        let share = |name: &str| (measurement.counters[name] * 1e4).round() / 1e4;
        assert_eq!((share("first_cache.utilisation"), share("issue.utilisation")), (0.25, 0.2));
        assert_eq!(share("memory.utilisation"), 0.0);
        assert_eq!(measurement.values[GLOBAL_SIZE], [512.0]);
    }
}
