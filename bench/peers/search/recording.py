"""Holds a recording as the peers see it: parameters, constraints, and what each configuration costs."""

import json
import os


class Recording:
    """A cache in Kernel Tuner's format, with the description of the recording beside it as NAME.space."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        with open(path) as file:
            document = json.load(file)
        self.kernel, self.problem_size = document["kernel_name"], document.get("problem_size", 1)
        self.parameters, self.cache = document["tune_params"], document["cache"]
        description = os.path.splitext(path)[0] + ".space"
        self.constraints = []
        if os.path.exists(description):
            with open(description) as file:
                self.constraints = json.load(file).get("constraints") or []
        self.checks = [compile(constraint, "constraint", "eval") for constraint in self.constraints]

    def key(self, values):
        """The name of a configuration in the cache. `values` has one of every parameter."""
        return ",".join(str(values[name]) for name in self.parameters)

    def contains(self, values):
        return self.key(values) in self.cache

    def time(self, key):
        """Milliseconds of a configuration, or None for one that failed."""
        recorded = self.cache[key]["time"]
        return recorded if isinstance(recorded, (int, float)) else None

    def cost(self, key):
        """Simulated seconds of an evaluation: what replaying it adds to the clock (docs/recordings.md)."""
        entry = self.cache[key]
        parts = ("compile_time", "benchmark_time", "verification_time", "framework_time")
        return sum(entry.get(part) or 0.0 for part in parts) / 1e3

    def optimum(self):
        return min(time for time in map(self.time, self.cache) if time is not None)

    def mean_cost(self):
        return sum(map(self.cost, self.cache)) / len(self.cache)

    def violations(self, values):
        """For each constraint 1 where it is violated, else -1; membership, where constraints are not known."""
        if not self.checks:
            return [-1.0 if self.contains(values) else 1.0]
        return [-1.0 if eval(check, {}, dict(values)) else 1.0 for check in self.checks]


class Ledger:
    """Answers a peer that asks for one configuration after the other, and counts distinct evaluations."""

    def __init__(self, recording, budget):
        self.recording, self.budget = recording, min(budget, len(recording.cache))
        self.order, self.seen, self.asked = [], set(), 0

    def spent(self):
        """Ends a search that only repeats itself, too: it may ask ten times its budget."""
        return len(self.order) >= self.budget or self.asked >= 10 * self.budget

    def ask(self, values):
        """Milliseconds; None for a failure and for a configuration outside of the space, which costs nothing."""
        self.asked += 1
        key = self.recording.key(values)
        if key not in self.recording.cache:
            return None
        if key not in self.seen:
            self.seen.add(key)
            self.order.append(key)
        return self.recording.time(key)

    def worst(self):
        """The slowest correct time so far, which stands for failures where a peer needs a number."""
        times = [time for time in map(self.recording.time, self.order) if time is not None]
        return max(times, default=1.0)
