//! Compares counts beyond the paper with work-items that run one by one.

use crate::items;
use crate::transformed;

use items::{Item, each_item};
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use transformed::check_transformed;
use tunesmith_loopnest::kernels::{COVERAGE, Extent, Groups, KERNELS, Kernel};
use tunesmith_loopnest::{
    Access, ArrayId, Counts, Direction, Expr, Instruction, Lanes, Memory, Nest, Operation, Property, Residency, Tag,
    Type, blocks, count, schedule,
};

/// Returns the conversion of a value of type `kind` that is wanted as `to`, by name.
fn conversion(expr: &Expr, kind: Type, to: Type) -> Option<String> {
    match expr {
        Expr::Number(_) => None,
        Expr::Index(sum) => (to.is_float() && sum.loops().next().is_some()).then(|| format!("{to}:from_i32")),
        _ => (kind != to).then(|| format!("{to}:from_{kind}")),
    }
}

/// Counts operations by name and returns the depth of the result. `loaded` gives the depth of a
/// cell.
fn operations(
    nest: &Nest,
    expr: &Expr,
    context: Type,
    loaded: &dyn Fn(&Access) -> i128,
    found: &mut Vec<String>,
) -> i128 {
    let kind = nest.operation_type(expr, context);
    found.extend(conversion(expr, kind, context));
    let below = expr.children().into_iter().map(|child| operations(nest, child, kind, loaded, found)).max();
    let (name, times) = match expr {
        Expr::Load(access, _) => return loaded(access),
        Expr::Binary(operator, _, exponent) => match (Operation::of(*operator), exponent.as_ref()) {
            (Operation::Pow, Expr::Index(sum)) if sum.as_constant().is_some_and(|times| (1..=8).contains(&times)) => {
                (Operation::Mul, sum.offset() - 1)
            }
            (operation, _) => (operation, 1),
        },
        Expr::Call(function, _) => (Operation::of_function(*function), 1),
        _ => return below.unwrap_or(0),
    };
    found.extend((0..times).map(|_| format!("{kind}:{name}")));
    // One product among the parts of a sum is fused with it.
    let product = format!("{kind}:{}", Operation::Mul);
    let is_product = |part: &Expr| {
        let part = if let Expr::Neg(inner) = part { inner } else { part };
        let mut own = Vec::new();
        operations(nest, part, kind, loaded, &mut own);
        let is_quotient = matches!(part, Expr::Binary(operator, ..) if Operation::of(*operator) == Operation::Div);
        matches!(part, Expr::Binary(..)) && !is_quotient && own.last() == Some(&product)
    };
    if kind.is_float() && name == Operation::Add && expr.children().into_iter().any(is_product) {
        found.pop();
        let at = found.iter().rposition(|name| *name == product).unwrap();
        found[at] = format!("{kind}:fma");
    }
    // No chain goes through integers.
    below.unwrap_or(0) + if kind.is_float() { times } else { 0 }
}

/// Returns the largest number of words that one bank gives the first lanes of the group, with all
/// other indices fixed.
fn conflict(item: &Item, access: &Access, instruction: &Instruction) -> u32 {
    let nest = item.nest;
    let local = nest.local_size().unwrap();
    let words = i128::from(nest.array(access.array).element.bits() / 32);
    let mut cells = BTreeSet::new();
    for lane in 0..local.iter().product::<i128>().min(32) {
        let mut other = Item { indices: item.indices.clone(), ..*item };
        let at = [lane % local[0], lane / local[0] % local[1], lane / local[0] / local[1]];
        for (axis, index) in at.into_iter().enumerate() {
            let own = nest.hardware_loop(instruction, tunesmith_loopnest::Tag::Local(axis as u8));
            other.indices.extend(own.map(|id| (id, index)));
        }
        let array = nest.array(access.array);
        let subscripts = other.cell(access);
        let place = |axis: usize| array.stride(axis).iter().map(|extent| other.at(extent)).product::<i128>();
        cells.insert((0..subscripts.len()).map(|axis| subscripts[axis] * place(axis)).sum::<i128>());
    }
    let of_bank = |bank: i128| {
        let words = cells.iter().flat_map(|cell| (0..words).map(move |word| cell * words + word));
        words.filter(|word| word.rem_euclid(32) == bank).count() as u32
    };
    let most = (0..32).map(of_bank).max().unwrap().div_ceil(words as u32);
    if cells.len() == 1 { 0 } else { [1, 2, 4, 8, 16, 32].into_iter().find(|degree| most <= *degree).unwrap() }
}

/// Returns what a work-item computes before it updates or stores a cell.
fn own_value(instruction: &Instruction) -> &Expr {
    instruction.update().map_or(&instruction.value, |(_, operand)| operand)
}

/// Returns true if an access is a part of an atomic update.
fn is_updated(instruction: &Instruction, access: &Access) -> bool {
    instruction.is_atomic && access.array == instruction.target.array
}

/// Returns every count by name, found one by one.
fn enumerated(nest: &Nest, sizes: &[i64]) -> BTreeMap<String, i128> {
    let counts = RefCell::new(BTreeMap::<String, i128>::new());
    let mut issued = BTreeSet::new();
    // The banks depend on the indices of other loops. The number of accesses to each does not.
    let conflicts = RefCell::new(BTreeMap::<(usize, Access), u32>::new());
    let depths = RefCell::new(BTreeMap::<(ArrayId, Vec<i128>), i128>::new());
    let add = |name: String| *counts.borrow_mut().entry(name).or_default() += 1;
    each_item(
        nest,
        sizes,
        || depths.borrow_mut().clear(),
        |item, number, instruction| {
            let is_first = issued.insert((number, item.group, item.number / 32, item.point(instruction)));
            let loaded =
                |access: &Access| depths.borrow().get(&(access.array, item.cell(access))).copied().unwrap_or(0);
            let mut done = Vec::new();
            let context = nest.array(instruction.target.array).element;
            let depth = operations(nest, own_value(instruction), context, &loaded, &mut done);
            depths.borrow_mut().insert((instruction.target.array, item.cell(&instruction.target)), depth);
            let longest = counts.borrow().get("chain").copied().unwrap_or(0).max(depth);
            counts.borrow_mut().insert("chain".to_string(), longest);
            for name in done {
                add(format!("arith:{name}"));
                if is_first {
                    add(format!("sub:op:{name}"));
                }
            }
            for (access, _, direction) in instruction.accesses().filter(|(access, ..)| !is_updated(instruction, access))
            {
                let array = nest.array(access.array);
                let (bits, direction) =
                    (array.element.bits(), if direction == Direction::Load { "load" } else { "store" });
                let letter = match array.memory {
                    Memory::Global => "g",
                    Memory::Local => "l",
                    _ => continue,
                };
                if is_first {
                    add(format!("sub:{letter}:{bits}:{direction}"));
                }
                if letter == "l" {
                    let key = (number, access.clone());
                    let conflict =
                        *conflicts.borrow_mut().entry(key).or_insert_with(|| conflict(item, access, instruction));
                    add(format!("bank:{bits}:{direction}:{conflict}"));
                }
            }
        },
    );
    let mut counts = counts.into_inner();
    counts.retain(|_, count| *count != 0);
    counts
}

/// Compares counts with enumeration at these sizes. Returns the refused kinds with the reasons.
fn compare(nest: &Nest, all_sizes: &[Vec<i64>]) -> Result<Vec<(String, String)>, String> {
    let modern = count::count_modern(nest).map_err(|error| error.message)?;
    let is_refused = |name: &str| modern.refused.iter().any(|(kind, _)| name.split(':').next() == Some(kind));
    for sizes in all_sizes {
        let values = modern.counts.evaluate(sizes).unwrap();
        let named = modern.counts.properties().iter().map(ToString::to_string).zip(values);
        let found: BTreeMap<String, i128> = named.filter(|(_, count)| *count != 0).collect();
        let mut expected = enumerated(nest, sizes);
        expected.retain(|name, _| !is_refused(name));
        if found != expected {
            return Err(format!("at {sizes:?}: {found:?}, not {expected:?}\n{nest}"));
        }
    }
    Ok(modern.refused.iter().map(|(kind, error)| (kind.to_string(), error.message.clone())).collect())
}

/// Returns true if all work-items along an axis access one cell, judged by the cells of the access.
fn is_shared(item: &Item, access: &Access, instruction: &Instruction, axis: Tag) -> bool {
    let nest = item.nest;
    let lane = nest.hardware_loop(instruction, axis);
    let at = |index: i128| {
        let mut other = Item { indices: item.indices.clone(), ..*item };
        other.indices.extend(lane.map(|id| (id, index)));
        let strides =
            |axis: usize| nest.array(access.array).stride(axis).iter().map(|extent| other.at(extent)).product::<i128>();
        other.cell(access).into_iter().enumerate().map(|(axis, index)| index * strides(axis)).sum::<i128>()
    };
    at(0) == at(1)
}

/// Returns the lanes occupied, found work-item by work-item: operations by name, loads and stores
/// of any stride.
fn lanes_enumerated(nest: &Nest, sizes: &[i64], lanes: Lanes) -> BTreeMap<String, i128> {
    let mut counts = BTreeMap::<String, i128>::new();
    let mut issued = BTreeSet::new();
    let has_rows = nest.order.iter().any(|id| nest.loop_at(*id).tag == Tag::Local(0));
    let row = nest.local_size().unwrap()[0];
    let items = nest.local_size().unwrap().into_iter().product::<i128>();
    let rows = blocks::rows_side_by_side(nest).unwrap();
    each_item(
        nest,
        sizes,
        || {},
        |item, number, instruction| {
            let together = match lanes {
                _ if !has_rows => [item.number, 0],
                Lanes::Numbered(width) => [item.number / i128::from(width), 0],
                Lanes::InRows(width) | Lanes::InBlocks(width) => {
                    [item.number / row, item.number % row / i128::from(width)]
                }
            };
            let width = if has_rows { lanes.width() } else { 1 };
            let mut add = |name: String, place: usize, together: [i128; 2], width: i128| {
                if issued.insert((number, place, item.group, together, item.point(instruction))) {
                    *counts.entry(name).or_default() += width;
                }
            };
            let mut done = Vec::new();
            let target = nest.array(instruction.target.array);
            operations(nest, own_value(instruction), target.element, &|_| 0, &mut done);
            done.into_iter().enumerate().for_each(|(place, name)| add(format!("arith:{name}"), place, together, width));
            if let Some((operation, _)) = instruction.update() {
                add(format!("atomic:{}:{operation}", target.element), 2000, together, width);
            }
            for (place, (access, _, direction)) in
                instruction.accesses().filter(|(access, ..)| !is_updated(instruction, access)).enumerate()
            {
                let array = nest.array(access.array);
                let letter = match (array.memory, direction) {
                    (Memory::Global, _) => "g",
                    (Memory::Local, Direction::Load) => "l",
                    _ => continue,
                };
                let is_load = has_rows && direction == Direction::Load;
                let [is_shared, is_same_in_rows] =
                    [0, 1].map(|axis| is_load && is_shared(item, access, instruction, Tag::Local(axis)));
                let name = format!("{letter}:{}:{direction}", array.element.bits());
                if is_same_in_rows && matches!(lanes, Lanes::InBlocks(2..)) && rows[number] > 1 {
                    // All blocks of the work-group, once.
                    let vectors = if is_shared { 1 } else { (row + width - 1) / width };
                    add(name, 1000 + place, [-1, -1], vectors * width * (items / row / rows[number]));
                    continue;
                }
                let in_rows = matches!(lanes, Lanes::InRows(2..) | Lanes::InBlocks(2..));
                let together = if is_shared && in_rows { [together[0], -1] } else { together };
                add(name, 1000 + place, together, width);
            }
        },
    );
    counts.retain(|_, count| *count != 0);
    counts
}

/// Returns the counts of lanes, summed over strides and conflicts.
fn lanes_counted(counts: &Counts, sizes: &[i64]) -> BTreeMap<String, i128> {
    let mut found = BTreeMap::new();
    for (property, count) in counts.properties().iter().zip(counts.evaluate(sizes).unwrap()) {
        let name = match property {
            Property::Arithmetic(..) => property.to_string(),
            Property::Atomic(operation, kind, ..) => format!("atomic:{kind}:{operation}"),
            Property::Global(bits, direction, _) => format!("g:{bits}:{direction}"),
            Property::LocalLoads(bits) | Property::StridedLocalLoads(bits, _) | Property::Banks(bits, ..) => {
                format!("l:{bits}:load")
            }
            _ => continue,
        };
        *found.entry(name).or_default() += count;
    }
    found.retain(|_, count| *count != 0);
    found
}

#[test]
fn what_work_groups_only_copy_between_barriers_is_known() {
    let copied = |name: &str| {
        let nest = KERNELS.iter().find(|kernel| kernel.name == name).unwrap().nest(16, 16, false).unwrap();
        let target = |number: usize| nest.array(nest.instructions[number].target.array).name.clone();
        schedule::copying(&nest).unwrap().into_iter().map(target).collect::<Vec<String>>()
    };
    assert_eq!(copied("matmul_square"), ["a_tile", "b_tile", "c"]);
    assert_eq!(copied("finite_differences"), ["u_tile"]);
    assert_eq!(copied("matmul_naive"), [""; 0], "there are no barriers");
}

#[test]
fn some_kernels_take_the_lanes_that_their_work_items_do_one_by_one() {
    let in_lines = KERNELS.iter().filter(|kernel| matches!(kernel.groups, Groups::Line));
    in_lines.step_by(4).for_each(takes_the_lanes_one_by_one);
}

#[test]
fn every_kernel_takes_the_lanes_that_its_work_items_do_one_by_one() {
    KERNELS.iter().for_each(takes_the_lanes_one_by_one);
}

fn takes_the_lanes_one_by_one(kernel: &Kernel) {
    let in_rows = [Lanes::InRows(1), Lanes::InRows(4), Lanes::InRows(16), Lanes::InBlocks(16)];
    let numbered = [1, 32].map(Lanes::Numbered);
    let shapes: &[(i64, i64, &[Lanes])] = match kernel.groups {
        Groups::Line | Groups::Row(_) => &[(40, 1, &in_rows), (40, 1, &numbered)],
        // Sub-groups that end within a row take longer to count, or cannot be counted.
        Groups::Rectangle | Groups::Narrow => &[(8, 4, &numbered), (6, 6, &in_rows)],
    };
    for (x, y, all) in shapes {
        let nest = kernel.nest(*x, *y, false).unwrap();
        for lanes in *all {
            let counts = count::count_lanes(&nest, *lanes).unwrap();
            for main in [5, 13] {
                let main = if kernel.sizes.contains(&Extent::Times(8)) { main / 4 } else { main };
                let sizes = kernel.size_values(if kernel.name.starts_with("filled") { 1 } else { main }, 3);
                let expected = lanes_enumerated(&nest, &sizes, *lanes);
                assert_eq!(lanes_counted(&counts, &sizes), expected, "{} {x}x{y} {sizes:?} {lanes:?}", kernel.name);
            }
        }
    }
}

#[test]
fn some_random_nests_take_the_lanes_that_their_work_items_do_one_by_one() {
    random_nests_take_the_lanes(30);
}

#[test]
fn random_nests_take_the_lanes_that_their_work_items_do_one_by_one() {
    random_nests_take_the_lanes(300);
}

fn random_nests_take_the_lanes(cases: u32) {
    let (compared, refused) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    check_transformed(cases, |nest| {
        // A vector loop makes one access out of several.
        let has_vectors = nest.order.iter().any(|id| nest.loop_at(*id).tag == Tag::Vector);
        if has_vectors || count::count(nest).is_err() {
            return Ok(());
        }
        for lanes in [Lanes::InRows(1), Lanes::InRows(4), Lanes::InRows(16), Lanes::InBlocks(4), Lanes::Numbered(32)] {
            let Ok(counts) = count::count_lanes(nest, lanes) else {
                refused.set(refused.get() + 1);
                continue;
            };
            for sizes in [[1, 1], [2, 5], [4, 3]] {
                let expected = lanes_enumerated(nest, &sizes, lanes);
                prop_assert_eq!(lanes_counted(&counts, &sizes), expected, "{:?} at {:?}\n{}", lanes, sizes, nest);
            }
            compared.set(compared.get() + 1);
        }
        Ok(())
    });
    assert!(
        compared.get() * 3 > 7 * cases && refused.get() < compared.get() / 20,
        "{} {}",
        compared.get(),
        refused.get()
    );
}

#[test]
fn shared_sums_and_tiles_loaded_ahead_count_as_their_work_items_do_one_by_one() {
    for kernel in COVERAGE.iter().filter(|kernel| matches!(kernel.class, "reduction" | "pipelined")) {
        let x = if kernel.class == "reduction" { 40 } else { 8 };
        let nest = kernel.nest(x, 4, false).unwrap();
        let sizes = [5, 13, 50].map(|main| kernel.size_values(if x == 8 { main.min(13) } else { main }, 3));
        let refused = compare(&nest, &sizes).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
        // Chains through the cells of several work-items are not counted.
        let kinds: Vec<&str> = refused.iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, if kernel.class == "reduction" { vec!["chain"] } else { Vec::new() }, "{}", kernel.name);
        takes_the_lanes_one_by_one(kernel);
    }
}

#[test]
fn every_kernel_counts_as_its_work_items_do_one_by_one() {
    for kernel in &KERNELS {
        // Sub-groups that end within a row take longer to count.
        let shapes: &[(i64, i64)] = match (kernel.groups, kernel.class) {
            (Groups::Line, _) => &[(40, 1)],
            (_, "transpose") => &[(8, 4), (6, 6)],
            _ => &[(8, 4)],
        };
        for (x, y) in shapes {
            let nest = kernel.nest(*x, *y, false).unwrap();
            let sizes = [5, 13].map(|main| {
                let main = if kernel.sizes.contains(&Extent::Times(8)) { main / 4 } else { main };
                kernel.size_values(if kernel.name.starts_with("filled") { 1 } else { main }, 3)
            });
            let sizes: Vec<Vec<i64>> = sizes.into_iter().filter(|sizes| nest.admits(sizes)).collect();
            let refused = compare(&nest, &sizes).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
            assert!(refused.is_empty(), "{} {x}x{y}: {refused:?}", kernel.name);
        }
    }
}

#[test]
fn random_nests_count_as_their_work_items_do_one_by_one() {
    let refused = RefCell::new(BTreeMap::<(String, String), usize>::new());
    let compared = std::cell::Cell::new(0);
    check_transformed(600, |nest| {
        if count::count_modern(nest).is_err() {
            return Ok(());
        }
        let sizes = [[1, 1], [2, 5], [4, 3]].map(Vec::from);
        let reasons = compare(nest, &sizes).map_err(TestCaseError::fail)?;
        compared.set(compared.get() + 1);
        for (kind, reason) in reasons {
            let reason = reason.split(['`', '[']).next().unwrap_or_default().to_string();
            *refused.borrow_mut().entry((kind, reason)).or_default() += 1;
        }
        Ok(())
    });
    let (compared, refused) = (compared.get(), refused.into_inner());
    let of = |kind: &str| refused.iter().filter(|((own, _), _)| own == kind).map(|(_, times)| times).sum::<usize>();
    println!("{compared} compared, refused: {refused:#?}");
    assert!(compared > 500 && of("sub") < 30 && of("chain") + 60 < compared, "{compared}: {refused:#?}");
}

#[test]
fn independent_accumulators_make_no_longer_chain_and_dependent_ones_do() {
    let chain = |body: &str| {
        let head = "sizes n\nassume n > 0\narray a[n]: f32\narray out[2]: f32\ntemporary x: f32\ntemporary y: f32\n";
        let text = format!("{head}{{[i]: 0 <= i < n}}\nx = 0.0 @\ny = 0.0 @\n{body}\nout[0] = x @\nout[1] = y @");
        let modern = count::count_modern(&text.parse::<Nest>().unwrap()).unwrap();
        let place = modern.counts.properties().iter().position(|property| property.to_string() == "chain");
        place.map(|place| modern.counts.evaluate(&[100]).unwrap()[place]).ok_or_else(|| modern.refused[0].1.to_string())
    };
    assert_eq!(chain("x = x + a[i] @ i"), Ok(100));
    assert_eq!(chain("x = x + a[i] @ i\ny = y + 2.0*a[i] @ i"), Ok(101));
    let crossed = chain("x = x + y @ i\ny = y + x @ i").unwrap_err();
    assert!(crossed.contains("iterations of `i` pass results through"), "{crossed}");
}

#[test]
fn no_chain_is_claimed_where_there_may_be_no_work_group() {
    let chain = |assumed: &str| {
        let text = format!(
            "sizes n\nassume {assumed}\narray a[n]: f32\narray b[1]: f32\ntemporary x: f32\n{{[i]: 0 <= i < n - 1}}\n\
             x = 0.25 @\nx = x + b[0] @\na[i] = 1.0 @ i\ntag i group.0"
        );
        let nest = text.parse::<Nest>().unwrap();
        compare(&nest, &[vec![2], vec![5]]).unwrap();
        count::count_modern(&nest).unwrap().refused.iter().any(|(kind, _)| *kind == "chain")
    };
    assert!(chain("n > 0"), "n may be 1");
    assert!(!chain("n > 1"));
}

#[test]
fn waves_are_as_many_as_fill_the_device() {
    let nest =
        "sizes n\narray a[n]: f32\n{[i]: 0 <= i < n}\na[i] = 1.0\nsplit i 32 -> o, l\ntag o group.0\ntag l local.0"
            .parse::<Nest>()
            .unwrap();
    let one = |number| NonZeroU32::new(number).unwrap();
    let residency = Residency { compute_units: one(4), groups: one(3) };
    assert_eq!([1, 384, 385, 3200].map(|n| nest.waves(&[n], residency)), [1, 1, 2, 9]);
}
