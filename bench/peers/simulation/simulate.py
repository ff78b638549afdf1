"""Checks that Kernel Tuner's simulation mode runs on a cache file and finds its optimum.

    simulate.py CACHE...

Needs the package `kernel_tuner`. Searches each file by every strategy of the list below, and ends
with status 1 if one does not run through, or if the exhaustive one does not find the best time of
the file.
"""

import json
import sys
import warnings

import kernel_tuner

warnings.simplefilter("ignore")

STRATEGIES = ["brute_force", "random_sample", "genetic_algorithm", "greedy_ils"]


def best_of(cache):
    """The smallest time of a correct configuration in the file."""
    times = [entry["time"] for entry in cache["cache"].values()]
    return min(time for time in times if not isinstance(time, str))


def simulate(path, cache, strategy):
    """The best time that the tool finds by `strategy`."""
    names = list(cache["tune_params"])

    # A file lists what was measured. Its parameters alone may allow more. The tool rewrites the
    # text of a lambda, so that this is a function.
    def restriction(values):
        return ",".join(str(values[name]) for name in names) in cache["cache"]

    results, _ = kernel_tuner.tune_kernel(
        cache["kernel_name"], "__global__ void kernel() {}", 1, [], cache["tune_params"],
        restrictions=restriction, simulation_mode=True, cache=path, strategy=strategy,
        strategy_options={} if strategy == "brute_force" else {"max_fevals": 50},
        lang="C", quiet=True,
    )
    times = [result["time"] for result in results if not isinstance(result["time"], str)]
    return len(results), min(times, default=float("inf"))


def main(paths):
    failed = False
    for path in paths:
        with open(path) as file:
            cache = json.load(file)
        wanted = best_of(cache)
        for strategy in STRATEGIES:
            count, found = simulate(path, cache, strategy)
            is_found = found == wanted if strategy == "brute_force" else found >= wanted
            failed |= not is_found
            print(f"{path}  {strategy}: {count} configurations, best {found} ms of {wanted} ms"
                  f"{'' if is_found else '  WRONG'}")
    sys.exit(failed)


main(sys.argv[1:])
