"""Replays a recorded space with several strategies and shows what they find: see `run`."""

import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import drawing

# The paper's (section IV): annealing from a random configuration with three temperatures, swarms of 3 and 6 with
# alpha = gamma = 0.4 and beta = 0. The paper's temperatures are milliseconds of its kernels; ours are relative to the
# time of the first correct configuration. One request at a time, as in CLTune. Last, what is used when nobody chooses.
STRATEGIES = [
    "random",
    "annealing(temperature=0.02, explore=0)",
    "annealing(temperature=0.05, explore=0)",
    "annealing(temperature=0.2, explore=0)",
    "swarm(size=3, alpha=0.4, beta=0, gamma=0.4)",
    "swarm(size=6, alpha=0.4, beta=0, gamma=0.4)",
    "default",
]
BUDGET_SHARE = 32
TRACES = 3  # runs per strategy in the drawing of the progress


def journal(path):
    """The evaluations of a journal, in order; a cut last line is no evaluation."""
    for line in Path(path).read_text().splitlines()[1:]:
        try:
            entry = json.loads(line)
        except ValueError:
            return
        if "config" in entry and "status" in entry:
            yield entry


def key(config):
    """A configuration as a dictionary's key: indices are valid in one space only."""
    return json.dumps(config, sort_keys=True)


def recorded(path):
    """Relative performance of every recorded configuration: best time / its time, 0 when it is not correct."""
    times = {key(e["config"]): statistics.median(e.get("times_ms") or [math.inf]) for e in journal(path) if "depth" in e}
    best = min(times.values())
    return {config: best / time for config, time in times.items()}


def replay(strategy, seed):
    """Relative performance of what one run evaluated, in order; an explanation where the strategy is not to be had."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/run.jsonl"
        command = [binary, "tune", problem, *sizes, "--device", f"replay:{recording}", "--strategy", strategy]
        command += ["--seed", str(seed), "--stop", f"evaluations {budget}", "--room", "1", "--out", out]
        done = subprocess.run([*command, "--json", "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            return done.stderr.strip()
        return [space.get(key(entry["config"]), 0.0) for entry in journal(out)]


def searched(strategies):
    """The runs of every strategy this build knows; of the others it prints what it says."""
    runs = {}
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for strategy in strategies:
            first = replay(strategy, 0)
            if isinstance(first, str):
                print(f"left out: {strategy}\n{first}\n", file=sys.stderr)
                continue
            runs[strategy] = [first, *pool.map(lambda seed: replay(strategy, seed), range(1, repeats))]
    return runs


def row(name, values):
    """One line of the table: statistics of relative performances, and the share within 5 % of the best."""
    near = sum(value >= 0.95 for value in values) / len(values)
    deviation = statistics.pstdev(values)
    numbers = [statistics.fmean(values), deviation, min(values), statistics.median(values), max(values), near]
    return f"| {name} | " + " | ".join(f"{100 * number:.1f}" for number in numbers) + " |"


def print_table(found):
    print(f"{problem}: {len(space)} configurations, {repeats} runs of {budget} evaluations; % of the best known\n")
    print("| strategy | mean | deviation | least | median | most | runs within 5 % |\n|---|---|---|---|---|---|---|")
    for strategy, values in found.items():
        print(row(strategy, values))
    print(row("(the whole space)", list(space.values())))


binary, problem, recording, repeats = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
split = sys.argv.index("--")
sizes, wanted = sys.argv[5:split], sys.argv[split + 1 :] or STRATEGIES
space = recorded(recording)
budget = max(1, len(space) // BUDGET_SHARE)
runs = searched(wanted)
if not runs:
    sys.exit("no strategy could be run")
found = {strategy: [max(run) for run in evaluated] for strategy, evaluated in runs.items()}
print_table(found)
stem = Path(recording).with_suffix("")
title = f"{Path(problem).stem}, {repeats} runs of {budget} of {len(space)} configurations"
progress, distribution = Path(f"{stem}-progress.svg"), Path(f"{stem}-distribution.svg")
progress.write_text(drawing.progress(title, {strategy: list_[:TRACES] for strategy, list_ in runs.items()}))
distribution.write_text(drawing.violins(title, {**found, "whole space": list(space.values())}))
print(f"\n{progress}\n{distribution}")
