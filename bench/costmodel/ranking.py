"""Prints the measured times of the first configurations of a ranking by estimates.

    ranking.py RUN.jsonl ESTIMATES.json
"""

import json
import statistics
import sys


def measured(journal):
    """The median time of every correct configuration of a journal."""
    times = {}
    for line in open(journal):
        entry = json.loads(line)
        if entry.get("times_ms") and "config" in entry:
            times.setdefault(key(entry["config"]), []).extend(entry["times_ms"])
    return {config: statistics.median(samples) for config, samples in times.items()}


def key(config):
    return tuple(sorted(config.items()))


def main():
    times = measured(sys.argv[1])
    estimated = json.load(open(sys.argv[2]))
    best = min(times.values())
    # A configuration that failed when it was measured is as bad as none.
    ratios = [times.get(key(entry["config"]), float("inf")) / best for entry in estimated["best"]]
    print(f"{len(times)} variants measured: best {best:.3f} ms, median {statistics.median(times.values()) / best:.2f} times that")
    print("the first of the ranking, as multiples of the best: " + " ".join(f"{ratio:.2f}" for ratio in ratios))
    print(f"best of the first {len(ratios)}: {min(ratios):.3f}; modelled limit {estimated['limit_ms'] / best:.2f} of the best")


main()
