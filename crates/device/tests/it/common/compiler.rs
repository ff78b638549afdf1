//! The duties of a run-time compiler behind a scripted device, the same for NVRTC and hiprtc.

use super::scripted::{ScriptedLab, work};
use super::{assert_correct, assert_failed, buffer, config, element, evaluate, scalar, space_of, space_with};
use tunesmith_core::FailureKind;
use tunesmith_kernel::{Access, Argument, ArgumentKind, DeviceError, Fill, KernelSpec, Memory};
use tunesmith_space::Expr;

/// A template that uses a header, constant memory and shared memory.
pub const SOURCE: &str = "#include \"more.h\"\n\
    namespace tools { __constant__ float table[9]; }\n\
    struct pair { float x, y; };\n\
    template <class T, int LANES>\n\
    __global__ void __launch_bounds__(256) scale(const T *__restrict__ a, pair *b, unsigned n, float factor)\n\
    {\n\
        extern __shared__ float scratch[];\n\
        const int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
        scratch[threadIdx.x] = tools::table[i % 9];\n\
        if (i < n) b[i].x = MORE * a[i] * factor + scratch[threadIdx.x] * LANES;\n\
    }\n";

/// Returns a problem for [`SOURCE`] with every kind of argument.
pub fn scale(lab: &ScriptedLab) -> KernelSpec {
    lab.file("more.h", "#define MORE 2\n");
    let local = ArgumentKind::Local { shape: vec![Expr::parse("256").unwrap()] };
    let mut table = buffer("table", "f32", 9, Access::In, Fill::Random);
    table.symbol = Some("tools::table".into());
    if let ArgumentKind::Buffer { memory, .. } = &mut table.kind {
        *memory = Memory::Constant;
    }
    let arguments = vec![
        buffer("a", "f32", 1024, Access::In, Fill::Random),
        table,
        buffer("b", "f32", 2048, Access::InOut, Fill::Zeros),
        Argument::new("scratch", element("f32"), local),
        scalar("n", "i32", "1024"),
        scalar("factor", "f32", "2"),
    ];
    lab.spec("scale<float, WIDTH>", SOURCE, arguments)
}

/// Checks that two configurations with the same code are built, and the second one is not timed.
pub fn the_same_code_is_built_once(lab: &ScriptedLab) {
    let mut spec = scale(lab);
    spec.kernels[0].function = "scale<float, 4>".into();
    let space = space_of("UNUSED", 2);
    let mut evaluator = lab.evaluator(&space, spec);
    let same = [0, 1].map(|unused| {
        let completion = evaluate(&mut evaluator, config(&space, unused));
        assert_correct(&completion);
        completion.measurement.compile.unwrap().same_binary
    });
    assert_eq!(same, [false, true]);
}

/// Checks that an error of [`SOURCE`] in `file` is told with the words `undefined`, and too much
/// shared memory with the words `too_large`.
pub fn messages_keep_their_place(lab: &ScriptedLab, file: &str, undefined: &[&str], too_large: &[&str]) {
    let space = space_with("WIDTH", &[2]);
    let failure = |source: &str| {
        let mut spec = scale(lab);
        lab.file(file, source);
        spec.kernels[0].work = Some(work("1024", "128 * WIDTH"));
        evaluate(&mut lab.evaluator(&space, spec), config(&space, 2))
    };
    let wrong = failure(&SOURCE.replace("if (i < n)", "if (j < n)"));
    assert_failed(&wrong, FailureKind::Compile, undefined);
    let large = failure(&SOURCE.replace(
        "const int i =",
        "__shared__ float large[20000]; large[threadIdx.x] = factor; \
        __syncthreads(); b[0].y = large[n % 256]; const int i =",
    ));
    assert_failed(&large, FailureKind::Constraints, too_large);
}

/// Checks that arguments which do not fit the kernel are refused by name.
pub fn wrong_arguments_are_named(lab: &ScriptedLab) {
    let space = space_with("WIDTH", &[2]);
    let refused = |change: &dyn Fn(&mut KernelSpec)| {
        let mut spec = scale(lab);
        change(&mut spec);
        let error = lab.evaluator(&space, spec).preflight(config(&space, 2)).unwrap_err();
        let DeviceError::Signature { argument, message, remedy, .. } = error else { panic!("{error}") };
        (argument.unwrap_or_default(), format!("{message}; {remedy}"))
    };
    type Change<'a> = &'a dyn Fn(&mut KernelSpec);
    let cases: [(&str, &[&str], Change<'_>); 6] = [
        ("a", &["is `const T *__restrict__ a`", "a buffer of i32"], &|spec| spec.arguments[0].element = element("i32")),
        ("n", &["is `unsigned n`", "a scalar of f32"], &|spec| spec.arguments[4] = scalar("n", "f32", "1")),
        ("factor", &["is `float factor`", "a buffer of f32"], &|spec| {
            spec.arguments[5] = buffer("factor", "f32", 1, Access::In, Fill::Random);
        }),
        ("", &["takes 4 arguments, but the problem declares 3", "declare `float factor`"], &|spec| {
            spec.arguments.pop();
            spec.kernels[0].arguments.pop();
        }),
        ("more", &["takes 4 arguments, but the problem declares 5", "remove `more`"], &|spec| {
            spec.arguments.push(scalar("more", "i32", "1"));
            spec.kernels[0].arguments.push(6);
        }),
        ("", &["has no kernel `scal<float, WIDTH>`", "did you mean `scale`?"], &|spec| {
            spec.kernels[0].function = "scal<float, WIDTH>".into();
        }),
    ];
    for (argument, words, change) in cases {
        let (named, text) = refused(change);
        assert_eq!(named, argument, "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` is not in: {text}");
        }
    }
}
