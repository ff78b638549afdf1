//! Kernels that read local memory before they write it, beside the last verification. They are right where it holds
//! zeros, as new memory does, and leave zeros behind.

use crate::common;

use common::backends::{Lab, opencl};
use common::scripted::work;
use common::*;
use tunesmith_backend::Target;
use tunesmith_core::{Confirmed, FailureKind};
use tunesmith_kernel::{Access, Argument, ArgumentKind, Fill};
use tunesmith_space::Expr;

/// `given` is passed by the host, all else is declared in the kernel. P = 0 writes before it reads.
const SOURCE: &str = "__kernel void f(__global const int *in, __global int *out, __local int *given) {
    __local int own[64], edged[66], total; __local float most[64];
    const int l = get_local_id(0), g = get_global_id(0), value = in[g] & 255;
    int found = value;
    given[l] = P == 2 ? given[l] : 0;
    own[l] = P == 1 ? own[l] : 0;
    most[l] = P == 4 ? most[l] : 0;
    if (l == 0 && P != 5) total = 0;
    edged[l + 1] = value;
    if (P != 3) { edged[0] = 0; edged[65] = 0; }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 7) atomic_add(&total, value);
    if (P == 1) { own[l] += value; found = own[l]; }
    if (P == 2) { given[l] += value; found = given[l]; }
    if (P == 3) found = edged[l + 1] + edged[0] + edged[65];
    if (P == 4) found = (int)fmax(most[l], (float)value);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (P == 5 && l == 7) found = total;
    barrier(CLK_LOCAL_MEM_FENCE);
    own[l] = 0; given[l] = 0; most[l] = 0;
    if (l == 0) total = 0;
    out[g] = found; }\n";

const REFERENCE: &str =
    "void r(const int *in, int *out, void *given) { for (int i = 0; i < 1024; i++) out[i] = in[i] & 255; }\n";

fn arguments(element_name: &str, local: u64) -> Vec<Argument> {
    let shape = vec![Expr::parse(&local.to_string()).unwrap()];
    vec![
        buffer("in", "i32", 1024, Access::In, Fill::Random),
        buffer("out", "i32", 1024, Access::Out, Fill::Zeros),
        Argument::new("given", element(element_name), ArgumentKind::Local { shape }),
    ]
}

/// Verifies P = `value` of a kernel in OpenCL, in a run of its own.
fn verified(target: &Target, value: i64) -> Confirmed {
    let lab = Lab::new(target.clone());
    let mut spec = lab.spec("f", SOURCE, arguments("i32", 64), work("1024", "64"));
    spec.verify = reference(lab.file("r.c", REFERENCE), "r");
    let space = space_with("P", &[value]);
    confirm(&mut lab.open(&space, uncapped(spec)), config(&space, value))
}

#[track_caller]
fn assert_found(confirmed: &Confirmed, case: &str) {
    let failure = confirmed.failure.as_ref().unwrap_or_else(|| panic!("{case} passes: {confirmed:?}"));
    assert_eq!(failure.kind, FailureKind::Correctness, "{case}: {failure}");
    assert!(failure.message.contains("reads local memory that it did not write"), "{case}: {failure}");
}

#[test]
fn a_kernel_that_reads_local_memory_before_it_writes_it_is_found() {
    let Some(target) = opencl() else { return };
    let cases = ["an array", "an argument", "edges that nobody writes", "a maximum", "a sum of a group"];
    for (value, case) in (1..).zip(cases) {
        assert_found(&verified(&target, value), case);
    }
}

#[test]
fn a_kernel_that_writes_local_memory_first_makes_all_launches_of_the_last_verification() {
    let Some(target) = opencl() else { return };
    let confirmed = verified(&target, 0);
    assert_eq!((confirmed.failure, confirmed.launches, confirmed.notes), (None, 200, Vec::new()));
}

/// In C it is a buffer: one that stays where it is from launch to launch, and one of a size that no word divides.
#[test]
fn a_kernel_in_c_that_reads_local_memory_before_it_writes_it_is_found() {
    // A maximum, which the canaries around buffers, all of them negative, do not disturb.
    let source = "void f(const int *in, int *out, signed char *given) {
        if (P == 0) given[1023] = 0;
        for (int i = 0; i < 1024; i++) out[i] = (in[i] & 255) > given[1023] ? in[i] & 255 : given[1023];
        given[1023] = 0; }\n";
    for bytes in [4096, 1027] {
        let folder = Folder::new();
        let space = space_with("P", &[0, 1]);
        let mut evaluator = evaluator(&space, folder.spec(source, REFERENCE, arguments("i8", bytes)));
        assert_eq!(confirm(&mut evaluator, config(&space, 0)).failure, None);
        assert_found(&confirm(&mut evaluator, config(&space, 1)), &format!("a buffer of {bytes} bytes"));
    }
}
