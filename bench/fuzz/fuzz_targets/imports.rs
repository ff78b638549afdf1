//! Functions in C, imported as loop nests: the nest prints as a text that parses as the same nest, and with
//! all transformations at once it makes a nest. For one in 32 inputs, every value of its parameters makes a
//! nest, and each of these computes, bit for bit, what the plain one does. A refusal names places of the
//! text, in their order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tunesmith_fuzz::{one_in, text};
use tunesmith_import::{ImportError, ImportOptions, Imported, import};
use tunesmith_loopnest::{Data, LaneOrder, Memory, Nest, Recipe, Schedule, Value, count, interpret};

fuzz_target!(|input: &[u8]| {
    let Some(text) = text(input) else { return };
    let Some(name) = function(text) else { return };
    match import(text, name, &ImportOptions { no_alias: one_in(2, input) }) {
        Ok(imported) => accepted(&imported, input),
        Err(error) => refused(&error, text),
    }
});

/// Returns the name of the first function without a result.
fn function(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("void ")?;
    rest.split_once('(').map(|(name, _)| name.trim()).filter(|name| !name.is_empty())
}

fn refused(error: &ImportError, text: &str) {
    assert!(!error.findings.is_empty(), "a refusal without a reason");
    let lines: Vec<&str> = text.split('\n').collect();
    for finding in &error.findings {
        let line = lines.get(finding.line - 1).unwrap_or_else(|| panic!("there is no line {}", finding.line));
        assert!(finding.column >= 1 && finding.column <= line.len() + 1, "{finding:?}");
        assert!(!finding.text.is_empty());
    }
    let places = |one: &[tunesmith_import::Finding]| (one[0].line, one[0].column) <= (one[1].line, one[1].column);
    assert!(error.findings.windows(2).all(places), "{:?}", error.findings);
}

fn accepted(imported: &Imported, input: &[u8]) {
    let text = &imported.nest;
    let recipe: Recipe = text.parse().unwrap_or_else(|error| panic!("the nest is refused: {error}\n{text}"));
    let printed = recipe.nest.to_string();
    let again: Nest = printed.parse().unwrap_or_else(|error| panic!("the printed nest is refused: {error}\n{printed}"));
    assert_eq!(again.to_string(), printed, "printed again, it differs");
    assert_eq!(recipe.nest.sizes.len(), imported.sizes.len(), "{text}");
    let closely = one_in(32, input);
    let plans = plans(imported, closely);
    let sizes: Vec<Vec<i64>> = [5, 3].map(|first| (first..).take(imported.sizes.len()).collect()).into();
    let sizes: Vec<Vec<i64>> = sizes.into_iter().filter(|sizes| closely && is_small(&recipe.nest, sizes)).collect();
    let expected: Vec<_> = sizes.iter().map(|sizes| outcome(&recipe.nest, sizes, LaneOrder::Ascending)).collect();
    for plan in &plans {
        let nest = recipe.apply(plan).unwrap_or_else(|error| panic!("{plan:?} is refused: {error}\n{text}"));
        assert!(Schedule::new(&nest).is_ok(), "{plan:?} has no schedule\n{text}");
        for (sizes, expected) in sizes.iter().zip(&expected) {
            for order in [LaneOrder::Ascending, LaneOrder::Descending] {
                compare(expected, &outcome(&nest, sizes, order), || format!("{plan:?} at {sizes:?}\n{text}"));
            }
        }
    }
}

/// Returns values of the parameters: all transformations at once, and if `all` is true also none and every value alone.
fn plans(imported: &Imported, all: bool) -> Vec<Vec<(&str, i64)>> {
    let mut plans = if all { vec![Vec::new()] } else { Vec::new() };
    for parameter in &imported.tuning {
        assert!(parameter.values.contains(&parameter.default), "{parameter:?}");
        let alone = parameter.values.iter().map(|value| vec![(parameter.name.as_str(), *value)]);
        plans.extend(alone.filter(|_| all));
    }
    let flags = imported.tuning.iter().filter(|parameter| parameter.values == [0, 1]);
    plans.push(flags.map(|parameter| (parameter.name.as_str(), 1)).collect());
    plans
}

/// Maximum number of operations, and of cells, of a nest that is interpreted.
const MOST: i128 = 10_000;

fn is_small(nest: &Nest, sizes: &[i64]) -> bool {
    let cells = |array: &tunesmith_loopnest::Array| {
        let extents = array.shape.iter().map(|extent| extent.at_sizes(sizes));
        extents.fold(1_i128, |cells, extent| cells.saturating_mul(extent.max(0)))
    };
    let are_small = nest.admits(sizes) && nest.arrays.iter().all(|array| cells(array) <= MOST);
    let work = || Some(count::count(nest).ok()?.evaluate(sizes).ok()?.into_iter().fold(0_i128, i128::saturating_add));
    are_small && work().is_some_and(|work| work <= MOST)
}

/// Returns the bits of the cells that a caller sees after a run, or the reason why it cannot run. What
/// is not a number has one form.
fn outcome(nest: &Nest, sizes: &[i64], order: LaneOrder) -> Result<Vec<Vec<u64>>, String> {
    let mut data = Data::filled(nest, sizes, 5).map_err(|error| error.message)?;
    interpret::run(nest, sizes, &mut data, order).map_err(|error| error.message)?;
    let bits = |cell: &Value| {
        let number = cell.as_f64();
        if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() }
    };
    let seen = nest.arrays.iter().zip(&data.cells).filter(|(array, _)| array.memory == Memory::Global);
    Ok(seen.map(|(_, cells)| cells.iter().map(bits).collect()).collect())
}

/// A plain nest that cannot run, because it leaves an array, has no result to keep.
fn compare(plain: &Result<Vec<Vec<u64>>, String>, found: &Result<Vec<Vec<u64>>, String>, context: impl Fn() -> String) {
    let Ok(plain) = plain else { return };
    match found {
        Ok(found) => assert!(found[..plain.len()] == plain[..], "another result: {}", context()),
        Err(error) => panic!("{error}: {}", context()),
    }
}
