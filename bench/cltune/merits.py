"""Tunes per filter size and runs each winner on the other filters: see `merits`."""

import json
import statistics
import subprocess
import sys

FILTERS = {"3x3": 1, "7x7": 3, "11x11": 5}  # name: half the width


def tunesmith(*arguments, may_fail=False):
    """What the command prints with --json; None where it may fail and the configuration is refused or not correct."""
    done = subprocess.run([binary, *arguments, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if may_fail and done.returncode in (1, 2):
        return None
    return sys.exit(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")


def tuned(half):
    """The best configuration for one filter size."""
    stop = f"evaluations {evaluations}"
    journal = f"target/cltune/merits-{half}.jsonl"
    result = tunesmith("tune", problem, "--size", f"HFS={half}", "--stop", stop, "--out", journal, "--quiet")
    return result["best"]["config"]


def for_filter(config, half):
    """The same choices for another filter: the parameters that follow from its size are computed anew."""
    adapted = dict(config)
    adapted["UNROLL_FACTOR"] = 1 if config["UNROLL_FACTOR"] == 1 else 2 * half + 1
    for direction in "XY":
        extra = -(-2 * half // config[f"WPT{direction}"]) if config["LOCAL"] == 2 else 0
        adapted[f"TB{direction}_XL"] = config[f"TB{direction}"] + extra
    return adapted


def measured(half, config):
    """Milliseconds and GFLOP/s of one configuration; None where this filter excludes it."""
    pairs = ",".join(f"{name}={value}" for name, value in for_filter(config, half).items())
    result = tunesmith("run", problem, "--size", f"HFS={half}", "--config", pairs, may_fail=True)
    return result and (result["time_ms"], result["gflops"])


def crossed(best):
    """Every winner on every filter: medians over rounds, each of which runs all of them, so that drift hits all."""
    cells = {(applied, source): [] for applied in FILTERS for source in FILTERS}
    for _ in range(rounds):
        for (applied, source), samples in cells.items():
            samples.append(measured(FILTERS[applied], best[source]))
    return {
        cell: tuple(map(statistics.median, zip(*samples))) if all(samples) else None for cell, samples in cells.items()
    }


def print_parameters(best):
    print("| parameter | " + " | ".join(FILTERS) + " |\n|---|" + "---|" * len(FILTERS))
    for name in next(iter(best.values())):
        print(f"| {name} | " + " | ".join(str(best[filter_][name]) for filter_ in FILTERS) + " |")


def print_merits(cells):
    print("| applied to a filter of | " + " | ".join(f"best of {source}" for source in FILTERS) + " | own best |")
    print("|---|" + "---|" * (len(FILTERS) + 1))
    for applied in FILTERS:
        own, gflops = cells[applied, applied]
        row = [f"{own / cells[applied, source][0]:.0%}" if cells[applied, source] else "excluded" for source in FILTERS]
        print(f"| {applied} | " + " | ".join(row) + f" | {own:.3f} ms, {gflops:.0f} GFLOP/s |")


binary, problem, evaluations, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
best = {name: tuned(half) for name, half in FILTERS.items()}
print_parameters(best)
print()
print_merits(crossed(best))
