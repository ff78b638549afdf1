"""Counters of kernels whose work can be counted by hand."""

from . import scripted
from .check import FROM_A_TO_B

SOURCE = r"""
extern "C" __global__ void copy(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[i];
}
extern "C" __global__ void multiply_add(const float *a, float *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = 0;
#pragma unroll 16
    for (int k = 0; k < FMAS; k++) y = __fmaf_rn(y, x, 1.0f);
    b[i] = y;
}
"""

REFERENCE = """
#include <math.h>
void copy(const float *a, float *b) { for (int i = 0; i < N; i++) b[i] = a[i]; }
void multiply_add(const float *a, float *b) {
    for (int i = 0; i < N; i++) { float y = 0; for (int k = 0; k < FMAS; k++) y = fmaf(y, a[i], 1.0f); b[i] = y; }
}
"""

PROBLEM = """
[problem]
name = "{function}"
sizes = {{ N = {n}, FMAS = {fmas} }}

[kernel]
file = "k.cu"
function = "{function}"
global = ["N"]
local = ["BLOCK"]

[parameters]
BLOCK = [256, 512]

{arguments}
[verify]
reference = {{ file = "reference.c", function = "{function}" }}
relative = 1e-3
"""

# Far more than any second-level cache holds, so that the memory moves what the kernel does.
WORDS = 1 << 26
THREADS = 1 << 20
FMAS = 256


def profiled(check, function, n):
    """Returns the counters of one kernel, or None with a row that says why there are none."""
    sources = {"k.cu": SOURCE, "reference.c": REFERENCE}
    text = PROBLEM.format(function=function, n=n, fmas=FMAS, arguments=FROM_A_TO_B)
    path = check.problem(function, text, sources)
    found = check.call("run", path, "--device", "cuda", "--config", "BLOCK=256", "--profile")
    check.data[function] = found
    if found.get("no_profile"):
        check.add(function, "counters", found["no_profile"], False)
        return None
    return found["counters"]


def run(check):
    words, threads = check.count(WORDS, scripted.WORDS), check.count(THREADS, scripted.WORDS)
    read = profiled(check, "copy", words)
    if read is not None:
        sectors, warps = words / 8, words / 32
        # Each warp loads 32 words with one request, which are 4 sectors of 32 bytes.
        check.near("copy: loads", warps, read.get("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 0.999, 1.001)
        check.near("copy: sectors read in L2", sectors, read.get("lts__t_sectors_op_read.sum"), 0.95, 2.2)
        check.near("copy: sectors written in L2", sectors, read.get("lts__t_sectors_op_write.sum"), 0.95, 2.2)
        moved = [read.get(f"dram__sectors_{way}.sum") for way in ("read", "write")]
        # What was written last stays in the cache, at most an eighth of it on the largest caches there are.
        total = None if None in moved else sum(moved)
        check.near("copy: sectors of the memory, 2n words", 2 * sectors, total, 0.8, 1.1)
    read = profiled(check, "multiply_add", threads)
    if read is not None:
        found = read.get("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum")
        check.near("multiply-adds", threads * FMAS, found, 0.999, 1.01)
        warp = read.get("smsp__thread_inst_executed_per_inst_executed.ratio")
        check.near("threads of a warp that work", 32, warp, 0.99, 1.001)
    costs = [check.data.get(name, {}).get("values", {}) for name in ("copy", "multiply_add")]
    found = ", ".join(f"{v['profiling_ms']:.0f} ms in {v['profiling_launches']:.0f} launches" for v in costs if v)
    check.add("cost of profiling", "told", found or "not told", bool(found))
