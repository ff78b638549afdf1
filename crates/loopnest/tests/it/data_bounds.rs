//! Bounds and subscripts that are looked up in arrays.

use crate::program;

use program::{Sample, compare};
use tunesmith_loopnest::{Data, Dialect, LaneOrder, Nest, Recipe, Value, codegen, count, interpret};

const ROWS: &str = include_str!("../../../../examples/nests/spmv.nest");

/// The first cell of each of five rows, and the column of each cell.
const FIRST: [i64; 6] = [0, 2, 2, 5, 6, 8];
const COLUMNS: [i64; 8] = [4, 0, 1, 2, 3, 3, 0, 4];

/// Arguments of the kernel with that sparse matrix: `first`, `column`, `value`, `x`, `y`.
fn data(nest: &Nest) -> Data {
    let mut data = Data::filled(nest, &SIZES, 7).unwrap();
    let integers = |numbers: &[i64]| numbers.iter().map(|number| Value::Integer(*number)).collect::<Vec<_>>();
    for (name, numbers) in [("row", &FIRST[..]), ("column", &COLUMNS[..])] {
        let place = nest.arrays.iter().position(|array| array.name == name).unwrap();
        data.cells[place] = integers(numbers);
    }
    data
}

/// The number of rows, of cells, and of cells in a row on average.
const SIZES: [i64; 3] = [5, 8, 2];

fn cells(nest: &Nest, data: &Data, name: &str) -> Vec<f64> {
    let place = nest.arrays.iter().position(|array| array.name == name).unwrap();
    data.cells[place].iter().map(|value| value.as_f64()).collect()
}

#[test]
fn a_sparse_product_is_what_it_is_in_rust_in_every_order_of_lanes() {
    let nest = ROWS.parse::<Nest>().unwrap();
    let before = data(&nest);
    let (value, x) = (cells(&nest, &before, "value"), cells(&nest, &before, "x"));
    for order in [LaneOrder::Ascending, LaneOrder::Descending] {
        let mut after = before.clone();
        interpret::run(&nest, &SIZES, &mut after, order).unwrap();
        for (row, sum) in cells(&nest, &after, "y").into_iter().enumerate() {
            let own = FIRST[row] as usize..FIRST[row + 1] as usize;
            let expected = own.fold(0.0_f32, |acc, k| acc + value[k] as f32 * x[COLUMNS[k] as usize] as f32);
            assert_eq!(sum, f64::from(expected), "row {row}");
        }
    }
}

#[test]
fn the_generated_c_is_what_the_interpreter_gives() {
    let recipe = ROWS.parse::<Recipe>().unwrap();
    let sample = |width| {
        let nest = recipe.apply(&[("width", width)]).unwrap();
        let data = data(&nest);
        Sample { nest, sizes: SIZES.to_vec(), data }
    };
    compare(&[1, 2, 4, 64].map(sample));
}

#[test]
fn work_items_beyond_the_last_row_look_nothing_up() {
    let nest = ROWS.parse::<Nest>().unwrap();
    let head = "for (int k = row[64 * gid0 + lid0];";
    for dialect in [Dialect::OpenCl, Dialect::Cuda, Dialect::C] {
        let text = codegen::source(&nest, dialect).unwrap().text;
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        // In C the first version is that of whole rows, the last one that of all others.
        let at = lines.iter().rposition(|line| line.starts_with(head)).unwrap_or_else(|| panic!("{text}"));
        assert!(lines[at - 1].starts_with("if (n - 64 * gid0 - lid0 - 1 >= 0"), "{text}");
    }
}

/// Returns the counts of a nest at sizes, without zero counts.
fn counts(text: &str, sizes: &[i64]) -> Vec<(String, i128)> {
    let counts = count::count(&text.parse::<Nest>().unwrap()).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let values = counts.evaluate(sizes).unwrap();
    let named = counts.properties().iter().map(ToString::to_string).zip(values);
    named.filter(|(_, count)| *count != 0).collect()
}

/// Returns the number of loads of `text` from global memory, by stride.
fn loads(text: &str, sizes: &[i64]) -> Vec<(String, i128)> {
    let stride = |name: &str| name.strip_prefix("g:32:load:").map(ToString::to_string);
    counts(text, sizes).into_iter().filter_map(|(name, count)| Some((stride(&name)?, count))).collect()
}

fn strides(list: &[(&str, i128)]) -> Vec<(String, i128)> {
    list.iter().map(|(stride, count)| ((*stride).to_string(), *count)).collect()
}

#[test]
fn counts_are_multiplied_by_the_statistic_and_have_what_is_looked_up() {
    let sizes = [1000, 16000, 16];
    let count = |name: &str| counts(ROWS, &sizes).into_iter().find(|(known, _)| known == name).map(|(_, count)| count);
    assert_eq!(count("op:f32:add"), Some(16000));
    assert_eq!(count("g:32:store:s1"), Some(1000));
    // Each lane has a row of its own. The rows decide the distance between lanes in `column`,
    // `value` and `x`. Both ends of a row are adjacent to those of its neighbours.
    assert_eq!(loads(ROWS, &sizes), strides(&[("s1", 2000), ("data", 48000)]));
    let nest = ROWS.parse::<Nest>().unwrap();
    count::outside(&nest).unwrap().refuse(&sizes).unwrap();
    let footprint = |name: &str| count::footprint(&nest, nest.array_id(name).unwrap());
    assert_eq!(footprint("row").unwrap().evaluate(&sizes).unwrap(), [4 * 1001]);
    for array in ["column", "value", "x"] {
        let message = footprint(array).unwrap_err().message;
        assert_eq!(message, format!("which cells of `{array}` are touched depends on data"));
    }
    assert!(count::count_modern(&nest).unwrap().refused.iter().any(|(kind, _)| *kind == "chain"));
}

#[test]
fn lanes_that_run_along_a_row_are_neighbours() {
    let untransformed = ROWS.split("\nsplit").next().unwrap();
    // Rows follow each other, and so do the cells of a row. The data decide where those point.
    let expected = strides(&[("s1", 2 * 1000 + 2 * 16000), ("data", 16000)]);
    assert_eq!(loads(untransformed, &[1000, 16000, 16]), expected);
}

/// A sparse matrix times a dense one: `k` runs over the cells of a row, `j` over the columns of the
/// result.
const DENSE: &str = "
    nest dense
    sizes n, m, nnz, per_row
    assume n > 0, m > 0, nnz > 0
    array row[2*n + 1]: i32
    array column[nnz]: i32
    array value[nnz]: f32
    array x[n, m]: f32
    array y[n, m]: f32
    {[i, j]: 0 <= i < n and 0 <= j < m}
    lookup first = row[2*i]
    lookup end = row[2*i + 2]
    {[k]: first <= k < end}
    statistic k = per_row
    lookup at = column[k]
    y[i, j] = 0.0 @ i, j
    y[i, j] = y[i, j] + value[k]*x[at, j] @ i, j, k
";

#[test]
fn a_value_is_loaded_once_for_each_iteration_of_the_innermost_loop_that_says_where() {
    let sizes = [100, 24, 700, 7];
    let all = |text: &str| loads(text, &sizes).into_iter().map(|(_, count)| count).sum::<i128>();
    // `value`, `x` and `y` are loaded at every point.
    let others = 3 * 100 * 24 * 7;
    // In this order, the ends of a row are known before `j` begins, and `column` is read again for
    // each `j`.
    assert_eq!(all(DENSE) - others, 2 * 100 + 100 * 24 * 7);
    // Neighbouring iterations of `i` look up every other cell of `row`.
    assert!(loads(DENSE, &sizes).contains(&("1/2".to_string(), 200)), "{:?}", loads(DENSE, &sizes));
    // A work-group for each row: its work-items look up the same cells. Those beyond the last
    // column look up the ends of the row, too.
    let lanes = format!("{DENSE}tag i group.0\nsplit j 32 -> jo, ji\ntag ji local.0\n");
    assert_eq!(all(&lanes) - others, 2 * 100 * 32 + 100 * 24 * 7);
    // Two loops over the cells of a row: each looks up its own columns.
    let twice = format!("{DENSE}    y[i, j] = 1.0 @ i, j\n    y[i, j] = y[i, j] + x[at, j] @ i, j, k\n");
    assert_eq!(all(&twice) - others, 2 * 100 + 2 * 100 * 24 * 7 + 2 * 100 * 24 * 7);
    // An unused value is not loaded.
    let unused = DENSE.replace("x[at, j]", "x[i, j]");
    assert_eq!(all(&unused) - others, 2 * 100);
}

#[test]
fn a_share_of_cells_that_data_decide_leaves_the_stride_to_them() {
    let jagged = "
        sizes n, most, c
        array length[n]: i32
        array value[n, most]: f32
        array sum[n]: f32
        temporary acc: f32
        {[i]: 0 <= i < n}
        lookup cells = length[i]
        {[k]: 0 <= k < cells}
        statistic k = c
        acc = 0.0 @ i
        acc = acc + value[i, k] @ i, k
        sum[i] = acc @ i
        split i 32 -> io, ii
        tag io group.0
        tag ii local.0
    ";
    assert_eq!(loads(jagged, &[64, 100, 7]), strides(&[("s1", 64), ("data", 64 * 7)]));
}

#[test]
fn lookups_that_leave_their_arrays_are_counted_and_refused() {
    let outside = |text: &str| count::outside(&text.parse::<Nest>().unwrap()).unwrap().refuse(&SIZES).unwrap_err();
    let error = outside(&ROWS.replace("row[i + 1]", "row[i + 3]"));
    assert_eq!(error.to_string(), "row[64*io + ii + 3] is beyond the end of axis 0 of `row` 2 times");
    assert_eq!(error.place.map(|place| (place.line, place.column)), Some((13, 8)));
    assert!(error.remedy.unwrap().contains("from 0 to n + 1 - 1"));
    let error = outside(&ROWS.replace("lookup at = column[k]", "lookup at = column[4*i - 3]"));
    assert_eq!(error.message, "column[256*io + 4*ii - 3] is before the start of axis 0 of `column` once");
    // If the data decide, counting refuses. `interpret` and `refuse_data` check these accesses.
    let nest = ROWS.replace("column[k]", "column[k + 8]").parse::<Nest>().unwrap();
    count::outside(&nest).unwrap().refuse(&SIZES).unwrap();
}

#[test]
fn what_is_printed_reads_back() {
    let untransformed = ROWS.split("\nsplit").next().unwrap();
    let text = untransformed.parse::<Nest>().unwrap().to_string();
    assert_eq!(text.parse::<Nest>().unwrap().to_string(), text);
}

fn refused(text: &str) -> String {
    let error = text.parse::<Nest>().and_then(|nest| count::count(&nest)).expect_err(text);
    let place = error.place.map(|place| format!("{place}: ")).unwrap_or_default();
    format!("{place}{}; {}", error.message, error.remedy.unwrap_or_default())
}

#[test]
fn what_is_not_known_or_would_change_the_meaning_is_refused_with_its_place() {
    let without = ROWS.replace("statistic k = per_row\n", "");
    assert!(refused(&without).contains(
        "the number of iterations of `k` depends on data; say how many there are on average: `statistic k = 16`"
    ));
    for step in ["split k 4 -> ko, ki", "tag k unroll", "order k, i"] {
        let message = refused(&format!("{}{step}\n", ROWS.split("split").next().unwrap()));
        assert!(message.contains("the bounds of loop `k` depend on the data in `row`"), "{message}");
    }
    let message = refused(&format!(
        "{}split i 2 -> io, ii\nprefetch x sweep ii -> tile[t]\n",
        ROWS.split("split").next().unwrap()
    ));
    assert!(message.contains("which cells x[at] touches depends on the value of `at`"), "{message}");
    assert!(
        refused(&ROWS.replace("y[i] = acc", "row[i] = i")).contains("`row` is written, and `first` looked up in it")
    );
    assert!(
        refused(&ROWS.replace("column[nnz]: i32", "column[nnz]: f32")).contains("`column` is not an array of integers")
    );
    assert!(
        refused(&ROWS.replace("statistic k = per_row", "statistic i = 3"))
            .contains("the bounds of `i` do not depend on data")
    );
    assert!(refused(&ROWS.replace("x[at]", "x[column[k]]")).contains("`lookup value = column[k]`"));
    assert!(
        refused(&ROWS.replace("= column[k]", "= column[first]"))
            .contains("is looked up where another lookup points to")
    );
}

#[test]
fn a_value_looked_up_outside_of_its_array_stops_the_interpreter() {
    let nest = ROWS.replace("row[i + 1]", "row[i + 2]").parse::<Nest>().unwrap();
    let error = interpret::run(&nest, &SIZES, &mut data(&nest), LaneOrder::Ascending).unwrap_err();
    assert!(error.message.contains("is at 6 of axis 0, which has 6 cells"), "{}", error.message);
}
