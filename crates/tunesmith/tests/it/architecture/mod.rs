//! Rules for the house as a whole. Each rule has a test on this workspace and one on a planted
//! fault. The latter proves that the rule can fail.

mod circles;
mod cycles;
mod door;
mod folders;
mod house;
mod lengths;
mod objective;
mod opening;
mod pairs;
mod paths;
mod permissions;
mod planted;
mod rows;
mod source;
mod unsafety;

use std::path::{Path, PathBuf};

use house::House;
use planted::Planted;

/// Maximum number of lines in the files of the facade.
const MOST_LINES_OF_FACADE: usize = 4000;

/// Returns the Rust files in `folder` and below it, with their texts.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry is read").path()).collect();
    paths.sort();
    let of_path = |path: PathBuf| match path.extension() {
        _ if path.is_dir() => files(&path),
        Some(extension) if extension == "rs" => {
            let text = std::fs::read_to_string(&path).expect("a source is text");
            vec![(path, text)]
        }
        _ => Vec::new(),
    };
    paths.into_iter().flat_map(of_path).collect()
}

/// Fails with one line for each of `faults`.
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn crates_use_only_crates_of_lower_rows() {
    let house = House::own();
    assert!(house.crates.len() >= 10);
    none(&rows::faults(&house));
}

#[test]
fn a_planted_dependency_on_a_higher_row_is_found() {
    let empty = [("lib.rs", "")];
    let crates: [(&str, &[&str], _); 2] =
        [("tunesmith-search", &[], &empty[..]), ("tunesmith-space", &["tunesmith-search"], &empty[..])];
    let planted = Planted::new(&crates);
    assert_eq!(rows::faults(&planted.house), ["tunesmith-space may not use tunesmith-search: Cargo.toml"]);
}

#[test]
fn a_planted_dependency_within_a_row_is_found() {
    let empty = [("lib.rs", "")];
    let crates: [(&str, &[&str], _); 2] =
        [("tunesmith-store", &["tunesmith-choose"], &empty[..]), ("tunesmith-choose", &[], &empty[..])];
    let planted = Planted::new(&crates);
    assert_eq!(rows::faults(&planted.house), ["tunesmith-store may not use tunesmith-choose: Cargo.toml"]);
}

#[test]
fn a_planted_import_from_a_higher_row_is_found_unless_tests_alone_say_it() {
    let import = "mod a;\n#[cfg(test)]\nmod tests { use tunesmith_search::Catalogue; }\n";
    let planted = Planted::new(&[
        ("tunesmith-space", &[], &[("lib.rs", import), ("a.rs", "use tunesmith_search::{Catalogue};\n")]),
        ("tunesmith-loopnest", &[], &[("lib.rs", "fn f() {\n    println!(\"{}\", tunesmith::tune());\n}\n")]),
    ]);
    let mut faults = rows::faults(&planted.house);
    faults.sort();
    let expected = [
        "tunesmith-loopnest may not use tunesmith: crates/tunesmith-loopnest/src/lib.rs:2",
        "tunesmith-space may not use tunesmith-search: crates/tunesmith-space/src/a.rs:1",
    ];
    assert_eq!(faults, expected);
}

#[test]
fn a_planted_crate_without_a_row_is_found() {
    let planted = Planted::new(&[("tunesmith-attic", &[], &[("lib.rs", "")])]);
    assert_eq!(rows::faults(&planted.house), ["tunesmith-attic stands in no row"]);
}

#[test]
fn every_row_names_crates_that_are_there() {
    let house = House::own();
    let is_there = |name: &&&str| house.crates.iter().any(|one| one.name == **name);
    let missing: Vec<&&str> = rows::ROWS.iter().copied().flatten().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_command_line_uses_the_facade_the_suite_the_import_and_the_fleet_alone() {
    let house = House::own();
    let uses = &house.find("tunesmith-cli").uses;
    let ours: Vec<&String> = uses.iter().filter(|name| rows::row(name).is_some()).collect();
    // The import brings a parser of C and the fleet TLS, which applications that use the facade do
    // not embed.
    assert_eq!(ours, ["tunesmith", "tunesmith-fleet", "tunesmith-import", "tunesmith-suite"]);
}

#[test]
fn the_python_package_uses_the_command_line_and_the_facade_alone() {
    let house = House::own();
    let uses = &house.find("tunesmith-python").uses;
    let ours: Vec<&String> = uses.iter().filter(|name| rows::row(name).is_some()).collect();
    assert_eq!(ours, ["tunesmith", "tunesmith-cli"]);
}

#[test]
fn no_crate_has_a_cycle_among_its_top_level_modules() {
    none(&cycles::faults(&House::own()));
}

#[test]
fn a_planted_cycle_of_modules_is_found_with_its_uses() {
    let root = "mod a;\nmod b;\nmod c;\nmod d;\npub use b::Named;\n";
    let files = [
        ("lib.rs", root),
        ("a/mod.rs", "mod deep;\n"),
        ("a/deep.rs", "use super::super::Named;\nfn f() { crate::d::f() }\n"),
        ("b.rs", "pub struct Named;\nuse super::{c::Other, d};\n"),
        ("c.rs", "pub struct Other;\nfn f() {\n    println!(\"{}\", crate::a::f());\n}\n"),
        ("d.rs", "pub fn f() {}\n#[cfg(test)]\nmod tests { use crate::a; }\n"),
    ];
    let planted = Planted::new(&[("tunesmith-space", &[], &files)]);
    let expected = "tunesmith-space: 3 modules: a, b, c\n    \
        a -> b (crates/tunesmith-space/src/a/deep.rs:1)\n    \
        b -> c (crates/tunesmith-space/src/b.rs:2)\n    \
        c -> a (crates/tunesmith-space/src/c.rs:3)";
    assert_eq!(cycles::faults(&planted.house), [expected]);
}

#[test]
fn no_more_than_two_files_use_each_other() {
    none(&circles::faults(&House::own()));
}

#[test]
fn a_planted_circle_of_files_is_found_through_the_names_that_modules_hand_on() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a/mod.rs", "mod deep;\nmod pair;\npub(crate) use deep::Named;\n"),
        ("a/deep.rs", "use super::pair;\npub struct Named;\nfn f() { pair::f() }\n"),
        ("a/pair.rs", "use crate::b::*;\npub fn f() {}\nfn g() { of_b() }\n"),
        ("b/mod.rs", "use super::a::{self};\npub fn of_b() -> a::Named { a::Named }\nmod inner;"),
        ("b/inner.rs", "fn f() { super::of_b(); }\n"),
    ];
    let planted = Planted::new(&[("tunesmith-space", &[], &files)]);
    let [a, b, c] = ["a/deep.rs", "a/pair.rs", "b/mod.rs"].map(|name| format!("crates/tunesmith-space/src/{name}"));
    let expected = format!(
        "tunesmith-space: 3 files: {a}, {b}, {c}\n    {a} -> {b} (line 3: pair::f)\n    \
        {b} -> {c} (line 3: of_b)\n    {c} -> {a} (line 2: a::Named)"
    );
    assert_eq!(circles::faults(&planted.house), [expected]);
}

#[test]
fn a_module_with_modules_stands_in_its_folder() {
    none(&folders::faults(&House::own()));
}

#[test]
fn a_planted_file_beside_the_folder_of_its_modules_is_found() {
    let files = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "mod c;\n"),
        ("a/c.rs", ""),
        ("b/mod.rs", "mod d;\n"),
        ("b/d.rs", ""),
    ];
    let planted = Planted::new(&[("tunesmith-space", &[], &files)]);
    let expected = "crates/tunesmith-space/src/a.rs stands beside a folder of its name";
    assert_eq!(folders::faults(&planted.house), [expected]);
}

#[test]
fn no_function_is_longer_than_a_screen() {
    none(&lengths::longer(&lengths::functions(&House::own()), lengths::MOST_LINES));
}

#[test]
fn nine_functions_of_ten_are_short() {
    let functions = lengths::functions(&House::own());
    let long = lengths::longer(&functions, lengths::USUAL_LINES);
    let (count, all) = (long.len(), functions.len());
    assert!(count * 10 <= all, "{count} of {all} functions are not short:\n{}", long.join("\n"));
}

#[test]
fn a_planted_long_function_is_found_unless_it_is_a_test() {
    let body = "    f();\n".repeat(59);
    let long = format!("struct S;\nimpl S {{\nfn long() {{\n{body}}}\n}}\n#[test]\nfn test() {{\n{body}}}\n");
    let fitting = format!("fn fits() {{\n{}}}\nfn short() {{}}\n", "    f();\n".repeat(58));
    let files = [("lib.rs", "mod a;\nmod b;\n"), ("a.rs", &long), ("b.rs", &fitting)];
    let functions = lengths::functions(&Planted::new(&[("tunesmith-space", &[], &files)]).house);
    let long = "long has 61 lines: crates/tunesmith-space/src/a.rs:3";
    let fits = "fits has 60 lines: crates/tunesmith-space/src/b.rs:1";
    assert_eq!(lengths::longer(&functions, lengths::MOST_LINES), [long]);
    assert_eq!(lengths::longer(&functions, lengths::USUAL_LINES), [long, fits]);
}

#[test]
fn the_facade_is_a_facade() {
    let lines = lengths::lines_of_files(House::own().find("tunesmith"));
    assert!(lines <= MOST_LINES_OF_FACADE, "the facade has {lines} lines, more than {MOST_LINES_OF_FACADE}");
}

#[test]
fn the_lines_of_every_file_of_a_crate_are_counted() {
    let files = [("lib.rs", "mod a;\n\n// A comment.\n"), ("a/mod.rs", "fn f() {}\n"), ("a/data.txt", "no code\n")];
    let planted = Planted::new(&[("tunesmith", &[], &files)]);
    assert_eq!(lengths::lines_of_files(planted.house.find("tunesmith")), 4);
}

#[test]
fn unsafe_code_is_only_where_kernels_and_drivers_are_called() {
    none(&unsafety::faults(&House::own()));
}

#[test]
fn planted_unsafe_code_is_found_but_not_in_comments_and_texts() {
    let code = "// unsafe\nconst TEXT: &str = \"unsafe\";\nfn f() {\n    unsafe { g() }\n}\n";
    let planted = Planted::new(&[("backend", &[], &[("lib.rs", code), ("backends/c/mod.rs", code)])]);
    assert_eq!(unsafety::faults(&planted.house), ["crates/backend/src/lib.rs:4 says `unsafe`"]);
}

#[test]
fn a_first_program_finds_few_names_at_the_door() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let names = door::names(&text);
    assert!(names.len() <= door::MOST, "{} names at the root of the facade: {names:?}", names.len());
    assert!(names.contains("tune") && names.contains("study"), "{names:?}");
}

#[test]
fn names_at_a_planted_door_are_counted_once_and_private_ones_are_not() {
    let text = "mod a;\npub mod b;\npub use b::{b, c as d};\npub(crate) use a::e;\npub use f as g;\nfn h() {}\npub struct I;\n";
    assert_eq!(door::names(text).into_iter().collect::<Vec<_>>(), ["I", "b", "d", "g"]);
}

#[test]
fn nothing_outside_the_objective_asks_whether_it_is_time() {
    none(&objective::RULE.faults(&House::own()));
}

#[test]
fn files_of_unknown_kind_are_opened_by_one_crate() {
    none(&opening::RULE.faults(&House::own()));
}

#[test]
fn a_planted_opening_is_found_but_not_in_tests() {
    let code = "use std::fs::{self, File};\nfn f(p: &Path) {\n    let _ = fs::read(p);\n    let _ = p.map(File::open);\n    \
                let _ = fs::OpenOptions::new().read(true).open(p);\n}\n\
                #[cfg(test)]\nmod tests {\n    fn h() { std::fs::write(\"a\", \"b\"); }\n}\n";
    let planted = Planted::new(&[("files", &[], &[("lib.rs", code)]), ("search", &[], &[("lib.rs", code)])]);
    let faults = opening::RULE.faults(&planted.house);
    let expected = ["5 opens by `OpenOptions`", "3 opens by `fs::read`", "4 opens by `File::open`"];
    assert_eq!(faults, expected.map(|what| format!("crates/search/src/lib.rs:{what}")));
}

#[test]
fn a_planted_question_about_time_is_found_but_not_in_tests() {
    let code = "fn f(o: O) -> bool {\n    o.is_time()\n}\nfn g(t: T) -> String {\n    format!(\"{}\", t ==                 crate::Target::default())\n}\n#[cfg(test)]\nmod tests {\n    fn h(o: O) { o.is_time(); }\n}\n";
    let files = [("lib.rs", "mod metric;\nmod other;\n"), ("metric/mod.rs", code), ("other.rs", code)];
    let planted = Planted::new(&[("problem", &[], &files)]);
    let faults = objective::RULE.faults(&planted.house);
    let expected = ["2 asks by `is_time`", "5 asks by `crate::Target::default`"];
    assert_eq!(faults, expected.map(|what| format!("crates/problem/src/other.rs:{what}")));
}

#[test]
fn no_public_struct_pairs_lists_by_position() {
    none(&pairs::faults(&House::own()));
}

#[test]
fn planted_lists_that_are_paired_by_position_are_found_if_both_are_public() {
    let code = "pub struct Run {\n    pub names: Vec<String>,\n    pub times: Vec<f64>,\n    own: Vec<u8>,\n}\n\
        fn f(run: &Run, other: &Run) {\n    run.names.iter().zip(&run.times);\n    run.names.iter().zip(&other.times);\n    \
        run.names.iter().zip(&run.own);\n}\n";
    let planted = Planted::new(&[("report", &[], &[("lib.rs", code)])]);
    assert_eq!(
        pairs::faults(&planted.house),
        ["Run pairs `names` and `times` by position: crates/report/src/lib.rs:7"]
    );
}
