"""Overhead and rate of compilations: Tunesmith and Kernel Tuner evaluate the same configurations of the same kernel.

Both compile with NVRTC, verify every configuration, and take seven samples. A tool's own time is its wall time without
compiling, verifying and running. Kernel Tuner's wheel and those that it needs are carried along (`gpu-check pack`).
"""

import json
import os
import pathlib
import subprocess
import sys
import zipfile

from .tool import FAREWELL, Failed, Overrun

SOURCE = r"""
// C = A B. A block computes a tile of TILE x TILE; a thread WORK rows of it.
extern "C" __global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const int column = blockIdx.x * TILE + threadIdx.x, first = blockIdx.y * TILE + threadIdx.y;
    float sum[WORK];
    for (int w = 0; w < WORK; w++) sum[w] = 0;
    for (int k = 0; k < n; k += TILE) {
        for (int w = 0; w < WORK; w++) {
            const int row = threadIdx.y + w * (TILE / WORK);
            tile_a[row][threadIdx.x] = a[(first + w * (TILE / WORK)) * n + k + threadIdx.x];
            tile_b[row][threadIdx.x] = b[(k + row) * n + column];
        }
        __syncthreads();
#pragma unroll UNROLL
        for (int i = 0; i < TILE; i++)
            for (int w = 0; w < WORK; w++)
                sum[w] += tile_a[threadIdx.y + w * (TILE / WORK)][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    for (int w = 0; w < WORK; w++) c[(first + w * (TILE / WORK)) * n + column] = sum[w];
}
"""

REFERENCE = r"""
extern "C" __global__ void reference(const float *a, const float *b, float *c, int n)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    double sum = 0;
    for (int k = 0; k < n; k++) sum += (double)a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""

N = 512
# Kernel Tuner's own samples of a configuration.
SAMPLES = 7
PARAMETERS = {"TILE": [8, 16, 32], "WORK": [1, 2, 4, 8], "UNROLL": [1, 2, 4, 8]}

PROBLEM = """
[problem]
name = "product"
sizes = {{ N = {n} }}

[kernel]
file = "product.cu"
function = "product"
global = ["N", "N // WORK"]
local = ["TILE", "TILE // WORK"]

[parameters]
{parameters}

[[arguments]]
name = "a"
type = "f32"
shape = ["N", "N"]

[[arguments]]
name = "b"
type = "f32"
shape = ["N", "N"]

[[arguments]]
name = "c"
type = "f32"
shape = ["N", "N"]
access = "out"

[[arguments]]
name = "n"
type = "i32"
value = "N"

[verify]
reference = {{ file = "reference.cu", function = "reference", global = ["N", "N"], local = ["16", "16"] }}
relative = 1e-4
absolute = 1e-3

[measure]
min_samples = {samples}
max_samples = {samples}
final = false
drift = false
racing = false
"""


def run(check):
    parameters = "\n".join(f"{name} = {values}" for name, values in PARAMETERS.items())
    text = PROBLEM.format(n=check.count(N, 32), parameters=parameters, samples=SAMPLES)
    problem = check.problem("product", text, {"product.cu": SOURCE, "reference.cu": REFERENCE})
    tools = {"Tunesmith": tunesmith(check, problem, "product", [])}
    for jobs in (1, 8):
        tools[f"Tunesmith, {jobs} jobs"] = tunesmith(check, problem, f"product-{jobs}", ["--jobs", jobs])
    theirs = check.guarded("Kernel Tuner", kernel_tuner, check)
    if theirs:
        tools["Kernel Tuner"] = theirs
    check.data["tools"] = tools
    head = ["tool", "configurations", "wall, s", "configurations a second", "own ms a configuration",
            "compiling, ms a configuration", "best, ms"]
    check.table("The same configurations of one kernel", head, [row(name, tool) for name, tool in tools.items()])
    judge(check, tools)


def tunesmith(check, problem, name, options):
    """Returns what Tunesmith needed for every configuration. Its caches are empty at first."""
    cache = {"XDG_CACHE_HOME": str(check.folder / f"cache-{name}")}
    journal = check.folder / f"{name}.jsonl"
    options = ["--device", "cuda", "--strategy", "exhaustive", *options, "--out", journal, "--quiet"]
    outcome = check.call("tune", problem, *options, codes=(0, 1), environment=cache)
    check.keep(journal)
    seconds = outcome["seconds"]
    return {
        "evaluations": outcome["evaluations"], "wall": outcome["wall_seconds"], "compile": seconds["compile"],
        "own": sum(seconds[part] for part in ("space", "search", "store", "other")),
        "best_ms": outcome["best"]["time_ms"] if outcome["best"] else None,
    }


def kernel_tuner(check):
    """Returns what Kernel Tuner needed, from a process of its own."""
    folder = check.folder / "kernel-tuner"
    folder.mkdir()
    site = unpacked(check.options.wheels, check.folder / "site")
    request = {"source": SOURCE, "parameters": PARAMETERS, "n": check.count(N, 32), "samples": SAMPLES,
               "site": str(site) if site else None}
    (folder / "request.json").write_text(json.dumps(request))
    # Nothing may come from a cache of compiled kernels.
    environment = {**os.environ, "CUPY_CACHE_IN_MEMORY": "1", "CUPY_CACHE_DIR": str(folder / "cupy")}
    program = str(pathlib.Path(__file__).with_name("kernel_tuner_child.py"))
    try:
        ran = subprocess.run([sys.executable, program, "request.json", "answer.json"], cwd=folder, capture_output=True,
                             text=True, env=environment, timeout=max(check.left(), 5) + FAREWELL)
    except subprocess.TimeoutExpired as late:
        raise Overrun(f"Kernel Tuner was stopped after {late.timeout:.0f} s")
    if ran.returncode == 4:
        check.add("Kernel Tuner", "its wheel is carried (`gpu-check pack`)", ran.stderr.strip().splitlines()[-1], None)
        return None
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["nothing was said"]
        raise Failed(f"Kernel Tuner ended with {ran.returncode}: {last[0]}")
    return json.loads((folder / "answer.json").read_text())


def unpacked(wheels, site):
    """Unpacks the wheels of a pack. What the machine's Python has goes before them."""
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
    return site if site.exists() else None


def row(name, tool):
    count = tool["evaluations"]
    return [name, count, f"{tool['wall']:.2f}", f"{count / tool['wall']:.1f}", f"{1e3 * tool['own'] / count:.2f}",
            f"{1e3 * tool['compile'] / count:.1f}", f"{tool['best_ms']:.4f}" if tool["best_ms"] else "none"]


def judge(check, tools):
    own = {name: 1e3 * tool["own"] / tool["evaluations"] for name, tool in tools.items()}
    rate = {name: tool["evaluations"] / tool["wall"] for name, tool in tools.items()}
    check.add("overhead", "2 ms a configuration at most", f"{own['Tunesmith']:.2f} ms", own["Tunesmith"] <= 2)
    factor = rate["Tunesmith, 8 jobs"] / rate["Tunesmith, 1 jobs"]
    processors = os.cpu_count() or 1
    # Eight jobs need eight processors.
    text = f"{factor:.1f} x ({rate['Tunesmith, 8 jobs']:.1f} a second, {processors} processors)"
    check.add("rate with 8 jobs", "3 x that of one", text, factor >= 3 if processors >= 8 and not check.dry else None)
    if "Kernel Tuner" in tools:
        less, more = own["Tunesmith"] < own["Kernel Tuner"], rate["Tunesmith"] > rate["Kernel Tuner"]
        text = f"{own['Tunesmith']:.2f} ms, Kernel Tuner {own['Kernel Tuner']:.2f} ms"
        check.add("overhead beside Kernel Tuner", "less", text, None if check.dry else less)
        text = f"{rate['Tunesmith']:.1f} a second, Kernel Tuner {rate['Kernel Tuner']:.1f}"
        check.add("rate beside Kernel Tuner", "more", text, None if check.dry else more)
