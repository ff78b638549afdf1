"""Searches recordings by the strategies of several tools and prints one table of all.

    table.py RUNS "TOOL:STRATEGY/REPEATS/BUDGET ..." CACHE...

docs/recordings.md has the definitions of rel and ERT. Every search runs in its own process (peer.py).
A search that ends before its budget keeps its best. A search that fails is reported and left out.

Simulated seconds are the recorded costs of the distinct evaluations. rel@nc is the optimum over the best
so far after the seconds that n evaluations of the recording take on average; ERT in seconds counts the
seconds of a search where ERT counts evaluations. A number at more evaluations than a strategy's budget
is left out.

RUNS is a folder. It keeps the searches, one file for each recording and strategy; those that are there
are not run again. Each tool has its own Python in the folder of $VENVS.
"""

import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass

from recording import Recording

BUDGETS = [25, 50, 100, 200, 400]
LEVELS = [1.10, 1.05, 1.01]
PEER = pathlib.Path(__file__).resolve().parent / "peer.py"
VENVS = {"kernel_tuner": "search", "tunesmith": "search", "optuna": "optuna", "smac": "smac"}


@dataclass(frozen=True)
class Entrant:
    """A strategy of a tool, with the repeats and the evaluations that it gets."""

    name: str
    repeats: int
    budget: int

    @classmethod
    def parse(cls, text):
        name, repeats, budget = text.rsplit("/", 2)
        return cls(name, int(repeats), int(budget))

    @property
    def python(self):
        return os.path.join(os.environ["VENVS"], VENVS[self.name.partition(":")[0]], "bin", "python")


def kept(file):
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def searches(runs, entrant, cache):
    """What peer.py prints for every seed; runs those seeds that RUNS does not have."""
    file = runs / f"{pathlib.Path(cache).stem}.{entrant.name.replace(':', '.')}.{entrant.budget}.jsonl"
    done = {search["seed"] for search in kept(file)}
    missing = [str(seed) for seed in range(entrant.repeats) if seed not in done]
    if missing:
        command = [entrant.python, str(PEER), cache, entrant.name, str(entrant.budget), *missing]
        with open(file, "a") as output:
            subprocess.run(command, stdout=output, check=True)
    return [search for search in kept(file) if search["seed"] < entrant.repeats]


def best_so_far(search):
    """After each evaluation the simulated seconds and the best time."""
    best, clock, curve = math.inf, 0.0, []
    for time, cost in zip(search["times"], search["costs"]):
        clock += cost
        best = min(best, math.inf if time is None else time)
        curve.append((clock, best))
    return curve


def share(optimum, reached):
    """Mean of optimum over best; a search that has nothing correct counts as 0."""
    return statistics.fmean(optimum / best for best in reached)


def expected(first, used):
    """The expected effort to a first hit: all efforts over the successes, of which none counts as one half."""
    total = sum(end if hit is None else hit for hit, end in zip(first, used))
    return total / max(sum(hit is not None for hit in first), 0.5)


def measures(found, recording, budget):
    """Everything that the table shows of one recording and strategy, in its columns' order."""
    optimum, cost = recording.optimum(), recording.mean_cost()
    curves = [best_so_far(search) for search in found]
    ends = [curve[-1][0] for curve in curves]
    row = {}
    for at in (at for at in BUDGETS if at <= budget):
        row[f"@{at}"] = share(optimum, [curve[min(at, len(curve)) - 1][1] for curve in curves])
    for level in LEVELS:
        hits = [next((i for i, (_, best) in enumerate(curve) if best <= level * optimum), None) for curve in curves]
        row[f"ERT {level:.2f}"] = expected([None if i is None else i + 1 for i in hits], [budget] * len(curves))
        seconds = [None if i is None else curve[i][0] for curve, i in zip(curves, hits)]
        row[f"ERT {level:.2f} s"] = expected(seconds, ends)
    for at in (at for at in BUDGETS if at <= budget):
        reached = [min((best for clock, best in curve if clock <= at * cost), default=math.inf) for curve in curves]
        row[f"@{at}c"] = share(optimum, reached)
    row["asked / distinct"] = sum(s["asked"] for s in found) / sum(len(s["times"]) for s in found)
    row["CPU ms"] = 1e3 * sum(s["cpu"] for s in found) / sum(len(s["times"]) for s in found)
    return row


def geometric(numbers):
    return math.exp(statistics.fmean(map(math.log, numbers))) if min(numbers) > 0 else 0.0


COLUMNS = [f"@{at}" for at in BUDGETS] + [f"ERT {level:.2f}" for level in LEVELS]
COLUMNS += [f"@{at}c" for at in BUDGETS] + [f"ERT {level:.2f} s" for level in LEVELS] + ["asked / distinct", "CPU ms"]


def cell(column, value):
    if value is None:
        return ""
    if column.startswith("@"):
        return f"{value:.3f}".lstrip("0")
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def show(head, rows):
    print("| " + " | ".join([head] + COLUMNS) + " |")
    print("|" + "---|" * (len(COLUMNS) + 1))
    for name, row in rows:
        print("| " + " | ".join([name] + [cell(column, row.get(column)) for column in COLUMNS]) + " |", flush=True)
    print()


def main():
    runs, entrants, caches = pathlib.Path(sys.argv[1]), list(map(Entrant.parse, sys.argv[2].split())), sys.argv[3:]
    rows, overall = {cache: [] for cache in caches}, []
    for entrant in entrants:
        name = f"{entrant.name} ({entrant.repeats} x {entrant.budget})"
        for cache in caches:
            recording, found = Recording(cache), searches(runs, entrant, cache)
            for error in sorted({search["error"] for search in found if "error" in search}):
                print(f"{recording.name}, {entrant.name}: {error}", file=sys.stderr)
            found = [search for search in found if search.get("times")]
            if found:
                rows[cache].append((name, measures(found, recording, entrant.budget)))
        columns = [row for cache in caches for of, row in rows[cache] if of == name]
        if len(columns) == len(caches):
            overall.append((name, {column: geometric([row[column] for row in columns]) for column in columns[0]}))
    for cache in caches:
        show(pathlib.Path(cache).stem, rows[cache])
    show("all (geometric mean)", overall)


if __name__ == "__main__":
    main()
