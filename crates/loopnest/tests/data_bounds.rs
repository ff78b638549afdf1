//! Bounds and subscripts that are looked up in arrays.

use std::io::Write;
use std::process::Command;
use tunesmith_loopnest::{Data, Dialect, LaneOrder, Nest, Value, interpret};

const ROWS: &str = include_str!("../../../examples/nests/spmv.nest");

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

/// Rows, cells and cells in a row on average.
const SIZES: [i64; 3] = [5, 8, 2];

fn cells(nest: &Nest, data: &Data, name: &str) -> Vec<f64> {
    let place = nest.arrays.iter().position(|array| array.name == name).unwrap();
    data.cells[place].iter().map(|value| value.as_f64()).collect()
}

#[test]
fn a_sparse_product_is_what_it_is_in_rust_in_every_order_of_lanes() {
    let nest = Nest::parse(ROWS).unwrap();
    let before = data(&nest);
    let (value, x) = (cells(&nest, &before, "value"), cells(&nest, &before, "x"));
    for order in [LaneOrder::Ascending, LaneOrder::Descending] {
        let mut after = before.clone();
        interpret(&nest, &SIZES, &mut after, order).unwrap();
        for (row, sum) in cells(&nest, &after, "y").into_iter().enumerate() {
            let own = FIRST[row] as usize..FIRST[row + 1] as usize;
            let expected = own.fold(0.0_f32, |acc, k| acc + value[k] as f32 * x[COLUMNS[k] as usize] as f32);
            assert_eq!(sum, f64::from(expected), "row {row}");
        }
    }
}

#[test]
fn the_generated_c_is_what_the_interpreter_gives() {
    let nest = Nest::parse(ROWS).unwrap();
    let code = nest.code(Dialect::C).unwrap();
    let mut after = data(&nest);
    let list = |name: &str| cells(&nest, &after, name).iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ");
    let main = format!(
        "#include <stdio.h>\n{}\nint main(void) {{\nint row[] = {{{}}}, column[] = {{{}}};\nfloat value[] = {{{}}}, x[] = {{{}}}, y[5];\n\
         spmv(row, column, value, x, y, 5, 8, 2);\nfor (int i = 0; i < 5; i++) printf(\"%.9g \", y[i]);\nreturn 0; }}\n",
        code.text,
        FIRST.map(|number| number.to_string()).join(", "),
        COLUMNS.map(|number| number.to_string()).join(", "),
        list("value"),
        list("x"),
    );
    interpret(&nest, &SIZES, &mut after, LaneOrder::Ascending).unwrap();
    let folder = std::env::temp_dir().join(format!("tunesmith-data-bounds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("spmv.c"), folder.join("spmv"));
    std::fs::File::create(&source).unwrap().write_all(main.as_bytes()).unwrap();
    let compiled = Command::new("cc")
        .args(["-O1", "-Wall", "-Wno-unused", "-Wno-unknown-pragmas", "-Werror", "-ffp-contract=off", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-lm")
        .status();
    assert!(compiled.unwrap().success(), "{main}");
    let ran = Command::new(&program).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let found: Vec<f32> =
        String::from_utf8(ran.stdout).unwrap().split_whitespace().map(|x| x.parse().unwrap()).collect();
    let expected: Vec<f32> = cells(&nest, &after, "y").into_iter().map(|x| x as f32).collect();
    assert_eq!(found, expected, "{main}");
}

#[test]
fn work_items_beyond_the_last_row_look_nothing_up() {
    let nest = Nest::parse(ROWS).unwrap();
    let head = "for (int k = row[64 * gid0 + lid0];";
    for dialect in [Dialect::OpenCl, Dialect::Cuda, Dialect::C] {
        let text = nest.code(dialect).unwrap().text;
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| line.starts_with(head)).unwrap_or_else(|| panic!("{text}"));
        assert!(lines[at - 1].starts_with("if (n - 64 * gid0 - lid0 - 1 >= 0"), "{text}");
    }
}

#[test]
fn counts_are_multiplied_by_the_statistic() {
    let nest = Nest::parse(ROWS).unwrap();
    let counts = nest.count().unwrap();
    let values = counts.evaluate(&[1000, 16000, 16]).unwrap();
    let count = |name: &str| {
        let at = counts.properties().iter().position(|property| property.to_string() == name);
        at.map(|at| values[at])
    };
    assert_eq!(count("op:f32:add"), Some(16000));
    // Each lane is in a row of its own: how far the lanes are from each other depends on the rows.
    assert_eq!(count("g:32:load:data"), Some(32000));
    assert_eq!(count("g:32:store:s1"), Some(1000));
    nest.outside().unwrap().refuse(&[1000, 16000, 16]).unwrap();
    let value = nest.array_id("value").unwrap();
    assert!(nest.footprint(value).unwrap_err().message.contains("which cells of `value` are touched depends on data"));
    let row = nest.array_id("row").unwrap();
    assert_eq!(nest.footprint(row).unwrap_err().message, "`first` is looked up in `row`, which is not counted");
    assert!(nest.count_modern().unwrap().refused.iter().any(|(kind, _)| *kind == "chain"));
}

#[test]
fn lanes_that_run_along_a_row_are_neighbours() {
    let untransformed = ROWS.split("\nsplit").next().unwrap();
    let counts = Nest::parse(untransformed).unwrap().count().unwrap();
    let names: Vec<String> = counts.properties().iter().map(ToString::to_string).collect();
    assert!(names.contains(&"g:32:load:s1".to_string()) && names.contains(&"g:32:load:data".to_string()), "{names:?}");
}

#[test]
fn what_is_printed_reads_back() {
    let untransformed = ROWS.split("\nsplit").next().unwrap();
    let text = Nest::parse(untransformed).unwrap().to_string();
    assert_eq!(Nest::parse(&text).unwrap().to_string(), text);
}

fn refused(text: &str) -> String {
    let error = Nest::parse(text).and_then(|nest| nest.count()).expect_err(text);
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
        refused(&ROWS.replace("column[nnz]: i32", "column[nnz]: f32")).contains("`column` is no array of integers")
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
    let nest = Nest::parse(&ROWS.replace("row[i + 1]", "row[i + 2]")).unwrap();
    let error = interpret(&nest, &SIZES, &mut data(&nest), LaneOrder::Ascending).unwrap_err();
    assert!(error.message.contains("is at 6 of axis 0, which has 6 cells"), "{}", error.message);
}
