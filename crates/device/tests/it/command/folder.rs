//! The folder of each configuration: a copy of the problem's.

use crate::command::setup::*;
use crate::common::{assert_failed, config};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use tunesmith_backend::command::CommandOptions;
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_kernel::Template;
use tunesmith_kernel::command::{CommandSpec, CommandVerify, Unit};

/// The first bytes of what a compiler makes.
const COMPILED: &str = "\u{7f}ELF of another configuration";

/// Returns the printed costs of all configurations, which are in flight together, in the order of the space.
fn costs(setup: &Setup, build: &str, command: Vec<Template>) -> Vec<f64> {
    let cost = printed("cost ([0-9]+)", Unit::Milliseconds);
    let spec = CommandSpec { build: vec![shell(build)], command, cost, ..setup.spec("") };
    let mut evaluator = setup.evaluator(CommandOptions { jobs: 4, ..options(spec) });
    for n in 0..4 {
        evaluator.submit(Request::timed(config(&setup.space, n))).unwrap();
    }
    let mut answer = || {
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        assert_correct(&completion);
        (completion.request.unwrap().config, completion.measurement.times_ms[0])
    };
    let costs: BTreeMap<_, f64> = (0..4).map(|_| answer()).collect();
    costs.into_values().collect()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn configurations_that_build_the_same_file_run_their_own() {
    let setup = Setup::new();
    let build = "mkdir -p obj; echo cost $((N + 1)) >> obj/text; cp obj/text prog";
    assert_eq!(costs(&setup, build, words(&["cat", "prog"])), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(std::fs::read_dir(setup.folder.path()).unwrap().count(), 0, "the problem's folder stays as it is");
}

#[test]
fn what_was_compiled_before_the_run_is_older_than_its_sources() {
    let setup = Setup::new();
    for (name, text) in [("main.c", "source"), ("main.o", COMPILED), ("prog", COMPILED)] {
        write(setup.folder.path(), name, text);
    }
    // As `make` decides. The program has no sources in the rules.
    let build = "test main.o -nt main.c || printf '#!/bin/sh\\necho cost %s' $((N + 1)) > main.o; \
                 test -e prog || { cp main.o prog; chmod +x prog; }; test -e main.c";
    for command in [words(&["./prog"]), words(&["env", "./prog"]), shell("true && ./prog")] {
        assert_eq!(costs(&setup, build, command), [1.0, 2.0, 3.0, 4.0]);
    }
}

#[test]
fn a_program_that_the_build_does_not_make_is_there() {
    let setup = Setup::new();
    std::fs::copy("/bin/true", setup.folder.path().join("prog")).unwrap();
    let build = vec![shell("test ! -e prog")];
    let spec = CommandSpec { build, command: words(&["./prog"]), ..setup.spec("") };
    let mut evaluator = setup.evaluator(options(spec));
    evaluator.preflight(config(&setup.space, 0)).unwrap();
    assert_correct(&setup.evaluate(&mut evaluator, 0));
}

#[test]
fn a_run_finds_no_result_of_another_run() {
    for order in [[0, 1], [1, 0]] {
        let setup = Setup::new();
        write(setup.folder.path(), "result.txt", "42 of yesterday");
        let check = Some(words(&["grep", "-q", "42", "result.txt"]));
        let verify = CommandVerify { check, ..CommandVerify::default() };
        write(setup.folder.path(), "run.sh", "test -e result.txt && exit 9; test $N = 1 || echo 42 > result.txt");
        // A program that finds its result might have nothing to do.
        let writes = words(&["./result.txt"]);
        let mut evaluator = setup.evaluator(options(CommandSpec { writes, verify, ..setup.spec("sh run.sh") }));
        for n in order {
            let completion = setup.evaluate(&mut evaluator, n);
            match n {
                1 => assert_failed(&completion, FailureKind::Correctness, &["grep: result.txt: No such file"]),
                _ => assert_correct(&completion),
            }
        }
        assert_eq!(setup.file("result.txt"), "42 of yesterday");
    }
}

#[test]
fn a_file_that_the_command_redirects_to_is_not_that_of_yesterday() {
    let setup = Setup::new();
    write(setup.folder.path(), "result.txt", "42 of yesterday");
    let check = Some(words(&["grep", "-q", "42", "result.txt"]));
    let verify = CommandVerify { check, ..CommandVerify::default() };
    let completion = setup.run(CommandSpec { verify, ..setup.spec("test $N = 2 || echo 42 > result.txt") });
    assert_failed(&completion, FailureKind::Correctness, &["grep: result.txt: No such file"]);
}

#[test]
fn a_file_in_the_place_of_a_link_that_the_run_began_with_is_copied() {
    let setup = Setup::new();
    let link = setup.folder.path().join("link");
    symlink("nowhere", &link).unwrap();
    let mut evaluator = setup.evaluator(options(setup.spec("grep -q text link")));
    std::fs::remove_file(&link).unwrap();
    write(setup.folder.path(), "link", "text");
    assert_correct(&setup.evaluate(&mut evaluator, 0));
}

#[test]
fn a_copy_has_the_links_the_modes_the_times_and_the_surroundings_of_the_folder() {
    let setup = Setup::new();
    let folder = setup.folder.path().join("problem");
    std::fs::create_dir_all(folder.join("inner")).unwrap();
    std::fs::create_dir(setup.folder.path().join("beside")).unwrap();
    for name in ["inner/a", "../beside/b", "../c"] {
        write(&folder, name, name);
    }
    symlink("inner/a", folder.join("relative")).unwrap();
    symlink(folder.join("inner/a"), folder.join("absolute")).unwrap();
    symlink("../beside", folder.join("outside")).unwrap();
    let large = std::fs::File::create(folder.join("large")).unwrap();
    large.set_len(9 << 20).unwrap();
    let script = "set -e; cat ../beside/b ../c outside/b ../../$(basename \"$(dirname \"$HERE\")\")/c; \
                  echo changed | tee relative; grep changed absolute; test $(wc -c < large) = 9437184; \
                  test large -ot inner/a; test ! inner/a -ot \"$HERE/inner/a\"";
    assert_correct(&setup.run(spec(&folder, script)));
    assert_eq!(std::fs::read_to_string(folder.join("inner/a")).unwrap(), "inner/a");
    let output = std::fs::read_dir(setup.folder.path()).unwrap().count();
    assert_eq!(output, 3, "nothing new lies beside the folder");
}
