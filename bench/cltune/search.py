"""Replays a recorded space with several strategies and prints what they find: see `run`."""

import csv
import gzip
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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


def table(path):
    """Milliseconds of every row of a CSV beside which a JSON file names the parameters; infinite where it failed."""
    names = json.loads(Path(path.removesuffix(".csv.gz") + ".json").read_text())["params"]
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    return {key({name: int(row[name]) for name in names}): float(row["time_ms"] or math.inf) for row in rows}


def recorded(path):
    """Relative performance of every recorded configuration: best time / its time, 0 when it is not correct."""
    if path.endswith(".csv.gz"):
        times = table(path)
    else:
        evaluated = [entry for entry in journal(path) if "depth" in entry]
        times = {key(entry["config"]): statistics.median(entry.get("times_ms") or [math.inf]) for entry in evaluated}
    best = min(times.values())
    return {config: best / time for config, time in times.items()}


@dataclass
class Experiment:
    """What all runs have in common; `space` is what `recorded` returns."""

    binary: str
    problem: str
    sizes: list
    recording: str
    repeats: int
    space: dict

    @property
    def budget(self):
        return int(os.environ.get("BUDGET") or max(1, len(self.space) // BUDGET_SHARE))

    def replay(self, strategy, seed):
        """Relative performance of what one run evaluated, in order; an explanation where there is no such strategy.

        Every run begins with a random configuration, as in the paper; otherwise all would begin with the default.
        """
        start = json.loads(random.Random(seed).choice(list(self.space)))
        with tempfile.TemporaryDirectory() as folder:
            out = f"{folder}/run.jsonl"
            command = [self.binary, "tune", self.problem, *self.sizes, "--device", f"replay:{self.recording}"]
            command += ["--strategy", strategy, "--seed", str(seed), "--stop", f"evaluations {self.budget}"]
            command += ["--start", ",".join(f"{name}={value}" for name, value in start.items())]
            command += ["--room", "1", "--out", out, "--json", "--quiet"]
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode not in (0, 1):
                return done.stderr.strip()
            return [self.space.get(key(entry["config"]), 0.0) for entry in journal(out)]

    def search(self, strategies):
        """The runs of every strategy that this build knows; of the others it prints what the build says."""
        runs = {}
        with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
            for strategy in strategies:
                first = self.replay(strategy, 0)
                if isinstance(first, str):
                    print(f"left out: {strategy}\n{first}\n", file=sys.stderr)
                    continue
                others = pool.map(lambda seed: self.replay(strategy, seed), range(1, self.repeats))
                runs[strategy] = [first, *others]
        return runs


def row(name, values):
    """One line of the table: statistics of relative performances, and the share within 5 % of the best."""
    near = sum(value >= 0.95 for value in values) / len(values)
    deviation = statistics.pstdev(values)
    numbers = [statistics.fmean(values), deviation, min(values), statistics.median(values), max(values), near]
    return f"| {name} | " + " | ".join(f"{100 * number:.1f}" for number in numbers) + " |"


def main():
    binary, problem, recording, repeats, *rest = sys.argv[1:]
    sizes, strategies = rest[: rest.index("--")], rest[rest.index("--") + 1 :] or STRATEGIES
    experiment = Experiment(binary, problem, sizes, recording, int(repeats), recorded(recording))
    runs = experiment.search(strategies)
    if not runs:
        sys.exit("no strategy could be run")

    found = {strategy: [max(run) for run in evaluated] for strategy, evaluated in runs.items()}
    found["whole space"] = list(experiment.space.values())
    title = f"{Path(problem).stem}, {repeats} runs of {experiment.budget} of {len(experiment.space)} configurations"
    print(f"{title}; % of the best known\n")
    print("| strategy | mean | deviation | least | median | most | within 5 % |\n|---|---|---|---|---|---|---|")
    for strategy, values in found.items():
        print(row(strategy, values))

    stem = Path("target/cltune") / Path(problem).stem
    progress, distribution = Path(f"{stem}-progress.svg"), Path(f"{stem}-distribution.svg")
    progress.write_text(drawing.progress(title, {name: evaluated[:TRACES] for name, evaluated in runs.items()}))
    distribution.write_text(drawing.violins(title, found))
    print(f"\n{progress}\n{distribution}")


if __name__ == "__main__":
    main()
