"""Kernel Tuner's `tune_kernel_T1`: the search that a file in the form T1 describes.

Tunesmith reads such files itself. This module returns the results in Kernel Tuner's form.
"""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import json
import re
import time
import warnings
from datetime import datetime, timezone
from pathlib import Path

from tunesmith import Problem, Remark, _native, tune
from tunesmith._paths import path_text

from . import _problem, _results, _strategy, file_utils
from ._cache import Cache
from ._call import Simulated, device_name, temporary_folder
from ._goal import Goal
from ._parameters import Names
from ._refused import Refused
from ._simulation import Simulation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tunesmith._paths import Path as AnyPath

    Results = list[dict[str, Any]]

# The option by which Kernel Tuner loads a class of a search.
OWN_SEARCH = "custom_search_method_path"
# Kernel Tuner's files always have a device. It counts by the argument `device` alone.
READ_HERE = re.compile("`(Device|SimulationInput)` of KernelSpecification is not read")


def tune_kernel_T1(
    input_filepath: AnyPath,
    cache_filepath: AnyPath | None = None,
    objective: str = "time",
    objective_higher_is_better: bool = False,
    simulation_mode: bool = False,
    output_T4: bool = True,
    iterations: int = 7,
    device: int | str | None = None,
    strategy: str | None = None,
    strategy_options: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Tunes the kernel of a file in the form T1.

    Args:
        input_filepath: The file.
        cache_filepath: The cache, as `cache` of `tune_kernel`. The default is `SimulationInput` of the file.
        objective: `"time"`; in a simulation also a number that the cache has recorded.
        objective_higher_is_better: True to maximise the objective.
        simulation_mode: True to look up the results in the cache instead of running the kernel.
        output_T4: True for documents in the form T4 in place of results.
        iterations: The number of samples of each configuration.
        device: The number of a device for the kernel's language, or its name. The default is the best one.
        strategy: A strategy as of `tune_kernel`, in place of `Search` of the file.
        strategy_options: `max_fevals`, `time_limit`, `fraction`, in place of `Budget` of the file.

    Returns:
        Facts about the machine and the results, both in the form T4. Or what `tune_kernel` returns.

    Raises:
        Refused: Something has no equal in Tunesmith. The message names it.
    """
    file = _File(path_text(input_filepath, "input_filepath"))
    search = file.search(strategy, dict(strategy_options or {}))
    problem = _problem_of(_native.Problem.load(file.path, []))
    _warn(problem)
    names = Names(problem.space().parameters)
    goal = Goal(objective, objective_higher_is_better, None, {}, names)
    given = {**search, "objective": goal.text, "progress": False}
    cache = file.cache if cache_filepath is None else path_text(cache_filepath, "cache_filepath")
    if simulation_mode:
        results, env = _simulated(file, problem, names, goal, cache, iterations, given)
    else:
        if goal.keys:
            raise Refused(
                f"objective={objective!r}: a measured run of a file in the form T1 minimises the time, because such a file "
                "has no metrics; use simulation_mode, or tune_kernel with metrics"
            )
        results, env = _measured(file, problem, names, cache, iterations, {**given, "device": file.device(device)})
    env["best_config"] = goal.best(results)
    if output_T4:
        return file_utils.get_t4_metadata(), file_utils.get_t4_results(results, names.values, objective)
    return results, env


def _simulated(
    file: _File, problem: Problem, names: Names, goal: Goal, cache: str | None, iterations: int, given: dict[str, Any]
) -> tuple[Results, dict[str, Any]]:
    start = time.perf_counter()
    simulation = Simulation(cache, names, file.kernel_name, file.problem_size, {})

    def plain(made: Path) -> Problem:
        return _measured_plainly(problem, made, names, iterations)

    simulated = Simulated(simulation, plain, goal, "time" in (given["stop"] or file.stop), given)
    return simulated.results, simulated.env(iterations, None, None, (time.perf_counter() - start) * 1e3)


def _measured(
    file: _File, problem: Problem, names: Names, cache: str | None, iterations: int, given: dict[str, Any]
) -> tuple[Results, dict[str, Any]]:
    began, start = datetime.now(timezone.utc), time.perf_counter()
    kept = Cache(cache)
    with temporary_folder() as made:
        problem = _measured_plainly(problem, made, names, iterations)
        out = kept.journal or made / "run.jsonl"
        run = tune(problem, **given, out=out, resume=kept.resumes, keep_going=True)
        results = _results.rows(run, names, {}, began, given["strategy"])
        head = {"device_name": run.device, "kernel_name": file.kernel_name, "objective": "time",
                "problem_size": file.problem_size}  # fmt: skip
    kept.write(head, names.own_values, results)
    facts: dict[str, Any] = {"device_name": run.device, "iterations": iterations, "compiler_options": None}
    return results, {**facts, **_results.totals(results, (time.perf_counter() - start) * 1e3)}


def _measured_plainly(problem: Problem, folder: Path, names: Names, iterations: int) -> Problem:
    """Returns the problem measured as Kernel Tuner measures."""
    plain = _problem.of_space(folder, names, [], {"min_samples": int(iterations), "max_samples": int(iterations)})
    return _problem_of(problem.native.with_policy_of(plain.native))


def _problem_of(native: _native.Problem) -> Problem:
    problem = Problem.__new__(Problem)
    problem.native = native
    return problem


def _warn(problem: Problem) -> None:
    """Warns of what Tunesmith's reader does not read, and this module neither."""
    for warning in problem.native.warnings:
        if not READ_HERE.search(warning):
            warnings.warn(warning, Remark, stacklevel=3)


class _File:
    """A file in the form T1, as far as Tunesmith's reader does not tell it.

    Attributes:
        path: Its path.
        kernel_name: The name of the kernel.
        problem_size: The size, as caches have it; `None` if the file has none.
        cache: The cache that the file names, or `None`.
        stop: The kinds of its budget, in Tunesmith's words.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except ValueError as error:
            raise Refused(f"{path} is no file in the form T1: {error}; name a whole JSON file") from None
        kernel = document.get("KernelSpecification") if isinstance(document, dict) else None
        if not isinstance(kernel, dict) or "KernelName" not in kernel:
            raise Refused(f"{path} is no file in the form T1: it has no KernelSpecification with a KernelName")
        self.kernel_name: str = kernel["KernelName"]
        self.problem_size: Any = kernel.get("ProblemSize")
        self._language = str(kernel.get("Language", "")).lower()
        named = kernel.get("SimulationInput")
        self.cache = None if named is None else self._beside(str(named))
        kinds = [one.get("Type") for one in document.get("Budget") or [] if isinstance(one, dict)]
        self.stop = " or ".join("time" if kind == "TuningDuration" else "evaluations" for kind in kinds)
        self._search = document.get("Search") or {}

    def _beside(self, name: str) -> str:
        """Returns the path of a file that the present folder has, or else the folder of this one."""
        return name if Path(name).is_file() else str(Path(self.path).parent / name)

    def search(self, strategy: str | None, options: dict[str, Any]) -> dict[str, str | None]:
        """Returns the strategy and its end as `tunesmith.tune` takes them; `None` for what the file says."""
        attributes = [one.get("Name") for one in self._search.get("Attributes") or [] if isinstance(one, dict)]
        if OWN_SEARCH in options or (strategy is None and OWN_SEARCH in attributes):
            raise Refused(
                f"{OWN_SEARCH} names a class of Kernel Tuner, which has no equal; name a strategy by `strategy`, "
                "such as 'default'"
            )
        own, stop = _strategy.chosen(strategy, options)
        has_end = any(end in options for end in _strategy.ENDS)
        return {"strategy": None if strategy is None else own, "stop": stop if has_end or not self.stop else None}

    def device(self, given: int | str | None) -> str | None:
        """Returns the name of the device of a call."""
        if given is None or isinstance(given, str):
            return given
        return device_name(_problem.language(self._language), int(given), 0)
