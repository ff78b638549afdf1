//! Tests special to OpenCL devices: limits on work-groups and local memory, and drivers that
//! compile.

use crate::common;

use common::backends::{Lab, opencl};
use common::*;
use tunesmith_backend::Target;
use tunesmith_backend::host::Compilers;
use tunesmith_core::{Evaluator, FailureKind, Interrupt, Request};
use tunesmith_device::{LiveEvaluator, LiveOptions, devices};
use tunesmith_kernel::{
    Access, Argument, ArgumentKind, DeviceError, Extent, Fill, Image, KernelSpec, Memory, WorkSize,
};
use tunesmith_space::Expr;

const SOURCE: &str = "#include \"portable.h\"\n\
    KERNEL f(local float *scratch, GLOBAL float *out) {\n\
    local volatile float fixed[FIXED];\n\
    fixed[get_local_id(0) % FIXED] = 1; scratch[0] = 1;\n\
    out[get_global_id(0)] = get_global_id(0) + fixed[get_local_id(0) % FIXED]; }\n";

/// Returns a kernel with the given expressions over P for global size, work-group and local memory.
fn spec(lab: &Lab, global: &str, local: &str, scratch: &str, fixed: &str) -> KernelSpec {
    let expr = |text: &str| vec![Expr::parse(text).unwrap()];
    let arguments = vec![
        Argument::new("scratch", element("f32"), ArgumentKind::Local { shape: expr(scratch) }),
        buffer("out", "f32", 1 << 16, Access::Out, Fill::Zeros),
    ];
    let work = WorkSize { extent: Extent::Global(expr(global)), local: Some(expr(local)) };
    let mut spec = lab.spec("f", SOURCE, arguments, work);
    spec.kernels[0].options = vec![tunesmith_kernel::Template::parse(&format!("-DFIXED={fixed}")).unwrap()];
    spec
}

#[test]
fn what_exceeds_the_devices_limits_is_a_constraint_and_the_run_goes_on() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    // More local memory than any device has, and work-groups larger than any device accepts.
    let cases = [
        (spec(&lab, "65536", "64", "(1 << 40) * P + 1", "1"), "local memory in bytes is"),
        (spec(&lab, "65536", "64", "1", "(67108864*{P}+1)"), "bytes of local memory, but the device has"),
        (spec(&lab, "65536", "65536 ** P", "1", "1"), "the work-group's size"),
        (spec(&lab, "65536", "3 ** P", "1", "1"), "not a multiple of its 3 per work-group"),
        (spec(&lab, "65536 * (1 - P)", "1", "1", "1"), "must give at least 1"),
    ];
    for (spec, words) in cases {
        let space = space_of("P", 2);
        let mut evaluator = lab.evaluator(&space, spec);
        assert_failed(&evaluate(&mut evaluator, config(&space, 1)), FailureKind::Constraints, &[words]);
        assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    }
}

#[test]
fn devices_tell_their_limits_and_a_kernel_of_another_language_is_refused() {
    let Some(target) = opencl() else { return };
    let (found, _) = devices(&Compilers::default(), &worker());
    let device = found.iter().find(|device| device.backend == "opencl").unwrap();
    for limit in ["max_work_group_size", "local_memory", "max_work_item_size_0", "compute_units"] {
        assert!(device.limits[limit] >= 1.0, "{limit}");
    }
    let lab = Lab::new(target.clone());
    let open = |spec, target| {
        LiveEvaluator::new(&one(), LiveOptions { target, ..options(spec) }).err().expect("an error").to_string()
    };
    let message = open(spec(&lab, "8", "1", "1", "1"), Target::processor());
    assert!(message.contains("written in OpenCL C, which the device `c` does not run"), "{message}");
    let c_kernel = common::spec(lab.file("f.c", "void f(void) {}"), "f", Vec::new());
    let message = open(c_kernel, target.clone());
    assert!(message.contains("written in C, which OpenCL device 0"), "{message}");
    let mut without_items = spec(&lab, "8", "1", "1", "1");
    without_items.kernels[0].work = None;
    let error = LiveEvaluator::new(&one(), LiveOptions { target, ..options(without_items) }).err().unwrap();
    assert!(matches!(error, DeviceError::NoWorkItems { .. }), "{error}");
}

#[test]
fn everything_that_several_workers_compile_ahead_is_measured() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let space = space_with("P", &[1, 2, 4, 8, 16, 32]);
    let mut options = options(spec(&lab, "65536", "P", "P", "P"));
    options.jobs = 3;
    let mut evaluator = lab.open(&space, options);
    for id in space.iter() {
        evaluator.submit(Request::timed(id)).unwrap();
    }
    for _ in space.iter() {
        assert_correct(&evaluator.next(&Interrupt::default()).unwrap().unwrap());
    }
}

#[test]
fn a_program_that_is_measured_again_stays_loaded() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let (space, interrupt) = (space_of("P", 2), Interrupt::default());
    let mut evaluator = lab.evaluator(&space, spec(&lab, "65536", "1 + P", "1", "1"));
    // The first job of a worker may end with another worker.
    for value in [0, 0, 1, 0] {
        assert_correct(&evaluator.resample(config(&space, value), 3, &interrupt).unwrap().unwrap());
    }
    // Nothing that is loaded from its source compiles without this file.
    lab.remove("portable.h");
    for value in [1, 0] {
        assert_correct(&evaluator.resample(config(&space, value), 3, &interrupt).unwrap().unwrap());
    }
}

#[test]
fn a_probe_is_compiled_even_if_the_drivers_cache_is_warm() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let space = space_of("P", 2);
    let source = "kernel void f(global int *out) {\n#if P\nout[0] = wrong;\n#endif\nout[0] = 1; }\n";
    let work = WorkSize { extent: Extent::Global(vec![Expr::parse("1").unwrap()]), local: None };
    let spec = lab.spec("f", source, vec![buffer("out", "i32", 1, Access::Out, Fill::Zeros)], work);
    let evaluator = lab.evaluator(&space, spec);
    // Whether these fill the cache or find it warm, none after them is taken for granted.
    for _ in 0..2 {
        assert_eq!(evaluator.uncompiled(config(&space, 0)).unwrap(), None);
    }
    let message = evaluator.uncompiled(config(&space, 1)).unwrap().expect("it does not compile");
    assert!(message.contains("wrong"), "{message}");
}

#[test]
fn sources_are_compiled_together_and_messages_name_their_files() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let work = WorkSize { extent: Extent::Global(vec![Expr::parse("8").unwrap()]), local: None };
    let arguments = vec![buffer("out", "i32", 8, Access::Out, Fill::Zeros)];
    let mut spec =
        lab.spec("f", "kernel void f(global int *out) { out[get_global_id(0)] = place(); }\n", arguments, work);
    spec.kernels[0].sources =
        vec![lab.file("place.cl", "static int place(void) {\nreturn P ? get_global_id(0) : wrong; }\n")];
    spec.kernels[0].options = vec![tunesmith_kernel::Template::parse("-Dwrong={P}").unwrap()];
    let mut evaluator = lab.evaluator(&one(), spec.clone());
    assert_correct(&evaluate(&mut evaluator, one().id(0).unwrap()));
    spec.kernels[0].options.clear();
    let completion = evaluate(&mut lab.evaluator(&one(), spec), one().id(0).unwrap());
    assert_failed(&completion, FailureKind::Compile, &["place.cl", "2:"]);
}

/// Returns an image of `shape`.
fn image(name: &str, element_name: &str, shape: &[u64], access: Access, image: Image) -> Argument {
    let (shape, fill) = (shape.to_vec().into(), Fill::Random);
    let kind = ArgumentKind::Buffer { shape, fill, access, memory: Memory::Image(image) };
    Argument::new(name, element(element_name), kind)
}

/// Returns a problem of one kernel over 40 x 24 pixels, and its reference in C.
fn of_images(lab: &Lab, source: &str, reference: &str, arguments: Vec<Argument>) -> KernelSpec {
    let expr = |texts: &[&str]| texts.iter().map(|text| Expr::parse(text).unwrap()).collect::<Vec<_>>();
    let work = WorkSize { extent: Extent::Global(expr(&["40", "24"])), local: Some(expr(&["8", "4"])) };
    let mut spec = lab.spec("f", source, arguments, work);
    spec.verify = common::reference(lab.file("reference.c", reference), "r");
    spec
}

#[test]
fn images_of_one_to_three_dimensions_are_read_written_and_verified() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let plain = Image::default();
    let two = "__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n\
        __kernel void f(__read_only image2d_t a, __write_only image2d_t b) {\n\
        int2 at = (int2)(get_global_id(0), get_global_id(1));\n\
        write_imagef(b, at, read_imagef(a, edge, at + (int2)(1, 0)) + WRONG); }\n";
    let reference = "void r(const float *a, float *b) { for (int y = 0; y < 24; y++) for (int x = 0; x < 40; x++)\n\
        b[y * 40 + x] = a[y * 40 + (x < 39 ? x + 1 : 39)]; }\n";
    let arguments =
        || vec![image("a", "f32", &[24, 40], Access::In, plain), image("b", "f32", &[24, 40], Access::Out, plain)];
    let space = space_of("WRONG", 2);
    let mut evaluator = lab.evaluator(&space, of_images(&lab, two, reference, arguments()));
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    let wrong = evaluate(&mut evaluator, config(&space, 1));
    assert_failed(&wrong, FailureKind::Correctness, &["`b`"]);

    let one_and_three = "__constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n\
        __kernel void f(__read_only image1d_t a, __read_only image3d_t b, __global int4 *c) {\n\
        int x = get_global_id(0), y = get_global_id(1);\n\
        c[y * 40 + x] = read_imagei(a, exact, x) + read_imagei(b, exact, (int4)(x, y % 4, y / 4, 0)); }\n";
    let reference = "void r(const int *a, const int *b, int *c) { for (int i = 0; i < 24 * 40 * 4; i++)\n\
        c[i] = a[i % 160] + b[i]; }\n";
    let arguments = vec![
        image("a", "i32x4", &[40], Access::In, plain),
        image("b", "i32x4", &[6, 4, 40], Access::In, plain),
        buffer("c", "i32x4", 24 * 40, Access::Out, Fill::Zeros),
    ];
    let mut evaluator = lab.evaluator(&one(), of_images(&lab, one_and_three, reference, arguments));
    assert_correct(&evaluate(&mut evaluator, one().id(0).unwrap()));
}

#[test]
fn normalised_pixels_are_read_as_numbers_up_to_one_and_an_inout_image_is_restored() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let scaled = Image { normalized: true, ..Image::default() };
    let source = "__constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;\n\
        __kernel void f(__read_only image2d_t a, __global float4 *b) {\n\
        int2 at = (int2)(get_global_id(0), get_global_id(1));\n\
        b[at.y * 40 + at.x] = read_imagef(a, exact, at); }\n";
    let reference =
        "void r(const unsigned char *a, float *b) { for (int i = 0; i < 24 * 40 * 4; i++) b[i] = a[i] / 255.0f; }\n";
    let arguments = vec![
        image("a", "u8x4", &[24, 40], Access::In, scaled),
        buffer("b", "f32x4", 24 * 40, Access::Out, Fill::Zeros),
    ];
    let mut spec = of_images(&lab, source, reference, arguments);
    spec.verify.relative = Some(1e-5);
    assert_correct(&evaluate(&mut lab.evaluator(&one(), spec), one().id(0).unwrap()));
}

#[test]
fn an_image_where_the_kernel_takes_a_buffer_is_refused_with_the_argument_named() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let source = "__kernel void f(__global float *a, __write_only image2d_t b) { a[0] = 1; }\n";
    let arguments = vec![
        image("a", "f32", &[24, 40], Access::InOut, Image::default()),
        image("b", "f32", &[24, 40], Access::Out, Image::default()),
    ];
    let spec = of_images(&lab, source, "void r(float *a, float *b) { (void)a; (void)b; }\n", arguments);
    let error = lab.evaluator(&one(), spec).preflight(one().id(0).unwrap()).unwrap_err().to_string();
    assert!(error.contains("argument `a`") && error.contains("an image of f32 with 2 dimensions"), "{error}");
}
