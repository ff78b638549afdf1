#!/usr/bin/env python3
"""Counts how many wrong kernels Tunesmith catches.

    bench/mutants/mutants.py --tunesmith target/release/tunesmith [--most 60] [--seed 1] [EXAMPLE...]

Each mutant is the source of an example with one change: work that is skipped, a stale or shifted
read, a missing barrier, a bound that is off by one, a result that is a little off, or a launch that
differs from the others. Two judges look at each mutant, in one configuration that uses most of the
source:

- This script compiles it on its own, runs it LAUNCHES times on data of its own, and compares every
  result with the example's reference. It calls the mutant `changed` if a value of any launch differs
  by more than the problem's tolerance, `broken` if it crashes, hangs or does not compile, and
  `equal` otherwise.
- Tunesmith tunes a problem whose only parameter is the number of the mutant. It catches a mutant if
  it records any status but `correct`.

The catch rate is the share of the changed mutants that Tunesmith catches. CUDA sources are compiled
as C++ and run on the processor, as in crates/cli/tests/it/cuda_examples.rs.
"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAUNCHES = 12
LIMIT_SECONDS = 20

# ---------------------------------------------------------------------------------------------
# The examples: sizes that are fast, and a configuration that uses most of the source.

CUDA_HEADER = ROOT / "crates/cli/tests/kernels/cuda_on_host.h"

EXAMPLES = {
    "gemm.c": dict(
        problem="gemm/gemm.toml", sizes=dict(M=64, N=64, K=64),
        config=dict(MC=32, NC=32, KC=32, MR=4, NR=16, VW=4, UNROLL=2, PACK_A=1, PACK_B=1, ORDER="nkm", TILES="nm"),
        entry="gemm"),
    "reduce.c": dict(
        problem="reduce/reduce.toml", sizes=dict(N=65536, SUMS=256),
        config=dict(PARTIALS=64, INTERLEAVED=1, VW=4, CHAINS=2, FOLD=8, PASSES=2), entry="partial_sums"),
    "conv2d.c": dict(
        problem="conv2d/conv2d-c.toml", sizes=dict(X=64, Y=64, HFS=1),
        config=dict(TBX=8, TBY=8, WPTX=2, WPTY=2, LOCAL=2, VECTOR=2, UNROLL_FACTOR=3, PADDING=1, TBX_XL=9, TBY_XL=9),
        entry="conv2d"),
    "stencil.c": dict(
        problem="stencil/stencil.toml", sizes=dict(NX=64, NY=16, NZ=16, SWEEPS=4),
        config=dict(BX=32, BY=8, BZ=8, DEPTH=2, ROWS=2, VW=4, UNROLL=2, ORDER="yzx", THREADS=2), entry="stencil"),
    "filterbank.c": dict(
        problem="filterbank/filterbank.toml", sizes=dict(R=32, C=32, D=8, F=8, H=3, W=3), config={},
        entry="filterbank"),
    "gemm.cl": dict(
        problem="gemm/gemm-opencl.toml", sizes=dict(M=128, N=128, K=64),
        config=dict(MWG=32, NWG=32, KWG=16, MDIMC=8, NDIMC=8, MDIMA=8, NDIMB=8, KWI=2, VWM=2, VWN=2, STRM=1, STRN=1,
                    SA=1, SB=1)),
    "reduce.cl": dict(
        problem="reduce/reduce-opencl.toml", sizes=dict(N=65536, SUMS=256),
        config=dict(PARTIALS=64, WG=32, VECTOR=4, INTERLEAVED=1, FOLD=8, PASSES=2)),
    "conv2d.cl": dict(
        problem="conv2d/conv2d-opencl.toml", sizes=dict(X=64, Y=64, HFS=1),
        config=dict(TBX=8, TBY=8, WPTX=2, WPTY=2, LOCAL=2, VECTOR=2, UNROLL_FACTOR=3, PADDING=1, TBX_XL=9, TBY_XL=9)),
    "gemm.cu": dict(
        problem="gemm/gemm-cuda.toml", sizes=dict(M=128, N=128, K=32), config={},
        host="thread_local float4 shared[1 << 16];\n"
             "extern \"C\" void on_host(const float *a, const float *b, float *c, float alpha, float beta, float *) {\n"
             "on_grid({M / MWG * (N / NWG), 1, 1}, {THREADS, 1, 1}, [&] { gemm(a, b, c, alpha, beta); }); }\n",
        reference="#include \"gemm_reference.c\"\nvoid reference(const float *a, const float *b, float *c, float alpha, "
                  "float beta, float *stages) { (void)stages; gemm_reference(a, b, c, alpha, beta); }\n"),
    "conv2d.cu": dict(
        problem="conv2d/conv2d-cuda.toml", sizes=dict(X=64, Y=64, HFS=1),
        config=dict(TBX=8, TBY=8, WPTX=2, WPTY=2, LOCAL=2, VECTOR=2, UNROLL_FACTOR=3, PADDING=1, TBX_XL=9, TBY_XL=9),
        host="extern \"C\" void on_host(const float *image, const float *taps, float *output, float weight) {\n"
             "std::memcpy(filter, taps, sizeof filter);\n"
             "on_grid({X / TILE_X, Y / TILE_Y, 1}, {TBX_XL, TBY_XL, 1}, [&] { conv2d(image, output, weight); }); }\n"),
    "stencil.cu": dict(
        problem="stencil/stencil-cuda.toml", sizes=dict(NX=64, NY=16, NZ=16),
        config=dict(SHARED=1, DEPTH=8),
        host="extern \"C\" void on_host(const float *u, float *v, float *w, float centre, float side) {\n"
             "const uint3 grid = {NX / TILE_X, NY / TILE_Y, NZ / DEPTH}, local = {BX, BY, 1};\n"
             "on_grid({(NX + 65) / 64, NY + 2, NZ + 2}, {64, 1, 1}, [&] { copy_halo(u, v, w); });\n"
             "on_grid(grid, local, [&] { sweep<BX, BY>(u, v, centre, side); });\n"
             "on_grid(grid, local, [&] { sweep<BX, BY>(v, w, centre, side); }); }\n"),
}

# ---------------------------------------------------------------------------------------------
# Mutation: rules that rewrite one place of a source.

LEFT = r"[A-Za-z_][\w.\->]*(?:\[[^;=]*?\])+|\*\w+|\w+"

# The class of a rule, its pattern, and its replacements.
RULES = [
    ("skipped work", r"(?P<left>" + LEFT + r") \+= (?P<right>[^;]+);", [";"]),
    ("skipped work", r"(?P<left>[A-Za-z_]\w*(?:\[[^;=]*?\])+) = (?P<right>[^;{}]+);", [";"]),
    ("skipped work", r"(?P<head>for \([^;]*; \w+ < )(?P<end>[^;]+);", [r"\g<head>(\g<end>) - 1;"]),
    ("skipped work", r"(?P<head>for \(\w+ \w+ = )(?P<start>[^;]+);", [r"\g<head>(\g<start>) + 1;"]),
    ("skipped work", r"(?P<name>\w+)\+\+\)", [r"\g<name> += 2)"]),
    ("skipped work", r"(?P<left>\w+) \+= (?P<step>[A-Z]\w*)\)", [r"\g<left> += 2 * (\g<step>))"]),
    ("skipped work", r"\bif \((?P<test>[^;{}]+)\)$", ["if (0)"]),
    ("stale read", r"(?P<array>[a-z]\w*)\[(?P<index>[^\[\]]+)\](?! =[^=])", [r"\g<array>[0]"]),
    ("stale read", r" != ", [" == "]),
    ("stale read", r"\bmemcpy\(", ["if (0) memcpy("]),
    ("race", r"\b(?:barrier\([^;]*\)|__syncthreads\(\));", [";"]),
    ("race", r"(?:omp_get_thread_num\(\)|get_local_id\(0\)|threadIdx\.x)", ["0"]),
    ("race", r"#pragma omp parallel for", ["#pragma omp parallel"]),
    ("off by one", r"(?<=[\w)\]]) < (?=[\w(])", [" <= "]),
    ("off by one", r"(?<=[\w)\]]) <= (?=[\w(])", [" < "]),
    ("off by one", r"(?<=[\w)\]]) > (?=[\w(])", [" >= "]),
    ("off by one", r"(?<=[\w)\]]) \+ 1\b", ["", " + 2"]),
    ("off by one", r"(?<=[\w)\]]) - 1\b", ["", " - 2"]),
    ("off by one", r"(?P<array>[a-z]\w*)\[(?P<index>[^\[\]]+)\]", [r"\g<array>[(\g<index>) + 1]", r"\g<array>[(\g<index>) - 1]"]),
    ("sign", r"(?<=[\w)\]]) \+ (?=[\w(])", [" - "]),
    ("tolerance", r"(?P<left>[A-Za-z_]\w*(?:\[[^;=]*?\])+) = (?P<right>[^;{}]+);",
     [r"\g<left> = (\g<right>) * 1.001f;", r"\g<left> = (\g<right>) * 1.0000001f;", r"\g<left> = (\g<right>) + 0.1f;"]),
    ("tolerance", r"(?P<left>" + LEFT + r") \+= (?P<right>[^;]*[\[*][^;]*);",
     [r"\g<left> += 0.999f * (\g<right>);", r"\g<left> += 0.9999999f * (\g<right>);"]),
    ("tolerance", r"\b(?P<number>[01])\.0f\b", [r"\g<number>.01f"]),
]

# Changes at the beginning of a function in C: launches that differ from each other.
LAUNCH_RULES = [
    "static int nth; if (++nth % 2 == 0) return;",
    "static int nth; if (++nth % 3 == 0) return;",
    "static int nth; if (++nth > 4) return;",
    "static int nth; if (++nth == 3) return;",
]


def code_spans(text):
    """Returns which characters are code: no comments, no strings, and no directives but OpenMP's."""
    is_code = [True] * len(text)
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\n])*\"|^[ \t]*#(?!pragma omp)(?:[^\n\\]|\\.|\\\n)*"
    for match in re.finditer(pattern, text, re.S | re.M):
        for at in range(*match.span()):
            is_code[at] = False
    return is_code


def mutants(text, entry):
    """Returns (class, line, change, mutated source) for every place that a rule fits."""
    is_code = code_spans(text)
    found = {}
    for kind, pattern, replacements in RULES:
        for match in re.finditer(pattern, text, re.M):
            if not all(is_code[match.start():match.end()]):
                continue
            for replacement in replacements:
                new = match.expand(replacement)
                mutated = text[:match.start()] + new + text[match.end():]
                line = text.count("\n", 0, match.start()) + 1
                if mutated != text:
                    found.setdefault(mutated, (kind, line, f"{match.group(0).strip()} -> {new.strip()}"))
    if entry:
        body = re.search(rf"void {entry}\([^)]*\)\s*\{{", text)
        for rule in LAUNCH_RULES:
            line = text.count("\n", 0, body.end()) + 1
            found[text[:body.end()] + rule + text[body.end():]] = ("launches", line, rule)
    return [(*what, mutated) for mutated, what in found.items()]


def choose(all_mutants, most, seed):
    """Returns at most `most` mutants, of all classes in turn."""
    rng = random.Random(seed)
    classes = {}
    for mutant in all_mutants:
        classes.setdefault(mutant[0], []).append(mutant)
    for members in classes.values():
        rng.shuffle(members)
    chosen = []
    while len(chosen) < most and any(classes.values()):
        for members in classes.values():
            if members and len(chosen) < most:
                chosen.append(members.pop())
    return chosen


# ---------------------------------------------------------------------------------------------
# The problem.

class Problem:
    def __init__(self, name, spec):
        self.name, self.spec = name, spec
        self.path = ROOT / "examples" / spec["problem"]
        self.text = self.path.read_text()
        self.toml = tomllib.loads(self.text)
        kernels = self.toml["kernel"]
        self.kernels = kernels if isinstance(kernels, list) else [kernels]
        self.arguments = self.toml["arguments"]
        self.sizes = {**self.toml["problem"]["sizes"], **spec["sizes"]}
        first = {key: self.first(value) for key, value in self.toml["parameters"].items()}
        self.config = {**first, **self.toml.get("tuning", {}).get("default", {}), **spec["config"]}
        self.source = self.kernels[0]["file"]
        self.is_host = "host" in spec
        self.is_opencl = self.source.endswith(".cl")

    def first(self, values):
        if isinstance(values, list):
            return values[0]
        if "divisors_of" in values:
            return 1
        return int(values.get("range", values.get("pow2", "1")).split("..")[0])

    def value(self, expression):
        names = {**self.sizes, **self.config}
        functions = dict(min=min, max=max, abs=abs, ceildiv=lambda a, b: -(-a // b))
        return eval(str(expression), {"__builtins__": {}}, {**names, **functions})

    def macros(self, with_config=True):
        names = {**self.sizes, **(self.config if with_config else {})}
        text = lambda value: str(int(value)) if isinstance(value, bool) else str(value)
        return [f"-D{name}={text(value)}" for name, value in names.items()]

    def options(self, kernel):
        return [option.format(**self.config) for option in kernel.get("options", [])]

    def count(self, argument):
        count = 1
        for extent in argument["shape"]:
            count *= self.value(extent)
        return count

    def tolerance(self):
        verify = self.toml["verify"]
        return verify.get("absolute", 1e-5), verify.get("relative", 1e-4)

    def write(self, folder, chosen):
        """Writes the folder that Tunesmith tunes: the number of the mutant is the parameter."""
        shutil.copytree(self.path.parent, folder, dirs_exist_ok=True)
        source = folder / self.source
        parts = [f"#if MUTANT == 0\n{source.read_text()}\n"]
        parts += [f"#elif MUTANT == {number}\n{mutant[3]}\n" for number, mutant in enumerate(chosen, 1)]
        source.write_text("".join(parts) + "#endif\n")
        (folder / "mutants.toml").write_text(self.tunesmith_problem(folder, len(chosen)))

    def tunesmith_problem(self, folder, count):
        text = re.sub(r"^\[(?:parameters|constraints|inputs[^\]]*|tuning|measure)\]\n(?:(?!^\[).*\n?)*", "", self.text, flags=re.M)
        text = re.sub(r"^sizes = .*$", "sizes = " + self.table(self.sizes), text, count=1, flags=re.M)
        if self.is_host:
            text = re.sub(r"^\[\[?kernel\]\]?\n(?:(?!^\[).*\n?)*", "", text, flags=re.M)
            text += "\n[kernel]\nfile = \"host.cpp\"\nfunction = \"on_host\"\noptions = [\"-O1\", \"-w\"]\n"
            (folder / "host.cpp").write_text(f"#include \"{CUDA_HEADER}\"\n#include \"{self.source}\"\n{self.spec['host']}")
        if "reference" in self.spec:
            (folder / "host_reference.c").write_text(self.spec["reference"])
            text = re.sub(r"^reference = .*$", "reference = { file = \"host_reference.c\", function = \"reference\" }", text, flags=re.M)
        values = "\n".join(f"{name} = [{json.dumps(value)}]" for name, value in self.config.items())
        return (f"{text}\n[parameters]\nMUTANT = {{ range = \"0..={count}\" }}\n{values}\n\n"
                "[measure]\nfirst_limit = 10.0\nlaunch_limit = 5.0\ntime_cap = 0.1\nfinal = false\ndrift = false\n"
                "racing = false\n\n[tuning]\nstrategy = \"exhaustive\"\n")

    @staticmethod
    def table(values):
        return "{ " + ", ".join(f"{name} = {value}" for name, value in values.items()) + " }"


# ---------------------------------------------------------------------------------------------
# The judge of this script.

def build(folder, name, lines, options, compiler):
    source = folder / name
    source.write_text(lines)
    library = source.with_suffix(".so")
    command = [*shlex.split(compiler), "-O3", "-march=native", "-w", "-fPIC", "-shared", *options, "-o", str(library), str(source)]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
    return library if done.returncode == 0 else None


COMPARE = """
#include <math.h>
long differ(const float *x, const float *y, long n, double absolute, double relative)
{
    long count = 0;
    for (long i = 0; i < n; ++i)
        count += !(fabs((double)x[i] - (double)y[i]) <= absolute + relative * fabs((double)y[i]));
    return count;
}
void fill(float *x, long n, unsigned long seed)
{
    for (long i = 0; i < n; ++i) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        x[i] = (float)((double)(seed >> 40) / (1 << 23) - 1.0);
    }
}
"""


class Judge:
    """Runs mutants of one problem, each in a process of its own."""

    def __init__(self, problem, folder):
        self.problem, self.folder = problem, folder
        shutil.copytree(problem.path.parent, folder, dirs_exist_ok=True)
        self.tools = ctypes.CDLL(str(build(folder, "tools.c", COMPARE, [], "cc")))
        self.tools.differ.restype = ctypes.c_long
        self.tools.differ.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_double, ctypes.c_double]
        self.tools.fill.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_ulong]
        reference = problem.toml["verify"]["reference"]
        text = problem.spec.get("reference") or f"#include \"{reference['file']}\"\n"
        self.reference_name = "reference" if "reference" in problem.spec else reference["function"]
        self.reference = build(folder, "judge_reference.c", text, ["-fopenmp", *problem.macros(False)], "cc")

    def judge(self, mutant):
        """Returns `changed`, `equal` or `broken`."""
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.setpgid(0, 0)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                code = {"changed": 1, "equal": 0, "broken": 3}[self.run(mutant)]
            finally:
                os._exit(code)
        deadline = time.monotonic() + LIMIT_SECONDS + (60 if self.problem.is_host else 20)
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                ended = os.WIFEXITED(status) and os.WEXITSTATUS(status)
                return {0: "equal", 1: "changed"}.get(ended, "broken") if os.WIFEXITED(status) else "broken"
            time.sleep(0.005)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "broken"

    def run(self, mutant):
        launch = self.opencl(mutant) if self.problem.is_opencl else self.native(mutant)
        if launch is None:
            return "broken"
        reference = getattr(ctypes.CDLL(str(self.reference)), self.reference_name)
        absolute, relative = self.problem.tolerance()
        for number in range(LAUNCHES):
            data, expected = self.data(number), self.data(number)
            reference(*self.passed(expected))
            if launch(data) is False:
                return "broken"
            for argument, got, wanted in zip(self.problem.arguments, data, expected):
                if not isinstance(got, ctypes.Array):
                    continue
                # What is left in `stages`, shared memory, means nothing.
                if argument.get("access", "in") == "in" or argument.get("memory") == "local":
                    continue
                if self.tools.differ(got, wanted, len(got), absolute, relative):
                    return "changed"
        return "equal"

    def data(self, launch):
        """Returns the arguments of a launch: arrays and numbers. Inputs differ from launch to launch."""
        values = []
        for at, argument in enumerate(self.problem.arguments):
            if "shape" not in argument:
                value = self.problem.value(argument["value"])
                values.append(ctypes.c_float(value) if argument["type"] == "f32" else ctypes.c_int(value))
                continue
            array = (ctypes.c_float * self.problem.count(argument))()
            if argument.get("access", "in") == "out":
                ctypes.memset(array, 0xff, ctypes.sizeof(array))
            elif argument.get("memory") != "local":
                self.tools.fill(array, len(array), 977 * launch + 31 * at + 7)
            values.append(array)
        return values

    @staticmethod
    def passed(data):
        return [ctypes.byref(value) if isinstance(value, ctypes.Array) else value for value in data]

    def native(self, mutant):
        problem = self.problem
        if problem.is_host:
            (self.folder / problem.source).write_text(mutant)
            text = f"#include \"{CUDA_HEADER}\"\n#include \"{problem.source}\"\n{problem.spec['host']}"
            # As the problem that Tunesmith tunes: see `write`.
            library = build(self.folder, "judged.cpp", text, ["-O1", *problem.macros()], "c++")
            calls = [("on_host", problem.arguments, 1)]
        else:
            options = [option for kernel in problem.kernels for option in problem.options(kernel)]
            library = build(self.folder, "judged.c", mutant, [*options, *problem.macros()], "cc")
            calls = [(kernel["function"], self.chosen(kernel), self.problem.value(kernel.get("repeat", 1)))
                     for kernel in problem.kernels]
        if library is None:
            return None
        loaded = ctypes.CDLL(str(library))
        names = [argument["name"] for argument in problem.arguments]

        def launch(data):
            for function, arguments, repeat in calls:
                own = [data[names.index(argument["name"])] for argument in arguments]
                for _ in range(repeat):
                    getattr(loaded, function)(*self.passed(own))
        return launch

    def chosen(self, kernel):
        names = kernel.get("arguments")
        by_name = {argument["name"]: argument for argument in self.problem.arguments}
        return [by_name[name] for name in names] if names else self.problem.arguments

    def opencl(self, mutant):
        """Returns a function that launches the mutant on the first OpenCL device."""
        cl = ctypes.CDLL("libOpenCL.so.1")
        handle, error = ctypes.c_void_p, ctypes.c_int()
        for name in ["clCreateContext", "clCreateCommandQueue", "clCreateProgramWithSource", "clCreateKernel", "clCreateBuffer"]:
            getattr(cl, name).restype = handle
        platform, device = handle(), handle()
        cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
        cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None)
        context = handle(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(error)))
        queue = handle(cl.clCreateCommandQueue(context, device, ctypes.c_ulong(0), ctypes.byref(error)))
        text = ctypes.c_char_p(mutant.encode())
        program = handle(cl.clCreateProgramWithSource(context, 1, ctypes.byref(text), None, ctypes.byref(error)))
        options = [option for kernel in self.problem.kernels for option in self.problem.options(kernel)]
        flags = " ".join([*options, *self.problem.macros(), f"-I {self.folder}"]).encode()
        if cl.clBuildProgram(program, 1, ctypes.byref(device), flags, None, None) != 0:
            return None
        problem, names = self.problem, [argument["name"] for argument in self.problem.arguments]
        kernels = []
        for kernel in problem.kernels:
            made = handle(cl.clCreateKernel(program, kernel["function"].encode(), ctypes.byref(error)))
            if error.value:
                return None
            kernels.append((kernel, made))

        def launch(data):
            buffers = {}
            for name, value in zip(names, data):
                if isinstance(value, ctypes.Array):
                    size = ctypes.c_size_t(ctypes.sizeof(value))
                    buffers[name] = handle(cl.clCreateBuffer(context, ctypes.c_ulong(1 | 32), size, value, ctypes.byref(error)))
            for kernel, made in kernels:
                for at, argument in enumerate(self.chosen(kernel)):
                    value = buffers.get(argument["name"], data[names.index(argument["name"])])
                    if cl.clSetKernelArg(made, at, ctypes.c_size_t(ctypes.sizeof(value)), ctypes.byref(value)):
                        return False
                extents = [problem.value(extent) for extent in kernel["global"]]
                local = [problem.value(extent) for extent in kernel["local"]]
                shape = lambda values: (ctypes.c_size_t * len(values))(*values)
                for _ in range(problem.value(kernel.get("repeat", 1))):
                    if cl.clEnqueueNDRangeKernel(queue, made, len(extents), None, shape(extents), shape(local), 0, None, None):
                        return False
            if cl.clFinish(queue):
                return False
            for name, value in zip(names, data):
                if name in buffers:
                    size = ctypes.c_size_t(ctypes.sizeof(value))
                    cl.clEnqueueReadBuffer(queue, buffers[name], 1, ctypes.c_size_t(0), size, value, 0, None, None)
                    cl.clReleaseMemObject(buffers[name])
        return launch


# ---------------------------------------------------------------------------------------------
# Tunesmith's judgement, and the table.

def tuned(tunesmith, folder):
    """Returns the status of every mutant by its number."""
    command = [tunesmith, "tune", "mutants.toml", "--quiet", "--json", "--out", "run.jsonl"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{folder}: tunesmith ended with {done.returncode}: {done.stderr}")
    statuses = {}
    for line in (folder / "run.jsonl").read_text().splitlines()[1:]:
        entry = json.loads(line)
        if "config" in entry and "again" not in entry:
            statuses[entry["config"]["MUTANT"]] = entry["status"]
    return statuses


def study(name, tunesmith, most, seed, keep):
    problem = Problem(name, EXAMPLES[name])
    original = (problem.path.parent / problem.source).read_text()
    chosen = choose(mutants(original, problem.spec.get("entry")), most, seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"mutants-{name}-"))
    judged = folder / "judged"
    problem.write(folder / "tuned", chosen)
    statuses = tuned(tunesmith, folder / "tuned")
    judge = Judge(problem, judged)
    if judge.judge(original) != "equal" or statuses.get(0) != "correct":
        sys.exit(f"{name}: the original is not correct: {judge.judge(original)}, {statuses.get(0)}; see {folder}")
    rows = [(*mutant[:3], judge.judge(mutant[3]), statuses.get(number, "none")) for number, mutant in enumerate(chosen, 1)]
    if not keep:
        shutil.rmtree(folder)
    return rows


def counted(rows):
    of = lambda verdict: [row for row in rows if row[3] == verdict]
    caught = lambda some: sum(row[4] != "correct" for row in some)
    changed, broken, equal = of("changed"), of("broken"), of("equal")
    return (len(rows), len(changed), caught(changed), len(broken), caught(broken), len(equal), caught(equal))


def line(name, rows):
    total, changed, caught, broken, broken_caught, equal, refused = counted(rows)
    rate = f"{100 * caught / changed:.1f} %" if changed else "-"
    return f"| {name} | {total} | {changed} | {caught} | {rate} | {broken} | {broken_caught} | {equal} | {refused} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help=f"of {', '.join(EXAMPLES)} [default: all]")
    parser.add_argument("--tunesmith", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    parser.add_argument("--most", type=int, default=60, help="mutants of an example [60]")
    parser.add_argument("--seed", type=int, default=1, help="the seed that chooses them [1]")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    arguments = parser.parse_args()
    everything = {}
    print("| source | mutants | changed | caught | rate | broken | caught | equal | refused |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    for name in arguments.examples or EXAMPLES:
        everything[name] = study(name, arguments.tunesmith, arguments.most, arguments.seed, arguments.keep)
        print(line(name, everything[name]), flush=True)
        for kind, at, change, verdict, status in everything[name]:
            if verdict in ("changed", "broken") and status == "correct":
                print(f"missed, {verdict}: {name}:{at}: {kind}: {change}", file=sys.stderr, flush=True)
    rows = [row for of_one in everything.values() for row in of_one]
    print(line("all", rows))
    print("\n| class | mutants | changed | caught | rate | broken | caught | equal | refused |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for kind in sorted({row[0] for row in rows}):
        print(line(kind, [row for row in rows if row[0] == kind]))


if __name__ == "__main__":
    main()
