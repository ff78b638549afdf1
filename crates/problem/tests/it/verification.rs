//! The keys that say how outputs are verified, in problem files and in code.

use std::path::Path;
use tunesmith_kernel::ScalarType::{F32, I32};
use tunesmith_kernel::{Access, ArgumentKind, Fill, KernelSpec, Language, Shape};
use tunesmith_problem::{Arg, Code, Problem};
use tunesmith_space::Value;

const TOML: &str = r#"
    [problem]
    name = "sums"
    sizes = { N = 64, M = 8 }
    [kernel]
    file = "sums.c"
    function = "sums"
    [parameters]
    TILE = { divisors_of = "N" }
    [constraints]
    "tiles divide N" = "N % TILE == 0"
    "groups fit" = "TILE <= device.max_work_group_size"
    [[arguments]]
    name = "x"
    type = "f32"
    shape = ["N"]
    fill = { random = [0.5, 2.0] }
    align = 16
    [[arguments]]
    name = "sums"
    type = "f32"
    shape = ["N // TILE", 2]
    access = "out"
    [[arguments]]
    name = "y"
    type = "f32"
    shape = ["N"]
    access = "inout"
    [[arguments]]
    name = "work"
    type = "i32"
    shape = ["TILE"]
    access = "scratch"
    [verify]
    compare = { y = "0..min(M, N), 2 * M..=N - 1" }
    sizes = [{ N = 60 }, { N = 128, M = 4 }]
    [verify.reference]
    file = "reference.c"
    function = "reference"
    arguments = ["y", "sums", "x"]
    sources = ["helper.c"]
    include = ["headers"]
    options = ["-DEXACT", "-I", "more"]
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sums.c", "reference.c", "helper.c"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    folder
}

fn spec(problem: &Problem) -> KernelSpec {
    problem.kernel_spec(Language::C).unwrap()
}

/// Checks the problem of [`TOML`], whichever way it was made.
fn check(problem: &Problem, folder: &Path) {
    let spec = spec(problem);
    assert!(spec.is_verified());
    let aligns: Vec<usize> = spec.arguments.iter().map(|argument| argument.align).collect();
    assert_eq!(aligns, [16, 64, 64, 64]);
    let ArgumentKind::Buffer { fill: Fill::Between(low, high), .. } = &spec.arguments[0].kind else { panic!() };
    assert_eq!((*low, *high), (0.5, 2.0));
    let ArgumentKind::Buffer { shape: Shape::Varying(shape), .. } = &spec.arguments[1].kind else { panic!() };
    assert_eq!(shape.iter().map(|extent| extent.text()).collect::<Vec<_>>(), ["N // TILE", "2"]);
    assert!(
        matches!(&spec.arguments[2].kind, ArgumentKind::Buffer { shape: Shape::Fixed(shape), .. } if *shape == [64])
    );
    assert!(matches!(&spec.arguments[3].kind, ArgumentKind::Buffer { access: Access::Scratch, .. }));
    assert_eq!(spec.verify.compare["y"], [0..8, 16..64]);

    let reference = spec.verify.reference.as_ref().unwrap();
    assert_eq!(reference.arguments, Some(vec![2, 1, 0]));
    assert_eq!(reference.sources, [folder.join("helper.c")]);
    assert_eq!(reference.include, [folder.join("headers"), folder.join("more")]);
    assert_eq!(reference.options.iter().map(ToString::to_string).collect::<Vec<_>>(), ["-DEXACT"]);

    let [first, second] = spec.verify.sizes.as_slice() else { panic!("{:?}", spec.verify.sizes) };
    assert_eq!((first.label.as_str(), second.label.as_str()), ("N = 60", "N = 128, M = 4"));
    assert_eq!(first.spec.sizes, [("N".to_string(), Value::Int(60)), ("M".to_string(), Value::Int(8))]);
    assert_eq!(first.spec.verify.compare["y"], [0..8, 16..60], "everything is read anew at these sizes");
    assert!(first.spec.verify.sizes.is_empty());
    assert!(
        first.parameters[0].values().contains(&Value::Int(15))
            && !first.parameters[0].values().contains(&Value::Int(64))
    );
    let names: Vec<&str> = first.constraints.iter().map(|constraint| constraint.name()).collect();
    assert_eq!(names, ["tiles divide N"], "limits of the device are the device's to judge");
    let ArgumentKind::Buffer { shape: Shape::Fixed(shape), .. } = &second.spec.arguments[0].kind else { panic!() };
    assert_eq!(*shape, [128]);
}

#[test]
fn a_problem_file_says_what_is_compared_with_what_and_at_which_sizes() {
    let folder = folder();
    check(&Problem::parse(TOML, folder.path()).unwrap(), folder.path());
}

#[test]
fn the_builder_has_a_call_for_every_key() {
    let folder = folder();
    let reference = Code::file("reference", "reference.c").arguments(["y", "sums", "x"]).source("helper.c");
    let reference = reference.include("headers").option("-DEXACT").option("-I").option("more");
    let problem = Problem::builder("sums")
        .folder(folder.path())
        .size("N", 64)
        .size("M", 8)
        .kernel(Code::file("sums", "sums.c"))
        .parameter("TILE", [1, 2, 4, 8, 15, 16])
        .constraint("tiles divide N", "N % TILE == 0")
        .constraint("groups fit", "TILE <= device.max_work_group_size")
        .argument(Arg::input("x", F32, ["N"]).fill(Fill::Between(0.5, 2.0)).align(16))
        .argument(Arg::output("sums", F32, ["N // TILE", "2"]))
        .argument(Arg::inout("y", F32, ["N"]))
        .argument(Arg::scratch("work", I32, ["TILE"]))
        .reference(reference)
        .compare("y", "0..min(M, N), 2 * M..=N - 1")
        .verify_at([("N", 60)])
        .verify_at([("N", 128), ("M", 4)])
        .build()
        .unwrap();
    check(&problem, folder.path());
}

#[test]
fn the_identity_counts_what_changes_the_verdict_and_only_if_it_is_stated() {
    let folder = folder();
    let digest = |text: &str| Problem::parse(text, folder.path()).unwrap().digest();
    let first = digest(TOML);
    for (from, to) in [
        ("sizes = [{ N = 60 },", "sizes = ["),
        ("0..min(M, N),", ""),
        ("shape = [\"TILE\"]", "shape = [\"2 * TILE\"]"),
        ("[\"y\", \"sums\", \"x\"]", "[\"sums\", \"y\", \"x\"]"),
        ("-DEXACT", "-DFAST"),
    ] {
        assert_ne!(digest(&TOML.replace(from, to)), first, "{from}");
    }
}

fn faults(from: &str, to: &str) -> Vec<String> {
    let folder = folder();
    assert!(TOML.contains(from), "{from}");
    let error = Problem::parse(&TOML.replace(from, to), folder.path()).unwrap_err();
    let one = |message: &tunesmith_problem::Diagnostic| {
        format!("{}: {}; {}", message.line, message.text, message.remedy.clone().unwrap_or_default())
    };
    error.messages.iter().map(one).collect()
}

#[test]
fn faults_name_their_line_and_their_remedy() {
    let cases = [
        ("align = 16", "align = 24", "`arguments.align` cannot be 24; it is a power of two from 4"),
        ("random = [0.5, 2.0]", "random = [2.0, 0.5]", "`arguments.fill.random` must be two numbers, the lower"),
        ("\"N // TILE\"", "\"K // TILE\"", "`K` in the shape is neither a size nor a parameter"),
        ("compare = { y", "compare = { work", "there is no output `work` to compare"),
        ("0..min(M, N)", "8..8", "`8..8` is no range of elements; write first..end"),
        ("{ N = 60 }", "{ K = 60 }", "the problem has no size `K`; sizes are those of [problem] sizes: N, M"),
        ("{ N = 60 }", "{ N = 0 }", "at N = 0: "),
        ("[\"y\", \"sums\", \"x\"]", "[\"z\"]", "there is no argument `z`"),
        (
            "access = \"scratch\"",
            "access = \"scrach\"",
            "`arguments.access` cannot be `scrach`; did you mean `scratch`?",
        ),
    ];
    for (from, to, wanted) in cases {
        let found = faults(from, to);
        let line = TOML[..TOML.find(from).unwrap()].matches('\n').count() + 1;
        let wanted = format!("{line}: {wanted}");
        assert!(found.iter().any(|fault| fault.starts_with(&wanted)), "{from} -> {to}: {found:#?}");
    }
    let file = faults("access = \"out\"", "fill = \"file\"\n    path = \"sums.npy\"");
    assert!(file.iter().any(|fault| fault.contains("a file has one length")), "{file:#?}");
}
