//! The meaning of nests: compares the interpreter with plain Rust, and tests its refusals.

use tunesmith_loopnest::{Data, LaneOrder, Nest, Operation, Type, interpret};

const PRODUCT: &str = "
    nest product
    sizes n, m
    array a[n, m]: f32
    array b[m, n]: f32
    array c[n, n]: f32
    temporary acc: f32
    {[i, j, k]: 0 <= i < n and 0 <= j < n and 0 <= k < m}
    acc = 0.0                        @ i, j
    acc = acc + a[i, k] * b[k, j]    @ i, j, k
    c[i, j] = acc                    @ i, j
";

#[test]
fn a_matrix_product_is_what_it_is_in_rust() {
    let nest = PRODUCT.parse::<Nest>().unwrap();
    let (n, m) = (5, 7);
    let mut data = Data::filled(&nest, &[n, m], 9).unwrap();
    let before = data.clone();
    let tally = interpret::run(&nest, &[n, m], &mut data, LaneOrder::Ascending).unwrap();
    let cell = |array: usize, at: i64| before.cells[array][at as usize].as_f64() as f32;
    for i in 0..n {
        for j in 0..n {
            let expected = (0..m).fold(0.0_f32, |acc, k| acc + cell(0, i * m + k) * cell(1, k * n + j));
            assert_eq!(data.cells[2][(i * n + j) as usize].as_f64(), f64::from(expected));
        }
    }
    assert_eq!(tally.operations[&(Operation::Add, Type::F32)], 175);
    assert_eq!(tally.operations[&(Operation::Mul, Type::F32)], 175);
    assert_eq!(tally.touched[&nest.array_id("a").unwrap()].len(), 35);
    assert_eq!((tally.groups, tally.barriers), (1, 0));
}

#[test]
fn an_access_outside_of_its_array_is_refused_with_its_place() {
    let nest = "sizes n\narray a[n]: f32\n{[i]: 0 <= i < n}\na[i] = 2*a[i + 1]".parse::<Nest>().unwrap();
    let mut data = Data::filled(&nest, &[4], 1).unwrap();
    let error = interpret::run(&nest, &[4], &mut data, LaneOrder::Ascending).unwrap_err();
    assert_eq!(error.message, "a[i + 1] is at 4 of axis 0, which has 4 cells");
    assert_eq!(error.place.unwrap().to_string(), "line 4, column 10");
}

#[test]
fn a_temporary_that_is_read_before_it_is_written_is_refused() {
    let nest = "array a[1]: f32\ntemporary x: f32\na[0] = x".parse::<Nest>().unwrap();
    let mut data = Data::filled(&nest, &[], 1).unwrap();
    let error = interpret::run(&nest, &[], &mut data, LaneOrder::Ascending).unwrap_err();
    assert_eq!(error.message, "x is read before it is written");
}

#[test]
fn sizes_that_break_an_assumption_are_refused() {
    let nest =
        "sizes n\nassume n > 0, n mod 4 = 0\narray a[n]: f32\n{[i]: 0 <= i < n}\na[i] = i".parse::<Nest>().unwrap();
    for (n, admitted) in [(4, true), (6, false), (0, false), (-4, false)] {
        assert_eq!(nest.admits(&[n]), admitted, "{n}");
    }
}
