//! Kernels that are wrong in ways that a single comparison does not find, and the parts of
//! `[verify]`.

use crate::common;

use common::*;
use tunesmith_core::{Completion, FailureKind};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{
    Access, Argument, ArgumentKind, Fill, KernelSpec, Memory, OtherSizes, Reference, Shape, Verify,
};
use tunesmith_space::{Constraint, Expr, Parameter, Value};

const DOUBLE: &str = "void r(const int *in, int *out) { for (int i = 0; i < 64; i++) out[i] = 2 * in[i]; }";

fn in_and_out() -> Vec<Argument> {
    vec![buffer("in", "i32", 64, Access::In, Fill::Random), buffer("out", "i32", 64, Access::Out, Fill::Zeros)]
}

fn varying(name: &str, shape: &str, access: Access) -> Argument {
    let shape = Shape::Varying(vec![Expr::parse(shape).unwrap()]);
    Argument::new(
        name,
        element("i32"),
        ArgumentKind::Buffer { shape, fill: Fill::Random, access, memory: Memory::Global },
    )
}

/// Returns the evaluation of a kernel with the arguments `in` and `out`, beside the reference that
/// doubles.
fn doubled(kernel: &str) -> Completion {
    let folder = Folder::new();
    let spec = folder.spec(kernel, DOUBLE, in_and_out());
    evaluate(&mut evaluator(&one(), spec), one().id(0).unwrap())
}

#[test]
fn a_kernel_that_is_wrong_on_every_second_launch_is_wrong() {
    let source = "static int calls; void f(const int *in, int *out) {
        calls++; for (int i = 0; i < 64; i++) out[i] = 2 * in[i] + (i == 5 && calls % 2 == 0); }";
    let completion = doubled(source);
    assert_failed(&completion, FailureKind::Correctness, &["`out`[5] is wrong", "right after the first launch"]);
}

/// The first launch and the last one are right. Ten samples are taken at most.
#[test]
fn a_kernel_that_is_wrong_on_a_single_launch_is_wrong() {
    for launch in [2, 3, 4] {
        let source = format!(
            "static int calls; void f(const int *in, int *out) {{
                calls++; for (int i = 0; i < 64; i++) out[i] = 2 * in[i] - (i == 63 && calls == {launch}); }}"
        );
        let completion = doubled(&source);
        let words = ["`out`[63] is wrong", &format!("wrong after {launch}")];
        assert_failed(&completion, FailureKind::Correctness, &words);
    }
}

#[test]
fn a_kernel_whose_results_vary_within_the_tolerance_is_correct() {
    let folder = Folder::new();
    let source = "static int calls; void f(const int *in, int *out) {
        calls++; for (int i = 0; i < 64; i++) out[i] = 2 * in[i] + calls % 3; }";
    let mut spec = folder.spec(source, DOUBLE, in_and_out());
    let tolerance = tunesmith_kernel::PartialTolerance { relative: None, absolute: Some(2.0) };
    spec.verify.tolerances.insert("out".into(), tolerance);
    assert_correct(&evaluate(&mut evaluator(&one(), spec), one().id(0).unwrap()));
}

#[test]
fn a_kernel_that_changes_its_input_in_a_later_launch_is_wrong() {
    let source = "static int calls; void f(const int *in, int *out) {
        for (int i = 0; i < 64; i++) out[i] = 2 * in[i]; if (++calls == 2) ((int *)in)[3] ^= 1; }";
    assert_failed(&doubled(source), FailureKind::Correctness, &["wrote to its input `in`[3]"]);
}

/// Looks for the bytes of the correct result in every file that it can open by its descriptors, and
/// in all memory that it can read and that is not its own output.
const THIEF: &str = r#"
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int has(const char *place, size_t length, const int *wanted)
{
    return memmem(place, length, wanted, 64 * sizeof(int)) != 0;
}
static int in_file(const char *path, const int *wanted)
{
    static char room[1 << 20];
    int fd = open(path, O_RDONLY | O_NONBLOCK), found = 0;
    if (fd < 0) return 0;
    long length = pread(fd, room, sizeof room, 0);
    found = length > 0 && has(room, length, wanted);
    memset(room, 0, sizeof room);
    close(fd);
    return found;
}
static int in_folder(const char *folder, const int *wanted)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[512];
    int found = 0;
    while (dir && (entry = readdir(dir)) != 0) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.') found |= in_file(path, wanted);
    }
    if (dir) closedir(dir);
    return found;
}
static int in_memory(const int *wanted, const void *own)
{
    static char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0, memory = open("/proc/self/mem", O_RDONLY);
    unsigned long start, end;
    char rights[8];
    static char piece[1 << 16];
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3 || rights[0] != 'r' || strstr(line, "[v")) continue;
        if (end - start > 64ul << 20) continue;
        for (unsigned long at = start; at < end; at += sizeof piece / 2) {
            long length = pread(memory, piece, sizeof piece, at);
            const char *hit = length > 0 ? memmem(piece, length, wanted, 64 * sizeof(int)) : 0;
            unsigned long place = hit ? at + (hit - piece) : 0;
            if (hit && place != (unsigned long)own && !(place >= (unsigned long)piece && place < (unsigned long)(piece + sizeof piece)))
                found |= 1;
            memset(piece, 0, sizeof piece);
        }
    }
    close(memory);
    if (maps) fclose(maps);
    return found;
}
void f(const int *in, int *out, int *report)
{
    int *wanted = malloc(64 * sizeof(int));
    /* P == 2 looks for the input, which is there: the search finds what there is to find. */
    for (int i = 0; i < 64; i++) wanted[i] = P == 2 ? in[i] : 2 * in[i] + 1;
    char folder[512], *slash;
    int found = 0, before = 0;
    found |= in_folder("/proc/self/fd", wanted);
    if (P > 2) goto compute;
    /* The folder of the run, which the inputs are read from. */
    DIR *fds = opendir("/proc/self/fd");
    for (struct dirent *entry; fds && (entry = readdir(fds)) != 0;) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%s", entry->d_name);
        long length = readlink(link, folder, sizeof folder - 1);
        if (length <= 0 || folder[0] != '/' || strncmp(folder, "/proc", 5) == 0) continue;
        folder[length] = 0;
        if ((slash = strrchr(folder, '/')) != 0) { *slash = 0; found |= in_folder(folder, wanted) << 1; }
    }
    if (fds) closedir(fds);
    before = in_memory(wanted, wanted) << 2;
compute:
    for (int i = 0; i < 64; i++) out[i] = 2 * in[i] + 1;
    report[0] = P == 0 ? 0 : P == 2 ? (found | before) ^ 7 : found | before;
    for (int i = 0; i < 64; i++) wanted[i] = 0;
    free(wanted);
}
"#;

/// The first configuration leaves its correct results wherever it can. The second one looks for
/// them before it computes them. The third one looks for the inputs, and finds them in a descriptor,
/// in a folder and in memory. The others look into descriptors only: which launches are judged is
/// left to chance, and none may leave its results in the file that hands them over.
#[test]
fn no_process_that_runs_a_kernel_has_the_correct_result_in_its_memory_or_files() {
    let folder = Folder::new();
    let mut arguments = in_and_out();
    arguments.push(buffer("report", "i32", 1, Access::Out, Fill::Zeros));
    let reference_source = "void r(const int *in, int *out, int *report) {
        report[0] = 0; for (int i = 0; i < 64; i++) out[i] = 2 * in[i] + 1; }";
    let spec = folder.spec(THIEF, reference_source, arguments);
    let space = space_of("P", 24);
    let mut evaluator = evaluator(&space, spec);
    for value in 0..24 {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
    }
}

#[test]
fn outputs_that_are_not_handed_over_are_no_correct_outputs() {
    let source = "#include <unistd.h>\n void f(const int *in, int *out) {
        for (int fd = 3; fd < 256; fd++) if (fd > 20) close(fd); for (int i = 0; i < 64; i++) out[i] = 2 * in[i]; }";
    // Descriptors above those of the worker are nobody's.
    assert_correct(&doubled(source));
    let source = source.replace("if (fd > 20) close(fd)", "ftruncate(fd, 0)");
    assert_correct(&doubled(&source));
}

#[test]
fn a_kernel_that_keeps_its_first_result_is_found_when_its_data_change() {
    let folder = Folder::new();
    let source = "#include <string.h>\nstatic int kept[64], has; void f(const int *in, int *out) {
        if (!has || P == 0) { for (int i = 0; i < 64; i++) kept[i] = 2 * in[i]; has = 1; }
        memcpy(out, kept, sizeof kept); }";
    let space = space_of("P", 2);
    let options = uncapped(folder.spec(source, DOUBLE, in_and_out()));
    let mut evaluator = LiveEvaluator::new(&space, options).unwrap();
    for value in [0, 1] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
    }
    let confirmed = confirm(&mut evaluator, config(&space, 0));
    assert_eq!((confirmed.failure, confirmed.launches), (None, 200));
    let failure = confirm(&mut evaluator, config(&space, 1)).failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Correctness);
    assert!(failure.message.contains("whose data change from launch to launch"), "{failure}");
}

#[test]
fn a_kernel_that_is_made_for_the_data_of_the_search_is_found_on_other_data() {
    let folder = Folder::new();
    // A table of the correct results, made by the reference's recipe for the problem's own seed.
    let space = space_of("P", 2);
    let plain = "void f(const int *in, int *out) { for (int i = 0; i < 64; i++) out[i] = 2 * in[i]; }";
    let arguments = in_and_out();
    let given = tunesmith_kernel::data::Given { seed: 1, sizes: &[] };
    let bytes = tunesmith_kernel::data::contents(&arguments[0], given).unwrap();
    let values: Vec<String> =
        bytes.chunks(4).map(|b| (2 * i32::from_ne_bytes(b.try_into().unwrap())).to_string()).collect();
    let source = format!(
        "static const int table[64] = {{ {} }};
        #if P == 0\n{plain}\n#else\nvoid f(const int *in, int *out) {{ for (int i = 0; i < 64; i++) out[i] = table[i]; }}\n#endif\n",
        values.join(", ")
    );
    let mut evaluator = evaluator(&space, folder.spec(&source, DOUBLE, arguments));
    for value in [0, 1] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
    }
    assert_eq!(confirm(&mut evaluator, config(&space, 0)).failure, None);
    assert_eq!(confirm(&mut evaluator, config(&space, 1)).failure.unwrap().kind, FailureKind::Correctness);
}

#[test]
fn without_random_inputs_the_data_of_the_search_are_used_and_without_outputs_to_compare_nothing() {
    let folder = Folder::new();
    let source = "void f(int *out) { out[0] = 7; }";
    let out = vec![buffer("out", "i32", 1, Access::Out, Fill::Zeros)];
    let mut spec = folder.spec(source, "void r(int *out) { out[0] = 7; }", out);
    let only = config(&one(), 1);
    let confirmed = confirm(&mut LiveEvaluator::new(&one(), uncapped(spec.clone())).unwrap(), only);
    assert_eq!((confirmed.failure, confirmed.launches), (None, 200));
    spec.verify = Verify::default();
    let confirmed = confirm(&mut evaluator(&one(), spec), only);
    assert_eq!((confirmed.failure, confirmed.launches), (None, 0));
}

/// Returns a problem of N elements, with itself at other sizes.
fn at_sizes(folder: &Folder, source: &str, others: &[i64]) -> KernelSpec {
    let at = |n: i64| {
        let arguments = vec![
            buffer("in", "i32", n as u64, Access::In, Fill::Random),
            buffer("out", "i32", n as u64, Access::Out, Fill::Zeros),
        ];
        let reference_source = "void r(const int *in, int *out) { for (int i = 0; i < N; i++) out[i] = 2 * in[i]; }";
        KernelSpec { sizes: vec![("N".into(), Value::Int(n))], ..folder.spec(source, reference_source, arguments) }
    };
    let mut spec = at(64);
    let other = |n: &i64| OtherSizes {
        label: format!("N = {n}"),
        spec: at(*n),
        parameters: vec![Parameter::new("P", [1, 8].map(Value::Int)).unwrap()],
        constraints: vec![Constraint::parse("N % P == 0").unwrap()],
    };
    spec.verify.sizes = others.iter().map(other).collect();
    spec
}

#[test]
fn a_kernel_that_is_right_at_one_size_only_is_found_at_the_sizes_of_verify() {
    let folder = Folder::new();
    // Leaves out the rest that does not fill a tile.
    let source = "void f(const int *in, int *out) {
        for (int i = 0; i + 16 <= N; i += 16) for (int j = 0; j < 16; j++) out[i + j] = 2 * in[i + j]; }";
    let space = space_with("P", &[1, 8]);
    let mut evaluator = evaluator(&space, at_sizes(&folder, source, &[32, 100]));
    assert_correct(&evaluate(&mut evaluator, config(&space, 1)));
    let failure = confirm(&mut evaluator, config(&space, 1)).failure.unwrap();
    assert_eq!(failure.kind, FailureKind::Correctness);
    assert!(failure.message.starts_with("at N = 100: `out`[96] was not written"), "{failure}");
    // The same configuration of other sizes: 100 is no multiple of 8.
    let confirmed = confirm(&mut evaluator, config(&space, 8));
    assert_eq!(confirmed.failure, None);
    let told = "not verified at N = 100: constraint `N % P == 0` excludes it";
    assert!(confirmed.notes.iter().any(|note| note.contains(told)), "{:?}", confirmed.notes);
}

#[test]
fn only_the_ranges_to_compare_count() {
    let folder = Folder::new();
    let source = "void f(const int *in, int *out) {
        for (int i = 0; i < 64; i++) out[i] = i < 16 || i >= 32 ? 2 * in[i] : -1; out[62] += P; }";
    let space = space_of("P", 2);
    let mut spec = folder.spec(source, DOUBLE, in_and_out());
    let first_words = |spec: &KernelSpec, value| {
        let completion = evaluate(&mut evaluator(&space, spec.clone()), config(&space, value));
        completion.failure.map(|failure| failure.message)
    };
    assert!(first_words(&spec, 0).unwrap().starts_with("`out`[16] is wrong"));
    spec.verify.compare.insert("out".into(), vec![0..16, 32..64]);
    assert_eq!(first_words(&spec, 0), None);
    let message = first_words(&spec, 1).unwrap();
    assert!(message.starts_with("`out`[62] is wrong") && message.contains("1 of 48 values"), "{message}");
    spec.verify.compare.insert("out".into(), std::iter::once(0..65).collect());
    let error = LiveEvaluator::new(&space, options(spec)).err().unwrap().to_string();
    assert!(error.contains("0..65 for the output `out`, which has 64 elements"), "{error}");
}

#[test]
fn scratch_is_poisoned_guarded_and_not_compared() {
    let folder = Folder::new();
    let mut arguments = in_and_out();
    arguments.push(buffer("work", "i32", 64, Access::Scratch, Fill::Zeros));
    let source = "void f(const int *in, int *out, int *work) {
        for (int i = 0; i < 64 + P; i++) work[i] = in[i % 64] + i;
        for (int i = 0; i < 64; i++) out[i] = 2 * (work[i] - i); }";
    let mut spec = folder.spec(source, DOUBLE, arguments);
    spec.verify.reference.as_mut().unwrap().arguments = Some(vec![0, 1]);
    let space = space_of("P", 2);
    let mut evaluator = evaluator(&space, spec);
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
    let completion = evaluate(&mut evaluator, config(&space, 1));
    assert_failed(&completion, FailureKind::Runtime, &["outside of `work`, behind its end"]);
    assert_correct(&evaluate(&mut evaluator, config(&space, 0)));
}

#[test]
fn a_kernel_that_reads_its_scratch_before_it_writes_it_finds_poison() {
    let folder = Folder::new();
    let mut arguments = in_and_out();
    arguments.push(buffer("work", "i32", 64, Access::Scratch, Fill::Zeros));
    // Zeros, as calloc would give them, would make this kernel right.
    let source = "void f(const int *in, int *out, int *work) {
        for (int i = 0; i < 64; i++) { out[i] = 2 * in[i] + work[i]; work[i] = 0; } }";
    let mut spec = folder.spec(source, DOUBLE, arguments);
    spec.verify.reference.as_mut().unwrap().arguments = Some(vec![0, 1]);
    let completion = evaluate(&mut evaluator(&one(), spec), one().id(0).unwrap());
    assert_failed(&completion, FailureKind::Correctness, &["`out`[0] is wrong"]);
}

#[test]
fn a_reference_has_its_own_arguments_sources_folders_and_options() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("headers")).unwrap();
    folder.file("headers/factor.h", "#define FACTOR 2\n");
    let helper = folder.file("helper.c", "int helped(int x) { return x; }");
    let source = "void f(int n, const int *in, int *out) { for (int i = 0; i < n; i++) out[i] = 2 * in[i]; }";
    let own = "#include <factor.h>\nint helped(int); void r(int *out, const int *in) {
        for (int i = 0; i < COUNT; i++) out[i] = FACTOR * helped(in[i]); }";
    let mut arguments = vec![scalar("n", "i32", "64 * P // P")];
    arguments.extend(in_and_out());
    let mut spec = folder.spec(source, own, arguments);
    let reference = spec.verify.reference.as_mut().unwrap();
    reference.arguments = Some(vec![2, 1]);
    reference.sources = vec![helper];
    reference.include = vec![folder.0.path().join("headers")];
    reference.options = vec![tunesmith_kernel::Template::parse("-DCOUNT=64").unwrap()];
    let space = space_with("P", &[1, 3]);
    let mut evaluator = evaluator(&space, spec);
    for value in [1, 3] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
        assert_eq!(confirm(&mut evaluator, config(&space, value)).failure, None);
    }
}

#[test]
fn an_output_that_the_reference_does_not_compute_is_refused() {
    let folder = Folder::new();
    let mut spec = folder.spec("void f(const int *in, int *out) { }", "void r(const int *in) { }", in_and_out());
    spec.verify.reference.as_mut().unwrap().arguments = Some(vec![0]);
    let error = LiveEvaluator::new(&one(), options(spec)).err().unwrap().to_string();
    assert!(error.contains("it does not compute the output `out`; add `out` to its `arguments`"), "{error}");
}

/// The reference writes down each of its runs.
#[test]
fn the_reference_runs_once_for_each_value_that_it_gets() {
    let folder = Folder::new();
    let log = folder.file("log", "");
    let own = format!(
        "#include <stdio.h>\nvoid r(int n, const int *in, int *out) {{
            FILE *log = fopen(\"{}\", \"a\"); fprintf(log, \"%d\\n\", n); fclose(log);
            for (int i = 0; i < 64; i++) out[i] = i < n ? in[i] : 0; }}",
        log.display()
    );
    let source = "void f(int n, const int *in, int *out) {
        for (int i = 0; i < 64; i++) out[i] = i < n + (P == 3) ? in[i] : 0; }";
    let mut arguments = vec![scalar("n", "i32", "16 + 8 * (P // 2)")];
    arguments.extend(in_and_out());
    let spec = folder.spec(source, &own, arguments);
    let space = space_of("P", 4);
    let mut evaluator = evaluator(&space, spec);
    for value in [0, 1, 2, 0] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
    }
    assert_failed(&evaluate(&mut evaluator, config(&space, 3)), FailureKind::Correctness, &["`out`[24] is wrong"]);
    assert_eq!(std::fs::read_to_string(log).unwrap(), "16\n24\n");
}

#[test]
fn buffers_may_be_as_large_as_the_configuration_says() {
    let folder = Folder::new();
    // Partial sums of TILE elements each, and a workspace. STRAY writes behind the last sum.
    let source = "void f(const int *in, int *sums, int *work) {
        for (int i = 0; i < 64 / TILE; i++) { work[i] = 0; for (int j = 0; j < TILE; j++) work[i] += in[i * TILE + j];
            sums[i] = work[i]; }
        if (TILE == 32) sums[2] = 0; }";
    let own = "void r(int tile, const int *in, int *sums) {
        for (int i = 0; i < 64 / tile; i++) { sums[i] = 0; for (int j = 0; j < tile; j++) sums[i] += in[i * tile + j]; } }";
    let arguments = vec![
        varying("in", "64 // TILE * TILE", Access::In),
        varying("sums", "64 // TILE", Access::Out),
        varying("work", "64 // TILE", Access::Scratch),
        scalar("tile", "i32", "TILE"),
    ];
    let mut spec = folder.spec(source, own, arguments);
    spec.kernels[0].arguments = vec![0, 1, 2];
    spec.verify.reference.as_mut().unwrap().arguments = Some(vec![3, 0, 1]);
    let space = space_with("TILE", &[4, 8, 16, 32, 3]);
    let mut evaluator = evaluator(&space, spec);
    for value in [16, 4, 8, 4, 3] {
        assert_correct(&evaluate(&mut evaluator, config(&space, value)));
        assert_eq!(confirm(&mut evaluator, config(&space, value)).failure, None);
    }
    let completion = evaluate(&mut evaluator, config(&space, 32));
    assert_failed(&completion, FailureKind::Runtime, &["outside of `sums`, behind its end"]);
}

#[test]
fn a_problem_is_verified_if_any_output_is_compared() {
    let plain = spec("f.c", "f", in_and_out());
    assert!(!plain.is_verified());
    let with = |verify: Verify| KernelSpec { verify, ..plain.clone() }.is_verified();
    assert!(with(reference("r.c", "r")));
    assert!(with(Verify { expected: vec![("out".into(), Fill::File("out.npy".into()))], ..Verify::default() }));
    let only_inputs = Reference { arguments: Some(vec![0]), ..Reference::new(plain.kernels[0].language, "r.c", "r") };
    assert!(!with(Verify { reference: Some(only_inputs), ..Verify::default() }));
}
