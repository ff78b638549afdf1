//! Problems that are built in code.

use std::path::Path;
use tunesmith_kernel::{Fill, ScalarType::F32, ScalarType::I32};
use tunesmith_problem::{Alternative, Arg, Code, Contents, Problem, ProblemError};
use tunesmith_space::{Expr, Value, Values};

const TOML: &str = r#"
    [problem]
    name = "blur"
    sizes = { N = 64 }
    flops = "2 * N"
    [kernel]
    file = "blur.cl"
    function = "blur"
    options = ["-DWIDTH={TILE}"]
    global = ["N", 2]
    local = ["TILE", 1]
    arguments = ["x", "y"]
    repeat = 3
    [parameters]
    TILE = { pow2 = "1..=16" }
    ORDER = ["ij", "ji"]
    [constraints]
    "tiles divide N" = "N % TILE == 0"
    [[arguments]]
    name = "x"
    type = "f32"
    shape = ["N", 2]
    fill = "generator"
    generator = "i % N"
    [[arguments]]
    name = "y"
    type = "f32"
    shape = ["N", 2]
    access = "out"
    relative = 1e-3
    [[arguments]]
    name = "start"
    type = "i32"
    value = "N // 2"
    [verify]
    reference = { file = "blur.c", function = "blur_reference" }
    absolute = 1e-6
    [tuning]
    default = { TILE = 4 }
"#;

/// The problem of [`TOML`], built in code.
fn built(folder: &Path) -> Problem {
    let kernel = Code::file("blur", "blur.cl").option("-DWIDTH={TILE}").global(["N", "2"]).local(["TILE", "1"]);
    Problem::builder("blur")
        .folder(folder)
        .size("N", 64)
        .flops("2 * N")
        .kernel(kernel.arguments(["x", "y"]).repeat(3))
        .parameter("TILE", Values::pow2(1, 16).unwrap())
        .parameter("ORDER", ["ij", "ji"])
        .constraint("tiles divide N", "N % TILE == 0")
        .argument(Arg::input("x", F32, ["N", "2"]).fill(Fill::Generator(Expr::parse("i % N").unwrap())))
        .argument(Arg::output("y", F32, ["N", "2"]).relative(1e-3))
        .argument(Arg::scalar("start", I32, "N // 2"))
        .reference(Code::file("blur_reference", "blur.c"))
        .absolute(1e-6)
        .default([("TILE", 4)])
        .build()
        .unwrap()
}

/// A correct problem, which tests then spoil.
fn scale() -> tunesmith_problem::ProblemBuilder {
    Problem::builder("scale")
        .size("N", 16)
        .kernel(Code::c("scale", "void scale(float *x) { for (int i = 0; i < N; i++) x[i] *= 2; }"))
        .parameter("STEP", [1, 2, 4])
        .argument(Arg::inout("x", F32, ["N"]))
}

fn message(error: &ProblemError) -> &str {
    &error.messages[0].text
}

#[test]
fn a_problem_built_in_code_equals_that_of_the_same_toml() {
    let folder = tempfile::tempdir().unwrap();
    let (read, built) = (Problem::parse(TOML, folder.path()).unwrap(), built(folder.path()));
    assert_eq!(built.digest(), read.digest());
    let space = |problem: &Problem| problem.space(&[]).unwrap().space.digest().to_owned();
    assert_eq!(space(&built), space(&read));
    let parts = |problem: &Problem| {
        let (kernels, verify) = (format!("{:#?}", problem.spec().kernels()), format!("{:#?}", problem.spec().verify()));
        let tuning = (format!("{:#?}", problem.spec().arguments()), format!("{:#?}", problem.spec().tuning()));
        (
            problem.spec().name().to_string(),
            problem.spec().sizes().to_vec(),
            format!("{:?}", problem.spec().flops()),
            kernels,
            verify,
            tuning,
        )
    };
    assert_eq!(parts(&built), parts(&read));
}

#[test]
fn sources_and_data_given_as_values_live_as_long_as_the_problem() {
    let contents = Arg::input("a", F32, [2]).contents([1.5_f32, -2.0]);
    let reference = Code::c("scale", "void scale(float *x, const float *a) {}");
    let problem = scale().argument(contents).reference(reference).build().unwrap();
    let other = scale().argument(Arg::input("a", F32, [2]).contents([1.5_f32, -2.0])).build().unwrap();
    assert_eq!(problem.digest(), other.digest(), "the folder's name does not enter");
    let kernel = problem.spec().kernels()[0].file.clone();
    let reference = problem.spec().verify().reference.clone().unwrap().file;
    assert_ne!(kernel, reference);
    let copy = problem.clone();
    drop(problem);
    assert!(std::fs::read_to_string(&kernel).unwrap().contains("x[i] *= 2"));
    assert!(copy.beside("jsonl").starts_with(kernel.parent().unwrap()));
    drop(copy);
    assert!(!kernel.exists() && !reference.exists());
}

#[test]
fn expected_contents_are_numbers_or_a_file() {
    let problem = scale().expected("x", vec![2.0_f32; 16]).build().unwrap();
    let (name, Fill::File(path)) = &problem.spec().verify().expected[0] else { panic!() };
    assert_eq!(name, "x");
    assert_eq!(std::fs::read(path).unwrap(), 2.0_f32.to_ne_bytes().repeat(16));
    let problem = scale().folder("data").expected("x", Contents::file("x.npy")).build().unwrap();
    assert!(matches!(&problem.spec().verify().expected[0].1, Fill::File(path) if path == Path::new("data/x.npy")));
}

#[test]
fn what_is_wrong_is_told_with_the_call_that_it_is_about() {
    let fail = |builder: tunesmith_problem::ProblemBuilder| builder.build().unwrap_err();
    let error = fail(scale().argument(Arg::input("a", F32, ["N - 16"])));
    assert_eq!(message(&error), "`.argument(\"a\")`: an extent of 0 in `arguments.shape`");
    assert!(
        error.to_string().ends_with(
            "scale: error: `.argument(\"a\")`: an extent of 0 in `arguments.shape` (extents are at least 1)"
        ),
        "{error}"
    );
    let error = fail(scale().parameter("2X", [1]));
    assert_eq!(message(&error), "`.parameter(\"2X\")`: `2X` cannot be the name of a tuning parameter");
    let error = fail(scale().parameter("EMPTY", [0; 0]));
    assert!(message(&error).starts_with("`.parameter(\"EMPTY\")`: "), "{error}");
    let error = fail(scale().parameter("STEP", [8]));
    assert_eq!(message(&error), "`.parameter(\"STEP\")`: `parameters.STEP` is there twice");
    let error = fail(scale().constraint("odd", "STEP +"));
    assert!(message(&error).starts_with("`.constraint(\"odd\")`: in `STEP +`"), "{error}");
    let error = fail(scale().kernel(Code::opencl("other", "kernel void other() {}")));
    assert_eq!(message(&error), "`.kernel(\"other\")`: the number of work-items is missing");
    let error = fail(scale().relative(-1.0));
    assert_eq!(message(&error), "`.relative()`: `verify.relative` must be at least 0 and at most 1");
}

#[test]
fn a_constraint_that_its_space_refuses_is_told_with_its_call() {
    let problem = scale().constraint("fits", "STEP <= WIDTH").build().unwrap();
    let error = problem.space(&[]).unwrap_err();
    assert!(message(&error).starts_with("`.constraint(\"fits\")`: "), "{error}");
    assert!(message(&error).contains("`WIDTH`"), "{error}");
}

#[test]
fn a_problem_without_parameters_is_refused() {
    let error = Problem::builder("empty").build().unwrap_err();
    assert_eq!(message(&error), "there is no tuning parameter");
    assert_eq!(error.messages[0].remedy.as_deref(), Some("write `.parameter(\"TILE\", [8, 16, 32])`"));
}

#[test]
fn a_text_is_read_in_its_form_and_its_paths_start_from_the_folder() {
    let folder = Path::new("some/where");
    let problem = Problem::parse(TOML, folder).unwrap();
    assert_eq!(problem.spec().kernels()[0].file, folder.join("blur.cl"));
    assert_eq!(
        problem.with_sizes(&[("N".to_string(), Value::Int(32))]).unwrap().spec().size("N"),
        Some(Value::Int(32))
    );
    let unnamed = Problem::parse("[parameters]\nX = [1]\n", folder).unwrap();
    assert_eq!(unnamed.spec().name(), "problem");
    let error = Problem::parse("[parameters]\nX = 1..\n", folder).unwrap_err();
    assert!(error.to_string().starts_with("some/where/problem.toml:2:"), "{error}");
    let directives = "// #atf::tp name \"X\" range {1, 2, 4}
";
    assert_eq!(Problem::parse(directives, folder).unwrap().spec().parameters().len(), 1);
    let t1 = Problem::parse("{ \"General\": { \"BenchmarkName\": \"t1\" } }", folder).unwrap_err();
    assert!(t1.to_string().contains("problem.json:"), "{t1}");
}

#[test]
fn a_problem_built_in_code_keeps_its_sizes() {
    let error = scale().build().unwrap().with_sizes(&[]).unwrap_err();
    assert_eq!(message(&error), "the sizes of a problem made in code cannot be changed");
}

#[test]
fn alternatives_built_in_code_are_those_of_a_file_and_their_faults_name_the_call() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "").unwrap();
    let toml = "[problem]\nname = \"ways\"\n[kernel]\nalternative = \"WAY\"\n\
                [[alternative]]\nname = \"plain\"\n[[alternative.kernel]]\nfile = \"a.c\"\nfunction = \"f\"\n\
                [[alternative]]\nname = \"steps\"\n[alternative.parameters]\nSTEP = [2, 4, 8]\n\
                [alternative.constraints]\n\"small\" = \"STEP < 8\"\n\
                [[alternative.kernel]]\nfile = \"a.c\"\nfunction = \"g\"\n\
                [[alternative.kernel]]\nfile = \"a.c\"\nfunction = \"h\"\noptions = [\"-O1\"]\n";
    let steps = Alternative::new("steps", Code::file("g", "a.c")).kernel(Code::file("h", "a.c").option("-O1"));
    let ways = |steps: Alternative| {
        let plain = Alternative::new("plain", Code::file("f", "a.c"));
        Problem::builder("ways").folder(folder.path()).choice("WAY").alternative(plain).alternative(steps).build()
    };
    let steps = steps.parameter("STEP", [2, 4, 8]).constraint("small", "STEP < 8");
    let (read, built) = (Problem::parse(toml, folder.path()).unwrap(), ways(steps.clone()).unwrap());
    let shown = |problem: &Problem| format!("{:?} {:?}", problem.spec().kernels(), problem.spec().parameters());
    assert_eq!(shown(&built), shown(&read));
    assert_eq!((built.spec().choice(), built.spec().kernels().len()), (Some("WAY"), 3));
    assert_eq!(built.space(&[]).unwrap().space.digest(), read.space(&[]).unwrap().space.digest());
    let error = ways(steps.kernel(Code::file("h", "a.c"))).unwrap_err().to_string();
    assert!(error.contains("`.alternative(\"steps\")`: two kernels are called `h`"), "{error}");
}

#[test]
fn a_file_may_have_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let odd = || std::path::PathBuf::from(std::ffi::OsStr::from_bytes(b"bad\xff.c"));
    let code = Code::file("f", odd()).source(odd()).include(odd());
    let problem = Problem::builder("odd").kernel(code).parameter("TILE", [1, 2]).build().unwrap();
    let kernel = problem.spec().kernels()[0];
    let paths = [&kernel.file, &kernel.sources[0], &kernel.include[0]];
    assert_eq!(paths.map(|path| path.file_name()), [Some(odd().as_os_str()); 3]);
}
