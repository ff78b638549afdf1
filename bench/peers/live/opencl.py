"""Runs Tunesmith, Kernel Tuner (pyopencl) and pyATF on the same OpenCL kernel and configurations.

Each tool evaluates the same configurations of examples/gemm/gemm.cl. One tuning parameter, CONFIG,
stands for a sampled configuration; a generated header has its macros. Each tool runs twice in its
own process with its own driver cache: first cold, then warm. neutral.py then re-measures every
tool's winner, interleaved, beside the best of all configurations that it finds.

A tool's own time is its wall time without compiling, running and verifying:

  Tunesmith     its `seconds`: space + search + store + other
  Kernel Tuner  wall - the sum over its results of compile_time, verification_time and
                benchmark_time
  pyATF         wall - the build times of its log - its launches. Each launch is timed from outside
                until it ends, because pyATF reports neither warm-ups nor the compilation that PoCL
                postpones to the first launch. pyATF does not verify here: it would compare element
                by element in Python.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from common import header, run_tunesmith, sample

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[2] / "examples/gemm/gemm-opencl.toml"
SIZE = 256
TOOLS = ["Tunesmith", "Kernel Tuner", "pyATF"]


def write_kernel(folder, configs):
    """The kernel with the header before it, which all tools compile."""
    kernel = (EXAMPLE.parent / "gemm.cl").read_text()
    (folder / "live.cl").write_text(header(configs) + kernel)
    sizes = {name: SIZE for name in "MNK"}
    (folder / "live.json").write_text(json.dumps({"configs": configs, "sizes": sizes, "options": ["-cl-mad-enable"]}))


def by_config(configs, name):
    """An expression over CONFIG for the value of a parameter."""
    values = sorted({config[name] for config in configs})
    text = str(values[-1])
    for value in values[:-1]:
        numbers = [number for number, config in enumerate(configs) if config[name] == value]
        text = f"{value} if CONFIG in {numbers} else ({text})"
    return f"({text})"


def write_problem(folder, configs):
    """The example's problem with CONFIG in place of its parameters."""
    text = EXAMPLE.read_text().replace("gemm_reference.c", str(EXAMPLE.parent / "gemm_reference.c"))
    head, _, rest = text.partition("[parameters]")
    arguments = rest[rest.index("[[arguments]]"):].partition("[tuning]")[0]
    kernel, _, _ = head.partition("[kernel]")
    value = {name: by_config(configs, name) for name in ("MWG", "NWG", "MDIMC", "NDIMC")}
    (folder / "live.toml").write_text(f'''{kernel}[kernel]
file = "live.cl"
function = "gemm"
global = ["M // {value['MWG']} * {value['MDIMC']}", "N // {value['NWG']} * {value['NDIMC']}"]
local = ["{value['MDIMC']}", "{value['NDIMC']}"]
options = ["-cl-mad-enable"]

[parameters]
CONFIG = {{ range = "0..{len(configs)}" }}

{arguments}''')


def run_tool(tool, tunesmith, folder, cache):
    """One run of a tool with its caches in a folder of its own: PoCL's, and Python's of compiled programs off."""
    environment = {"POCL_CACHE_DIR": str(cache), "PYOPENCL_NO_CACHE": "1"}
    cache.mkdir(exist_ok=True)
    if tool == "Tunesmith":
        return run_tunesmith(tunesmith, folder / "live.toml", **environment)
    command = [sys.executable, str(HERE / "peers.py"), tool, str(folder)]
    # The last line is the result; the tools talk before.
    output = subprocess.check_output(command, text=True, env={**os.environ, **environment})
    return json.loads(output.splitlines()[-1])


def remeasure(folder, rows):
    winners = [str(rows[tool]["warm"]["best"]) for tool in TOOLS]
    environment = {**os.environ, "POCL_CACHE_DIR": str(folder / "cache-neutral"), "PYOPENCL_NO_CACHE": "1"}
    (folder / "cache-neutral").mkdir()
    command = [sys.executable, str(HERE / "neutral.py"), str(folder), *winners]
    return json.loads(subprocess.check_output(command, text=True, env=environment).splitlines()[-1])


def show(rows, neutral):
    print(f"{'tool':13} {'wall s':>13} {'own ms per configuration':>26} {'winner':>7} {'its time ms':>12} {'neutral ms':>11}")
    print(f"{'':13} {'cold':>6} {'warm':>6} {'cold':>15} {'warm':>10} {'(warm)':>7} {'by the tool':>12} {'':>11}")
    for tool, row in rows.items():
        cold, warm = row["cold"], row["warm"]
        print(f"{tool:13} {cold['wall']:6.1f} {warm['wall']:6.1f} {cold['own'] * 1e3:15.2f} {warm['own'] * 1e3:10.2f} "
              f"{warm['best']:7} {warm['best_ms']:12.3f} {neutral['ms'][str(warm['best'])]:11.3f}")
    best = str(neutral["best"])
    print(f"{'best of all':13} {'':13} {'':26} {best:>7} {'':12} {neutral['ms'][best]:11.3f}")
    counts = {tool: (row["cold"]["evaluations"], row["warm"]["evaluations"]) for tool, row in rows.items()}
    print("correct evaluations, cold and warm:", counts)
    print(f"neutral: median of {neutral['rounds']} interleaved rounds; best of all from {neutral['scouting']} rounds of each")
    print("Tunesmith, where the warm wall time went, s:",
          {part: round(value, 4) for part, value in rows["Tunesmith"]["warm"]["seconds"].items()})


def main():
    tunesmith, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        configs = sample(tunesmith, EXAMPLE, count)
        write_kernel(folder, configs)
        write_problem(folder, configs)
        rows = {}
        for number, tool in enumerate(TOOLS):
            cache = folder / f"cache-{number}"
            rows[tool] = {run: run_tool(tool, tunesmith, folder, cache) for run in ("cold", "warm")}
        show(rows, remeasure(folder, rows))


if __name__ == "__main__":
    main()
