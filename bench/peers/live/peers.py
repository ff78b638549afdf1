"""Runs Kernel Tuner or pyATF over all configurations; the last line is the result, as JSON.

    peers.py TOOL FOLDER
"""

import csv
import json
import pathlib
import sys
import time

from data import ALPHA, BETA, Live


def kernel_tuner(live, folder):
    from kernel_tuner import tune_kernel

    # It takes the work-group from parameters, so these two follow CONFIG.
    parameters = {"CONFIG": list(range(len(live.configs)))}
    for name in ("MDIMC", "NDIMC"):
        parameters[name] = sorted({config[name] for config in live.configs})
    triples = [(number, *live.local(number)) for number in range(len(live.configs))]
    started = time.perf_counter()
    results, _ = tune_kernel(
        "gemm", live.source, lambda p: live.groups(p["CONFIG"]), [live.a, live.b, live.c, ALPHA, BETA], parameters,
        grid_div_x=[], grid_div_y=[], block_size_names=["MDIMC", "NDIMC"],
        restrictions=[f"(CONFIG, MDIMC, NDIMC) in {triples}"],
        lang="OpenCL", compiler_options=live.options, answer=[None, None, live.expected, None, None], atol=1e-2, quiet=True,
    )
    wall = time.perf_counter() - started
    work = sum(r["compile_time"] + r["verification_time"] + r["benchmark_time"] for r in results) / 1e3
    correct = [result for result in results if isinstance(result["time"], float)]
    best = min(correct, key=lambda result: result["time"])
    return {"wall": wall, "own": (wall - work) / len(results), "best": best["CONFIG"], "best_ms": best["time"],
            "evaluations": len(correct)}


def time_launches(opencl):
    """Has every launch end before the next thing happens; gives the list that their seconds go to."""
    seconds, launch = [], opencl.enqueue_nd_range_kernel

    def timed(*arguments, **options):
        started = time.perf_counter()
        event = launch(*arguments, **options)
        event.wait()
        seconds.append(time.perf_counter() - started)
        return event

    opencl.enqueue_nd_range_kernel = timed
    return seconds


def pyatf(live, folder):
    from pyatf import TP, Interval, Tuner
    from pyatf.cost_functions import opencl
    from pyatf.search_techniques import Exhaustive

    launches = time_launches(opencl.cl)
    log = folder / "pyatf.csv"
    last = len(live.configs) - 1
    started = time.perf_counter()
    cost = opencl.CostFunction(opencl.Kernel(live.source, "gemm", live.options)).silent(True).platform_id(0).device_id(0)
    cost.kernel_args(live.a, live.b, live.c, ALPHA, BETA)
    cost.global_size(lambda CONFIG: live.items(CONFIG)[0], lambda CONFIG: live.items(CONFIG)[1])
    cost.local_size(lambda CONFIG: live.local(CONFIG)[0], lambda CONFIG: live.local(CONFIG)[1])
    # As many launches as Kernel Tuner makes.
    cost.warmups(1).evaluations(7).log_file(str(log))
    tuner = Tuner().verbosity(0).tuning_parameters(TP("CONFIG", Interval(0, last))).search_technique(Exhaustive())
    best, cost_ns, data = tuner.tune(cost)
    wall = time.perf_counter() - started
    cost.log_file("")
    with open(log) as lines:
        builds = [float(row["build_time_ns"]) / 1e9 for row in csv.DictReader(lines, delimiter=";") if row["build_time_ns"]]
    correct = sum(1 for entry in data.history if entry.valid)
    return {"wall": wall, "own": (wall - sum(builds) - sum(launches)) / len(live.configs),
            "best": best["CONFIG"], "best_ms": cost_ns / 1e6,
            "evaluations": correct}


if __name__ == "__main__":
    tool = {"Kernel Tuner": kernel_tuner, "pyATF": pyatf}[sys.argv[1]]
    print(json.dumps(tool(Live(sys.argv[2]), pathlib.Path(sys.argv[2]))))
