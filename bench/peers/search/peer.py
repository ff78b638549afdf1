"""Runs one search of one recording by one strategy of Kernel Tuner.

    peer.py CACHE STRATEGY SEED BUDGET

The process is its own, with a fresh search space and fresh caches. Prints one JSON document: the
time of every distinct evaluation in the order made (null for a failure), all evaluations asked, and
the CPU seconds of the search.
"""

import contextlib
import io
import json
import os
import sys
import time
import warnings

import kernel_tuner

warnings.simplefilter("ignore")


def restrictions(cache_path, parameters, cache):
    """The constraints of the recording when they give exactly its rows; else membership in the rows."""
    description = os.path.splitext(cache_path)[0] + ".space"
    if os.path.exists(description):
        with open(description) as file:
            constraints = json.load(file).get("constraints") or []
        if constraints and size(parameters, constraints) == len(cache):
            return constraints
    names = list(parameters)
    return lambda values: ",".join(str(values[name]) for name in names) in cache


def size(parameters, constraints):
    """How many configurations Kernel Tuner itself builds from the constraints."""
    from kernel_tuner.searchspace import Searchspace

    return Searchspace(parameters, constraints, 1_000_000_000).size


def main():
    cache_path, strategy, seed, budget = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with open(cache_path) as file:
        document = json.load(file)
    parameters, cache = document["tune_params"], document["cache"]
    limits = restrictions(cache_path, parameters, cache)
    silent = io.StringIO()
    started = time.process_time()
    with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
        results, _ = kernel_tuner.tune_kernel(
            document["kernel_name"],
            "",
            document.get("problem_size", 1),  # it refuses a cache of another one
            [],
            parameters,
            restrictions=limits,
            lang="C",
            quiet=True,
            strategy=strategy,
            strategy_options={"max_fevals": min(budget, len(cache))},
            cache=cache_path,
            simulation_mode=True,
            seed=seed,
        )
    seconds = time.process_time() - started
    seen, times = set(), []
    for result in results:
        key = ",".join(str(result[name]) for name in parameters)
        if key in seen or key not in cache:
            continue
        seen.add(key)
        recorded = cache[key]["time"]
        times.append(recorded if isinstance(recorded, (int, float)) else None)
    json.dump({"times": times[:budget], "asked": len(results), "seconds": seconds}, sys.stdout)


main()
