"""Simulation: a cache of Kernel Tuner answers in place of a device.

The rows of the cache are the results, with all that they have recorded. The search gets what it needs of
them by a file for itself: the configurations, their costs, and the numbers that are the objectives.
"""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import json
import math
import warnings

import numpy

from . import _results, util
from ._cache import cache_file, read_cache
from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from tunesmith import Run

    from ._goal import Goal
    from ._parameters import Names

    Row = dict[str, Any]

# The parts of a cost that Kernel Tuner's clock counts when it simulates.
COSTS = ("compile_time", "verification_time", "benchmark_time")
FAILURES = {one.__name__: one for one in (
    util.ErrorConfig, util.InvalidConfig, util.CompilationFailedConfig, util.RuntimeFailedConfig,
)}  # fmt: skip


class Simulation:
    """A cache of Kernel Tuner as the device of a call.

    Attributes:
        file: The user's file.
        device: The device that was measured.
        metrics: The metrics of the call.
        numbers: The names of the numbers that correct entries have.
    """

    def __init__(
        self, cache: Any, names: Names, kernel_name: str, problem_size: Any, metrics: Mapping[str, Any]
    ) -> None:
        if cache is None:
            raise Refused("simulation_mode needs a cache that exists; name one by `cache`")
        self.file = cache_file(cache)
        self._document = read_cache(cache)
        self._names = names
        self.metrics = metrics
        self._check(kernel_name, problem_size)
        # Tunesmith's value for each of the user's, of which the number 1 is no truth value.
        self._known: dict[str, dict[tuple[bool, Any], Any]] = {
            name: {_distinct(names.own(name, value)): value for value in values}
            for name, values in names.values.items()
        }
        self.device = str(self._document.get("device_name", "an unknown device"))
        self._entries: dict[tuple[Any, ...], tuple[str, Mapping[str, Any]]] = {}
        self._failures: dict[tuple[Any, ...], str] = {}
        for key, entry in self._document["cache"].items():
            row = self._native(entry)
            if row is not None:
                self._add(row, key, entry)
        self.numbers = ["time", *sorted(self._number_names() - {"time", *names.values})]
        self._results: dict[tuple[Any, ...], Row] = {}

    def _check(self, kernel_name: str, problem_size: Any) -> None:
        """Refuses a cache of another kernel, of other parameters or of another size."""
        document = self._document
        if document["kernel_name"] != kernel_name:
            raise self._other(f"the kernel {document['kernel_name']}", kernel_name)
        theirs, ours = document["tune_params_keys"], list(self._names.values)
        if sorted(theirs) != sorted(ours):
            raise self._other(f"the parameters {', '.join(theirs)}", ", ".join(ours))
        recorded = document.get("problem_size")
        if recorded is None or problem_size is None or callable(problem_size):
            return
        if _extents(recorded) != _extents(problem_size):
            raise self._other(f"problem_size {recorded}", problem_size)

    def _other(self, recorded: str, wanted: object) -> Refused:
        remedy = "name the cache of this kernel, or measure without simulation_mode"
        return Refused(f"the cache {self.file} is of {recorded}, not of {wanted}; {remedy}")

    def _native(self, entry: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Returns the values of an entry in Tunesmith's words; `None` if the call does not list one of them."""
        row = [known.get(_distinct(entry[name])) for name, known in self._known.items()]
        return None if None in row else tuple(row)

    def _add(self, row: tuple[Any, ...], key: str, entry: Mapping[str, Any]) -> None:
        self._entries[row] = key, entry
        word = failure(entry)
        if word:
            self._failures[row] = word
            return
        time: Any = entry.get("time")
        times = entry.get("times")
        if not _is_number(time) or not math.isfinite(time):
            raise Refused(
                f"entry \"{key}\" of the cache {self.file} has the time {time!r}; write a number of milliseconds or a "
                "failure such as \"RuntimeFailedConfig\""
            )
        if times and isinstance(times, list) and all(map(_is_number, times)):
            least, most = min(times), max(times)
            # Means of equal numbers may differ from them in the last digits.
            slack = 1e-9 * max(abs(least), abs(most))
            if not least - slack <= time <= most + slack:
                warnings.warn(
                    f"entry \"{key}\" of the cache {self.file} has the time {time}, outside of its samples {times}; "
                    "the simulation takes the time",
                    stacklevel=5,
                )

    def _number_names(self) -> set[str]:
        """Returns the names of the numbers of correct entries."""
        found: set[str] = set()
        for row, (_, entry) in self._entries.items():
            if row not in self._failures and not found >= entry.keys():
                found.update(name for name in entry.keys() - found if _is_number(entry[name]))
        return found

    def result(self, row: tuple[Any, ...]) -> Row:
        """Returns the result of a configuration: its entry, and the metrics.

        Raises:
            Refused: The cache has no such entry. Kernel Tuner, too, ends a simulation then.
        """
        if row not in self._entries:
            config = ", ".join(f"{name}={self._names.own(name, value)}" for name, value in zip(self._names.values, row))
            raise Refused(
                f"the cache {self.file} has no entry of {config}; add a restriction that excludes it, simulate by "
                "tune_cache, or measure it"
            )
        if row not in self._results:
            self._results[row] = result = dict(self._entries[row][1])
            word = self._failures.get(row)
            if word:
                result["__error__"] = FAILURES[word](f"recorded as {word} in {self.file}")
            else:
                _results.add_metrics(result, self.metrics)
        return self._results[row]

    def write(self, folder: Path, goal: Goal, has_time_limit: bool) -> Path:
        """Writes the file for the search, and returns it.

        Raises:
            Refused: The search has a time limit, and an entry does not have its costs.
        """
        entries = {",".join(map(str, row)): self._searched(row, goal, has_time_limit) for row in self._entries}
        names = self._names.values
        if not entries:
            raise Refused(f"the cache {self.file} has no entry with the values of tune_params; compare the two")
        document = {"device_name": self.device, "kernel_name": "k", "problem_size": 1, "tune_params_keys": list(names),
                    "tune_params": names, "objective": "time", "cache": entries}  # fmt: skip
        path = folder / "simulated.json"
        path.write_text(json.dumps(document))
        return path

    def _searched(self, row: tuple[Any, ...], goal: Goal, has_time_limit: bool) -> Row:
        key, entry = self._entries[row]
        costs = {name: float(entry[name]) for name in COSTS if _is_number(entry.get(name)) and entry[name] >= 0}
        if has_time_limit and len(costs) < len(COSTS):
            raise Refused(
                f"entry \"{key}\" of the cache {self.file} does not have {', '.join(COSTS)}, which time_limit counts in "
                "a simulation; use max_fevals"
            )
        searched = {**dict(zip(self._names.values, row)), **costs}
        if row in self._failures:
            return {**searched, "time": self._failures[row]}
        return {**searched, "time": entry["time"], "times": [entry["time"]], **self._objectives(row, goal)}

    def _objectives(self, row: tuple[Any, ...], goal: Goal) -> dict[str, float]:
        """Returns the finite values of the objectives by their keys.

        An exception of a metric counts when the search comes to the configuration, as in Kernel Tuner.
        """
        if not goal.keys:
            return {}
        try:
            result = self.result(row) if goal.uses(self.metrics) else self._entries[row][1]
        except Exception:
            self._results.pop(row, None)
            return {}
        found: dict[str, Any] = {key: result.get(name) for name, key in goal.keys.items()}
        return {key: float(value) for key, value in found.items() if _is_number(value) and math.isfinite(value)}

    def results(self, run: Run, goal: Goal, wall_ms: float) -> list[Row]:
        """Returns the results of a run. The parts of the time that only a search has are those of this one."""
        names = list(self._names.values)
        found: list[Row] = []
        for evaluation in run.evaluations:
            row = tuple(evaluation.config[name] for name in names)
            result = self.result(row)
            lacking = [one for one in goal.directions if "__error__" not in result and one not in result]
            if lacking:
                raise Refused(
                    f"entry \"{self._entries[row][0]}\" of the cache {self.file} has no `{lacking[0]}`, which is the "
                    "objective; add it to the entry, or remove the entry"
                )
            found.append(result)
        for result in found:
            result.update(strategy_time=0.0, framework_time=wall_ms / len(found))
        return found


def failure(entry: Mapping[str, Any]) -> str | None:
    """Returns the name of the failure that an entry records, under whatever key."""
    words = [value for value in entry.values() if isinstance(value, str) and value in FAILURES]
    return words[-1] if words else None


def totals(results: Sequence[Mapping[str, Any]], wall_ms: float) -> dict[str, Any]:
    """Returns the sums of what was simulated, in milliseconds, as far as all entries have it."""
    whole = [row for row in results if all(_is_number(row.get(part)) for part in COSTS)]
    simulated = sum(row[part] for row in whole for part in COSTS)
    facts: dict[str, Any] = {"simulation": True, "simulated_time": simulated}
    return {**facts, **_results.totals(results, wall_ms + simulated)} if len(whole) == len(results) else facts


def _is_number(value: object) -> bool:
    # Nearly all are floats, of which a cache has many.
    return type(value) is float or (isinstance(value, (int, float, numpy.number)) and not isinstance(value, bool))


def _distinct(value: Any) -> tuple[bool, Any]:
    """Returns a value that is equal to another one only if both are truth values or none is."""
    return type(value) is bool, value


def _extents(problem_size: Any) -> list[Any]:
    if isinstance(problem_size, (list, tuple, numpy.ndarray)):
        return [extent.item() if isinstance(extent, numpy.generic) else extent for extent in problem_size]
    return [problem_size]
