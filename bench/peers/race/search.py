"""Runs one tool once on one kernel and writes what it evaluated.

    search.py TOOL PROBLEM LIMITS SECONDS SEED OUT

LIMITS is a JSON file with the device's limits, OUT the JSON to write: `evaluations`, each with `at`
(seconds), `config` and `ms` (null for a failure), the `winner` and the `wall` seconds. The clock of
Kernel Tuner and pyATF starts when their tuning starts: imports, data and the reference are not
counted. That of Tunesmith starts with its process.
"""

import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

from kernels import C_OPTIONS, Kernel, call, names

BEYOND = 1.5  # seconds of a run of Tunesmith outside of its stop condition
LAUNCHES = 7  # the mean of so many is Kernel Tuner's default, and pyATF's here


def tunesmith(kernel, seconds, seed, folder):
    """Its time includes the final, but neither the start nor what is in flight nor the last verification."""
    out = folder / "run.jsonl"
    device = ["--device", "opencl"] if kernel.opencl else []
    command = [os.environ["TUNESMITH"], "tune", str(kernel.path), *device, "--stop", f"time {seconds - BEYOND:.2f}s"]
    command += ["--seed", str(seed), "--out", str(out), "--json", "--quiet"]
    started = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    wall = time.time() - started
    header, *entries = [json.loads(line) for line in out.read_text().splitlines()]
    first = {}  # the final measures configurations again
    for entry in entries:
        if entry.get("depth") == "timed":
            first.setdefault(entry["index"], entry)
    evaluations = [
        {"at": header["started"] + entry["clock"] - started, "config": entry["config"],
         "ms": statistics.median(entry["times_ms"]) if entry["status"] == "correct" else None}
        for entry in first.values()
    ]
    return evaluations, json.loads(done.stdout)["best"]["config"], wall


def read_cache(file):
    """Kernel Tuner's cache, which lacks its last braces while it is written."""
    text = file.read_text().rstrip() if file.exists() else '{"cache": {}}'
    return json.loads(text if text.endswith("}}") or text.endswith("}\n}") else text.rstrip(",") + "}\n}")["cache"]


def restrictions(kernel):
    """Strings, as its documentation recommends. It takes `if` and `min` for parameters, except beside an `and`."""
    words = re.compile(r"\b(if|not|min|max)\b")
    return [f"({text}) and True" if words.search(text) else text for text in kernel.constraints]


def tune_c(kernel, folder, common):
    from kernel_tuner import tune_kernel

    source = folder / "timed.c"
    # It adds extern "C" where these words are missing, which is not C.
    source.write_text('/* extern "C" */\n' + kernel.timed_source())
    options = C_OPTIONS + kernel.options
    tune_kernel("timed", str(source), 1, kernel.data(), lang="C", compiler="gcc", compiler_options=options, **common)


def tune_opencl(kernel, common):
    from kernel_tuner import tune_kernel

    groups = [f"({items}) // ({local})" for items, local in zip(kernel.items(), kernel.local())]
    tune_kernel(
        kernel.function, kernel.file.read_text(), lambda p: tuple(eval(text, {}, dict(p)) for text in groups),
        kernel.data(), grid_div_x=[], grid_div_y=[], block_size_names=kernel.local(), lang="OpenCL",
        compiler_options=kernel.options, **common,
    )


def kernel_tuner(strategy):
    """It runs kernels in its own process. Where one kills it, the cache has what was evaluated before."""

    def search(kernel, seconds, seed, folder):
        import kernel_tuner  # imported before the clock starts

        cache = folder / "cache.json"
        common = dict(
            tune_params=kernel.parameters, restrictions=restrictions(kernel), answer=kernel.expected(folder),
            atol=max(kernel.problem["verify"]["absolute"], 1e-6), strategy=strategy, seed=seed, iterations=LAUNCHES,
            strategy_options={"time_limit": seconds}, cache=str(cache), quiet=True,
        )
        started = time.time()
        child = os.fork()
        if child == 0:
            tune_opencl(kernel, common) if kernel.opencl else tune_c(kernel, folder, common)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            print(f"Kernel Tuner ended with status {status}", file=sys.stderr)
        wall = time.time() - started
        evaluations = [
            {"at": datetime.datetime.fromisoformat(entry["timestamp"]).timestamp() - started,
             "config": {name: entry[name] for name in kernel.parameters},
             "ms": entry["time"] if isinstance(entry["time"], float) else None}
            for entry in read_cache(cache).values()
        ]
        return evaluations, None, wall

    return search


def range_and_constraint(kernel):
    """pyATF's parameters: each constraint stands at the last of its parameters."""
    from pyatf import TP, Set

    order = list(kernel.parameters)
    for name, values in kernel.parameters.items():
        mine = [text for text in kernel.constraints if max(names(text) & set(order), key=order.index) == name]
        needed = sorted(set().union({name}, *(names(text) & set(order) for text in mine)), key=order.index)
        texts = " and ".join(f"({text})" for text in mine)
        yield TP(name, Set(*values), eval(f"lambda {', '.join(needed)}: {texts}") if mine else None)


def on_c(kernel, folder):
    """A cost function for pyATF, whose own ones are for OpenCL, CUDA and whole programs."""
    from pyatf.tuning_data import CostFunctionError

    data, expected, number = kernel.data(), kernel.expected(folder), iter(range(10**9))
    clean = [value.copy() for value in data]

    def cost(config):
        try:
            function = kernel.compiled(config, folder, f"pyatf-{next(number)}")
        except subprocess.CalledProcessError as error:
            raise CostFunctionError(error.stderr) from error
        for value, was in zip(data, clean):
            if value.ndim:
                value[...] = was
        call(function, data)
        if kernel.wrong(expected, data):
            raise CostFunctionError("wrong result")
        return sum(call(function, data) for _ in range(LAUNCHES)) / LAUNCHES * 1e6

    return cost


def on_opencl(kernel):
    from pyatf.cost_functions import opencl

    def sized(text):
        used = sorted(names(text) & set(kernel.parameters))
        return eval(f"lambda {', '.join(used)}: {text}") if used else int(eval(text))

    source = kernel.file.read_text()
    cost = opencl.CostFunction(opencl.Kernel(source, kernel.function, kernel.options)).silent(True)
    cost.platform_id(0).device_id(0).kernel_args(*kernel.data())
    cost.global_size(*map(sized, kernel.items())).local_size(*map(sized, kernel.local()))
    # It would verify element by element in Python, so it does not: a wrong winner is found by the judge.
    return cost.warmups(1).evaluations(LAUNCHES)


def pyatf(kernel, seconds, seed, folder):
    """Its default search technique, the bandit."""
    import numpy
    from pyatf import Tuner
    from pyatf.abort_conditions import Duration

    random.seed(seed)
    numpy.random.seed(seed)
    cost = on_opencl(kernel) if kernel.opencl else on_c(kernel, folder)
    started = time.time()
    tuner = Tuner().verbosity(0).tuning_parameters(*range_and_constraint(kernel))
    _, _, data = tuner.tune(cost, Duration(datetime.timedelta(seconds=seconds)))
    wall = time.time() - started
    evaluations = [
        {"at": entry.timestamp.timestamp() - started, "config": entry.configuration,
         "ms": entry.cost / 1e6 if entry.valid else None}
        for entry in data.history
    ]
    return evaluations, None, wall


TOOLS = {
    "Tunesmith": tunesmith,
    "Kernel Tuner, genetic": kernel_tuner("genetic_algorithm"),
    "Kernel Tuner, annealing": kernel_tuner("simulated_annealing"),
    "Kernel Tuner, hybrid": kernel_tuner("hybrid_vndx"),
    "Kernel Tuner, tabu-greywolf": kernel_tuner("adaptive_tabu_greywolf"),
    "pyATF": pyatf,
}


def main():
    tool, problem, limits, seconds, seed, out = sys.argv[1:]
    kernel, seconds = Kernel(problem, json.loads(pathlib.Path(limits).read_text())), float(seconds)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        os.chdir(name)
        os.environ["POCL_CACHE_DIR"] = f"{name}/pocl"
        os.mkdir(f"{name}/pocl")
        evaluations, winner, wall = TOOLS[tool](kernel, seconds, int(seed), pathlib.Path(name))
    in_time = [one for one in evaluations if one["at"] <= seconds]
    correct = [one for one in in_time if one["ms"]]
    if winner is None and correct:
        winner = min(correct, key=lambda one: one["ms"])["config"]
    pathlib.Path(out).write_text(json.dumps({"evaluations": in_time, "winner": winner, "wall": wall}))


if __name__ == "__main__":
    main()
