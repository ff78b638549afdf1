//! The inputs that `tune --inputs` tunes a problem for.

use crate::draft::{InputSizeDraft, InputsDraft};
use crate::fault::Key;
use crate::inputs::{Input, Inputs};
use crate::values::Sizes;
use tunesmith_space::{Expr, Value, lookup};

/// Returns the inputs.
pub(crate) fn inputs(draft: &InputsDraft, sizes: Sizes<'_>) -> Inputs {
    let section = Key::of("inputs");
    let mut inputs = Inputs { count: draft.count, seed: draft.seed, runs: draft.runs.clone(), ..Inputs::default() };
    for (name, stated) in &draft.sizes {
        let key = section.field("sizes").field(name);
        if !sizes.knows(name, key.label()) {
            continue;
        }
        match stated {
            InputSizeDraft::Derived(expr) => inputs.derived.push((name.clone(), expr.clone())),
            InputSizeDraft::Values(values) => {
                inputs.values.extend(sizes.values(values, &key).map(|values| (name.clone(), values)));
            }
        }
    }
    let listed = draft.list.iter().enumerate();
    inputs.list = listed.map(|(at, input)| known(input, &section.field("list").at(at), sizes)).collect();
    inputs.filter.clone_from(&draft.filter);
    inputs.features = features(&draft.features, &section.field("features"), sizes);
    if inputs.values.is_empty() && inputs.list.is_empty() {
        let remedy = "write [inputs.sizes] with N = [64, 128], or list = [{ N = 64 }]".to_string();
        sizes.faults.error(section, "`inputs` names no size", Some(remedy));
    }
    inputs
}

/// Returns the sizes of an input that the problem has.
fn known(input: &Input, key: &Key, sizes: Sizes<'_>) -> Input {
    input.iter().filter(|(name, _)| sizes.knows(name, key.field(name).label())).cloned().collect()
}

fn features(drafts: &[(String, Expr)], section: &Key, sizes: Sizes<'_>) -> Vec<(String, Expr)> {
    let feature = |(name, expr): &(String, Expr)| {
        let key = section.field(name);
        if lookup(sizes.sizes, name).is_some() {
            sizes.faults.error(key.label(), format!("`{name}` is a size already"), None);
            return None;
        }
        // An expression that fails for the problem's own sizes is a mistake.
        if let Err(error) = number(expr, sizes.sizes) {
            sizes.faults.error(key, format!("in `{}`: {error}", expr.text()), None);
        }
        Some((name.clone(), expr.clone()))
    };
    drafts.iter().filter_map(feature).collect()
}

/// Returns the number that an expression over sizes evaluates to.
fn number(expr: &Expr, sizes: &[(String, Value)]) -> Result<f64, String> {
    let value = expr.evaluate(&|name| lookup(sizes, name)).map_err(|error| error.to_string())?;
    value.as_float().filter(|number| number.is_finite()).ok_or_else(|| format!("must give a number, but gives {value}"))
}
