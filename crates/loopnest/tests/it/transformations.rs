//! Compares transformed nests with their originals.

use crate::common;
use crate::order;
use crate::outcome;
use crate::steps;

use order::order_of;
use outcome::outcome;
use proptest::prelude::*;
use tunesmith_loopnest::kernels::{Groups, KERNELS};
use tunesmith_loopnest::{LaneOrder, Nest, Recipe, count};

#[test]
fn every_kernel_computes_what_its_plain_nest_computes() {
    for kernel in KERNELS {
        let (x, y) = if kernel.groups == Groups::Line { (6, 1) } else { (4, 3) };
        let plain = kernel.text(x).parse::<Recipe>().unwrap_or_else(|error| panic!("{}: {error:?}", kernel.name)).nest;
        let nest = kernel.nest(x, y, false).unwrap_or_else(|error| panic!("{}: {error:?}", kernel.name));
        let sizes = kernel.size_values(7, 3);
        let expected = outcome(&plain, &sizes, LaneOrder::Ascending);
        for order in [LaneOrder::Ascending, LaneOrder::Descending] {
            let mut found = outcome(&nest, &sizes, order);
            found.truncate(expected.len());
            assert!(found == expected, "{} in {order:?}", kernel.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]
    #[test]
    fn transformations_that_are_accepted_keep_every_result(
        plan in common::plans(),
        choices in prop::collection::vec(any::<[u8; 3]>(), 1..7),
    ) {
        let plain = common::build(&plan);
        let mut nest = plain.clone();
        for (number, choice) in choices.into_iter().enumerate() {
            let transformation = steps::transformation(&nest, number, choice);
            let _ = transformation.apply(&mut nest, |_| None);
        }
        // A nest may still need a barrier where none can stand. Scheduling refuses such a nest.
        if tunesmith_loopnest::Schedule::new(&nest).is_ok() {
            for sizes in [[3, 5], [7, 4]] {
                let expected = outcome(&plain, &sizes, LaneOrder::Ascending);
                for order in [LaneOrder::Ascending, LaneOrder::Descending] {
                    let found = outcome(&nest, &sizes, order);
                    prop_assert!(found[..expected.len()] == expected[..], "{}\n{}", plain, nest);
                }
            }
        }
    }
}

fn refused(lines: &str) -> String {
    let text = format!(
        "sizes n
array a[n]: f32
array b[n, n]: f32
temporary acc: f32
{{[i, j]: 0 <= i < n and 0 <= j < n}}
{lines}"
    );
    let error = text.parse::<Nest>().expect_err(&text);
    let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
    format!("{place}{}", error.message)
}

#[test]
fn transformations_that_would_change_the_meaning_are_refused_with_place_and_reason() {
    let cases = [
        (
            "a[i] = a[0] + 1.0\ntag i parallel",
            "line 7, column 1: different iterations of `i` may touch the same cell of `a` and one writes: a[i] (line 6) and a[0] (line 6)",
        ),
        (
            "a[i] = b[i, j] + a[i]\ntag j group.0",
            "line 7, column 1: different work-groups of `j` may touch the same cell of `a` and one writes: a[i] (line 6) and a[i] (line 6)",
        ),
        (
            "acc = 0.0 @\nacc = acc + a[i] @ i\na[0] = acc @\ntag i parallel",
            "line 9, column 1: `acc` is also used outside of loop `i` (line 6)",
        ),
        (
            "a[i] = acc @ i\nacc = a[i] @ i\ntag i parallel",
            "line 8, column 1: `acc` carries a value between iterations of loop `i` (line 6)",
        ),
        ("a[i] = 1.0\ntag i local.0", "line 5, column 3: loop `i` does not run from 0 to a constant"),
        (
            "a[i] = a[i]\nsplit i 4 -> io, ii\nprefetch a sweep ii -> t[p]",
            "line 6, column 1: `a` is written, so a copy of it could be out of date",
        ),
        ("a[i] = b[i, j]\nprefetch b sweep j -> t[p]", "line 5, column 6: loop `j` does not run between constants"),
        (
            "a[i] = b[i, j]\nsplit j 4 -> jo, ji\nprefetch b sweep ji -> t[p, q]",
            "line 8, column 1: the tile has 1 x 4 cells, so it is filled by 1 loops",
        ),
        (
            "a[i] = b[i, j] + b[j, i]\nsplit j 4 -> jo, ji\nprefetch b sweep ji -> t[p]",
            "line 6, column 18: b[4*jo + ji, i] moves along axis 0 unlike the other loads, so no tile of constant size holds both",
        ),
        (
            "a[i] = b[i, j] + b[i, j + 1]\nsplit i 4 -> io, ii\nprefetch b sweep ii -> t[p]",
            "line 8, column 1: the tile has 4 x 2 cells, so it is filled by 2 loops",
        ),
        (
            "{[l, k]: 1 <= l < i and 0 <= k < 4}\na[i] = a[i] + b[i - 1, k] @ i, l, k\nprefetch b sweep k -> t[p]",
            "line 7, column 1: the tile would also be filled where nothing uses it, and `i - 1` is then no cell of `b`",
        ),
        (
            "a[i] = 1.0\nsplit i 4 -> io, ii\ntag ii local.0\ntag ii unroll",
            "line 9, column 1: `ii` is already run by work-groups or work-items",
        ),
        ("a[i] = 1.0\nsplit i 0 -> io, ii", "line 7, column 1: a block of 0 iterations"),
        ("a[i] = 1.0\nsplit i 4 -> io, j", "line 7, column 1: the name `j` is taken"),
        ("a[i] = 1.0\ntag i group.3", "line 7, column 1: there is no axis 3"),
    ];
    for (lines, message) in cases {
        assert_eq!(refused(lines), message);
    }
}

#[test]
fn loops_change_places_only_where_no_cell_is_touched_the_other_way_round() {
    let nest = |lines: &str| {
        format!("sizes n\narray b[n + 1, n + 1]: f32\n{{[i, j]: 1 <= i < n and 1 <= j < n}}\n{lines}\norder j, i")
            .parse::<Nest>()
    };
    assert!(nest("b[i, j] = 0.5*b[i - 1, j - 1]").is_ok());
    assert!(nest("b[i, j] = 0.5*b[i - 1, j]").is_ok());
    let error = nest("b[i, j] = 0.5*b[i - 1, j + 1]").unwrap_err();
    assert!(error.message.contains("the other way round"), "{error}");
}

#[test]
fn a_parameter_that_is_not_there_is_refused_with_the_nearest() {
    let recipe =
        "sizes n\narray a[n]: f32\n{[i]: 0 <= i < n}\na[i] = 1.0\nparameter width = 4\nsplit i width -> io, ii"
            .parse::<Recipe>();
    let error = recipe.unwrap().apply(&[("with", 8)]).unwrap_err();
    assert_eq!(error.to_string(), "there is no parameter `with`");
    assert_eq!(error.remedy.as_deref(), Some("did you mean `width`?"));
}

#[test]
fn barriers_stand_where_work_items_hand_over_cells() {
    let text = |kernel: &str| {
        let kernel = tunesmith_loopnest::kernels::Kernel::named(kernel).unwrap();
        let (x, y) = if kernel.groups == Groups::Line { (8, 1) } else { (4, 4) };
        let nest = kernel.nest(x, y, false).unwrap();
        order_of(&nest)
    };
    assert_eq!(text("matmul_square"), "0 ko(| 1 b0o(2) | ki(3)) 4");
    assert_eq!(text("filled_sliding_stride2"), "0 k(row(1) 2) 3");
    assert_eq!(text("convolution_tiled"), "f1(0) im(1 c(| i1o(i2o(2)) | xi(eta(3))) 4)");
}

#[test]
fn the_nest_of_the_guide_is_read_transformed_and_counted() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/loopnests.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let blocks: Vec<&str> = guide.split("\n```").filter_map(|part| part.strip_prefix('\n')).collect();
    let [nest, transformations] = [blocks[0], blocks.iter().find(|block| block.starts_with("parameter")).unwrap()];
    let recipe = format!("{nest}\n{transformations}").parse::<Recipe>().unwrap();
    let counts = count::count(&recipe.apply(&[("x", 32)]).unwrap()).unwrap();
    let groups = counts.properties().iter().position(|property| property.to_string() == "groups").unwrap();
    assert_eq!(counts.evaluate(&[100, 70]).unwrap()[groups], 16);
}
