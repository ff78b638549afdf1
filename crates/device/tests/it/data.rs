//! The data that reach a kernel: every type, every fill, files. Also verification against files.

use crate::common;

use common::*;
use std::fmt::Write as _;
use std::path::Path;
use tunesmith_core::FailureKind;
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{
    Access, Argument, ArgumentKind, DeviceError, ElementType, Fill, KernelSpec, Memory, PartialTolerance, ScalarType,
    Verify,
};
use tunesmith_space::{Expr, Space, Value};

fn one() -> Space {
    space_of("P", 1)
}

/// Evaluates the only configuration of a problem.
fn run(spec: KernelSpec) -> tunesmith_core::Completion {
    let space = one();
    evaluate(&mut evaluator(&space, spec), config(&space, 0))
}

fn refused(spec: KernelSpec) -> String {
    LiveEvaluator::new(&one(), options(spec)).err().expect("an error").to_string()
}

fn write(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Returns the user code's name of a type.
fn user_type(element: ElementType) -> String {
    let lane = match element.scalar() {
        ScalarType::I8 => "int8_t",
        ScalarType::U8 | ScalarType::Byte => "uint8_t",
        ScalarType::I16 => "int16_t",
        ScalarType::U16 => "uint16_t",
        ScalarType::I32 => "int32_t",
        ScalarType::U32 => "uint32_t",
        ScalarType::I64 => "int64_t",
        ScalarType::U64 => "uint64_t",
        ScalarType::F16 => "_Float16",
        ScalarType::F32 => "float",
        ScalarType::F64 => "double",
    };
    if element.lanes() == 1 { lane.to_owned() } else { format!("{lane}x{}", element.lanes()) }
}

/// Returns a kernel that copies a buffer of the type and adds a scalar of it.
fn typed_kernel(element: ElementType) -> String {
    let (name, size) = (user_type(element), element.size());
    let mut text = "#include <stdint.h>\n".to_owned();
    if element.lanes() > 1 {
        let lane = name.split('x').next().unwrap();
        let _ = writeln!(text, "typedef {lane} {name} __attribute__((vector_size({size})));");
    }
    let _ = writeln!(text, "void add(const {name} *in, {name} *out, {name} more)");
    let _ = writeln!(text, "{{ for (int i = 0; i < 5; i++) out[i] = ({name})(in[i] + more); }}");
    text
}

/// Returns the kernel's result for 0, 1, 2, ... The padding lane of three-lane vectors does not
/// count.
fn typed_result(element: ElementType) -> Vec<u8> {
    let mut bytes = Vec::new();
    for lane in 0..5 * element.lanes() as i128 {
        bytes.extend(element.scalar().encode_int(lane + 3).unwrap());
        if element.lanes() == 3 && lane % 3 == 2 {
            bytes.extend(vec![0; element.scalar().size()]);
        }
    }
    bytes
}

fn check_type(element: ElementType, suffix: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), &format!("add.{suffix}"), &typed_kernel(element));
    let name = element.to_string();
    let arguments = vec![
        buffer("in", &name, 5, Access::In, Fill::Iota),
        buffer("out", &name, 5, Access::Out, Fill::Zeros),
        scalar("more", &name, "3"),
    ];
    let expected = folder.path().join("expected.bin");
    std::fs::write(&expected, typed_result(element)).unwrap();
    let verify = Verify { expected: vec![("out".into(), expected.into())], ..Verify::default() };
    // There are more than a hundred compilations. Without optimisation they take half the time.
    let options = vec![tunesmith_kernel::Template::parse("-O0").unwrap()];
    let mut spec = KernelSpec { verify, ..spec(file, "add", arguments) };
    spec.kernels[0].options = options;
    let completion = run(spec);
    assert_eq!(completion.failure, None, "{element} in {suffix}");
}

#[test]
fn every_type_reaches_a_c_kernel_as_itself() {
    ElementType::all().for_each(|element| check_type(element, "c"));
}

#[test]
fn every_type_reaches_a_cpp_kernel_as_itself() {
    // GCC has half floats in C++ only since version 13.
    let types = ElementType::all().filter(|element| element.scalar() != ScalarType::F16);
    types.for_each(|element| check_type(element, "cpp"));
}

fn npy(folder: &Path, name: &str, descr: &str, shape: &str, data: &[f32]) -> std::path::PathBuf {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data.iter().flat_map(|value| value.to_ne_bytes()));
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

const DOUBLE: &str = "void twice(const float *in, float *out) { for (int i = 0; i < 6; i++) out[i] = 2 * in[i]; }\n";

fn matrix(name: &str, access: Access, fill: Fill) -> Argument {
    let kind = ArgumentKind::Buffer { shape: vec![2, 3].into(), fill, access, memory: Memory::Global };
    Argument::new(name, element("f32"), kind)
}

fn twice(folder: &Path, input: Fill, expected: &Path) -> KernelSpec {
    let file = write(folder, "twice.c", DOUBLE);
    let arguments = vec![matrix("in", Access::In, input), matrix("out", Access::Out, Fill::Zeros)];
    let verify = Verify { expected: vec![("out".into(), Fill::File(expected.to_owned()))], ..Verify::default() };
    KernelSpec { verify, ..spec(file, "twice", arguments) }
}

#[test]
fn inputs_and_expected_outputs_come_from_npy_and_raw_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let input = npy(folder, "in.npy", "<f4", "(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let right = npy(folder, "right.npy", "<f4", "(2, 3)", &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    let wrong = npy(folder, "wrong.npy", "<f4", "(2, 3)", &[2.0, 4.0, 6.0, 8.0, 10.5, 12.0]);
    assert_correct(&run(twice(folder, Fill::File(input.clone()), &right)));
    let completion = run(twice(folder, Fill::File(input.clone()), &wrong));
    assert_failed(&completion, FailureKind::Correctness, &["`out`[1, 1] is wrong: wanted 10.5, found 10"]);

    let raw = folder.join("in.raw");
    std::fs::write(&raw, &std::fs::read(&input).unwrap()[std::fs::read(&input).unwrap().len() - 24..]).unwrap();
    assert_correct(&run(twice(folder, Fill::File(raw), &right)));
}

#[test]
fn files_of_another_type_shape_or_length_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let right = npy(folder, "right.npy", "<f4", "(2, 3)", &[0.0; 6]);
    let refused_input = |path: &Path| refused(twice(folder, Fill::File(path.to_owned()), &right));

    let message = refused_input(&npy(folder, "type.npy", "<f8", "(2, 3)", &[0.0; 12]));
    assert!(
        message.starts_with("argument `in`: ") && message.ends_with("holds `<f8`, but the problem says f32"),
        "{message}"
    );
    let message = refused_input(&npy(folder, "shape.npy", "<f4", "(6,)", &[0.0; 6]));
    assert!(message.ends_with("has the shape [6], but the problem says [2, 3]"), "{message}");
    let message = refused_input(&npy(folder, "short.npy", "<f4", "(2, 3)", &[0.0; 5]));
    assert!(message.ends_with("ends after 20 of 24 bytes"), "{message}");
    let message = refused_input(&write(folder, "raw.bin", "12345"));
    assert!(message.ends_with("has 5 bytes, but the problem says 24 (f32 x [2, 3])"), "{message}");
    let message = refused_input(&folder.join("missing.npy"));
    assert!(message.contains("missing.npy cannot be read: "), "{message}");
    let message = refused(twice(folder, Fill::Zeros, &folder.join("missing.npy")));
    assert!(message.starts_with("argument `out`: "), "{message}");
}

#[test]
fn a_tolerance_of_an_argument_lets_more_pass() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let expected = npy(folder, "expected.npy", "<f4", "(2, 3)", &[0.5; 6]);
    let strict = twice(folder, Fill::Zeros, &expected);
    assert_failed(&run(strict.clone()), FailureKind::Correctness, &["`out`[0, 0] is wrong: wanted 0.5, found 0"]);
    let mut loose = strict;
    let tolerance = PartialTolerance { relative: None, absolute: Some(0.5) };
    loose.verify.tolerances.insert("out".into(), tolerance);
    assert_correct(&run(loose));
}

#[test]
fn a_name_that_is_no_output_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let expected = npy(folder, "expected.npy", "<f4", "(2, 3)", &[0.0; 6]);
    let mut spec = twice(folder, Fill::Zeros, &expected);
    spec.verify.expected[0].0 = "ouf".into();
    let message = refused(spec);
    let wanted = "`expected` names the output `ouf`, but the kernel has no such argument; did you mean `out`?";
    assert_eq!(message, wanted);
}

#[test]
fn sizes_parameters_and_options_reach_the_compiler_as_they_are_spelt() {
    let folder = tempfile::tempdir().unwrap();
    let source = "
        #define TEXT_OF(x) #x
        #define TEXT(x) TEXT_OF(x)
        static const char *same(const char *a, const char *b)
        { while (*a && *a == *b) a++, b++; return *a == *b ? a : 0; }
        void f(int *out, int n, double half)
        {
            out[0] = N == 7 && FAST == 1 && SLOW == 0 && (FACTOR) == 0.5 && EXTRA == 7 && n == 14 && half == 0.5
                && same(TEXT(ORDER), \"nkm\") != 0;
        }";
    let file = write(folder.path(), "f.c", source);
    let expected = folder.path().join("expected.bin");
    std::fs::write(&expected, 1_i32.to_ne_bytes()).unwrap();
    let out = buffer("out", "i32", 1, Access::Out, Fill::Zeros);
    let arguments = vec![out, scalar("n", "i32", "N * 2"), scalar("half", "f64", "FACTOR")];
    let mut spec = spec(file, "f", arguments);
    spec.kernels[0].options = vec![tunesmith_kernel::Template::parse("-DEXTRA={N}").unwrap()];
    spec.sizes = vec![("N".into(), Value::Int(7))];
    spec.verify.expected = vec![("out".into(), expected.into())];
    let parameter = |name: &str, value| tunesmith_space::Parameter::new(name, [value]).unwrap();
    let space = Space::builder()
        .parameter(parameter("FAST", Value::Bool(true)))
        .parameter(parameter("SLOW", Value::Bool(false)))
        .parameter(parameter("FACTOR", Value::Float(0.5)))
        .parameter(parameter("ORDER", Value::Str("nkm".into())))
        .build()
        .unwrap();
    assert_correct(&evaluate(&mut evaluator(&space, spec), space.id(0).unwrap()));
}

#[test]
fn an_unknown_name_in_an_option_or_a_scalar_is_refused_with_the_closest() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "f.c", "void f(int n) {}");
    let mut with_option = spec(&file, "f", vec![scalar("n", "i32", "1")]);
    with_option.sizes = vec![("WIDTH".into(), Value::Int(7))];
    with_option.kernels[0].options = vec![tunesmith_kernel::Template::parse("-DA={WITDH}").unwrap()];
    let wanted =
        "the kernel's option `-DA={WITDH}`: `{WITDH}` is neither a parameter nor a size; did you mean `WIDTH`?";
    assert_eq!(refused(with_option.clone()), wanted);
    with_option.kernels[0].options.clear();
    with_option.arguments[0].kind = ArgumentKind::Scalar(Expr::parse("WITDH").unwrap());
    assert_eq!(refused(with_option), "`WITDH` uses `WITDH`, which is not a parameter; did you mean `WIDTH`?");
}

#[test]
fn a_scalar_that_has_no_value_for_a_configuration_is_a_constraint_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "f.c", "void f(unsigned char n) {}");
    let space = space_of("P", 3);
    let mut evaluator = evaluator(&space, spec(file, "f", vec![scalar("n", "u8", "300 * P // P - 299 * (P // 2)")]));
    let completion = evaluate(&mut evaluator, config(&space, 0));
    assert_failed(&completion, FailureKind::Constraints, &["argument `n`: its value", "cannot be computed"]);
    let completion = evaluate(&mut evaluator, config(&space, 1));
    assert_failed(&completion, FailureKind::Constraints, &["is 300, which u8 cannot hold"]);
    assert_correct(&evaluate(&mut evaluator, config(&space, 2)));
}

#[test]
fn local_memory_is_scratch_space() {
    let folder = tempfile::tempdir().unwrap();
    let source = "void f(float *scratch) { for (int i = 0; i < 64 + P; i++) scratch[i] = 1; }";
    let file = write(folder.path(), "f.c", source);
    let kind = ArgumentKind::Local { shape: vec![tunesmith_space::Expr::parse("64").unwrap()] };
    let scratch = Argument::new("scratch", element("f32"), kind);
    let space = space_of("P", 2);
    let mut evaluator = evaluator(&space, spec(file, "f", vec![scratch]));
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    let completion = evaluate(&mut evaluator, config(&space, 1));
    assert_failed(&completion, FailureKind::Runtime, &["outside of `scratch`, behind its end"]);
}

#[test]
fn a_buffer_beyond_all_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "f.c", "void f(float *a) {}");
    let huge = |shape| {
        let kind = ArgumentKind::Buffer {
            shape: tunesmith_kernel::Shape::Fixed(shape),
            fill: Fill::Zeros,
            access: Access::In,
            memory: Memory::Global,
        };
        let argument = Argument::new("a", element("f32"), kind);
        LiveEvaluator::new(&one(), options(spec(&file, "f", vec![argument]))).err().expect("an error")
    };
    assert!(matches!(huge(vec![u64::MAX, 2]), DeviceError::TooLarge { .. }));
    assert!(matches!(huge(vec![1 << 50]), DeviceError::Scratch(_)));
}
