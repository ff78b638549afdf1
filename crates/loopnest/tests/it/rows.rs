//! Compares counts of rows with work-items that run one by one.

use crate::items;

use items::{Item, each_item};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tunesmith_loopnest::kernels::{Groups, KERNELS};
use tunesmith_loopnest::{Instruction, Lanes, Nest, Recipe, Step, blocks, count, schedule::Schedule};

/// Returns, for each instruction, the first of those that share a loop over the work-items of a row with it.
fn leaders(nest: &Nest) -> Vec<usize> {
    fn gather(nest: &Nest, steps: &[Step], last: &mut Option<usize>, leaders: &mut [usize]) {
        for step in steps {
            match step {
                Step::Barrier => *last = None,
                Step::Loop(_, body) => {
                    *last = None;
                    gather(nest, body, last, leaders);
                    *last = None;
                }
                Step::Run(number) => {
                    let is_same = |own: &usize| nest.instructions[*own].within == nest.instructions[*number].within;
                    let leader = last.filter(is_same).unwrap_or(*number);
                    (leaders[*number], *last) = (leader, Some(leader));
                }
            }
        }
    }
    let mut leaders: Vec<usize> = (0..nest.instructions.len()).collect();
    gather(nest, &Schedule::new(nest).unwrap().steps, &mut None, &mut leaders);
    leaders
}

/// Returns the rows and the cut ones of a nest that generated C runs without blocks.
fn enumerated(nest: &Nest, sizes: &[i64]) -> [i128; 2] {
    let (leaders, [width, ..]) = (leaders(nest), nest.local_size().unwrap());
    let mut rows: BTreeMap<_, i128> = BTreeMap::new();
    let visit = |item: &Item, number: usize, instruction: &Instruction| {
        if leaders[number] == number {
            *rows.entry((number, item.group, item.number / width, item.point(instruction))).or_default() += 1;
        }
    };
    each_item(nest, sizes, || {}, visit);
    [rows.len() as i128, rows.values().filter(|items| **items < width).count() as i128]
}

fn counted(nest: &Nest, sizes: &[i64]) -> Option<[i128; 2]> {
    count::count_rows(nest, Lanes::InBlocks(16)).ok()?.evaluate(sizes).ok()?.try_into().ok()
}

/// Returns true if generated C has loops over the work-items of rows, and no blocks.
fn has_plain_rows(nest: &Nest) -> bool {
    nest.local_size().is_ok_and(|[width, ..]| width > 1)
        && Schedule::new(nest).is_ok()
        && blocks::rows_side_by_side(nest).is_ok_and(|rows| rows.iter().all(|rows| *rows == 1))
        && !has_blocks(nest)
}

/// Returns true if the rows of some instruction are those of blocks: it then has fewer than its loops have.
fn has_blocks(nest: &Nest) -> bool {
    blocks::side_by_side(nest).unwrap() != nest.local_size().unwrap()[0]
        || tunesmith_loopnest::codegen::source(nest, tunesmith_loopnest::Dialect::C).unwrap().text.contains("first0")
}

/// Returns a nest whose cells each have one writer, in work-groups of `x` times `y`. `[bounds, copy, order]` choose
/// the bounds of its loops, whether it copies what it reads, and which loop is the row.
fn tiled([bounds, copy, order]: [usize; 3], x: i64, y: i64) -> Nest {
    // Work-groups run loops between ends that are known before the run, and tiles need them.
    let is_rectangle = bounds % 4 == 0;
    let bounds = ["0 <= j < m", "0 <= j <= i", "i <= j < m", "2 <= j < m - 1", "0 <= j < m and j < n"][bounds];
    let [column, row] = [["ji", "ii"], ["ii", "ji"]][order];
    let copies = format!("prefetch a sweep ii, ji -> tile[t0, t1]\nsplit t1 {x} -> t1o, t1i\ntag t1i local.{order}");
    let text = format!(
        "sizes n, m\nassume n > 0\nassume m > 0\narray a[n + 2, m + n + 2]: f32\narray out[n, m + n]: f32\n\
         {{[i, j]: 0 <= i < n and {bounds}}}\nout[i, j] = a[i, j] + a[i + 1, j + 2]\n\
         split i {y} -> io, ii\nsplit j {x} -> jo, ji\ntag io group.0\n\
         tag {column} local.0\ntag {row} local.1\n{}{}",
        if is_rectangle { "tag jo group.1\n" } else { "" },
        if is_rectangle && copy == 1 { &copies } else { "" },
    );
    text.parse::<Recipe>().unwrap().apply(&[]).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

#[test]
fn the_rows_of_kernels_are_those_of_their_work_items() {
    let mut compared = 0;
    for kernel in KERNELS.iter().filter(|kernel| !kernel.name.starts_with("matmul")) {
        let (x, y) = if kernel.groups == Groups::Line { (40, 1) } else { (6, 6) };
        let nest = kernel.nest(x, y, false).unwrap();
        if !has_plain_rows(&nest) {
            continue;
        }
        for main in [5, 13] {
            let sizes = kernel.size_values(if kernel.name.starts_with("filled") { 1 } else { main }, 3);
            assert_eq!(counted(&nest, &sizes), Some(enumerated(&nest, &sizes)), "{} {sizes:?}", kernel.name);
            compared += 1;
        }
    }
    assert!(compared > 40, "{compared}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_rows_of_random_nests_are_those_of_their_work_items(
        choices in (0..5usize, 0..2usize, 0..2usize),
        (x, y) in (2..6i64, 2..4i64),
        sizes in (1..9i64, 1..9i64),
    ) {
        let nest = tiled(choices.into(), x, y);
        let sizes = [sizes.0, sizes.1];
        prop_assert_eq!(counted(&nest, &sizes), Some(enumerated(&nest, &sizes)), "at {:?}\n{}", sizes, nest);
    }
}

#[test]
fn a_loop_whose_bounds_are_looked_up_counts_by_its_statistic() {
    let text = "
        sizes n, cells
        assume n > 0, cells > 0
        array starts[n + 1]: i32
        array a[cells]: f32
        array out[n]: f32
        temporary acc: f32
        {[i]: 0 <= i < n}
        lookup first = starts[i]
        lookup last = starts[i + 1]
        {[k]: first <= k < last}
        statistic k = 16
        acc = 0.0          @ i
        acc = acc + a[k]   @ i, k
        out[i] = acc       @ i
        split i 8 -> io, ii
        tag io group.0
        tag ii local.0
    ";
    // Twelve work-items are a whole row and half of one, before the loop, after it, and 16 times in it.
    assert_eq!(counted(&text.parse::<Nest>().unwrap(), &[12, 100]), Some([2 + 2 * 16 + 2, 1 + 16 + 1]));
}

#[test]
fn a_block_begins_once_for_all_loops_within_it() {
    let kernel = tunesmith_loopnest::kernels::Kernel::named("matmul_square").unwrap();
    let nest = kernel.nest(16, 16, true).unwrap();
    assert!(has_blocks(&nest));
    let of = |lanes| count::count_rows(&nest, lanes).unwrap().evaluate(&[64, 64, 64]).unwrap();
    let (groups, tiles) = (16, 4);
    let copies = 2 * 16 * tiles;
    let [block_rows, ends] = [4, 2];
    // In each tile, two copies by rows and one product by blocks of four rows. Rows at the start and end.
    assert_eq!(of(Lanes::InBlocks(16)), [groups * (copies + tiles * 16 / block_rows + ends * 16), 0]);
    assert_eq!(of(Lanes::Numbered(32)), [0, 0]);
}
