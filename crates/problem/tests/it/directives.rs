//! Sources with ATF's directives give the same problems as problem files.

use tunesmith_backend::DeviceChoice;
use tunesmith_kernel::command::{Cost, Unit};
use tunesmith_kernel::{Access, Argument, ArgumentKind, Extent, Fill, Language, Memory, Shape};
use tunesmith_problem::{Problem, ProblemError};
use tunesmith_space::{Value, ValueKind};

/// A kernel with every part of a launch, as programs write it that generate directives.
const OPENCL: &str = r#"
#atf::var<int> N = 64
#atf::ocl::device_info vendor "Portable" type "CPU" id 0
#atf::ocl::input "atf::scalar<int>(N / 2)"
#atf::ocl::input "atf::scalar<float>()"
#atf::ocl::input atf::scalar<int>( {3, 5} )
#atf::ocl::inputs( atf::buffer<float>(N), atf::buffer<double>(N * WPT, 2.5), buffer<unsigned int>(N, {1, 7}) )
#atf::ocl::input "atf::buffer<float4>(N, [](size_t i){ auto half = i / 2; return half % 7; })"
#atf::tp name "WPT" \
         type "int" \
         range "atf::interval<int>(1,N)" constraint "atf::divides(N)"
#atf::ocl::gs "N/WPT, 2"
#atf::ocl::ls "WPT"
#atf::ocl::flags "-cl-fast-relaxed-math -DHALF=1"
#atf::ocl::evaluations 5
#atf::ocl::warmups( N / 16 )
#atf::ocl::kernel_name "saxpy"
__kernel void saxpy(const int half, const float a, int b, const __global float* restrict x, __global double *y,
                    __constant uint *z, __global float4 *w) {}
"#;

fn load(name: &str, text: &str) -> Result<Problem, ProblemError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("run.sh"), "#!/bin/sh\n").unwrap();
    Problem::load(&path, &[])
}

#[track_caller]
fn loaded(name: &str, text: &str) -> Problem {
    load(name, text).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the messages of a wrong file, or of one that cannot be run.
#[track_caller]
fn refused(name: &str, text: &str) -> String {
    match load(name, text) {
        Err(error) => error.to_string(),
        Ok(problem) => problem.kernel_spec(Language::OpenCl).map(|_| ()).unwrap_err().to_string(),
    }
}

fn buffer(argument: &Argument) -> (&Shape, &Fill, Access, Memory) {
    match &argument.kind {
        ArgumentKind::Buffer { shape, fill, access, memory } => (shape, fill, *access, *memory),
        other => panic!("{other:?}"),
    }
}

fn value(argument: &Argument) -> Value {
    match &argument.kind {
        ArgumentKind::Scalar(expr) => expr.evaluate(&|_| Some(Value::Int(64))).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_launch_of_opencl_has_its_function_sizes_options_and_device() {
    let problem = loaded("saxpy.cl", OPENCL);
    let kernel = problem.spec().kernels()[0];
    assert_eq!((kernel.function.as_str(), kernel.language), ("saxpy", Language::OpenCl));
    let work = kernel.work.as_ref().unwrap();
    let Extent::Global(global) = &work.extent else { panic!("{:?}", work.extent) };
    let texts = |exprs: &[tunesmith_space::Expr]| exprs.iter().map(|expr| expr.text().to_string()).collect::<Vec<_>>();
    assert_eq!(texts(global), ["N//WPT", "2"]);
    assert_eq!(texts(work.local.as_ref().unwrap()), ["WPT", "1"]);
    assert_eq!(kernel.options.len(), 2);
    let device = problem.spec().tuning().device.as_ref().map(ToString::to_string);
    assert_eq!(device.as_deref(), Some("opencl:Portable::cpu 0"));
    assert_eq!((problem.spec().policy().sampling.min_samples, problem.spec().policy().sampling.max_samples), (5, 5));
    assert!(problem.spec().policy().sampling.warmups == 4 && problem.warnings().is_empty(), "{:?}", problem.warnings());
    let none = loaded("saxpy.cl", &OPENCL.replace("warmups( N / 16 )", "warmups 0"));
    assert_eq!((none.spec().policy().sampling.warmups, none.warnings().len()), (1, 1), "{:?}", none.warnings());
    // The directives outside of comments are blanked, the kernel is not.
    let mut rest = OPENCL.to_string();
    kernel.reading.not_code.iter().rev().for_each(|span| rest.replace_range(span.clone(), ""));
    assert!(rest.trim().starts_with("__kernel void saxpy") && rest.ends_with("{}\n"), "{rest}");
}

#[test]
fn inputs_take_their_names_and_accesses_from_the_signature() {
    let problem = loaded("saxpy.cl", OPENCL);
    let arguments = problem.spec().arguments();
    let names: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
    assert_eq!(names, ["half", "a", "b", "x", "y", "z", "w"]);
    let types: Vec<String> = arguments.iter().map(|argument| argument.element.to_string()).collect();
    assert_eq!(types, ["i32", "f32", "i32", "f32", "f64", "u32", "f32x4"]);
    assert_eq!(value(&arguments[0]), Value::Int(32));
    let drawn = value(&arguments[1]);
    assert!(drawn.kind() == ValueKind::Float && (0.0..=1.0).contains(&drawn.as_float().unwrap()), "{drawn}");
    assert!((3..=5).contains(&value(&arguments[2]).as_int().unwrap()));
    let (shape, fill, access, _) = buffer(&arguments[3]);
    assert!(matches!((shape, access), (Shape::Fixed(extents), Access::In) if *extents == [64]));
    assert!(matches!(fill, Fill::Between(low, high) if (*low, *high) == (0.0, 1.0)));
    let (shape, fill, access, _) = buffer(&arguments[4]);
    assert!(matches!((shape, access), (Shape::Varying(_), Access::InOut)), "{shape:?}");
    assert!(matches!(fill, Fill::Constant(number) if *number == 2.5));
    let (_, fill, access, memory) = buffer(&arguments[5]);
    assert!(matches!((access, memory), (Access::In, Memory::Constant)));
    assert!(matches!(fill, Fill::Between(low, high) if (*low, *high) == (1.0, 7.0)));
    assert!(matches!(buffer(&arguments[6]).1, Fill::Generator(expr) if expr.text() == "((i // 2) % 7)"));
}

#[test]
fn a_variable_that_a_kernel_declares_itself_is_no_macro() {
    let text = OPENCL.replace("const int half", "const int N");
    assert_eq!(loaded("saxpy.cl", &text).spec().kernels()[0].reading.own_names, ["N"]);
    assert!(loaded("saxpy.cl", OPENCL).spec().kernels()[0].reading.own_names.is_empty());
}

#[test]
fn a_launch_of_cuda_counts_blocks_and_names_its_device() {
    let text = "// #atf::tp name LS range {32, 64}\n// #atf::cuda::kernel_name \"k\"\n// #atf::cuda::device_id 1\n\
                // #atf::cuda::input atf::buffer<int>(4096)\n// #atf::cuda::grid_dim( 4096 / LS, 1, 1 )\n\
                // #atf::cuda::block_dim( LS )\nextern \"C\" __global__ void k(int* x) {}\n";
    let problem = loaded("k.cu", text);
    let work = problem.spec().kernels()[0].work.as_ref().unwrap();
    assert!(matches!(&work.extent, Extent::Groups(groups) if groups.len() == 3));
    assert_eq!(work.local.as_ref().map(Vec::len), Some(3));
    assert!(
        matches!(&problem.spec().tuning().device, Some(DeviceChoice::Kernels(backend, _)) if backend.name() == "cuda")
    );
    assert!(problem.spec().kernels()[0].reading.not_code.is_empty());
    let without = refused("k.cu", &text.replace("// #atf::cuda::block_dim( LS )\n", ""));
    assert!(without.contains("#atf::cuda::block_dim"), "{without}");
}

#[test]
fn the_kernel_may_be_in_another_file_and_its_results_are_checked_by_a_function() {
    let text = "// #atf::tp name LS range {1, 2}\n// #atf::source \"other.cl\"\n// #atf::ocl::kernel_name \"k\"\n\
                // #atf::ocl::input atf::buffer<int>(8)\n// #atf::ocl::global_size 8\n\
                // #atf::ocl::check_result file \"r.c\" function \"right\"\n";
    let problem = loaded("space.cl", text);
    assert_eq!(problem.spec().kernels()[0].file.file_name(), Some("other.cl".as_ref()));
    let reference = problem.spec().verify().reference.as_ref().unwrap();
    assert_eq!((reference.file.file_name(), reference.function.as_str()), (Some("r.c".as_ref()), "right"));
}

#[test]
fn scripts_become_commands_whose_cost_is_in_nanoseconds() {
    let text = "#!/bin/sh\n# #atf::tp name LS range {1, 2}  # a comment\n#   constraint LS < 3\n\
                # #atf::run_script \"echo {$LS} > cost.txt\"\n# #atf::cost_file cost.txt\n";
    let problem = loaded("p.sh", text);
    let command = problem.spec().command().unwrap();
    assert!(command.build.is_empty() && matches!(command.cost, Cost::Printed(_, unit) if unit == Unit::Nanoseconds));
    assert!(command.command.iter().any(|word| word.to_string().contains("echo {{$LS}}")), "{:?}", command.command);
    let built = loaded("p.sh", &format!("{text}# #atf::compile_script \"cc -o p p.c\"\n"));
    assert_eq!(built.spec().command().unwrap().build.len(), 1);
    let wall = loaded("p.sh", &text.replace("# #atf::cost_file cost.txt\n", ""));
    assert!(matches!(wall.spec().command().unwrap().cost, Cost::Wall));
}

#[test]
fn the_advice_for_unverified_results_names_what_the_source_can_have() {
    let cl = loaded("saxpy.cl", OPENCL).verification_remedy();
    assert!(cl.contains("#atf::ocl::check_result file") && !cl.contains("[verify]"), "{cl}");
    let cu = "// #atf::tp name LS range {32, 64}\n// #atf::cuda::kernel_name \"k\"\n// #atf::cuda::grid_dim 8\n\
              // #atf::cuda::block_dim LS\nextern \"C\" __global__ void k() {}\n";
    let cu = loaded("k.cu", cu).verification_remedy();
    assert!(cu.contains("#atf::cuda::check_result"), "{cu}");
    let script = loaded("p.sh", "# #atf::tp name LS range {1, 2}\n# #atf::run_script \"true\"\n");
    assert!(script.verification_remedy().contains("no directive checks a run"), "{}", script.verification_remedy());
    let toml = loaded("p.toml", "[parameters]\nP = [1, 2]\n");
    assert!(toml.verification_remedy().contains("add [verify] with a reference"));
}

#[test]
fn other_marks_of_comments_are_read_as_well() {
    for mark in ["--", "!", "%", ";;", "#", "//"] {
        let text = format!("{mark} #atf::tp name LS\n{mark}   range {{1, 2}}\n{mark} #atf::run_script \"true\"\n");
        assert_eq!(loaded("p.txt", &text).spec().parameters()[0].values().len(), 2, "{mark}");
    }
}

#[test]
fn what_a_launch_lacks_is_told_with_the_directive_that_adds_it() {
    let tp = "// #atf::tp name A range {1, 2}\n__kernel void k(__global int* x, int n) {}\n";
    let space = loaded("k.cl", tp);
    assert!(space.warnings().is_empty());
    assert!(refused("k.cl", tp).contains("add `#atf::ocl::kernel_name`"));
    let named = format!("{tp}// #atf::ocl::kernel_name \"k\"\n");
    let told = refused("k.cl", &named);
    assert!(told.contains("`k` takes 2 arguments, but directives describe 0"), "{told}");
    assert!(told.contains("#atf::ocl::input atf::buffer<T>(N)") && told.contains("for `x`"), "{told}");
    assert!(told.contains("#atf::ocl::global_size"), "{told}");
    assert!(refused("k.cl", &named.replace("\"k\"", "\"kk\"")).contains("did you mean `k`?"));
    let unnamed = refused("k.cl", &format!("{tp}// #atf::ocl::global_size A\n"));
    assert!(unnamed.contains("write `#atf::ocl::kernel_name \"k\"`"), "{unnamed}");
    assert!(refused("p.sh", "# #atf::tp name A range {1, 2}\n# #atf::cost_file c\n").contains("#atf::run_script"));
}

#[test]
fn wrong_directives_are_told_with_line_and_remedy() {
    let tp = "// #atf::tp name A range {1, 2}\n";
    let cases = [
        ("// #atf::ocl::input atf::buffer<flot>(4)", "k.cl:2:21: error: the input: `flot` is no type"),
        ("// #atf::ocl::input atf::bufer<float>(4)", "`bufer` is no input (write atf::scalar<T>(value)"),
        ("// #atf::ocl::input atf::buffer<float>(4, {3, 1})", "write {min, max}, the lower one first"),
        ("// #atf::ocl::input atf::buffer<float>(B)", "`B` is neither a variable nor a parameter"),
        ("// #atf::ocl::gs 1,2,3,4", "there are 4 dimensions"),
        ("// #atf::ocl::gs", "the directive has no value"),
        ("// #atf::ocl::evaluations 0", "not a whole number of at least 1"),
        ("// #atf::ocl::warmups -1", "not a whole number of at least 0"),
        ("// #atf::ocl::device_info nonsense", "`nonsense` describes no device"),
        ("// #atf::ocl::check_result \"r.c\"", "write `check_result file"),
        ("// #atf::ocl::gs A\n// #atf::cuda::grid_dim A", "k.cl:3:4: error: the kernel is of OpenCL and of CUDA"),
        ("// #atf::ocl::gs A\n// #atf::run_script x", "directives of a kernel and of scripts"),
        ("// #atf::run_script run.sh", "`run.sh` is not executable"),
        ("// #atf::run_script x\n// #atf::source y.c", "`#atf::source` has no meaning for scripts"),
        ("// #atf::tp name B range interval<int>(0, 3, atf::pow_3)", "pow_3"),
        (
            "// #atf::tp name B range {1} constraint [](auto i){ while (i) {} return 1; }",
            "error: the constraint of `B`",
        ),
        ("// #atf::tp name A range {3}", "k.cl:2:18: error: `parameters.A` is there twice"),
        ("// #atf::ocl::kernelname \"k\"", "did you mean `ocl::kernel_name`?"),
    ];
    for (wrong, expected) in cases {
        let told = refused("k.cl", &format!("{tp}{wrong}\n"));
        assert!(told.contains(expected), "{wrong}: {told}");
    }
}

#[test]
fn ranges_have_generators_types_and_truncated_ends() {
    let text = "// #atf::var::N 100\n// #atf::tp name A range interval<int>(0, std::log2(N), atf::pow_2)\n\
                // #atf::tp name B type \"float\" range atf::interval(1, 2, 0.5)\n\
                // #atf::tp name C range interval<size_t>(1, N / 3.0)\n// #atf::tp name D range set({3, 1})\n";
    let problem = loaded("k.cl", text);
    let values = |at: usize| problem.spec().parameters()[at].values().to_vec();
    assert_eq!(values(0), [1, 2, 4, 8, 16, 32, 64].map(Value::Int));
    assert_eq!(values(1), [1.0, 1.5, 2.0].map(Value::Float));
    assert_eq!(values(2).len(), 33);
    assert_eq!(values(3), [3, 1].map(Value::Int));
}

#[test]
fn a_refusal_is_an_error_about_the_file() {
    let problem = loaded("k.cl", "// #atf::tp name A range {1, 2}\n");
    let error = problem.kernel_spec(Language::OpenCl).unwrap_err();
    assert!(error.downcast_ref::<ProblemError>().is_some(), "{error:?}");
}

#[test]
fn a_source_that_is_cut_or_lacks_a_letter_is_read_or_refused_but_never_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let lambda = "// #atf::tp name L range {1, 2} constraint [&](auto x){ if (x > 1) { int y = N / x; return y == 2; } \
                  else return x & 1; }\n# #atf::run_script \"./r\"\n-- #atf::cost_file c\n";
    for text in [OPENCL, lambda] {
        for (at, letter) in text.char_indices() {
            let _ = Problem::parse(&text[..at], folder.path());
            let without = format!("{}{}", &text[..at], &text[at + letter.len_utf8()..]);
            let _ = Problem::parse(&without, folder.path());
            let _ = Problem::parse(&without.replace('N', "é"), folder.path());
        }
    }
}
