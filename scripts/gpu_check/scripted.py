"""The scripted device of a dry run: a GPU without hardware, on which every part takes its paths in seconds."""

import contextlib
import json
import os

# Words of the arrays of kernels whose counters are compared with their work.
WORDS = 1 << 12

ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "L2_CACHE_SIZE": 1 << 20, "MULTIPROCESSOR_COUNT": 132,
    "WARP_SIZE": 32, "CLOCK_RATE": 1_980_000, "MAX_THREADS_PER_BLOCK": 1024, "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 32, "MAX_REGISTERS_PER_BLOCK": 65536, "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64, "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 232448, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 233472,
}

# The clocks of the device in MHz, and its power over them.
POWER = {
    "clocks_mhz": list(range(600, 1981, 60)), "power_w": {"lowest": 100, "highest": 700, "default": 700},
    "power": {"idle_w": 60, "alpha": 0.12, "ridge_mhz": 1200, "beta": 0.0008}, "memory_bound": 0.3,
}

# What a launch adds to the counters of kernels whose work nobody counts.
COUNTERS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": 60, "dram__sectors_read.sum": 5000,
    "dram__sectors_write.sum": 3000, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": 40,
    "lts__t_sectors_op_read.sum": 9000, "lts__t_sectors_op_write.sum": 4000,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.avg.pct_of_peak_sustained_active": 30,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 2000,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed": 20,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 800,
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 400,
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": 0, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": 0,
    "sm__warps_active.avg.pct_of_peak_sustained_active": 70,
    "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed": 90,
    "smsp__sass_thread_inst_executed_op_fp16_pred_on.sum": 0, "smsp__sass_thread_inst_executed_op_fp64_pred_on.sum": 0,
    "smsp__sass_thread_inst_executed_op_fp32_pred_on.sum": 70000,
    "smsp__sass_thread_inst_executed_op_integer_pred_on.sum": 20000,
    "smsp__sass_thread_inst_executed_op_control_pred_on.sum": 3000,
    "smsp__sass_thread_inst_executed_op_memory_pred_on.sum": 9000,
    "smsp__sass_thread_inst_executed_op_misc_pred_on.sum": 100,
    "smsp__sass_thread_inst_executed_op_conversion_pred_on.sum": 100, "smsp__inst_executed.sum": 30000,
    "smsp__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active": 50,
    "smsp__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active": 5,
    "smsp__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active": 25,
    "smsp__issue_active.avg.pct_of_peak_sustained_active": 55, "smsp__thread_inst_executed_per_inst_executed.ratio": 32,
    "smsp__thread_inst_executed_per_inst_executed.pct": 100,
}

# Parameters of the kernels, whose values change times and counters, so that there is something to find and to learn.
INFLUENTIAL = [
    ("WPTX", "2"), ("WPTY", "2"), ("Z_ITERATIONS", "8"), ("VECTOR_TYPE", "2"), ("OUTER_UNROLL_FACTOR", "4"),
    ("MWG", "64"), ("NWG", "64"), ("WORK_GROUP_SIZE_X", "32"), ("OWN_N", "4"), ("STAGES", "3"), ("block_h", "8"),
    ("UNROLL", "4"),
]


def copies(bytes_, to=1):
    return [{"to": to, "from": {"parameter": 0}, "bytes": bytes_}]


def conformance():
    """Returns the behaviour of the kernel that fails in every way, by the values of MODE."""
    array = 4 * 4096
    failing = {
        "1": {"compile": "f.cu(5): error: identifier \"no\" is undefined"},
        "2": {"end": "CUDA_ERROR_ILLEGAL_ADDRESS"},
        "3": {"hangs": True},
        "4": {"writes": [{"to": 1, "from": {"byte": 1}, "bytes": array}]},
        "6": {"writes": [{"to": 1, "from": {"byte": 1}, "bytes": array + 64}]},
    }
    rules = [{"function": "f", "defines": {"MODE": mode}, **rule} for mode, rule in failing.items()]
    return [*rules, {"function": "f", "writes": copies(array)}]


def counted():
    """Returns the behaviour of the kernels whose counters are compared with their work."""
    sectors, warps, fmas = WORDS // 8, WORDS // 32, 256
    copied = {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": warps, "lts__t_sectors_op_read.sum": sectors,
        "lts__t_sectors_op_write.sum": sectors, "dram__sectors_read.sum": sectors, "dram__sectors_write.sum": sectors,
    }
    added = {"smsp__sass_thread_inst_executed_op_fp32_pred_on.sum": WORDS * fmas,
             "smsp__thread_inst_executed_per_inst_executed.ratio": 32}
    return [{"function": "copy", "defines": {"FMAS": str(fmas)}, "counters": {**COUNTERS, **copied}},
            {"function": "multiply_add", "counters": {**COUNTERS, **added}}]


def others():
    """Returns the behaviour of all other kernels: each influential value has its own time and counters."""
    rules = []
    for number, (name, value) in enumerate(INFLUENTIAL):
        scale = 0.4 + 0.03 * number
        counters = {key: round(count * scale, 3) for key, count in COUNTERS.items()}
        rules.append({"defines": {name: value}, "times_us": [100 * scale], "counters": counters})
    return [*rules, {"times_us": [100], "counters": COUNTERS}]


def stand_ins():
    """Returns the behaviour of the kernels of the suite that stands in for the real one."""
    return [{"function": "stand_in_right", "writes": copies(4096)},
            {"function": "stand_in_wrong", "writes": [{"to": 1, "from": {"byte": 7}, "bytes": 4096}]},
            {"function": "stand_in_refused", "launch": "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}]


def install(folder):
    """Makes Tunesmith use the scripted device, unless a script was named already."""
    os.environ.setdefault("XDG_CACHE_HOME", str(folder / "cache"))
    if os.environ.get("TUNESMITH_CUDA_SCRIPT"):
        return
    os.environ.setdefault("TUNESMITH_LOCKS", str(folder / "locks"))
    script = {
        "devices": [{"name": "NVIDIA Scripted GPU", "memory": 1 << 30, "attributes": ATTRIBUTES}],
        "compiles": True, "watts": 300, "passes": 4, "power": power_script(folder),
        "kernels": [*conformance(), *counted(), *stand_ins(), *others()],
    }
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    os.environ["TUNESMITH_CUDA_SCRIPT"] = str(path)


def power_script(folder, **more):
    """Writes the script of the device's power, and returns its path."""
    path = folder / "power.json"
    path.write_text(json.dumps({**POWER, "state": str(folder / "power-state.json"), **more}))
    return str(path)


@contextlib.contextmanager
def without_rights(folder):
    """Takes the right to set clocks away for a while."""
    named = os.environ["TUNESMITH_CUDA_SCRIPT"]
    with open(named, encoding="utf-8") as file:
        script = json.load(file)
    path = folder / "without-rights.json"
    path.write_text(json.dumps({**script, "power": power_script(folder, forbidden=True)}))
    os.environ["TUNESMITH_CUDA_SCRIPT"] = str(path)
    try:
        yield
    finally:
        os.environ["TUNESMITH_CUDA_SCRIPT"] = named


PROBLEM = """
[problem]
name = "{name}"
sizes = {{ N = 1024 }}

[kernel]
file = "kernel.cu"
function = "{name}"
global = ["N"]
local = ["BLOCK"]

[parameters]
BLOCK = [32, 64, 128]

[[arguments]]
name = "a"
type = "f32"
shape = ["N"]

[[arguments]]
name = "b"
type = "f32"
shape = ["N"]
access = "out"

[verify]
reference = {{ file = "reference.c", function = "reference" }}
"""
REFERENCE = "void reference(const float *a, float *b) { for (int i = 0; i < N; i++) b[i] = a[i]; }\n"


def suite(folder):
    """Writes a suite of three problems, whose kernels are right, wrong and refused, and returns its folder."""
    for kind in ("right", "wrong", "refused"):
        name = f"stand_in_{kind}"
        problem = folder / kind
        problem.mkdir(parents=True)
        (problem / "about.toml").write_text(f'title = "{kind}"\nproblems = {{ cuda = "problem.toml" }}\n')
        (problem / "problem.toml").write_text(PROBLEM.format(name=name))
        (problem / "kernel.cu").write_text(
            f'extern "C" __global__ void {name}(const float *a, float *b) {{ b[threadIdx.x] = a[threadIdx.x]; }}\n')
        (problem / "reference.c").write_text(REFERENCE)
    return folder
