//! Kernels that cannot be called as the problem says. The mismatch is found before anything runs,
//! and the message names the argument.

mod common;

use common::*;
use tunesmith_core::FailureKind;
use tunesmith_device::{Access, Argument, DeviceError, Fill, KernelSpec};
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
        let mut evaluator = evaluator(&space, spec(file, "scale", arguments()));
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

#[test]
fn a_pointer_to_integers_of_another_sign_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.c");
    std::fs::write(&file, "void f(unsigned *a) {}").unwrap();
    let space = space_of("P", 1);
    let argument = buffer("a", "i32", 4, Access::In, Fill::Ones);
    let error = evaluator(&space, spec(file, "f", vec![argument])).preflight(config(&space, 0)).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("argument 1, `a`: the problem says i32*, the function takes unsigned int *;"),
        "{message}"
    );
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
