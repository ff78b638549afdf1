//! Compares the waiting of a processor in program order with the longest chain and with all
//! operations, and with numbers found by hand.

use crate::transformed;

use proptest::prelude::*;
use transformed::check_transformed;
use tunesmith_loopnest::{Nest, Property, Tag, count};

/// Returns the operations for which a nest over a matrix waits, where each chain hides its first
/// `ahead` operations.
fn waiting(body: &str, ahead: i32) -> i64 {
    let head = "sizes n, m\nassume n > 3\nassume m > 3\narray a[n, m]: f32\narray b[n]: f32\narray out[n, m]: f32\n\
                temporary x: f32\ntemporary y: f32\n";
    let nest: Nest = format!("{head}{body}").parse().unwrap();
    sum(&nest, &[100, 50], ahead)
}

fn sum(nest: &Nest, sizes: &[i64], ahead: i32) -> i64 {
    let waiting = count::count_waiting(nest).unwrap().evaluate(sizes, f64::from(ahead)).unwrap();
    waiting.into_values().sum::<f64>().round() as i64
}

/// Returns the cycles for which a nest waits, by the latencies with which chains are compared.
fn cycles(nest: &Nest, sizes: &[i64]) -> i64 {
    let waiting = count::count_waiting(nest).unwrap().evaluate(sizes, 0.0).unwrap();
    let each = |(property, times): (Property, f64)| {
        let name = property.to_string();
        let cycles = match name.rsplit(':').next().unwrap() {
            "abs" | "min" | "max" | "select" => 2.0,
            "add" => 3.0,
            "mul" | "fma" => 4.0,
            "div" => 11.0,
            "sqrt" => 15.0,
            _ => 60.0,
        };
        cycles * times
    };
    waiting.into_iter().map(each).sum::<f64>().round() as i64
}

const BOTH: &str = "{[i, j]: 0 <= i < n and 0 <= j < m}\n";

#[test]
fn independent_iterations_do_not_wait() {
    assert_eq!(waiting(&format!("{BOTH}out[i, j] = 2.0*a[i, j] + 1.0 @ i, j"), 32), 0);
    // Every iteration has one operation, a fused one, which the processor sees ahead.
    assert_eq!(waiting(&format!("{BOTH}out[i, j] = 2.0*a[i, j] + 1.0 @ i, j"), 0), 5000);
}

#[test]
fn sums_of_rows_wait_one_after_the_other_wherever_they_are_kept() {
    let in_register = format!("{BOTH}x = 0.0 @ i\nx = x + a[i, j] @ i, j\nb[i] = x @ i");
    assert_eq!(waiting(&in_register, 32), 100 * (50 - 32));
    assert_eq!(waiting(&format!("{BOTH}b[i] = b[i] + a[i, j] @ i, j"), 32), 100 * (50 - 32));
    // One sum over everything begins once.
    assert_eq!(waiting(&format!("{BOTH}x = 0.0 @\nx = x + a[i, j] @ i, j\nb[0] = x @"), 32), 5000 - 32);
    assert_eq!(waiting(&format!("{BOTH}b[0] = b[0] + a[i, j] @ i, j"), 32), 5000 - 32);
}

#[test]
fn a_loop_that_carries_sums_around_an_inner_one_waits_once_for_each_of_its_iterations() {
    assert_eq!(waiting(&format!("{BOTH}b[j] = b[j] + a[i, j] @ i, j\norder i, j"), 32), 100 - 32);
}

#[test]
fn values_are_followed_to_neighbouring_cells_and_through_several_instructions() {
    let inner = "{[i, j]: 0 <= i < n and 2 <= j < m}\n";
    let steps = 100 * 48;
    assert_eq!(waiting(&format!("{inner}out[i, j] = 0.5*out[i, j - 1] + 1.0 @ i, j"), 0), steps);
    // Every second result depends on the one before the last.
    assert_eq!(waiting(&format!("{inner}out[i, j] = a[i, j]*out[i, j - 2] @ i, j"), 1), steps / 2 - 100);
    let crossed = "x = 0.0 @ i\ny = 0.0 @ i\nx = x + y @ i, j\ny = y*x @ i, j\nb[i] = y @ i";
    assert_eq!(waiting(&format!("{inner}{crossed}"), 32), 2 * steps - 32 * 100);
    // A value set anew in every iteration is not carried.
    assert_eq!(waiting(&format!("{inner}x = a[i, j] @ i, j\nx = x*2.0 @ i, j\nout[i, j] = x @ i, j"), 32), 0);
}

#[test]
fn operations_that_wait_are_told_apart() {
    let body = format!("{BOTH}x = 1.0 @ i\nx = 2.0*x + a[i, j]*(x/3.0) @ i, j\nb[i] = x @ i");
    let nest: Nest = format!(
        "sizes n, m\nassume n > 3\nassume m > 3\narray a[n, m]: f32\narray b[n]: f32\n\
                              temporary x: f32\n{body}"
    )
    .parse()
    .unwrap();
    let waiting = count::count_waiting(&nest).unwrap().evaluate(&[10, 20], 0.0).unwrap();
    let named: Vec<(String, f64)> =
        waiting.into_iter().map(|(property, times)| (property.to_string(), times)).collect();
    // The longest way leads through the division, the product with `a` and the sum.
    let each = |name: &str| (format!("arith:f32:{name}"), 200.0);
    assert_eq!(named, ["mul", "div", "fma"].map(each));
}

#[test]
fn a_sum_of_products_waits_for_the_sum_alone_where_the_products_lie_side_by_side() {
    let kinds = |cells: &str| {
        let body = format!("{BOTH}x = 0.0 @ i\nx = x + {cells}*c[j] @ i, j\nb[i] = x @ i");
        let head = "sizes n, m\nassume n > 3\nassume m > 3\narray a[n, m]: f32\n\
                    array at[m, n]: f32\narray b[n]: f32\narray c[m]: f32\ntemporary x: f32";
        let nest: Nest = format!("{head}\n{body}").parse().unwrap();
        let waiting = count::count_waiting(&nest).unwrap().evaluate(&[50, 40], 8.0).unwrap();
        waiting.into_keys().map(|property| property.to_string()).collect::<Vec<String>>()
    };
    assert_eq!(kinds("a[i, j]"), ["arith:f32:add"]);
    assert_eq!(kinds("at[j, i]"), ["arith:f32:fma"]);
}

#[test]
fn a_sweep_in_place_waits_along_its_rows() {
    let inner = "{[i, j]: 1 <= i < n - 1 and 1 <= j < m - 1}\n";
    let sweep = "out[i, j] = (out[i - 1, j] + out[i, j - 1] + out[i, j] + out[i, j + 1] + out[i + 1, j])/5.0 @ i, j";
    // From the cell to the left, four operations lie on the way.
    assert_eq!(waiting(&format!("{inner}{sweep}"), 32), 98 * (48 * 5 - 32));
}

#[test]
fn work_items_with_rows_of_different_lengths_add_up() {
    let text = "sizes n\nassume n > 0\narray a[n]: f32\n{[i, j]: 0 <= i < n and 0 <= j <= i}\n\
                a[i] = a[i] + 1.0 @ i, j\nsplit i 8 -> o, l\ntag o group.0\ntag l local.0";
    assert_eq!(sum(&text.parse().unwrap(), &[100], 0), 5050);
}

#[test]
fn random_nests_wait_for_their_longest_chain_and_for_no_more_than_all_operations() {
    let compared = std::cell::Cell::new(0);
    check_transformed(1000, |nest| {
        let has_vectors = nest.order.iter().any(|id| nest.loop_at(*id).tag == Tag::Vector);
        let (Ok(chain), Ok(modern)) = (count::count_chain(nest), count::count_modern(nest)) else { return Ok(()) };
        if count::count_waiting(nest).is_err() {
            return Ok(());
        }
        for sizes in [[2, 5], [4, 3], [7, 9]] {
            let longest = chain.evaluate(&sizes).unwrap().into_iter().sum::<i128>() as i64;
            let longest = if nest.group_counts(&sizes).contains(&0) { 0 } else { longest };
            let named = modern.counts.properties().iter().zip(modern.counts.evaluate(&sizes).unwrap());
            let all = named.filter(|(property, _)| matches!(property, Property::Arithmetic(..)));
            let all = all.map(|(_, times)| times).sum::<i128>() as i64;
            let own = sum(nest, &sizes, 0);
            // The longer chain is that of more cycles: two or more for each operation, and four for a
            // fused one, which is two of the longest chain.
            let waits = cycles(nest, &sizes);
            prop_assert!(2 * longest <= waits, "{} cycles, the chain has {}, at {:?}\n{}", waits, longest, sizes, nest);
            prop_assert!(own <= all || has_vectors, "{} waits of {} operations, at {:?}\n{}", own, all, sizes, nest);
            compared.set(compared.get() + 1);
        }
        Ok(())
    });
    assert!(compared.get() > 300, "{}", compared.get());
}
