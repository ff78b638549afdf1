"""Prints the table of Kernel Tuner's strategies on recordings, by Tunesmith's definitions.

    table.py REPEATS BUDGET "STRATEGY ..." CACHE...

docs/recordings.md has the definitions. Every search runs in its own process (peer.py). Kernel Tuner
remembers neighbours of visited positions, so a search in a shared process would start with what an
earlier one learnt. There are as many processes at a time as processors. A search that ends before
its budget keeps its best. A search that fails is reported and left out.
"""

import concurrent.futures
import json
import math
import os
import subprocess
import sys

BUDGETS = [10, 25, 50, 100, 200, 400]
LEVELS = [1.10, 1.05, 1.01]
PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")


def search(cache, strategy, seed, budget):
    """What peer.py prints, or the last line of what it complained about."""
    command = [sys.executable, PEER, cache, strategy, str(seed), str(budget)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        return {"error": lines[-1]}
    return json.loads(done.stdout)


def best_so_far(times):
    best, curve = math.inf, []
    for time in times:
        best = min(best, math.inf if time is None else time)
        curve.append(best)
    return curve


def measures(searches, optimum, budget):
    """rel by budget, ERT by level, evaluations made and asked on average."""
    curves = [best_so_far(search["times"]) for search in searches]
    rel = [
        sum(optimum / curve[min(at, len(curve)) - 1] for curve in curves) / len(curves) for at in BUDGETS if at <= budget
    ]
    ert = []
    for level in LEVELS:
        first = [next((at + 1 for at, best in enumerate(curve) if best <= level * optimum), None) for curve in curves]
        used = sum(budget if at is None else at for at in first)
        ert.append(used / max(sum(at is not None for at in first), 0.5))
    made = sum(len(search["times"]) for search in searches) / len(searches)
    asked = sum(search["asked"] for search in searches) / len(searches)
    return rel, ert, made, asked


def geometric(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if min(numbers) > 0 else 0.0


def line(recording, strategy, rel, ert, made, asked):
    cells = [recording, strategy] + [f"{share:.3f}" for share in rel] + [f"{count:.0f}" for count in ert]
    print("| " + " | ".join(cells + [f"{made:.0f}", f"{asked:.0f}"]) + " |", flush=True)


def main():
    repeats, budget, strategies, caches = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(), sys.argv[4:]
    heads = [f"rel@{at}" for at in BUDGETS if at <= budget] + [f"ERT {level:.2f}" for level in LEVELS]
    print("| " + " | ".join(["recording", "strategy"] + heads + ["distinct", "asked"]) + " |")
    print("|" + "---|" * (len(heads) + 4))
    overall = {strategy: [] for strategy in strategies}
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count())
    for cache in caches:
        with open(cache) as file:
            entries = json.load(file)["cache"].values()
        optimum = min(entry["time"] for entry in entries if isinstance(entry["time"], (int, float)))
        name = os.path.splitext(os.path.basename(cache))[0]
        for strategy in strategies:
            searches = list(pool.map(lambda seed: search(cache, strategy, seed, budget), range(repeats)))
            for error in sorted({search["error"] for search in searches if "error" in search}):
                print(f"{name}, {strategy}: {error}", file=sys.stderr)
            searches = [search for search in searches if search.get("times")]
            if searches:
                found = measures(searches, optimum, budget)
                overall[strategy].append(found)
                line(name, f"{strategy} ({len(searches)})", *found)
    for strategy, found in overall.items():
        if found:
            rel, ert = ([geometric(column) for column in zip(*(each[part] for each in found))] for part in (0, 1))
            made, asked = (sum(each[part] for each in found) / len(found) for part in (2, 3))
            line("all (geometric mean)", strategy, rel, ert, made, asked)


main()
