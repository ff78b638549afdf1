//! The order in which instructions run, as text.

use tunesmith_loopnest::{Nest, Schedule, Step};

/// Returns the order of the instructions, with `|` for a barrier.
pub(crate) fn order_of(nest: &Nest) -> String {
    fn show(nest: &Nest, steps: &[Step]) -> String {
        let step = |step: &Step| match step {
            Step::Loop(id, body) => format!("{}({})", nest.loop_at(*id).name, show(nest, body)),
            Step::Run(number) => number.to_string(),
            Step::Barrier => "|".to_string(),
        };
        steps.iter().map(step).collect::<Vec<_>>().join(" ")
    }
    show(nest, &Schedule::new(nest).unwrap().steps)
}
