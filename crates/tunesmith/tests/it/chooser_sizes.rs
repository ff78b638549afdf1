//! The sizes of a chooser are given by name. Code that could confuse two of them does not compile.
#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "RUSTC and CI are read from the environment")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use tunesmith::choose::wisdom::{Chooser, Coverage, DecisionTree, Input, Node, Portfolio, Regret, Rule};
use tunesmith::space::Value;

/// A portfolio of `kernel` that answers 1 for inputs that are wide, and 0 for others.
fn portfolio(kernel: &str) -> Portfolio {
    let nodes = vec![Node::Split { feature: 0, below: 100.0, then: 1, otherwise: 2 }, Node::Choose(0), Node::Choose(1)];
    let inputs = [[16.0, 16.0], [512.0, 64.0], [1024.0, 512.0]].map(|sizes: [f64; 2]| sizes.to_vec());
    Portfolio {
        kernel: kernel.to_string(),
        device: "d".to_string(),
        sizes: ["W", "H", "C"].map(str::to_string).to_vec(),
        features: ["W", "H"].map(str::to_string).to_vec(),
        constants: Input::from([("C".to_string(), 3.0)]),
        configs: [1, 2].map(|tile| vec![("TILE".to_string(), Value::Int(tile))]).to_vec(),
        chooser: Chooser {
            rule: Rule::Tree(DecisionTree::new(nodes, 5, 2).unwrap()),
            coverage: Coverage::of(&inputs),
            robust: Some(0),
        },
        regret: Regret { inputs: 2, worst: 0.04, ..Regret::default() },
        judgement: None,
    }
}

/// A compiler with options for a standard of a language.
#[derive(Clone, Copy, Debug)]
struct Compiler {
    program: &'static str,
    standard: &'static str,
}

/// Returns true if a compiler is there. In continuous integration it has to be.
fn has(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "{program} is missing");
    if !is_there {
        eprintln!("left out: {program} is missing (apt install {})", program.replace("clang++", "clang"));
    }
    is_there
}

/// Returns those of the compilers that this machine has.
fn compilers(programs: &[&'static str], standard: &'static str) -> Vec<Compiler> {
    let found: Vec<Compiler> =
        programs.iter().copied().filter(|program| has(program)).map(|program| Compiler { program, standard }).collect();
    assert!(!found.is_empty(), "there is no compiler");
    found
}

impl Compiler {
    /// Compiles a program whose `main` has this body.
    fn compile(self, folder: &Path, body: &str) -> Output {
        let suffix = if self.standard.contains("++") { "cpp" } else { "c" };
        let source = folder.join(format!("main.{suffix}"));
        let text = format!(
            "#include \"tuned.h\"\n#include <stdio.h>\nint main(void)\n{{\n    int w = 512, h = 64;\n    double wide = 512, \
             high = 64;\n    (void)w, (void)h, (void)wide, (void)high;\n    {body}\n    return 0;\n}}\n"
        );
        std::fs::write(&source, text).unwrap();
        let strict = ["-Wall", "-Wextra", "-Wno-unused-function", "-pedantic"];
        let mut command = Command::new(self.program);
        command.arg(self.standard).args(strict).arg(&source).arg("-o").arg(folder.join("main")).current_dir(folder);
        command.output().unwrap()
    }

    /// Compiles and runs a body, which must cause no warning. Returns what it prints.
    fn runs(self, folder: &Path, body: &str) -> String {
        let compiled = self.compile(folder, body);
        assert!(compiled.status.success() && compiled.stderr.is_empty(), "{self:?}: {body}\n{compiled:#?}");
        let ran = Command::new(folder.join("main")).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    }

    /// Compiles a body that must be refused.
    fn refuses(self, folder: &Path, body: &str) {
        let compiled = self.compile(folder, body);
        assert!(!compiled.status.success(), "{self:?} takes {body}");
    }
}

fn header() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let header = tunesmith_export::c_header(&[portfolio("blur"), portfolio("sharpen")]).unwrap();
    assert!(
        header.contains("blur_size W;\n    blur_size H;\n    blur_size C;\n"),
        "in the order of the problem\n{header}"
    );
    assert!(header.contains("at most 4.0 % worse than the best known one"), "{header}");
    std::fs::write(folder.path().join("tuned.h"), header).unwrap();
    folder
}

/// Prints the choice for sizes that are given like this, and whether they are covered.
fn print(sizes: &str) -> String {
    format!("printf(\"%d %d\", blur_choose({sizes}), blur_covers({sizes}));")
}

#[test]
fn in_c_sizes_are_named_in_any_order_and_nothing_else_compiles() {
    let folder = header();
    for compiler in compilers(&["gcc", "clang"], "-std=c99") {
        let sizes = |members: &str| print(&format!("(struct blur_sizes){{{members}}}"));
        let runs = |members: &str| compiler.runs(folder.path(), &sizes(members));
        assert_eq!(runs(".W = w, .H = h, .C = 3"), "1 1", "{compiler:?}");
        assert_eq!(runs(".C = 3, .H = high, .W = wide"), "1 1", "{compiler:?}");
        assert_eq!(runs(".W = h, .H = w, .C = 4"), "0 0", "too high, and another size that was always 3");
        for members in
            ["w, h, 3", "h, w, 3", "wide, high, 3.0", "wide", "w, .H = h", "512, 64, 3", ".W = w, h, 3", ".N = w"]
        {
            compiler.refuses(folder.path(), &sizes(members));
        }
        for call in ["blur_choose(w, h, 3);", "blur_choose(wide);", "blur_choose();"] {
            compiler.refuses(folder.path(), call);
        }
        compiler.refuses(folder.path(), "struct sharpen_sizes other = {.W = w}; blur_choose(other);");
    }
}

#[test]
fn in_cpp_sizes_are_members_or_named_and_nothing_else_compiles() {
    let folder = header();
    let named = "struct blur_sizes sizes; sizes.H = h; sizes.C = 3; sizes.W = w; ";
    for standard in ["-std=c++11", "-std=c++17", "-std=c++20"] {
        for compiler in compilers(&["g++", "clang++"], standard) {
            assert_eq!(compiler.runs(folder.path(), &format!("{named}{}", print("sizes"))), "1 1", "{compiler:?}");
            for sizes in ["{w, h, 3}", "{wide, high, 3.0}", "blur_sizes{w, h, 3}", "{w}", "w, h, 3", "w"] {
                compiler.refuses(folder.path(), &format!("blur_choose({sizes});"));
            }
            compiler.refuses(folder.path(), "struct sharpen_sizes other; blur_choose(other);");
        }
    }
    for compiler in compilers(&["g++", "clang++"], "-std=c++20") {
        assert_eq!(compiler.runs(folder.path(), &print("{.W = w, .H = h, .C = 3}")), "1 1", "{compiler:?}");
    }
    for compiler in compilers(&["g++"], "-std=c++20") {
        compiler.refuses(folder.path(), &print("{.H = h, .W = w, .C = 3}"));
    }
}

#[test]
fn in_rust_a_structure_names_its_members() {
    let folder = tempfile::tempdir().unwrap();
    let module = tunesmith_export::rust(&[portfolio("blur"), portfolio("sharpen")]).unwrap();
    std::fs::write(folder.path().join("tuned.rs"), module).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let compile = |sizes: &str| {
        let text = format!("mod tuned;\nfn main() {{\n    print!(\"{{}}\", tuned::blur::choose({sizes}));\n}}\n");
        std::fs::write(folder.path().join("main.rs"), text).unwrap();
        let arguments = ["--edition", "2021", "main.rs", "-o", "main", "-D", "warnings"];
        Command::new(&rustc).args(arguments).current_dir(folder.path()).output().unwrap()
    };
    let built = compile("tuned::blur::Sizes { H: 64.0, C: 3.0, W: 512.0 }");
    assert!(built.status.success(), "{built:#?}");
    assert_eq!(Command::new(folder.path().join("main")).output().unwrap().stdout, b"1");
    for sizes in
        ["512.0, 64.0, 3.0", "tuned::sharpen::Sizes { W: 512.0, H: 64.0, C: 3.0 }", "tuned::blur::Sizes { W: 1.0 }"]
    {
        assert!(!compile(sizes).status.success(), "{sizes}");
    }
}

#[test]
fn a_kernel_without_sizes_is_asked_without_any() {
    let folder = tempfile::tempdir().unwrap();
    let one = Portfolio {
        sizes: Vec::new(),
        features: Vec::new(),
        constants: Input::new(),
        chooser: Chooser { rule: Rule::always(1), coverage: Coverage::default(), robust: Some(1) },
        ..portfolio("blur")
    };
    let header = tunesmith_export::c_header(std::slice::from_ref(&one)).unwrap();
    std::fs::write(folder.path().join("tuned.h"), header).unwrap();
    let all = [compilers(&["gcc", "clang"], "-std=c99"), compilers(&["g++", "clang++"], "-std=c++11")].concat();
    let printed: BTreeSet<String> = all.into_iter().map(|compiler| compiler.runs(folder.path(), &print(""))).collect();
    assert_eq!(printed, BTreeSet::from(["1 1".to_string()]));
    assert!(tunesmith_export::rust(&[one]).unwrap().contains("pub fn choose() -> usize"));
}
