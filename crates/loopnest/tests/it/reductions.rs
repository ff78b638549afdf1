//! Compares reductions by the work-items of a group with the loops that they replace.

use crate::order;
use crate::outcome;
use crate::reductions_of_rows;
use crate::rewritten;

use order::order_of;
use outcome::outcome;
use reductions_of_rows::shared_rows;
use rewritten::check_rewritten;
use tunesmith_loopnest::{Data, LaneOrder, Nest, Recipe, count, interpret};

const SIZES: [[i64; 2]; 4] = [[1, 1], [5, 7], [7, 4], [3, 16]];

#[test]
fn reductions_that_are_accepted_keep_every_exact_result() {
    let (accepted, refused) = check_rewritten(800, shared_rows, 0..4, &SIZES);
    let refused: usize = refused.values().sum();
    println!("{accepted} accepted, {refused} refused");
    assert!(accepted > 180 && refused > 180, "{accepted} accepted, {refused} refused");
}

/// The sums of the rows of a matrix: several rows for each group.
const ROWS: &str = "
    sizes n, m
    array a[n, m]: f32
    array out[n]: f32
    temporary s: f32
    {[i, k]: 0 <= i < n and 0 <= k < m}
    s = 0.0           @ i
    s = s + a[i, k]   @ i, k
    out[i] = s        @ i
    parameter rows = 4
    parameter items = 6
    parameter together = 1
    split i rows -> io, ii
    split k items -> ko, ki
    tag io group.0
    tag ii local.1                            when together = 1
    reduce s over ki -> sums[r] local.0
";

#[test]
fn the_total_of_atomic_updates_is_added_by_one_atomic_update() {
    let text = "
        sizes n, m
        assume n > 0, m > 0
        array a[n, m]: i32
        array h[1]: i32
        {[i, k]: 0 <= i < n and 0 <= k < m}
        atomic h[0] = h[0] + a[i, k]   @ i, k
        split k 6 -> ko, ki
        tag i group.0
    ";
    let plain = text.parse::<Nest>().unwrap();
    let shared = format!("{text}\nreduce h over ki -> sums[r] local.0").parse::<Nest>().unwrap();
    let atomic: Vec<bool> = shared.instructions.iter().map(|own| own.is_atomic).collect();
    assert_eq!(atomic.iter().filter(|own| **own).count(), 1, "{shared}");
    assert!(atomic.ends_with(&[true]), "{shared}");
    for sizes in SIZES {
        let expected = outcome(&plain, &sizes, LaneOrder::Ascending);
        for order in [LaneOrder::Ascending, LaneOrder::Descending] {
            let found = outcome(&shared, &sizes, order);
            assert_eq!(found[..expected.len()], expected[..], "{order:?} at {sizes:?}\n{shared}");
        }
    }
}

#[test]
fn work_items_reduce_their_share_and_combine_in_pairs() {
    let nest = ROWS.parse::<Nest>().unwrap();
    let text = nest.to_string();
    assert!(text.contains("local sums[4, 6]: f32\n"), "{text}");
    let instructions = "s = 0.0 @ io, ii
sums_own = 0 @ io, ii
sums_own = sums_own + a[4*io + ii, 6*ko + ki] @ io, ii, ko, ki
sums[ii, r] = sums_own @ io, ii, r
sums[ii, r_3] = sums[ii, r_3] + sums[ii, r_3 + 3] @ io, ii, r_3
sums[ii, r_2] = sums[ii, r_2] + sums[ii, r_2 + 2] @ io, ii, r_2
sums[ii, r_1] = sums[ii, r_1] + sums[ii, r_1 + 1] @ io, ii, r_1
s = s + sums[ii, 0] @ io, ii
out[4*io + ii] = s @ io, ii, r_first0
";
    assert!(text.ends_with(instructions), "{text}");
    assert_eq!(nest.local_size().unwrap(), [6, 4, 1]);
    assert_eq!(order_of(&nest), "0 1 ko(2) 3 | 4 | 5 6 | 7 8");
    // Rows one after the other share the local array, so they wait for its last use.
    let alone = ROWS.parse::<Recipe>().unwrap().apply(&[("together", 0)]).unwrap();
    assert_eq!(order_of(&alone), "ii(0 1 ko(2) | 3 | 4 | 5 6 | 7 8)");
}

#[test]
fn sums_in_another_order_differ_by_rounding_alone() {
    let recipe = ROWS.parse::<Recipe>().unwrap();
    for items in [1, 2, 3, 16, 37] {
        let nest = recipe.apply(&[("items", items)]).unwrap();
        for sizes in [[1, 1], [9, 100], [6, 37]] {
            let [mut plain, mut reduced] = [&recipe.nest, &nest].map(|nest| Data::filled(nest, &sizes, 5).unwrap());
            interpret::run(&recipe.nest, &sizes, &mut plain, LaneOrder::Ascending).unwrap();
            interpret::run(&nest, &sizes, &mut reduced, LaneOrder::Descending).unwrap();
            let sums = |data: &Data| data.cells[1].iter().map(|cell| cell.as_f64()).collect::<Vec<f64>>();
            let near = |(one, two): (&f64, f64)| (one - two).abs() < 1e-5;
            assert!(sums(&plain).iter().zip(sums(&reduced)).all(near), "{items} at {sizes:?}");
        }
    }
}

#[test]
fn the_sums_of_each_work_item_and_of_the_pairs_are_counted() {
    let nest = ROWS.parse::<Recipe>().unwrap().apply(&[("items", 64)]).unwrap();
    let counts = count::count(&nest).unwrap();
    let count = |name: &str| {
        let at = counts.properties().iter().position(|own| own.to_string() == name).unwrap();
        counts.evaluate(&[100, 1000]).unwrap()[at]
    };
    // One store for each row. Every work-item of a row adds the total to `s`.
    assert_eq!(count("g:32:store:s0"), 100);
    assert_eq!(count("op:f32:add"), 100 * (1000 + 63 + 64));
    assert_eq!(count("l:32:load"), 100 * (2 * 63 + 64));
    assert_eq!(count("barriers"), 25 * 4 * 64 * 7);
}

#[test]
fn what_is_no_reduction_is_refused_with_place_and_reason() {
    let head = "sizes n, m\narray a[n, m]: f32\narray b[n, m]: f32\narray c[n]: u8
temporary s: f32\ntemporary t: i32\n{[i, k]: 0 <= i < n and 0 <= k < m}\n";
    let sum = "s = 0.0 @ i\ns = s + a[i, k] @ i, k\nb[i, 0] = s @ i";
    let cases = [
        (
            "s = 0.0 @ i\ns = s*0.5 + a[i, k] @ i, k",
            "s over ki -> p[r] local.0",
            "line 9, column 1: s depends on its old value in a way that fixes the order of the updates",
        ),
        (
            "s = 0.0 @ i\ns = s + a[i, k]*s @ i, k",
            "s over ki -> p[r] local.0",
            "line 9, column 1: s depends on its old value in a way that fixes the order of the updates",
        ),
        (
            "s = 0.0 @ i\ns = s + a[i, k] @ i, k\ns = max(s, a[i, k]) @ i, k",
            "s over ki -> p[r] local.0",
            "line 10, column 1: `s` is updated in different ways in loop `ki`",
        ),
        (
            "s = 0.0 @ i\ns = s + a[i, k] @ i, k\nb[i, k] = s @ i, k",
            "s over ki -> p[r] local.0",
            "line 10, column 1: `s` is also used within loop `ki`",
        ),
        (
            "b[i, k] = b[i, k] + a[i, k] @ i, k",
            "b over ki -> p[r] local.0",
            "line 8, column 1: which cell of `b` is updated depends on loop `ki`",
        ),
        (
            "t = 0 @ i\nt = t + a[i, k] @ i, k",
            "t over ki -> p[r] local.0",
            "line 9, column 1: t is i32 and its updates are computed in f32",
        ),
        (
            "c[i] = max(c[i], i + k) @ i, k",
            "c over ki -> p[r] local.0",
            "line 8, column 1: c[i] is u8 and its updates are computed in i32",
        ),
        (sum, "t over ki -> p[r] local.0", "line 12, column 1: nothing in loop `ki` changes `t`"),
        (sum, "s over ko -> p[r] local.0", "line 7, column 6: loop `ko` does not run from 0 to a constant"),
        (sum, "s, s over ki -> p, q[r] local.0", "line 12, column 1: `s` is named twice"),
        (sum, "s over ki -> p, q[r] local.0", "line 12, column 1: 1 cells are reduced into 2 local arrays"),
        (sum, "s over ki -> p[i] local.0", "line 12, column 1: the name `i` is taken"),
        (sum, "s over ki -> p[r] local.3", "line 12, column 1: there is no axis 3"),
        (sum, "s over ki -> p[r] group.0", "line 12, column 26: a reduction is run by the work-items along an axis"),
        (sum, "s of ki -> p[r] local.0", "line 12, column 10: expected `over`, found `of`"),
        (
            "s = 0.0 @ i\ns = s + a[i, k] @ i, k\nt = 0 @ i\nb[i, k] = b[0, 0] + s @ i, k",
            "s over ki -> p[r] local.0",
            "line 13, column 1: different iterations of `ki` may touch the same cell of `b` and one writes: b[i, 4*ko + ki] (line 11) and b[0, 0] (line 11)",
        ),
    ];
    for (lines, step, message) in cases {
        let text = format!("{head}{lines}\nsplit k 4 -> ko, ki\nreduce {step}");
        let error = text.parse::<Nest>().expect_err(&text);
        let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
        assert_eq!(format!("{place}{}", error.message), message);
        assert!(error.remedy.is_some() || error.message.contains("expected"), "{error:?}");
    }
}

#[test]
fn reductions_of_one_loop_take_their_steps_together() {
    let text = ROWS.replace("temporary s: f32", "temporary s: f32\ntemporary most: f32");
    let text = text.replace("s = 0.0           @ i", "s = 0.0 @ i\nmost = 0.0 @ i");
    let text = text.replace("a[i, k]   @ i, k", "a[i, k] @ i, k\nmost = max(most, a[i, k]) @ i, k");
    let nest = text
        .replace("out[i] = s ", "out[i] = s/most ")
        .replace("reduce s over ki -> sums", "reduce s, most over ki -> sums, lot");
    let nest = nest.parse::<Nest>().unwrap_or_else(|error| panic!("{error:?}\n{nest}"));
    assert_eq!(order_of(&nest), "0 1 2 3 ko(4 5) 6 7 | 8 9 | 10 11 12 13 | 14 15 16");
    assert!(nest.to_string().contains("lot[ii, r_3] = max(lot[ii, r_3], lot[ii, r_3 + 3]) @ io, ii, r_3"), "{nest}");
}

#[test]
fn cells_that_are_looked_up_are_summed_by_all_work_items() {
    let text = "sizes n, m\nassume m < 90\narray at[m]: i32\narray x[n, 100]: i64\narray out[n]: i64\ntemporary s: i64
        {[i, k]: 0 <= i < n and 0 <= k < m}\nlookup place = at[k]
        s = 0 @ i\ns = s + x[i, place] @ i, k\nout[i] = s @ i
        split k 8 -> ko, ki\ntag i group.0\nreduce s over ki -> sums[r] local.0";
    let recipe = text.parse::<Recipe>().unwrap();
    let nest = recipe.apply(&[]).unwrap();
    for sizes in [[3, 0], [2, 8], [3, 21]] {
        let expected = outcome(&recipe.nest, &sizes, LaneOrder::Ascending);
        for order in [LaneOrder::Ascending, LaneOrder::Descending] {
            assert!(outcome(&nest, &sizes, order)[..expected.len()] == expected[..], "{order:?} at {sizes:?}\n{nest}");
        }
    }
}

#[test]
fn threads_do_not_share_the_local_array() {
    let text = ROWS.replace("tag io group.0", "tag io parallel");
    let error = text.parse::<Nest>().unwrap_err();
    assert_eq!(error.message, "the iterations of `io` run side by side and would share the local array");
}
