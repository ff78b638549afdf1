//! Kernels that keep something from launch to launch, beside the many launches of the last verification.

use crate::common;

use common::backends::{Lab, opencl};
use common::scripted::work;
use common::*;
use std::time::Duration;
use tunesmith_core::{Confirmed, FailureKind};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{Access, Argument, Fill, KernelSpec, Template};
use tunesmith_space::Space;

/// Doubles the input, adds a second one, and counts `total` up by the first element.
const REFERENCE: &str = "void r(const int *in, const int *more, int *total, int *out) {
    total[0] += in[0]; for (int i = 0; i < 256; i++) out[i] = 2 * in[i] + more[i]; }";

/// A kernel that is right, and the number of its launches in this process.
const RIGHT: &str = "#include <string.h>
    static int calls;
    static void right(const int *in, const int *more, int *total, int *out) {
        calls++; total[0] += in[0]; for (int i = 0; i < 256; i++) out[i] = 2 * in[i] + more[i]; }\n";

fn arguments() -> Vec<Argument> {
    vec![
        buffer("in", "i32", 256, Access::In, Fill::Random),
        buffer("more", "i32", 256, Access::In, Fill::Random),
        buffer("total", "i32", 1, Access::InOut, Fill::Random),
        buffer("out", "i32", 256, Access::Out, Fill::Zeros),
    ]
}

/// Returns a problem whose kernel runs `body` after the functions of [`RIGHT`] and `before`.
fn spec_of(folder: &Folder, before: &str, body: &str) -> KernelSpec {
    let head = "void f(const int *in, const int *more, int *total, int *out)";
    folder.spec(&format!("{RIGHT}{before}\n{head} {{ {body} }}\n"), REFERENCE, arguments())
}

/// Evaluates and verifies the configuration P = `value`. Its evaluation must find nothing wrong.
fn verified(space: &Space, spec: KernelSpec, value: i64) -> Confirmed {
    let mut evaluator = LiveEvaluator::new(space, uncapped(spec)).unwrap();
    assert_correct(&evaluate(&mut evaluator, config(space, value)));
    confirm(&mut evaluator, config(space, value))
}

#[track_caller]
fn assert_found(confirmed: &Confirmed, words: &[&str]) {
    let failure = confirmed.failure.as_ref().expect("the kernel passes");
    assert_eq!(failure.kind, FailureKind::Correctness, "{failure}");
    words.iter().for_each(|word| assert!(failure.message.contains(word), "`{word}` is not in: {failure}"));
}

/// No configuration of these options has more than twelve launches in the search.
#[test]
fn a_kernel_that_is_wrong_at_every_nth_launch_by_its_own_counter_is_found_up_to_200() {
    let space = space_with("P", &[13, 37, 200, 201]);
    for value in [13, 37, 200] {
        let folder = Folder::new();
        let spec = spec_of(&folder, "", "right(in, more, total, out); if (calls % P == 0) out[9]++;");
        let launch = format!("wrong in launch {value} of");
        assert_found(&verified(&space, spec, value), &["on other data: `out`[9] is wrong", &launch]);
    }
    let folder = Folder::new();
    let spec = spec_of(&folder, "", "right(in, more, total, out); if (calls % P == 0) out[9]++;");
    let confirmed = verified(&space, spec, 201);
    assert_eq!((confirmed.failure, confirmed.launches), (None, 200));
}

/// The key of P = 0 is the ends of an input, that of P = 1 two elements in the middle, and that of P = 2 a sum over
/// every 64th element. The cache of P = 3 keeps many results.
#[test]
fn a_kernel_that_answers_from_a_cache_keyed_on_a_part_of_its_inputs_is_found() {
    let space = space_of("P", 4);
    for value in 0..4 {
        let folder = Folder::new();
        let before = "static int keys[64][3], kept[64][257], filled;
            static void key_of(const int *in, const int *more, int *total, int *key) {
                memset(key, 0, 3 * sizeof *key); key[2] = total[0];
                if (P == 1) { key[0] = in[100]; key[1] = more[140]; }
                else if (P == 2) { for (int i = 6; i < 256; i += 64) key[0] += i * in[i] + more[i]; }
                else { key[0] = in[0]; key[1] = in[255]; } }";
        let body = "int key[3]; key_of(in, more, total, key);
            for (int at = 0; at < filled; at++)
                if (!memcmp(key, keys[at], sizeof key)) { memcpy(out, kept[at], 1024); total[0] = kept[at][256]; return; }
            int at = P == 3 && filled < 64 ? filled++ : 0;
            if (!filled) filled = 1;
            memcpy(keys[at], key, sizeof key); right(in, more, total, out);
            memcpy(kept[at], out, 1024); kept[at][256] = total[0];";
        assert_found(&verified(&space, spec_of(&folder, before, body), value), &["whose data change"]);
    }
}

#[test]
fn a_kernel_that_keeps_its_result_in_its_scratch_is_found() {
    let folder = Folder::new();
    let arguments = vec![
        buffer("in", "i32", 64, Access::In, Fill::Random),
        buffer("work", "i32", 66, Access::Scratch, Fill::Zeros),
        buffer("out", "i32", 64, Access::Out, Fill::Zeros),
    ];
    let source = "#include <string.h>\nvoid f(const int *in, int *work, int *out) {
        if (work[64] != in[0] || work[65] != in[63]) {
            for (int i = 0; i < 64; i++) work[i] = 2 * in[i];
            work[64] = in[0]; work[65] = in[63]; }
        memcpy(out, work, 256); }";
    let own = "void r(const int *in, int *out) { for (int i = 0; i < 64; i++) out[i] = 2 * in[i]; }";
    let mut spec = folder.spec(source, own, arguments);
    spec.verify.reference.as_mut().unwrap().arguments = Some(vec![0, 2]);
    assert_found(&verified(&one(), spec, 1), &["whose data change"]);
}

/// Its results vary within the tolerance, its buffer is its own, and it counts.
#[test]
fn a_correct_kernel_may_keep_what_does_not_change_its_results() {
    let folder = Folder::new();
    let before = "static int room[256], once; static double sum;";
    let body = "if (!once) { once = 1; for (int i = 0; i < 256; i++) room[i] = i; }
        right(in, more, room, room); total[0] += in[0]; memcpy(out, room, sizeof room); out[3] += calls % 3; sum += out[0];";
    let mut spec = spec_of(&folder, before, body);
    let tolerance = tunesmith_kernel::PartialTolerance { relative: None, absolute: Some(2.0) };
    spec.verify.tolerances.insert("out".into(), tolerance);
    let confirmed = verified(&one(), spec, 1);
    assert_eq!((confirmed.failure, confirmed.launches), (None, 200));
}

#[test]
fn a_cap_ends_the_run_after_its_fewest_launches() {
    let folder = Folder::new();
    let spec = spec_of(&folder, "", "right(in, more, total, out);");
    let mut options = options(spec);
    options.policy.repetition.time_cap = Duration::ZERO;
    let mut evaluator = LiveEvaluator::new(&one(), options).unwrap();
    let confirmed = confirm(&mut evaluator, config(&one(), 1));
    assert_eq!((confirmed.failure, confirmed.launches), (None, 6));
}

#[test]
fn a_kernel_without_random_inputs_is_launched_as_often() {
    let folder = Folder::new();
    let out = vec![buffer("out", "i32", 1, Access::Out, Fill::Zeros)];
    let source = "static int calls; void f(int *out) { out[0] = 7 + (++calls % P == 0); }";
    let space = space_with("P", &[37]);
    let confirmed = verified(&space, folder.spec(source, "void r(int *out) { out[0] = 7; }", out), 37);
    assert_found(&confirmed, &["in many launches: `out`[0] is wrong", "wrong after 37"]);
}

#[test]
fn a_crash_and_a_hang_in_a_late_launch_are_what_they_are() {
    for (act, kind) in [("__builtin_trap();", FailureKind::Runtime), ("for (;;) ;", FailureKind::Timeout)] {
        let folder = Folder::new();
        let body = format!("right(in, more, total, out); if (calls == 150) {act}");
        let failure = verified(&one(), spec_of(&folder, "", &body), 1).failure.unwrap();
        assert_eq!(failure.kind, kind, "{failure}");
    }
}

/// A variable of a program keeps its value from launch to launch.
#[test]
fn a_counter_of_an_opencl_program_is_found() {
    let Some(target) = opencl() else { return };
    let lab = Lab::new(target);
    let source = "__global int calls; __kernel void f(__global const int *in, __global int *out) {
        calls++; for (int i = 0; i < 64; i++) out[i] = 2 * in[i] + (calls % P == 0); }";
    let arguments =
        vec![buffer("in", "i32", 64, Access::In, Fill::Random), buffer("out", "i32", 64, Access::Out, Fill::Zeros)];
    let mut spec = lab.spec("f", source, arguments, work("1", "1"));
    spec.kernels[0].options = vec![Template::parse("-cl-std=CL2.0").unwrap()];
    let own = "void r(const int *in, int *out) { for (int i = 0; i < 64; i++) out[i] = 2 * in[i]; }";
    spec.verify = reference(lab.file("r.c", own), "r");
    let space = space_with("P", &[37, 1000]);
    let mut evaluator = lab.open(&space, uncapped(spec));
    for value in [37, 1000] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
    }
    assert_found(&confirm(&mut evaluator, config(&space, 37)), &["wrong in launch 37 of"]);
    let confirmed = confirm(&mut evaluator, config(&space, 1000));
    assert_eq!((confirmed.failure, confirmed.launches), (None, 200));
}
