//! The duties of every backend that runs kernels: one suite, the same sources, the same statuses.

use crate::common;

use common::backends::{Lab, cuda, hip, labs, processors};
use common::*;
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_kernel::measure::Cache;
use tunesmith_kernel::{
    Access, Argument, ArgumentKind, DeviceError, ElementType, Extent, Fill, Memory, ScalarType, WorkSize,
};
use tunesmith_space::Expr;

const N: u64 = 1000;

fn exprs(texts: &[&str]) -> Vec<Expr> {
    texts.iter().map(|text| Expr::parse(text).unwrap()).collect()
}

fn work(global: &[&str], local: &[&str]) -> WorkSize {
    let local = (!local.is_empty()).then(|| exprs(local));
    WorkSize { extent: Extent::Global(exprs(global)), local }
}

fn of(memory: Memory, name: &str, element_name: &str, count: u64, access: Access, fill: Fill) -> Argument {
    let kind = ArgumentKind::Buffer { shape: vec![count].into(), fill, access, memory };
    Argument::new(name, element(element_name), kind)
}

/// Returns the types that a backend computes with. Half floats are an extension that few
/// processors' drivers have.
fn types(lab: &Lab) -> Vec<ElementType> {
    let known = |element: &ElementType| !lab.is_opencl() || element.scalar() != ScalarType::F16;
    ElementType::all().filter(known).collect()
}

/// Returns a source that copies a buffer of every type and passes a scalar of every type.
fn typed_source(lab: &Lab) -> String {
    let names: Vec<String> = types(lab).iter().map(ElementType::to_string).collect();
    let typedefs: String = types(lab).iter().map(|element| lab.typedef(*element)).collect();
    let parameter =
        |name: &String| format!("GLOBAL const t_{name} *in_{name}, GLOBAL t_{name} *out_{name}, t_{name} s_{name}");
    let parameters: Vec<String> = names.iter().map(parameter).collect();
    let copy = |name: &String| format!("        out_{name}[i] = i == 3 ? s_{name} : in_{name}[i];\n");
    let copies: String = names.iter().map(copy).collect();
    format!(
        "#include \"portable.h\"\n{typedefs}KERNEL typed({})\n{{\n    ITEMS(i, 0, 8) {{\n{copies}    }}\n}}\n",
        parameters.join(",\n    ")
    )
}

#[test]
fn every_type_reaches_a_kernel_as_itself() {
    for lab in labs() {
        let element_names: Vec<String> = types(&lab).iter().map(ElementType::to_string).collect();
        let arguments = element_names.iter().flat_map(|name| {
            [
                buffer(&format!("in_{name}"), name, 8, Access::In, Fill::Iota),
                buffer(&format!("out_{name}"), name, 8, Access::Out, Fill::Zeros),
                scalar(&format!("s_{name}"), name, "77"),
            ]
        });
        let mut spec = lab.spec("typed", &typed_source(&lab), arguments.collect(), work(&["8"], &["4"]));
        spec.verify.expected =
            types(&lab).iter().map(|element| (format!("out_{element}"), lab.iota(*element, 8, 3, 77).into())).collect();
        let mut evaluator = lab.evaluator(&one(), spec);
        assert_correct(&evaluate(&mut evaluator, one().id(0).unwrap()));
    }
}

#[test]
fn kernels_have_one_to_three_dimensions_counted_in_items_or_groups() {
    let source = "#include \"portable.h\"\nKERNEL place(GLOBAL int *out) {\n\
        ITEMS(z, 2, 4) { ITEMS(y, 1, 6) { ITEMS(x, 0, 8) out[(z * 6 + y) * 8 + x] = (z * 6 + y) * 8 + x; } } }\n";
    let flat = "#include \"portable.h\"\nKERNEL place(GLOBAL int *out) { ITEMS(x, 0, 192) out[x] = x; }\n";
    let groups = WorkSize { extent: Extent::Groups(exprs(&["2", "3", "1"])), local: Some(exprs(&["4", "P + 1", "4"])) };
    let cases = [
        (source, work(&["8", "6", "4"], &["4", "P + 1", "2"])),
        (source, work(&["8", "6", "4"], &[])),
        (source, groups),
        (flat, work(&["192"], &["64"])),
    ];
    for lab in labs() {
        for (source, work) in &cases {
            let arguments = vec![buffer("out", "i32", 192, Access::Out, Fill::Zeros)];
            let mut spec = lab.spec("place", source, arguments, work.clone());
            spec.verify.expected = vec![("out".into(), lab.iota(element("i32"), 192, 0, 0).into())];
            let space = space_of("P", 2);
            assert_correct(&evaluate(&mut lab.evaluator(&space, spec), config(&space, 1)));
        }
    }
}

#[test]
fn every_kind_of_memory_holds_what_it_should() {
    let source = "#include \"portable.h\"\n\
        KERNEL kinds(GLOBAL const float *a, CONSTANT float *k, LOCAL(float, scratch) GLOBAL float *b, GLOBAL float *c) {\n\
        USE_LOCAL(float, scratch)\n\
        ITEMS(i, 0, 1000) { scratch[i % TILE] = a[i]; FENCE; b[i] += scratch[i % TILE] * k[i % 7]; c[i] = a[i]; } }\n";
    for lab in labs() {
        let arguments = vec![
            buffer("a", "f32", N, Access::In, Fill::Random),
            of(Memory::Constant, "k", "f32", 7, Access::In, Fill::Random),
            Argument::new("scratch", element("f32"), ArgumentKind::Local { shape: exprs(&["TILE"]) }),
            buffer("b", "f32", N, Access::InOut, Fill::Random),
            buffer("c", "f32", N, Access::Out, Fill::Zeros),
        ];
        let mut spec = lab.spec("kinds", source, arguments, work(&["1000"], &["TILE"]));
        let reference_source = "void r(const float *a, const float *k, float *s, float *b, float *c) {\n\
            for (int i = 0; i < 1000; i++) { b[i] += a[i] * k[i % 7]; c[i] = a[i]; } }\n";
        spec.verify = reference(lab.file("kinds_reference.c", reference_source), "r");
        // The reference does not know the parameters on which local memory depends.
        spec.sizes = vec![("TILE".into(), tunesmith_space::Value::Int(50))];
        let mut options = options(spec);
        options.policy.cache = Cache::Cold;
        assert_correct(&evaluate(&mut lab.open(&one(), options), one().id(0).unwrap()));
    }
}

#[test]
fn local_memory_may_depend_on_the_configuration() {
    let source = "#include \"portable.h\"\nKERNEL turn(LOCAL(int, scratch) GLOBAL int *out) {\n\
        USE_LOCAL(int, scratch)\n\
        ITEMS(i, 0, 64) { scratch[i % TILE] = i; FENCE; out[i] = scratch[i % TILE]; } }\n";
    for lab in labs() {
        let scratch = ArgumentKind::Local { shape: exprs(&["TILE"]) };
        let arguments =
            vec![Argument::new("scratch", element("i32"), scratch), buffer("out", "i32", 64, Access::Out, Fill::Zeros)];
        let mut spec = lab.spec("turn", source, arguments, work(&["64"], &["TILE"]));
        spec.verify.expected = vec![("out".into(), lab.iota(element("i32"), 64, 0, 0).into())];
        let space = space_with("TILE", &[4, 32, 8]);
        let mut evaluator = lab.evaluator(&space, spec);
        for value in [4, 32, 8] {
            assert_correct(&evaluate(&mut evaluator, config(&space, value)));
        }
    }
}

const TWO_STEPS: &str = "#include \"portable.h\"\n\
    KERNEL first(GLOBAL const int *a, GLOBAL int *b) { ITEMS(i, 0, 64) b[i] = a[i] + P; }\n\
    KERNEL second(GLOBAL int *b, GLOBAL int *c, int more) { ITEMS(i, 0, 64) c[i] += b[i] + more - P; }\n";

/// Runs `first` once and `second` three times, each on arguments of its own: c = 3 * (a + 1).
#[test]
fn several_kernels_run_in_order_and_their_times_are_kept() {
    for lab in labs() {
        let arguments = vec![
            buffer("a", "i32", 64, Access::In, Fill::Iota),
            buffer("b", "i32", 64, Access::Out, Fill::Zeros),
            buffer("c", "i32", 64, Access::InOut, Fill::Zeros),
            scalar("more", "i32", "1"),
        ];
        let mut spec = lab.spec("first", TWO_STEPS, arguments, work(&["64"], &[]));
        let mut second = spec.kernels[0].clone();
        spec.kernels[0].arguments = vec![0, 1];
        second.name = "add three times".into();
        second.function = "second".into();
        second.arguments = vec![1, 2, 3];
        second.repeat = Some(Expr::parse("3").unwrap());
        spec.kernels.push(second);
        let reference_source = "void r(const int *a, int *b, int *c, int more) {\n\
            for (int i = 0; i < 64; i++) { b[i] = a[i]; c[i] = 3 * (a[i] + more); } }\n";
        spec.verify = reference(lab.file("steps_reference.c", reference_source), "r");
        spec.verify
            .tolerances
            .insert("b".into(), tunesmith_kernel::PartialTolerance { absolute: Some(5.0), relative: None });
        let space = space_of("P", 2);
        let mut evaluator = lab.evaluator(&space, spec);
        for id in space.iter() {
            let completion = evaluate(&mut evaluator, id);
            assert_correct(&completion);
            let parts = &completion.measurement.parts_ms;
            assert_eq!(parts.keys().collect::<Vec<_>>(), ["add three times", "first"]);
            for (sample, total) in completion.measurement.times_ms.iter().enumerate() {
                let sum: f64 = parts.values().map(|times| times[sample]).sum();
                assert!((sum - total).abs() <= 1e-9 * total, "{parts:?}");
            }
        }
    }
}

fn faults(lab: &Lab) -> tunesmith_kernel::KernelSpec {
    let arguments = vec![
        buffer("a", "f32", N, Access::In, Fill::Random),
        buffer("b", "f32", N, Access::InOut, Fill::Random),
        buffer("c", "f32", N, Access::Out, Fill::Zeros),
        scalar("n", "i32", "1000"),
    ];
    let source = std::fs::read_to_string(kernel_file("faults.txt")).unwrap();
    let mut spec = lab.spec("faults", &source, arguments, work(&["1000"], &["100"]));
    let reference_source = "void r(const float *a, float *b, float *c, int n) {\n\
        for (int i = 0; i < n; i++) { b[i] += a[i]; c[i] = 2 * a[i]; } }\n";
    spec.verify = reference(lab.file("faults_reference.c", reference_source), "r");
    spec
}

/// Each fault has its status and the words of its message. A correct configuration follows it in
/// the same run.
fn every_fault_gets_its_status(lab: &Lab) {
    let file = format!("kernel.{}", lab.suffix());
    // A GPU's driver reports what a processor's driver dies of.
    let crash = if lab.gpu().is_some() { "memory that is not its own" } else { "the kernel" };
    let expected = [
        (1, FailureKind::Compile, vec!["error", &file]),
        (2, FailureKind::Correctness, vec!["`c`", "`c`[5]"]),
        (3, FailureKind::Correctness, vec!["`c`[7]", "written"]),
        (4, FailureKind::Runtime, vec!["outside of `c`, behind its end"]),
        (5, FailureKind::Runtime, vec!["outside of `c`, before its start"]),
        (6, FailureKind::Correctness, vec!["its input `a`[3]"]),
        (7, FailureKind::Timeout, vec!["did not end within"]),
        (8, FailureKind::Runtime, vec![crash]),
        (9, FailureKind::Correctness, vec!["`c`[2]", "NaN"]),
    ];
    let space = space_of("MODE", 10);
    let mut evaluator = lab.evaluator(&space, faults(lab));
    for (mode, kind, words) in &expected {
        assert_failed(&evaluate(&mut evaluator, config(&space, *mode)), *kind, words);
        assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    }
}

#[test]
fn every_fault_gets_its_status_in_c_and_the_run_goes_on() {
    every_fault_gets_its_status(&processors()[0]);
}

#[test]
fn every_fault_gets_its_status_in_opencl_and_the_run_goes_on() {
    processors().iter().skip(1).for_each(every_fault_gets_its_status);
}

#[test]
fn every_fault_gets_its_status_on_cuda_and_the_run_goes_on() {
    every_fault_gets_its_status(&cuda());
}

#[test]
fn every_fault_gets_its_status_on_hip_and_the_run_goes_on() {
    every_fault_gets_its_status(&hip());
}

#[test]
fn a_signature_that_does_not_fit_is_found_before_anything_runs() {
    for lab in labs() {
        let source = "#include \"portable.h\"\nKERNEL add(GLOBAL float *a, int n) { ITEMS(i, 0, n) a[i] = i; }\n";
        let message = |arguments: Vec<Argument>, function: &str| {
            let spec = lab.spec(function, source, arguments, work(&["8"], &[]));
            let error = lab.evaluator(&one(), spec).preflight(one().id(0).unwrap()).unwrap_err();
            let DeviceError::Signature { argument, message, remedy, .. } = error else { panic!("{error}") };
            (argument, format!("{message}; {remedy}"))
        };
        let a = || buffer("a", "f32", 8, Access::Out, Fill::Zeros);
        let (argument, text) = message(vec![a()], "add");
        assert!(text.contains("arguments"), "{argument:?} {text}");
        let (argument, _) =
            message(vec![buffer("a", "i32", 8, Access::Out, Fill::Zeros), scalar("n", "i32", "8")], "add");
        assert_eq!(argument.as_deref(), Some("a"));
        let (argument, _) = message(vec![a(), scalar("n", "f64", "8")], "add");
        assert_eq!(argument.as_deref(), Some("n"));
        let (_, text) = message(vec![a(), scalar("n", "i32", "8")], "ad");
        assert!(text.contains("did you mean `add`?"), "{text}");
    }
}

#[test]
fn an_interrupt_drops_what_is_compiled_and_the_rest_is_measured_when_asked() {
    for lab in labs() {
        let space = space_of("MODE", 10);
        let mut evaluator = lab.evaluator(&space, faults(&lab));
        assert!(evaluator.prepare(&Interrupt::default()).unwrap());
        for mode in [7, 0] {
            evaluator.submit(Request::timed(config(&space, mode))).unwrap();
        }
        let interrupt = Interrupt::default();
        interrupt.raise();
        assert!(evaluator.next(&interrupt).unwrap().is_none());
        assert_correct(&evaluator.next(&Interrupt::default()).unwrap().unwrap());
    }
}

#[test]
fn the_same_problem_has_the_same_identity_and_another_source_another() {
    for lab in labs() {
        let arguments = || vec![buffer("a", "f32", 8, Access::Out, Fill::Zeros)];
        let source = |value: u32| {
            format!("#include \"portable.h\"\nKERNEL f(GLOBAL float *a) {{ ITEMS(i, 0, 8) a[i] = {value}; }}\n")
        };
        let identity =
            |value| lab.evaluator(&one(), lab.spec("f", &source(value), arguments(), work(&["8"], &[]))).identity();
        assert_eq!(identity(1), identity(1));
        assert_ne!(identity(1), identity(2));
    }
}

#[test]
fn a_correct_configuration_has_the_largest_relative_error_of_its_outputs() {
    let source =
        "#include \"portable.h\"\nKERNEL off(GLOBAL float *out) { ITEMS(i, 0, 8) out[i] = i == 5 ? 4.5f : 4; }\n";
    for lab in labs() {
        let arguments = vec![buffer("out", "f32", 8, Access::Out, Fill::Zeros)];
        let mut spec = lab.spec("off", source, arguments, work(&["8"], &["4"]));
        let unverified = evaluate(&mut lab.evaluator(&one(), spec.clone()), one().id(0).unwrap());
        assert!(!unverified.measurement.values.contains_key("error"), "nothing was compared");
        spec.verify.expected = vec![("out".into(), Fill::Constant(4.0))];
        spec.verify.relative = Some(0.25);
        let completion = evaluate(&mut lab.evaluator(&one(), spec), one().id(0).unwrap());
        assert_correct(&completion);
        assert_eq!(completion.measurement.values["error"], [0.125]);
    }
}
