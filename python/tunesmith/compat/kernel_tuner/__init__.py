"""Kernel Tuner's `tune_kernel` over Tunesmith: change the import line, and a script runs as before.

    from tunesmith.compat.kernel_tuner import tune_kernel

The space, the verification and the results are those of Kernel Tuner 1.5. Tunesmith measures: each
configuration runs in a worker process, and its time is the kernel's own on OpenCL, CUDA and HIP. A C
function is timed from outside; the number that it returns is not used.

Arguments that Tunesmith has no equal for are refused by name: `Refused`, a `ValueError`.
"""

from __future__ import annotations

import importlib
import os
import shutil
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from inspect import signature

from tunesmith import Problem, tune

from . import _parameters, _problem, _restrictions, _results, _simulation, _strategy, strategies
from ._cache import Cache, read_cache
from ._call import Simulated, device_name, temporary_folder
from ._goal import Goal
from ._refused import Refused, refuse_name
from ._simulation import Simulation
from ._t1 import tune_kernel_T1
from .util import ErrorConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from typing import Any, Union

    from tunesmith._paths import Path as AnyPath

    Number = Union[int, str, Callable[..., Any]]
    Source = Union[AnyPath, Callable[..., str], Sequence[Union[AnyPath, Callable[..., str]]]]

__all__ = ["ErrorConfig", "Refused", "run_kernel", "strategies", "tune_cache", "tune_kernel", "tune_kernel_T1"]

# Arguments without an equal, and what to use instead.
WITHOUT_EQUAL = {
    "texmem_args": "it fills texture references, which CUDA 12 removed. Tune a kernel that takes a texture object by a "
                   "problem file, as an argument with memory = \"image\" (docs/problems.md)",
    "observers": "samples, energy and clocks are recorded without one. To search by them, tune a problem file with an "
                 "objective such as \"energy\" (docs/energy.md), or with [metrics]",
    "parallel": "tune_kernel measures on one device, and compiles in parallel by itself. "
                "`tunesmith tune PROBLEM --fleet local:N` measures on several (docs/fleet.md)",
}  # fmt: skip
# What scripts import from the package itself, and the module that has it.
# Modules that are imported when a script asks for them.
MODULES = ("file_utils", "integration", "kernelbuilder", "observers", "utils")
ELSEWHERE = {"store_results": "integration", "create_device_targets": "integration"}


def tune_kernel(
    kernel_name: str,
    kernel_source: Source,
    problem_size: Number | Sequence[Number],
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: object = None,
    grid_div_y: object = None,
    grid_div_z: object = None,
    restrictions: object = None,
    answer: Sequence[Any] | None = None,
    atol: float = 1e-6,
    verify: Callable[..., Any] | None = None,
    verbose: bool = False,
    lang: str | None = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Mapping[str, Any] | None = None,
    cmem_args: Mapping[str, Any] | None = None,
    texmem_args: None = None,
    compiler: str | None = None,
    compiler_options: Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    log: object = None,
    iterations: int = 7,
    block_size_names: Sequence[str] | None = None,
    quiet: bool = False,
    strategy: str | None = None,
    strategy_options: Mapping[str, Any] | None = None,
    cache: AnyPath | None = None,
    metrics: Mapping[str, Any] | None = None,
    simulation_mode: bool | None = None,
    parallel: None = None,
    observers: None = None,
    objective: str | Sequence[str] | None = None,
    objective_higher_is_better: bool | Sequence[bool] | None = None,
    objectives: Mapping[str, bool] | None = None,
    seed: int | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Tunes a kernel as Kernel Tuner's function of this name does.

    Args:
        kernel_name: The function; in C++ and CUDA with its template arguments.
        kernel_source: The source, or its file. The files after the first are headers of it.
        problem_size: The extents of the grid before they are divided: numbers, expressions or functions.
        arguments: NumPy arrays for buffers, NumPy scalars for the rest, in the function's order.
        tune_params: The values of each parameter.
        grid_div_x: What divides the first extent; `block_size_x` by default. Likewise `grid_div_y`, `grid_div_z`.
        restrictions: Conditions on the parameters: strings, functions, pairs of a function and the names of its
            parameters, or objects of python-constraint.
        answer: The correct contents of the outputs; `None` for every other argument.
        atol: The absolute tolerance. The relative one is 1e-5, as in `numpy.allclose`.
        verify: A function of the answers, the outputs and, if it has such an argument, `atol` that says whether they are
            right.
        lang: `"C"`, `"OpenCL"`, `"CUDA"` or `"HIP"`, if the source does not tell.
        device: The number of the device; on OpenCL of those of `platform`.
        smem_args: CUDA and HIP: the bytes of dynamic shared memory, `{"size": ...}`.
        cmem_args: CUDA and HIP: the contents of constant memory by symbol.
        compiler_options: Options of the compiler.
        defines: Further macros. The parameters are macros in any case.
        iterations: The number of samples of each configuration.
        block_size_names: The parameters that name the extents of a work-group.
        quiet: True to print nothing.
        strategy: A strategy of Kernel Tuner, for which the same or a similar one runs, or one of Tunesmith's.
        strategy_options: `max_fevals`, `time_limit`, `fraction`. Others have no effect, with a warning.
        cache: A file of results, to which later calls add. Kernel Tuner can read it, too.
        metrics: Numbers of each result: expressions of parameters and `time` in milliseconds, or functions.
        simulation_mode: True to look up the results in `cache` instead of running the kernel.
        objective: `"time"`, the name of a metric, or of a number that a simulated cache has recorded.
        objective_higher_is_better: True to maximise the objective.
        objectives: Two or three objectives, each with true if higher is better, in place of `objective`.
        seed: The seed of the strategy.

    Returns:
        The results, one dictionary for each configuration, and facts about the run, with `best_config`. Of several
        objectives, that is a list: the results that no other one dominates.

    Raises:
        Refused: An argument has no equal in Tunesmith. The message names it.

    >>> import numpy
    >>> from tunesmith.compat.kernel_tuner import tune_kernel
    >>> source = '''float twice(float *y, const float *x) {
    ...     for (int i = 0; i < 64; i += STEP) for (int j = i; j < i + STEP; j++) y[j] = 2 * x[j];
    ...     return 0;
    ... }'''
    >>> x = numpy.ones(64, numpy.float32)
    >>> given = ["twice", source, 64, [numpy.zeros_like(x), x], {"STEP": [1, 2, 4]}]
    >>> results, env = tune_kernel(*given, answer=[2 * x, None], lang="C", quiet=True)
    >>> sorted(row["STEP"] for row in results)
    [1, 2, 4]
    """
    began, start = datetime.now(timezone.utc), time.perf_counter()
    names = _parameters.Names(tune_params)
    metrics = dict(metrics or {})
    goal = Goal(objective, objective_higher_is_better, objectives, metrics, names)
    chosen, stop = _strategy.chosen(strategy, strategy_options)
    printout = _Printout(quiet, verbose, list(names.values), list(goal.directions), list(metrics))
    given: dict[str, Any] = {"strategy": chosen, "stop": stop, "seed": seed, "objective": goal.text}
    if simulation_mode:
        simulation = Simulation(cache, names, kernel_name, problem_size, metrics)
        timed = "time_limit" in (strategy_options or {})
        given.update(progress=printout.progress)
        rules = _restrictions.constraints(restrictions, names)
        found = Simulated(simulation, lambda made: _problem.of_space(made, names, rules), goal, timed, given)
        best = goal.best(found.results)
        printout.show(f"Simulating: {simulation.device}", found.size, found.results, best, {})
        return found.results, found.env(iterations, compiler_options, best, (time.perf_counter() - start) * 1e3)
    _refuse(texmem_args=texmem_args, observers=observers, parallel=parallel)
    rules = _restrictions.constraints(restrictions, names)
    kernel = _problem.Kernel(kernel_name, kernel_source, lang, names, rules)
    kept = Cache(cache)
    rules += _problem.block_limit(kernel, names)
    with temporary_folder() as made, _compiler(compiler):
        written = _problem.Arguments(kernel, arguments, answer, made, judged=verify is not None)
        launch = _problem.Launch(names, problem_size, (grid_div_x, grid_div_y, grid_div_z), block_size_names)
        problem = _problem.write(
            made, kernel, names, launch, written,
            _problem.constants(cmem_args, made) + _problem.shared_memory(smem_args, names),
            _problem.options(kernel, launch, compiler_options, defines, names), rules,
            {"min_samples": int(iterations), "max_samples": int(iterations), **_problem.PLAIN},
            goal.table(metrics, names), atol,
        )  # fmt: skip
        if verify is not None:
            problem = _judged(problem, written, _Verification(verify, answer, atol, written))
        run = tune(
            problem, **given, progress=printout.progress, device=device_name(kernel.language, device, platform),
            out=kept.journal, resume=kept.resumes, keep_going=True,
        )  # fmt: skip
        results = _results.rows(run, names, metrics, began, chosen)
        head = {"device_name": run.device, "kernel_name": kernel_name, "objective": goal.name,
                "problem_size": "callable" if callable(problem_size) else problem_size}  # fmt: skip
        kept.write(head, names.own_values, results)
        size = run.space_size
    best = goal.best(results)
    env = {"device_name": run.device, "iterations": iterations, "compiler_options": compiler_options,
           "best_config": best, **_results.totals(results, (time.perf_counter() - start) * 1e3)}  # fmt: skip
    printout.show(f"Using: {run.device}", size, results, best, {} if kernel.language == "c" else {"time": "ms"})
    return results, env


class _Printout:
    """What a call prints."""

    def __init__(
        self, quiet: bool, verbose: bool, names: list[str], objectives: list[str], metrics: list[str]
    ) -> None:
        self.progress = False if quiet else None
        self._is_verbose = verbose
        self._names = names
        self._objectives = objectives
        self._metrics = metrics

    def show(
        self, head: str, size: int, results: Sequence[Mapping[str, Any]], best: Any, units: Mapping[str, str]
    ) -> None:
        """Prints the results, unless the call is quiet."""
        if self.progress is None:
            parts = (self._objectives, self._names, self._metrics, units, self._is_verbose)
            _results.show(head, size, results, best, *parts)


def tune_cache(
    cache_path: AnyPath, restrictions: Sequence[Any] | None = None, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Searches a cache file without running anything: `tune_kernel` with what the file says about the kernel.

    Args:
        cache_path: A cache of Kernel Tuner or of this module. The space is what it has results of.
        restrictions: Further conditions on the parameters.
        options: Further arguments of `tune_kernel`, such as `strategy`.
    """
    document = read_cache(cache_path, "cache_path")
    names = document["tune_params_keys"]
    known = [_kinds(row[name] for name in names) for row in document["cache"].values() if not _simulation.failure(row)]
    values = [document["tune_params"][name] for name in names]
    given: dict[str, Any] = {
        "kernel_name": document["kernel_name"], "kernel_source": "{}", "arguments": [],
        "problem_size": document.get("problem_size"), "tune_params": dict(zip(names, values)),
        "restrictions": [*_prefixes(names, values, known), *(restrictions or [])],
    }  # fmt: skip
    return tune_kernel(**{**given, **options}, cache=cache_path, simulation_mode=True)


def _prefixes(names: list[str], values: Sequence[Sequence[Any]], rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Returns restrictions on the first parameters of rows, for each number of them that excludes something.

    The space grows by one parameter after the other. So it never has many more configurations than there are rows.
    """
    found: list[Any] = []
    before = 1
    for count, listed in enumerate(values, 1):
        prefixes = {row[:count] for row in rows}
        if len(prefixes) < before * len(listed):
            found.append((_is_among(prefixes), names[:count]))
        before = len(prefixes)
    return found


def _is_among(rows: set[tuple[Any, ...]]) -> Callable[..., bool]:
    return lambda *row: _kinds(row) in rows


def _kinds(values: Iterable[Any]) -> tuple[Any, ...]:
    """Returns values with their kinds: the number 1 is no truth value."""
    return tuple((_parameters.kind(value), value) for value in values)


def run_kernel(
    kernel_name: str,
    kernel_source: Source,
    problem_size: Number | Sequence[Number],
    arguments: Sequence[Any],
    params: Mapping[str, Any],
    grid_div_x: object = None,
    grid_div_y: object = None,
    grid_div_z: object = None,
    lang: str | None = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Mapping[str, Any] | None = None,
    cmem_args: Mapping[str, Any] | None = None,
    texmem_args: None = None,
    compiler: str | None = None,
    compiler_options: Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    block_size_names: Sequence[str] | None = None,
    quiet: bool = False,
    log: object = None,
) -> list[Any]:
    """Runs a kernel once and returns its arguments, outputs with their new contents.

    Args:
        params: The value of each parameter. The other arguments are those of `tune_kernel`.

    Raises:
        Refused: An argument has no equal in Tunesmith. The message names it.
        RuntimeError: The kernel did not compile, or did not run.
    """
    _refuse(texmem_args=texmem_args)
    # A space has a parameter at least.
    names = _parameters.Names({"kernel_tuner_run": [1], **{name: [value] for name, value in params.items()}})
    kernel = _problem.Kernel(kernel_name, kernel_source, lang, names, [])
    found: list[Mapping[str, bytes]] = []
    with temporary_folder() as made, _compiler(compiler):
        written = _problem.Arguments(kernel, arguments, None, made, judged=True)
        launch = _problem.Launch(names, problem_size, (grid_div_x, grid_div_y, grid_div_z), block_size_names)
        problem = _problem.write(
            made, kernel, names, launch, written,
            _problem.constants(cmem_args, made) + _problem.shared_memory(smem_args, names),
            _problem.options(kernel, launch, compiler_options, defines, names), [],
            {"min_samples": 1, "max_samples": 1, **_problem.PLAIN}, {}, 0,
        )  # fmt: skip
        run = tune(
            _judged(problem, written, found.append), strategy="exhaustive", progress=False, keep_going=True,
            device=device_name(kernel.language, device, platform), out=made / "run.jsonl",
        )  # fmt: skip
        if run.best is None or not found:
            raise RuntimeError(run.evaluations[0].message or "the kernel did not run")
    return [
        argument if result is None else result for argument, result in zip(arguments, written.results(found[0]))
    ]


class _Verification:
    """Kernel Tuner's `verify`: a function of the answers and of the outputs."""

    def __init__(
        self, verify: Callable[..., Any], answer: Sequence[Any] | None, atol: float, written: _problem.Arguments
    ) -> None:
        self.verify = verify
        # Kernel Tuner gives the tolerance to functions with an argument of this name.
        self._takes_tolerance = "atol" in signature(verify).parameters
        self.answer = answer
        self.atol = atol
        self.written = written

    def __call__(self, outputs: Mapping[str, bytes]) -> str | None:
        """Returns the fault, if there is one."""
        tolerance = {"atol": self.atol} if self._takes_tolerance else {}
        if self.verify(self.answer, self.written.results(outputs), **tolerance):
            return None
        return "the function `verify` finds the outputs wrong"


def _judged(
    problem: Problem, written: _problem.Arguments, judge: Callable[[Mapping[str, bytes]], str | None]
) -> Problem:
    """Returns the problem with a function that decides about its outputs."""
    problem.native = problem.native.judged(written.outputs, judge)
    return problem


def _refuse(**given: object) -> None:
    for name, value in given.items():
        if value is not None and value is not False:
            raise Refused(f"{name}={value!r} has no equal: {WITHOUT_EQUAL[name]}")


@contextmanager
def _compiler(name: str | None) -> Generator[None, None, None]:
    """Makes a compiler the one of C++, as the environment names it."""
    if name is None:
        yield
        return
    if shutil.which(name) is None:
        raise Refused(f"compiler={name!r} is not installed; name one that is, such as 'g++'")
    before = os.environ.get("CXX")
    os.environ["CXX"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["CXX"]
        else:
            os.environ["CXX"] = before


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in ELSEWHERE:
        return getattr(importlib.import_module(f"{__name__}.{ELSEWHERE[name]}"), name)
    refuse_name(__name__, name)
