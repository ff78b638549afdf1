//! Derives wanted changes of counters from bottlenecks.

use super::analysis::CLASSES;
use super::family::Local;
use super::{Bottleneck, Bottlenecks, Family, Quantity, Rules, Variant};

/// The bottlenecks of memories, each with the quantity whose decrease relieves it.
const MEMORIES: [(Bottleneck, Quantity); 7] = [
    (Bottleneck::MemoryRead, Quantity::DramReads),
    (Bottleneck::MemoryWrite, Quantity::DramWrites),
    (Bottleneck::L2Read, Quantity::L2Reads),
    (Bottleneck::L2Write, Quantity::L2Writes),
    (Bottleneck::Texture, Quantity::Textures),
    (Bottleneck::SharedRead, Quantity::SharedLoads),
    (Bottleneck::SharedWrite, Quantity::SharedStores),
];

/// Returns the wanted changes of the counters of `family`, from -1 (less) to 1 (more), without
/// those that are 0 (Eq. 15 and section 3.5.2). `family` is the family on which the counter model
/// was trained.
pub fn wanted_changes(bottlenecks: &Bottlenecks, family: &Family, rules: &Rules) -> Vec<(Quantity, f64)> {
    let of = |bottleneck| bottlenecks.get(bottleneck).unwrap_or(0.0);
    let mut changes: Vec<(Quantity, f64)> =
        MEMORIES.into_iter().map(|(bottleneck, quantity)| (quantity, -of(bottleneck))).collect();
    let local = -of(Bottleneck::Local);
    match (family.local, rules.variant) {
        (Local::None, _) => {}
        (Local::Overhead, _) => changes.push((Quantity::LocalOverhead, local)),
        (Local::StoresOfWrites, Variant::Paper) => changes.push((Quantity::LocalStores, local)),
        (Local::StoresOfWrites, _) => {
            changes.extend([(Quantity::LocalLoads, local), (Quantity::LocalStores, local)]);
        }
    }
    for (class, quantity) in CLASSES {
        changes.push((quantity, -instructions(class, of(class), family, rules)));
    }
    if rules.variant != Variant::Paper && !family.whole_floats {
        // The authors' program also asks for a larger share of the peak rate, if there is such a
        // counter.
        changes.push((Quantity::Float32Efficiency, rules.excess(of(Bottleneck::Float32))));
    }
    // Section 3.5.2 applies Eq. 15 with its sign: it takes the counter for the share of cycles that
    // issue nothing. The counter is the share of cycles that issue something, and the authors'
    // program asks for more of it.
    let issue = of(Bottleneck::Issue);
    let issue = if rules.variant == Variant::Paper { -rules.excess(issue) } else { issue };
    changes.push((Quantity::IssueUse, issue));
    changes.push((Quantity::Efficiency, of(Bottleneck::Idle)));
    changes.push((Quantity::Threads, of(Bottleneck::Parallelism)));
    changes.retain(|(_, change)| *change != 0.0);
    changes
}

/// Returns the wanted decrease of a class of instructions.
fn instructions(class: Bottleneck, bottleneck: f64, family: &Family, rules: &Rules) -> f64 {
    let is_float = matches!(class, Bottleneck::Float32 | Bottleneck::Float64);
    if is_float && family.whole_floats && rules.variant != Variant::Paper {
        return if bottleneck > rules.reaction { bottleneck } else { 0.0 };
    }
    rules.excess(bottleneck)
}
