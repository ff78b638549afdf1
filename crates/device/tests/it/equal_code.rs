//! Configurations whose machine code, launches and arguments are the same, and those that differ in one of them.

use crate::common;

use common::backends::{Lab, opencl};
use common::*;
use std::collections::BTreeMap;
use tunesmith_backend::opencl::OpenClDevice;
use tunesmith_core::Evaluator as _;
use tunesmith_core::{Interrupt, Request};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{Access, Argument, Extent, Fill, WorkSize};
use tunesmith_space::{Expr, Space};

const VALUES: [i64; 3] = [1, 2, 4];

fn arguments(scalar: &str) -> Vec<Argument> {
    vec![buffer("out", "i32", 64, Access::Out, Fill::Zeros), common::scalar("n", "i32", scalar)]
}

/// Returns the digest of the code of P = 1, 2 and 4, all asked for at once.
fn codes(evaluator: &mut LiveEvaluator, space: &Space) -> Vec<Option<String>> {
    for value in VALUES {
        evaluator.submit(Request::timed(config(space, value))).unwrap();
    }
    let code = |_| {
        let completion = evaluator.next(&Interrupt::default()).unwrap().unwrap();
        assert_eq!(completion.failure, None);
        (completion.request.unwrap().config, completion.measurement.compile.unwrap().code)
    };
    VALUES.map(code).into_iter().collect::<BTreeMap<_, _>>().into_values().collect()
}

/// Asserts which of P = 1, 2 and 4 are equal. All are known.
#[track_caller]
fn assert_equal(codes: &[Option<String>], expected: [bool; 2], case: &str) {
    assert!(codes.iter().all(Option::is_some), "{case}: {codes:?}");
    assert_eq!([codes[0] == codes[1], codes[1] == codes[2]], expected, "{case}: {codes:?}");
}

#[test]
fn code_in_c_is_equal_if_the_library_and_the_arguments_are() {
    let cases = [
        ("out[0] = n;", "7", [true, true], "no parameter"),
        ("out[0] = P < 3 ? n : 2 * n;", "7", [true, false], "a parameter that the compiler sees through"),
        ("out[0] = P * n;", "7", [false, false], "a constant"),
        ("out[0] = n;", "P", [false, false], "an argument"),
    ];
    for (body, scalar, expected, case) in cases {
        let folder = Folder::new();
        let space = space_with("P", &VALUES);
        let file = folder.file("f.c", &format!("void f(int *out, int n) {{ {body} }}\n"));
        assert_equal(&codes(&mut evaluator(&space, spec(file, "f", arguments(scalar))), &space), expected, case);
    }
}

/// Only the driver knows where the code lies, and it makes it when a kernel is first launched.
#[test]
fn code_in_opencl_is_equal_if_the_drivers_library_the_grid_and_the_arguments_are() {
    let Some(target) = opencl() else { return };
    let device: &OpenClDevice = target.device().unwrap();
    if !device.platform.contains("Portable Computing Language") {
        println!("skipped: another driver than PoCL may tell no code");
        return;
    }
    let cases = [
        ("n", "64", "8", [true, true], "no parameter"),
        ("P < 3 ? n : 2 * n", "64", "8", [true, false], "a parameter that the compiler sees through"),
        ("n", "64", "8 * P", [false, false], "a work-group"),
        ("n", "16 * P", "8", [false, false], "the number of work-groups"),
    ];
    for (value, global, local, expected, case) in cases {
        let lab = Lab::new(target.clone());
        let expr = |text: &str| vec![Expr::parse(text).unwrap()];
        let work = WorkSize { extent: Extent::Global(expr(global)), local: Some(expr(local)) };
        let source = format!("kernel void f(global int *out, int n) {{ out[get_global_id(0)] = {value}; }}\n");
        let space = space_with("P", &VALUES);
        let mut evaluator = lab.evaluator(&space, lab.spec("f", &source, arguments("7"), work));
        assert_equal(&codes(&mut evaluator, &space), expected, case);
    }
}
