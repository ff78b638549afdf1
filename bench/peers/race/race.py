"""Races the tools, has the winners judged, and prints the table.

    race.py RESULTS

Reads its settings from the environment (see run). RESULTS is a folder that keeps what every tool
evaluated; searches that it has are not run again.
"""

import concurrent.futures
import json
import os
import pathlib
import queue
import statistics
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
NEAR = [0.05, 0.02]
WORTH_JUDGING = 1.10
MOST_JUDGED = 4
FRACTIONS = [8, 4, 2, 1]


@dataclass(frozen=True)
class Race:
    """A kernel, and the seconds that each search of it gets."""

    problem: str
    seconds: float

    @property
    def name(self):
        return pathlib.Path(self.problem).stem

    @classmethod
    def parse(cls, text):
        problem, _, seconds = text.rpartition(":")
        return cls(problem, float(seconds) * float(os.environ.get("SCALE") or 1))


@dataclass(frozen=True)
class Search:
    race: Race
    tool: str
    seed: int

    def file(self, results):
        tool = "".join(letter if letter.isalnum() else "-" for letter in self.tool)
        return results / f"{self.race.name}.{self.race.seconds:g}s.{tool}.{self.seed}.json"

    def run(self, results, cores):
        """Runs on a core that no other search has; a tool that fails has evaluated nothing."""
        core = cores.get()
        command = ["taskset", "-c", str(core), sys.executable, str(HERE / "search.py"), self.tool, self.race.problem]
        command += [str(results / "limits.json"), str(self.race.seconds), str(self.seed), str(self.file(results))]
        # A tool that hangs must not stop the race; what Kernel Tuner and pyATF do after their time is lost.
        limit = 3 * self.race.seconds + 60
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=ROOT)
            lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
            complaint = "" if done.returncode == 0 else lines[-1]
        except subprocess.TimeoutExpired:
            complaint = f"still running after {limit:.0f} s"
        cores.put(core)
        if complaint:
            print(f"{self.race.name}, {self.tool}, seed {self.seed}: {complaint}", file=sys.stderr)
            self.file(results).write_text(json.dumps({"evaluations": [], "winner": None, "wall": self.race.seconds}))


def incumbents(found):
    """The evaluations that were the best so far when they ended."""
    best, kept = float("inf"), []
    for one in sorted(found["evaluations"], key=lambda one: one["at"]):
        if one["ms"] and one["ms"] < best:
            best = one["ms"]
            kept.append(one)
    return kept


def worth_judging(found):
    """Configurations for the judge: the winner, and the last incumbents that are near the best of the search."""
    kept = incumbents(found)
    near = [one["config"] for one in kept if one["ms"] <= WORTH_JUDGING * kept[-1]["ms"]]
    return ([found["winner"]] if found["winner"] else []) + near[-MOST_JUDGED:]


def key(config):
    return json.dumps(config, sort_keys=True)


def judge(race, searched, results):
    """Milliseconds of every judged configuration in two passes; None for a wrong one. Empty if the judge fails."""
    configs = {key(config): config for found in searched.values() for config in worth_judging(found)}
    given, out = results / f"{race.name}.configs.json", results / f"{race.name}.judged.json"
    if os.environ.get("KEEP") and out.exists() and json.loads(given.read_text()) == list(configs.values()):
        return dict(zip(configs, json.loads(out.read_text())))
    given.write_text(json.dumps(list(configs.values())))
    seconds = os.environ.get("JUDGE") or "6"
    command = ["taskset", "-c", os.environ["CORES"].split()[0], sys.executable, str(HERE / "judge.py"), race.problem]
    try:
        subprocess.run([*command, str(results / "limits.json"), str(given), seconds, str(out)], check=True, cwd=ROOT)
    except subprocess.CalledProcessError as error:
        print(f"{race.name}: the judge failed with status {error.returncode}", file=sys.stderr)
        return {}
    return dict(zip(configs, json.loads(out.read_text())))


def time_to(found, judged, target):
    """When the search first had a configuration that the judge measured within the target."""
    for one in incumbents(found):
        passes = judged.get(key(one["config"]))
        if passes and statistics.fmean(passes) <= target:
            return one["at"]
    return None


def progress(found, judged, best, seconds):
    """best known / best so far at fractions of the time, by the tool's own times scaled to the judge's."""
    passes = judged.get(key(found["winner"])) if found["winner"] else None
    kept = incumbents(found)
    if not passes or not kept:
        return [0.0] * len(FRACTIONS)
    scale = statistics.fmean(passes) / kept[-1]["ms"]
    shares = []
    for fraction in FRACTIONS:
        so_far = [one["ms"] for one in kept if one["at"] <= seconds / fraction]
        shares.append(min(1.0, best / (so_far[-1] * scale)) if so_far else 0.0)
    return shares


def shown(moment, seconds):
    return f">{seconds:g}" if moment is None else f"{moment:.1f}"


@dataclass(frozen=True)
class Outcome:
    """The results of a tool's searches on a kernel: `shares` are best known / winner, `moments` those of each of NEAR,
    None if never."""

    tool: str
    evaluations: list
    wall: float
    shares: list
    lines: list
    moments: dict

    @property
    def share(self):
        return statistics.median(self.shares)

    def moment(self, near):
        """The median; a search that never came so near counts as later than all."""
        ordered = sorted(self.moments[near], key=lambda moment: float("inf") if moment is None else moment)
        return ordered[len(ordered) // 2]


def outcome(race, tool, found, judged, best):
    winners = [judged.get(key(one["winner"])) if one["winner"] else None for one in found]
    return Outcome(
        tool,
        [len(one["evaluations"]) for one in found],
        max(one["wall"] for one in found),
        [best / statistics.fmean(passes) if passes else 0.0 for passes in winners],
        [statistics.fmean(line) for line in zip(*(progress(one, judged, best, race.seconds) for one in found))],
        {near: [time_to(one, judged, (1 + near) * best) for one in found] for near in NEAR},
    )


def table(heads, rows):
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    print(flush=True)


def show(race, outcomes, judged, best):
    wrong = sum(passes is None for passes in judged.values())
    disagreement = max(abs(passes[0] / passes[1] - 1) for passes in judged.values() if passes)
    print(f"{race.name}: {race.seconds:g} s a search; best known {best:.4f} ms; {len(judged)} configurations judged,")
    print(f"{wrong} wrong; the two passes differ by up to {disagreement:.1%}\n")
    heads = ["tool", "evaluations", "wall s", "best known / winner", "median"]
    heads += [f"at T/{fraction}" if fraction > 1 else "at T" for fraction in FRACTIONS]
    rows = []
    for one in outcomes:
        cells = [one.tool, ", ".join(map(str, one.evaluations)), f"{one.wall:.1f}"]
        cells += [", ".join(f"{share:.3f}" for share in one.shares), f"{one.share:.3f}"]
        cells += [f"{share:.3f}" for share in one.lines]
        for near in NEAR:
            moments = ", ".join(shown(moment, race.seconds) for moment in one.moments[near])
            cells += [moments, shown(one.moment(near), race.seconds)]
        rows.append(cells)
    for near in NEAR:
        heads += [f"s to within {near:.0%}".replace("%", " %"), "median"]
    table(heads, rows)


def summary(outcomes):
    """Of each kernel the first tool of the list beside the best of the others, by medians."""
    rows = []
    for race, (ours, *others) in outcomes.items():
        best = max(others, key=lambda one: one.share)
        cells = [race.name, f"{ours.share:.3f}", f"{best.share:.3f} ({best.tool})"]
        for near in NEAR:
            soonest = min(others, key=lambda one: float("inf") if one.moment(near) is None else one.moment(near))
            cells.append(shown(ours.moment(near), race.seconds))
            cells.append(f"{shown(soonest.moment(near), race.seconds)} ({soonest.tool})")
        rows.append(cells)
    heads = ["kernel", "best known / ours", "the best other"]
    for near in NEAR:
        heads += [f"s to within {near:.0%}".replace("%", " %"), "the soonest other"]
    table(heads, rows)


def limits(results):
    """The limits of the devices that the constraints name, as Tunesmith reports them."""
    devices = json.loads(subprocess.check_output([os.environ["TUNESMITH"], "devices", "--json"]))["devices"]
    found = {}
    for device in devices:
        if device["backend"] in ("c", "opencl"):
            found.update(device["limits"])
    (results / "limits.json").write_text(json.dumps(found))


def main():
    results = pathlib.Path(sys.argv[1]).resolve()
    results.mkdir(parents=True, exist_ok=True)
    limits(results)
    races = list(map(Race.parse, os.environ["KERNELS"].split()))
    tools, seeds = os.environ["TOOLS"].split(";"), list(map(int, os.environ["SEEDS"].split()))
    searches = [Search(race, tool, seed) for race in races for seed in seeds for tool in tools]
    cores = queue.Queue()
    for core in os.environ["CORES"].split():
        cores.put(core)
    with concurrent.futures.ThreadPoolExecutor(cores.qsize()) as pool:
        list(pool.map(lambda one: one.run(results, cores), (one for one in searches if not one.file(results).exists())))
    searched = {one: json.loads(one.file(results).read_text()) for one in searches}
    # The searches are over: the judge has the machine for itself.
    outcomes = {}
    for race in races:
        judged = judge(race, {one: found for one, found in searched.items() if one.race == race}, results)
        correct = [statistics.fmean(passes) for passes in judged.values() if passes]
        if not correct:
            print(f"{race.name}: nothing correct was judged\n")
            continue
        best = min(correct)
        found = {tool: [searched[Search(race, tool, seed)] for seed in seeds] for tool in tools}
        outcomes[race] = [outcome(race, tool, found[tool], judged, best) for tool in tools]
        show(race, outcomes[race], judged, best)
    if len(tools) > 1:
        summary(outcomes)


if __name__ == "__main__":
    main()
