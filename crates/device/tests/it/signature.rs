//! Kernels that cannot be called as the problem says. The mismatch is found before anything runs,
//! and the message names the argument.

use crate::common;

use common::*;
use tunesmith_core::FailureKind;
use tunesmith_kernel::{Access, Argument, DeviceError, Fill, KernelSpec};
use tunesmith_space::Space;

fn arguments() -> Vec<Argument> {
    vec![
        buffer("a", "f32", 4, Access::In, Fill::Ones),
        buffer("c", "f32", 4, Access::Out, Fill::Zeros),
        scalar("n", "i32", "4"),
        scalar("x", "f64", "0.5"),
    ]
}

/// Returns the result of preflight for a source in both languages: the argument, and the message
/// with its remedy.
fn preflight(source: &str) -> Vec<Result<(), (Option<String>, String)>> {
    let folder = tempfile::tempdir().unwrap();
    let check = |suffix: &str| {
        let file = folder.path().join(format!("kernel.{suffix}"));
        std::fs::write(&file, source).unwrap();
        let space = space_of("P", 1);
        let evaluator = evaluator(&space, spec(file, "scale", arguments()));
        evaluator.preflight(config(&space, 0)).map_err(|error| match error {
            DeviceError::Signature { ref argument, .. } => (argument.clone(), error.to_string()),
            other => panic!("{other}"),
        })
    };
    ["c", "cpp"].map(check).into()
}

#[track_caller]
fn refuses(source: &str, argument: Option<&str>, words: &[&str]) {
    for result in preflight(source) {
        let (found, message) = result.unwrap_err();
        assert_eq!(found.as_deref(), argument, "{message}");
        for word in words {
            assert!(message.contains(word), "`{word}` is not in: {message}");
        }
    }
}

#[track_caller]
fn accepts(source: &str) {
    assert!(preflight(source).iter().all(Result::is_ok), "{:?}", preflight(source));
}

#[test]
fn constness_and_the_sign_of_scalars_do_not_matter() {
    accepts("void scale(const float *a, float *c, int n, double x) {}");
    accepts("void scale(float *a, float *const c, const unsigned n, const double x) {}");
    accepts("void scale(float *a, float *c, unsigned long n, double x) {}");
    accepts("int scale(float a[], float *__restrict c, long n, double x) { return 0; }");
    accepts("static inline void scale(float *a, float *c, double n, double x) {}");
}

#[test]
fn another_pointer_is_refused_with_both_types() {
    let words = ["argument 2, `c`: the problem says f32*, the function takes double *", "change the type of `c`"];
    refuses("void scale(const float *a, double *c, int n, double x) {}", Some("c"), &words);
}

/// Evaluates `function` of a source with one buffer of 64 elements, `Ok` if the kernel doubles them.
fn doubled(suffix: &str, source: &str, function: &str, element: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("kernel.{suffix}"));
    std::fs::write(&file, source).unwrap();
    let space = space_of("P", 1);
    let doubled = folder.path().join("doubled.c");
    let name = tunesmith_kernel::ElementType::parse(element).unwrap().to_string();
    let c_type = if name.starts_with("f64") {
        "double"
    } else if name.starts_with('f') {
        "float"
    } else {
        "int"
    };
    std::fs::write(&doubled, format!("void doubled({c_type} *a) {{ for (int i = 0; i < 64; i++) a[i] *= 2; }}"))
        .unwrap();
    let length = if element.ends_with("x4") { 16 } else { 64 };
    let mut spec = spec(file, function, vec![buffer("a", element, length, Access::InOut, Fill::Random)]);
    spec.verify = reference(doubled, "doubled");
    let mut evaluator = evaluator(&space, spec);
    evaluator.preflight(config(&space, 0)).map_err(|error| error.to_string())?;
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    Ok(())
}

/// The parameter, its use as 64 numbers `a[i]`, and the element types that a buffer for it may have.
const POINTERS: [(&str, &str, &str, &[&str]); 13] = [
    ("", "double A[N][8]", "A[i / 8][i % 8]", &["f64"]),
    ("", "double (*A)[M]", "A[i / 8][i % 8]", &["f64"]),
    ("typedef double row[8];", "row *A", "A[i / 8][i % 8]", &["f64"]),
    ("typedef double row[2][8];", "const row *A", "((row *)A)[i / 16][i / 8 % 2][i % 8]", &["f64"]),
    ("", "VEC *A", "A[i / 4][i % 4]", &["f32", "f32x4"]),
    ("", "VEC (*A)[2]", "A[i / 8][i / 4 % 2][i % 4]", &["f32", "f32x4"]),
    ("", "const float *__restrict A", "((float *)A)[i]", &["f32"]),
    ("", "void *A", "((float *)A)[i]", &["f32"]),
    ("", "void *A", "((int *)A)[i]", &["i32"]),
    ("", "unsigned *A", "A[i]", &["i32", "u32"]),
    ("", "unsigned (*A)[8]", "A[i / 8][i % 8]", &["i32", "u32"]),
    ("struct pair { double x, y; };", "struct pair *A", "((double *)A)[i]", &["f64"]),
    ("typedef struct { int x, y; } pair;", "pair *A", "((int *)A)[i]", &["i32"]),
];

#[test]
fn a_buffer_goes_to_any_pointer_whose_elements_have_its_size_and_kind() {
    for (before, parameter, number, elements) in POINTERS {
        let source = format!(
            "#define N 8\n#define M 8\n#define VEC v4\ntypedef float v4 __attribute__((vector_size(16)));\n{before}\n\
             void f({parameter}) {{ for (int i = 0; i < 64; i++) {number} *= 2; }}\n"
        );
        for element in elements {
            for suffix in ["c", "cpp"] {
                let result = doubled(suffix, &source, "f", element);
                assert_eq!(result, Ok(()), "{element} as {parameter} in .{suffix}");
            }
        }
    }
}

#[test]
fn a_pointer_to_elements_of_another_size_or_kind_is_refused_with_the_argument() {
    let of_others = [
        ("double A[N][8]", "f32"),
        ("double (*A)[8]", "i64"),
        ("VEC *A", "f64"),
        ("VEC (*A)[2]", "i32"),
        ("unsigned (*A)[8]", "f32"),
        ("float **A", "f32"),
        ("float **A", "u64"),
        ("long *A", "i32"),
    ];
    for (parameter, element) in of_others {
        let source = format!(
            "#define N 8\n#define VEC v4\ntypedef float v4 __attribute__((vector_size(16)));\nvoid f({parameter}) {{}}\n"
        );
        for suffix in ["c", "cpp"] {
            let message = doubled(suffix, &source, "f", element).unwrap_err();
            let wanted = format!("argument 1, `a`: the problem says {element}*, the function takes ");
            assert!(message.starts_with(&wanted), "{element} as {parameter} in .{suffix}: {message}");
        }
    }
}

#[test]
fn options_that_silence_or_sharpen_warnings_change_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    let space = space_of("P", 1);
    for option in ["-w", "-Werror", "-Wno-incompatible-pointer-types"] {
        let preflight = |source: &str| {
            std::fs::write(&file, source).unwrap();
            let mut spec = spec(file.clone(), "f", vec![buffer("a", "f64", 64, Access::In, Fill::Ones)]);
            spec.kernels[0].options = vec![tunesmith_kernel::Template::parse(option).unwrap()];
            evaluator(&space, spec).preflight(config(&space, 0)).map_err(|error| error.to_string())
        };
        assert_eq!(preflight("void f(const double (*a)[8]) {}"), Ok(()), "{option}");
        assert!(preflight("void f(const float *a) {}").unwrap_err().contains("argument 1, `a`"), "{option}");
    }
}

#[test]
fn cpp_deduces_templates_and_takes_references_as_before() {
    let double = "{ for (int i = 0; i < 64; i++) a[i] *= 2; }";
    for source in [
        format!("template <class E> void f(E *a) {double}"),
        format!("template <class E, int n> void f(E *a) {double}\n#define f f<float, 64>"),
        format!("void f(float (&a)[64]) {double}"),
        "template <class E> void f(E (&a)[8][8]) { for (auto &row : a) for (auto &x : row) x *= 2; }\n\
         void g(float (&a)[8][8]) { f(a); }\n#define f g"
            .to_owned(),
        format!("namespace {{ void f(float *const &a) {double} }}"),
    ] {
        assert_eq!(doubled("cpp", &source, "f", "f32"), Ok(()), "{source}");
    }
}

#[test]
fn a_scalar_that_would_lose_digits_is_refused_with_both_types() {
    let words = ["argument 4, `x`: the problem says f64, the function takes float"];
    refuses("void scale(const float *a, float *c, int n, float x) {}", Some("x"), &words);
    let words = ["argument 3, `n`: the problem says i32, the function takes short"];
    refuses("void scale(const float *a, float *c, short n, double x) {}", Some("n"), &words);
}

#[test]
fn pointers_and_values_in_each_others_place_are_refused() {
    refuses("void scale(float a, float *c, int n, double x) {}", Some("a"), &["the function takes float"]);
    refuses("void scale(float *a, float *c, int *n, double x) {}", Some("n"), &["the function takes int *"]);
}

#[test]
fn a_wrong_number_of_arguments_shows_both() {
    let words =
        ["the problem has 4 arguments (a, c, n, x), `scale` takes 3: (float *a, float *c, int n)", "same order"];
    refuses("void scale(float *a, float *c, int n) {}", None, &words);
    refuses("void scale(float *a, float *c, int n, double x, int y) {}", None, &["`scale` takes 5: ("]);
}

#[test]
fn a_missing_function_is_refused_with_the_similar_one() {
    let words = ["kernel.c", "defines no function `scale`", "did you mean `scales`?"];
    refuses("void scales(float *a, float *c, int n, double x) {}", None, &words);
    refuses("void other(void) {}", None, &["it defines `other`"]);
    refuses("", None, &["it defines no function"]);
}

#[test]
fn an_error_in_the_code_is_not_the_signatures() {
    accepts("void scale(flaot *a) {}");
    accepts("void scale(float *a, float *c, int n, double x) { return missing; }");
}

#[test]
fn bytes_go_to_any_pointer() {
    let folder = tempfile::tempdir().unwrap();
    for suffix in ["c", "cpp"] {
        let file = folder.path().join(format!("k.{suffix}"));
        std::fs::write(&file, "struct point { double x, y; };\nvoid f(const struct point *p, char *q) {}").unwrap();
        let space = space_of("P", 1);
        let arguments = vec![
            buffer("p", "bytes", 64, Access::In, Fill::Random),
            buffer("q", "bytes", 8, Access::InOut, Fill::Ones),
        ];
        let mut evaluator = evaluator(&space, spec(file, "f", arguments));
        assert!(evaluator.preflight(config(&space, 0)).is_ok());
        assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    }
}

#[test]
fn a_signature_that_depends_on_a_parameter_fails_where_it_does_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    let source = "#if P\nvoid scale(float *a, double *c, int n, double x) {}\n#else\n\
                  void scale(float *a, float *c, int n, double x) {}\n#endif\n";
    std::fs::write(&file, source).unwrap();
    let space = space_of("P", 2);
    let mut evaluator = evaluator(&space, spec(file, "scale", arguments()));
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    let completion = evaluate(&mut evaluator, config(&space, 1));
    assert_failed(
        &completion,
        FailureKind::Compile,
        &["argument 2, `c`: the problem says f32*, the function takes double *"],
    );
}

#[test]
fn a_cpp_kernel_may_be_a_template_in_a_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.cpp");
    let source = "namespace fast { template <typename T> void scale(const T *a, T *c, int n, double x)\n\
                  { for (int i = 0; i < n; i++) c[i] = T(a[i] * x); } }";
    std::fs::write(&file, source).unwrap();
    let space: Space = space_of("T", 1); // a macro of the template parameter's name would break a careless shim
    let renamed = source.replace("typename T", "typename E").replace("const T", "const E").replace("T *c", "E *c");
    std::fs::write(&file, renamed.replace("T(", "E(")).unwrap();
    let mut evaluator = evaluator(&space, spec(file, "fast::scale<float>", arguments()));
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn a_problem_is_told_which_file_is_missing() {
    let space = space_of("P", 1);
    let missing: KernelSpec = spec("/nonexistent/kernel.c", "f", Vec::new());
    let error = tunesmith_device::LiveEvaluator::new(&space, options(missing)).err().expect("an error");
    assert!(error.to_string().starts_with("the kernel's file /nonexistent/kernel.c cannot be read: "), "{error}");
}
