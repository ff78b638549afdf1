//! Compares generated C with the interpreter.

use crate::common;
use crate::pipelined_tiles;
use crate::program;
use crate::reductions_of_rows;
use crate::sums;
use crate::values;

use program::{Sample, compare, compare_with};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use tunesmith_loopnest::{Data, Dialect, Nest, Schedule, Tag, blocks, codegen, kernels};

/// Returns a kernel with random arrays.
fn sample(nest: Nest, sizes: &[i64]) -> Sample {
    let data = Data::filled(&nest, sizes, 3).unwrap();
    Sample { nest, sizes: sizes.to_vec(), data }
}

fn samples(text: &str, sizes: &[&[i64]]) -> Vec<Sample> {
    let nest = text.parse::<Nest>().unwrap_or_else(|error| panic!("{error}\n{text}"));
    sizes.iter().map(|sizes| sample(nest.clone(), sizes)).collect()
}

#[test]
fn random_nests_compute_in_c_what_the_interpreter_says() {
    let mut runner = TestRunner::deterministic();
    let plans = (0..120).map(|_| common::plans().new_tree(&mut runner).unwrap().current());
    let samples: Vec<Sample> = plans
        .enumerate()
        .map(|(place, plan)| sample(common::build(&plan), &[1 + place as i64 % 7, 1 + place as i64 % 5]))
        .collect();
    compare(&samples);
}

#[test]
fn values_computed_ahead_are_in_c_what_the_interpreter_says() {
    let mut runner = TestRunner::deterministic();
    let choices = proptest::prelude::any::<values::Choices>();
    let texts = (0..300).map(|_| values::neighbours(&choices.new_tree(&mut runner).unwrap().current()));
    let nests = texts.filter_map(|text| text.parse::<Nest>().ok()).filter(|nest| Schedule::new(nest).is_ok());
    let sizes = |place: usize| vec![1 + place as i64 % 7, 1 + place as i64 % 5];
    let mut all: Vec<Sample> = nests.enumerate().map(|(place, nest)| sample(nest, &sizes(place))).collect();
    assert!(all.len() > 50, "{} of 300", all.len());
    all.extend(samples(include_str!("../../../../examples/nests/blur.nest"), &[&[37]]));
    compare(&all);
}

/// Compares the nests among many random texts with the interpreter.
fn compare_texts(count: usize, accepted: usize, text: fn(&values::Choices) -> String) {
    let mut runner = TestRunner::deterministic();
    let choices = proptest::prelude::any::<values::Choices>();
    let texts = (0..count).map(|_| text(&choices.new_tree(&mut runner).unwrap().current()));
    let nests = texts.filter_map(|text| text.parse::<Nest>().ok()).filter(|nest| Schedule::new(nest).is_ok());
    let sizes = |place: usize| [1 + place as i64 % 9, 1 + place as i64 % 17];
    let all: Vec<Sample> = nests.enumerate().map(|(place, nest)| sample(nest, &sizes(place))).collect();
    assert!(all.len() > accepted, "{} of {count}", all.len());
    compare(&all);
}

#[test]
fn reductions_by_work_items_are_in_c_what_the_interpreter_says() {
    compare_texts(250, 50, reductions_of_rows::shared_rows);
}

#[test]
fn tiles_that_are_loaded_ahead_are_in_c_what_the_interpreter_says() {
    compare_texts(30, 15, pipelined_tiles::tiled);
}

#[test]
fn integers_of_8_and_16_bits_are_in_c_what_the_interpreter_says() {
    let text = "sizes n\nassume n > 0\narray a[n]: u8\narray b[n]: i8\narray c[n]: i16\narray d[n]: u16\n\
                array out[n]: u8\narray wide[n]: i32\narray real[n]: f32\ntemporary t: i16\n{[i]: 0 <= i < n}\n\
                t = a[i]*b[i] - 40*c[i]\nout[i] = a[i] + d[i] + 200\nc[i] = -t + i\n\
                d[i] = select(a[i] < b[i], max(a[i], 77), abs(b[i] - 90))\nwide[i] = a[i]*a[i]*a[i]\n\
                real[i] = 0.5*a[i] + c[i]\nb[i] = 3*b[i]";
    compare(&samples(text, &[&[1], &[37]]));
}

#[test]
fn sums_in_registers_are_in_c_what_the_interpreter_says() {
    compare_sums(80);
}

#[test]
fn some_sums_in_registers_are_in_c_what_the_interpreter_says() {
    compare_sums(6);
}

/// Compares sums of side-by-side work-items: in vectors as wide as on any machine, as wide as on this one, and without
/// vectors.
fn compare_sums(count: usize) {
    let mut runner = TestRunner::deterministic();
    let choices = proptest::prelude::any::<values::Choices>();
    let texts = (0..count).map(|_| sums::tiled(&choices.new_tree(&mut runner).unwrap().current()));
    let texts: Vec<String> = texts.collect();
    let all: Vec<Sample> = (0..)
        .zip(&texts)
        .flat_map(|(place, text)| samples(text, &[&[[16, 48, 37][place % 3], 1 + place as i64 % 7]]))
        .collect();
    let in_blocks =
        all.iter().filter(|sample| codegen::source(&sample.nest, Dialect::C).unwrap().text.contains("_v[")).count();
    assert!(in_blocks * 80 > 25 * all.len(), "{in_blocks} of {}", all.len());
    compare(&all);
    compare_with(&["-march=native"], str::to_string, &all);
    compare_with(&[], |text| text.replace("__GNUC__", "NO_VECTORS"), &all);
}

/// Returns a nest whose loops have hardware tags: `i_in.0` runs along the work-items of axis 0.
fn tagged(text: &str, tags: &[(&str, Tag)], sizes: &[&[i64]]) -> Vec<Sample> {
    let mut all = samples(text, sizes);
    for sample in &mut all {
        for (name, tag) in tags {
            let id = sample.nest.loops.iter().position(|own| own.name == *name).unwrap();
            sample.nest.loops[id].tag = *tag;
        }
    }
    all
}

/// A tiled product with both tiles in local memory, cut off at the edges.
const TILED: &str = "
    nest tiled
    sizes n, m
    assume n >= 1 and m >= 1
    array a[n, m]: f32
    array b[m, n]: f32
    array c[n, n]: f32
    local at[4, 8]: f32
    local bt[8, 8]: f32 pad 0, 1
    temporary acc: f32
    {[io, ii, jo, ji]: 0 <= io and 4*io < n and 0 <= ii < 4 and ii + 4*io < n and 0 <= jo and 8*jo < n and 0 <= ji < 8 and ji + 8*jo < n}
    {[ko]: 0 <= ko and 8*ko < m}
    {[ar, ac]: 0 <= ar < 4 and ar + 4*io < n and 0 <= ac < 8 and ac + 8*ko < m}
    {[br, bc]: 0 <= br < 4 and 0 <= bc < 8 and bc + 8*jo < n}
    {[bh]: 0 <= bh < 2 and br + 4*bh + 8*ko < m}
    {[ki]: 0 <= ki < 8 and ki + 8*ko < m}
    acc = 0.0                                  @ io, ii, jo, ji
    at[ar, ac] = a[ar + 4*io, ac + 8*ko]       @ io, jo, ko, ar, ac
    bt[br + 4*bh, bc] = b[br + 4*bh + 8*ko, bc + 8*jo]  @ io, jo, ko, br, bc, bh
    acc = acc + at[ii, ki]*bt[ki, ji]          @ io, ii, jo, ji, ko, ki
    c[ii + 4*io, ji + 8*jo] = acc              @ io, ii, jo, ji
";

const TILED_TAGS: [(&str, Tag); 10] = [
    ("io", Tag::Group(1)),
    ("jo", Tag::Group(0)),
    ("ii", Tag::Local(1)),
    ("ji", Tag::Local(0)),
    ("ar", Tag::Local(1)),
    ("ac", Tag::Local(0)),
    ("br", Tag::Local(1)),
    ("bc", Tag::Local(0)),
    ("bh", Tag::Unroll),
    ("ki", Tag::Unroll),
];

/// Work-items that need one another's values, bounds that differ between work-items, and a
/// temporary used within a row.
const SHIFTED: &str = "
    nest double
    sizes n
    array in[n]: f64
    array out[n]: f64
    array total[n]: i64
    argument int: f64
    local row[17]: f64
    temporary sum: f64
    temporary pair[2]: f64
    {[g, l]: 0 <= g and 16*g < n and 0 <= l < 16 and l + 16*g < n}
    {[k]: 0 <= k <= l}
    row[l] = in[l + 16*g]**3 + int    @ g, l
    sum = 0                           @ g, l
    sum = sum + row[k]/(k + 1)        @ g, l, k
    pair[0] = max(sum, 0.5)           @ g, l
    pair[1] = abs(pair[0])            @ g, l
    out[l + 16*g] = -pair[1] - sqrt(pair[0])*2 + in[l + 16*g]**1.5    @ g, l
    total[l + 16*g] = 3*l - n         @ g, l
";

#[test]
fn work_groups_and_work_items_become_loops_split_at_barriers() {
    let mut all = tagged(TILED, &TILED_TAGS, &[&[1, 1], &[8, 16], &[13, 21]]);
    all.extend(tagged(SHIFTED, &[("g", Tag::Group(0)), ("l", Tag::Local(0))], &[&[1], &[16], &[41]]));
    // Without tags the same nests are plain loops.
    all.extend(samples(TILED, &[&[9, 5]]));
    all.extend(samples(SHIFTED, &[&[19]]));
    compare(&all);
}

#[test]
fn what_always_holds_is_not_tested() {
    let text = "
        sizes n
        assume n mod 16 = 0
        array a[n]: f32
        {[g, l]: 0 <= g and 16*g < n and 0 <= l < 16 and l + 16*g < n}
        a[l + 16*g] = 2*a[l + 16*g] @ g, l
    ";
    let only = |text: &str| tagged(text, &[("g", Tag::Group(0)), ("l", Tag::Local(0))], &[&[32]]).remove(0).nest;
    let divisible = codegen::source(&only(text), Dialect::OpenCl).unwrap().text;
    assert!(!divisible.contains("if ("), "{divisible}");
    let general = codegen::source(&only(&text.replace("assume n mod 16 = 0", "")), Dialect::OpenCl).unwrap().text;
    assert!(general.contains("if (n - 16 * gid0 - lid0 - 1 >= 0) {"), "{general}");
}

#[test]
fn whole_tiles_have_neither_tests_nor_bounds_that_sizes_cut() {
    let nest = tagged(TILED, &TILED_TAGS, &[&[1, 1]]).remove(0).nest;
    let cuts = |line: &&str| ["if (", "nest_min(", "nest_max("].iter().any(|cut| line.contains(cut));
    let text = codegen::source(&nest, Dialect::C).unwrap().text;
    let body = text.lines().skip_while(|line| !line.contains("gid1"));
    // Versions begin with a test of sizes and of indices that are uniform over the group.
    let is_version = |line: &str| {
        let test = line.trim();
        test.starts_with("if (") && !test.contains("lid")
    };
    let mut whole = Vec::new();
    let mut depth = None;
    for line in body {
        let indent = line.len() - line.trim_start().len();
        match depth {
            None if is_version(line) => depth = Some(indent),
            Some(opened) if indent == opened => depth = None,
            Some(_) => whole.push(line),
            None => {}
        }
    }
    assert!(whole.len() > 5, "{text}");
    let left: Vec<&str> = whole.into_iter().filter(cuts).collect();
    assert!(left.is_empty(), "{left:#?}\n{text}");
}

#[test]
fn work_items_side_by_side_are_those_of_a_block_or_of_a_row() {
    let side_by_side = |name: &str, x: i64, y: i64| {
        blocks::side_by_side(&kernels::Kernel::named(name).unwrap().nest(x, y, false).unwrap()).unwrap()
    };
    // 4 rows of 16, or as many as there are. Longer rows make blocks of fewer rows.
    assert_eq!(
        [(16, 16), (16, 1), (128, 1), (8, 2)].map(|(x, y)| side_by_side("matmul_naive", x, y)),
        [64, 16, 64, 16]
    );
    // The compiler handles inverse roots and sums of indices.
    assert_eq!([side_by_side("nbody", 128, 1), side_by_side("arithmetic_add", 32, 16)], [128, 32]);
}

#[test]
fn the_languages_differ_in_what_launches_a_kernel() {
    let nest = tagged(SHIFTED, &[("g", Tag::Group(0)), ("l", Tag::Local(0))], &[&[1]]).remove(0).nest;
    insta::assert_snapshot!("opencl", codegen::source(&nest, Dialect::OpenCl).unwrap().text);
    insta::assert_snapshot!("cuda", codegen::source(&nest, Dialect::Cuda).unwrap().text);
    insta::assert_snapshot!("c", codegen::source(&nest, Dialect::C).unwrap().text);
}

#[test]
fn every_kernel_of_the_cost_model_computes_in_c_what_the_interpreter_says_for_every_group_size() {
    let mut all = Vec::new();
    for kernel in &kernels::KERNELS {
        for (x, y) in kernel.groups.shapes() {
            let nest = kernel.nest(x, y, false).unwrap();
            // Not a multiple of a work-group: the interpreter takes 50 ns for each operation.
            let main = match (kernel.class, kernel.groups) {
                ("convolution", _) => 5,
                ("nbody", _) => 150,
                ("stride2_filled" | "stride3_filled", _) => 9,
                (_, kernels::Groups::Line) => 401,
                (_, _) => 19,
            };
            all.push(sample(nest, &kernel.size_values(main, 3)));
        }
    }
    compare(&all);
}

#[test]
fn kernels_that_share_sums_and_load_tiles_ahead_compute_in_c_what_the_interpreter_says() {
    let is_own = |kernel: &&kernels::Kernel| matches!(kernel.class, "reduction" | "pipelined");
    let own: Vec<&kernels::Kernel> = kernels::COVERAGE.iter().filter(is_own).collect();
    assert_eq!(own.len(), 8);
    let of = |kernel: &kernels::Kernel| {
        let (x, y) = kernel.groups.shapes()[1];
        sample(kernel.nest(x, y, false).unwrap(), &kernel.size_values(37, 3))
    };
    compare(&own.into_iter().map(of).collect::<Vec<Sample>>());
}

/// Work-items side by side, each with a root and a lesser number.
const FUNCTIONS: &str = "
    nest functions
    sizes n
    assume n > 0
    array a[n]: f32
    array b[n]: f64
    array c[n]: f32
    array d[n]: f64
    {[i]: 0 <= i < n}
    c[i] = min(sqrt(a[i]), 0.5) + max(rsqrt(a[i] + 1.0), a[i])   @ i
    d[i] = min(sqrt(b[i]), 0.5) + max(rsqrt(b[i] + 1.0), b[i])   @ i";

#[test]
fn what_vectors_compute_is_called_for_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("f.c"), folder.path().join("f.o"));
    std::fs::write(&source, codegen::source(&FUNCTIONS.parse().unwrap(), Dialect::C).unwrap().text).unwrap();
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-O3", "-c", "-o"]).arg(&object).arg(&source).args(codegen::C_OPTIONS);
    assert!(compiler.status().unwrap().success());
    // An object file names every function that it calls from elsewhere.
    let compiled = std::fs::read(&object).unwrap();
    for called in ["sqrt", "fmin", "fmax"] {
        let is_named = compiled.windows(called.len()).any(|text| text == called.as_bytes());
        assert!(!is_named, "`{called}` is called for each value");
    }
}

#[test]
fn the_lesser_of_a_number_and_none_is_the_number() {
    let none = "((a[i] - a[i])/(a[i] - a[i]))";
    let lesser = |x: &str, y: &str| format!("min({x}, {y}) + max({x}, {y}) + max({y}, {x}) + min({y}, {x})");
    let text = FUNCTIONS.replace("min(sqrt(a[i]), 0.5) + max(rsqrt(a[i] + 1.0), a[i])", &lesser("a[i]", none));
    assert_ne!(text, FUNCTIONS);
    compare(&samples(&text, &[&[1], &[37]]));
}
