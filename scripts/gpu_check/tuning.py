"""Kernels tuned at large sizes: GFLOP/s, GB/s, and the share of what one would use instead."""

import pathlib
import re
import shutil
import subprocess
import sys

from .tool import repository

# The share of cuBLAS at 4096^3 that the matrix product should reach on its ordinary arithmetic units, and the share of
# the rate of a copy that the transposition should reach.
LEAST_SHARE, LEAST_COPY_SHARE = 0.6, 0.7
# The kernels of the first of the two parts, each with its share of the time, and the share of that for the search. The
# rest is for the finals and the library, which take minutes of a large matrix product.
FIRST = {"transpose": (0.25, 0.4), "gemm": (1.0, 0.12)}
SEARCH = 0.4

GEMM = {"M": 4096, "N": 4096, "K": 4096}
GEMM_ABOUT = """
title = "Matrix product C = alpha * A^T * B + beta * C"
problems = { cuda = "gemm-cuda.toml" }
against = ["cublas"]

[product]
m = "M"
n = "N"
k = "K"
a_transposed = true
"""

# Where each kernel is, its sizes here and on the scripted device, and the bytes that it must move at least. Larger
# outputs would take longer to compare than to compute.
KERNELS = {
    "gemm": ("examples/gemm", GEMM, {"M": 256, "N": 256, "K": 64}, None),
    "conv2d": ("suite/conv2d", {"X": 4096, "Y": 4096, "HFS": 3}, {"X": 128, "Y": 128, "HFS": 1}, None),
    "coulomb3d": ("suite/coulomb3d", {"N": 256, "ATOMS": 256}, {"N": 32, "ATOMS": 8}, None),
    "nbody": ("suite/nbody", {"N": 16384}, {"N": 4096}, None),
    "transpose": ("suite/transpose", {"W": 4096, "H": 4096}, {"W": 128, "H": 128}, lambda s: 8 * s["W"] * s["H"]),
    "filterbank": ("suite/filterbank", {"R": 512, "C": 512, "D": 16, "F": 64, "H": 5, "W": 5},
                   {"R": 48, "C": 48, "D": 4, "F": 8, "H": 3, "W": 3}, None),
}

# References in C would take minutes at these sizes. These are CUDA, a thread for each output, and sum in double
# precision as the references in C do.
REFERENCES = {
    "coulomb3d": ("coulomb3d_reference", '"ceildiv(N ** 3, 256)"', '"256"', r"""
extern "C" __global__ void coulomb3d_reference(const float *atoms_x, const float *atoms_y, const float *atoms_z,
                                               const float *atoms_w, float spacing, float *energy)
{
    const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (long)N * N * N) return;
    const int x = i % N, y = i / N % N, z = i / ((long)N * N);
    double sum = 0;
    for (int a = 0; a < ATOMS; a++) {
        const double dx = (double)spacing * x - atoms_x[a], dy = (double)spacing * y - atoms_y[a];
        const double dz = (double)spacing * z - atoms_z[a];
        sum += atoms_w[a] / sqrt(dx * dx + dy * dy + dz * dz);
    }
    energy[i] = sum;
}
"""),
    "filterbank": ("filterbank_reference", '"ceildiv((R - H + 1) * (C - W + 1) * F, 256)"', '"256"', r"""
extern "C" __global__ void filterbank_reference(const float *x, const float *f, float *z, int *tickets)
{
    const long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    const int rows = R - H + 1, columns = C - W + 1;
    if (i >= (long)rows * columns * F) return;
    const int k = i % F, c = i / F % columns, r = i / ((long)F * columns);
    double sum = 0;
    for (int h = 0; h < H; h++)
        for (int j = 0; j < W * D; j++)
            sum += (double)x[((long)(r + h) * C + c) * D + j] * (double)f[((long)k * H + h) * W * D + j];
    z[i] = sum;
}
"""),
}


def run(check):
    tune_all(check, {name: (check.budget * share, search) for name, (share, search) in FIRST.items()})


def others(check):
    names = [name for name in KERNELS if name not in FIRST]
    tune_all(check, {name: (check.budget / len(names), SEARCH) for name in names})


def tune_all(check, kernels):
    """Tunes kernels, each within its seconds, of which a share is for the search."""
    suite = check.folder / "suite"
    shutil.copytree(repository() / "suite" / "common", suite / "common")
    rows = []
    for name in check.each("kernels", kernels, least=5 if not check.dry else 0):
        seconds, search = kernels[name]
        check.guarded(name, tuned, check, suite, name, min(seconds, check.left()) * search, rows)
    head = ["kernel", "sizes", "tuned, ms", "GFLOP/s", "GB/s", "times the default", "library, ms", "share of it",
            "evaluations"]
    check.table("Tuned kernels", head, rows)


def prepared(check, suite, name):
    """Writes a suite's folder for one kernel: its problem at large sizes, without the naive loop on the processor."""
    place, real, small, _ = KERNELS[name]
    folder = suite / name
    shutil.copytree(repository() / place, folder, ignore=shutil.ignore_patterns("*.jsonl", "*.md"))
    size = check.count(real, small)
    about = folder / "about.toml"
    text = GEMM_ABOUT if name == "gemm" else about.read_text()
    text = re.sub(r"(?m)^(naive|steps|gpu_sizes|configurations) = .*\n", "", text)
    sized = ", ".join(f"{key} = {value}" for key, value in size.items())
    head, bracket, rest = text.partition("\n[")
    about.write_text(f"{head}\ngpu_sizes = {{ {sized} }}\n{bracket}{rest}")
    file = re.search(r'cuda = "([^"]+)"', text).group(1)
    problem = (folder / file).read_text()
    if name in REFERENCES:
        function, grid, local, source = REFERENCES[name]
        (folder / "reference.cu").write_text(source)
        taken = re.search(r"(?m)^reference = \{.*?(, arguments = \[[^]]*\])? \}$", problem)
        other = f'reference = {{ file = "reference.cu", function = "{function}"{taken.group(1) or ""}, ' \
            f"grid = [{grid}], local = [{local}] }}"
        problem = problem.replace(taken.group(0), other)
    (folder / file).write_text(check.adapted(problem, True, ""))
    return size


def tuned(check, suite, name, seconds, rows):
    size = prepared(check, suite, name)
    # The winner, the default and the libraries take turns after the search.
    options = ["--suite", suite, "--device", "cuda", "--against", "cublas,cudnn", "--seed", 1]
    options += ["--stop", check.stop(seconds, 6), "--out", check.folder / "table"]
    # The exit code 1 says that nothing was correct, as the table does.
    table = check.call("suite", "tune", name, *options, codes=(0, 1))
    check.data[name] = table
    check.keep(check.folder / "table" / f"{name}-cuda.jsonl")
    if table["failed"]:
        check.add(name, "a correct configuration", table["failed"][0]["error"], False)
        return
    row = table["rows"][0]
    ours = row["tuned_ms"]
    if not ours:
        check.add(name, "a correct configuration", "; ".join(row["notes"]) or "none", False)
        return
    moved = KERNELS[name][3]
    rate = f"{moved(size) / ours / 1e6:.0f}" if moved else ""
    gain = f"{row['default_ms'] / ours:.2f}" if row["default_ms"] else "1.00"
    flops = f"{row['gflops']:.0f}" if row["gflops"] else ""
    library, theirs = next(iter(row["against_ms"].items()), ("", None))
    shown = " x ".join(map(str, size.values()))
    rows.append([name, shown, f"{ours:.4f}", flops, rate, gain, f"{library} {theirs:.4f}" if theirs else "",
                 f"{theirs / ours:.0%}" if theirs else "", row["evaluations"]])
    text = f"{ours:.4f} ms, {flops + ' GFLOP/s' if flops else rate + ' GB/s'}, {gain} x the default"
    check.add(name, "a correct configuration", f"{text}, {row['evaluations']} evaluations", True)
    beside(check, name, row, size)


def beside(check, name, row, size):
    """Adds the share of a library, or why there is none."""
    ours, expected = row["tuned_ms"], f"{LEAST_SHARE:.0%} of cuBLAS" if name == "gemm" else "both are timed"
    for library, theirs in row["against_ms"].items():
        share = theirs / ours
        least = LEAST_SHARE if name == "gemm" and not check.dry else 0
        check.add(f"{name} beside {library}", expected, f"{share:.0%} of it ({theirs:.4f} ms)", share >= least)
    for note in row["notes"]:
        check.add(f"{name}: note", expected, note, None if "cannot be opened" in note else False)
    if name == "gemm":
        theirs = by_events(check, "gemm beside cuBLAS, by events", "gemm", *(size[extent] for extent in "MNK"))
        if theirs:
            check.data["cublas_by_events_ms"] = theirs
            check.add("gemm beside cuBLAS, by events", "timed", f"{theirs / ours:.0%} of it ({theirs:.4f} ms)", True)
    if name == "transpose":
        check_copy_rate(check, ours, size)


def check_copy_rate(check, ours, size):
    """Adds the share of the rate at which the device copies as many bytes."""
    moved = KERNELS["transpose"][3](size)
    theirs = by_events(check, "transpose beside a copy", "copy", moved // 2)
    if theirs:
        check.data["copy_by_events_ms"] = theirs
        text = f"{theirs / ours:.0%} of it ({moved / theirs / 1e6:.0f} GB/s)"
        passed = None if check.dry else theirs / ours >= LEAST_COPY_SHARE
        check.add("transpose beside a copy", f"{LEAST_COPY_SHARE:.0%} of the rate of a copy", text, passed)


def by_events(check, name, *request):
    """Returns the milliseconds of work by events around it, which hold neither the launch nor the wait. None, with a
    row of that name, where it cannot be timed."""
    # In a process of its own: a context in this one would stay, and a library may crash.
    program = str(pathlib.Path(__file__).with_name("by_events.py"))
    try:
        ran = subprocess.run([sys.executable, program, *map(str, request)], capture_output=True, text=True,
                             timeout=max(check.left(), 10))
    except subprocess.TimeoutExpired as late:
        check.add(name, "timed", f"stopped after {late.timeout:.0f} s", None)
        return None
    if ran.returncode:
        said = ran.stderr.strip().splitlines()[-1:] or [f"it ended with {ran.returncode}"]
        check.add(name, "timed", said[0], None)
        return None
    return float(ran.stdout)
