"""Kernel Tuner's `tune_kernel` over Tunesmith: change the import line, and a script runs as before.

    from tunesmith.compat.kernel_tuner import tune_kernel

The space, the verification and the results are those of Kernel Tuner 1.5. Tunesmith measures: each
configuration runs in a worker process, and its time is the kernel's own on OpenCL and CUDA. A C
function is timed from outside; the number that it returns is not used.

Arguments that Tunesmith has no equal for are refused by name: `Refused`, a `ValueError`.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from tunesmith import Problem, convert, tune

from . import _functions, _problem, _results, _strategies
from ._refused import Refused
from ._results import ErrorConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Union

    Number = Union[int, str, Callable[..., Any]]
    Source = Union[str, os.PathLike[str], Sequence[str]]

__all__ = ["ErrorConfig", "Refused", "run_kernel", "tune_kernel"]

# Arguments without an equal, and what to use instead.
WITHOUT_EQUAL = {
    "texmem_args": "Tunesmith has no texture memory; pass the data as a buffer",
    "observers": "Tunesmith records all samples, the energy and the clocks itself; see [metrics] in docs/problems.md",
    "parallel": "Tunesmith measures on one device at a time and compiles in parallel by itself",
    "objectives": "name one objective",
    "compiler": "set the environment variable CXX before the first run",
}


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
    cache: str | os.PathLike[str] | None = None,
    metrics: Mapping[str, Any] | None = None,
    simulation_mode: bool | None = None,
    parallel: None = None,
    observers: None = None,
    objective: str | None = None,
    objective_higher_is_better: bool | None = None,
    objectives: None = None,
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
        restrictions: Conditions on the parameters: strings, or functions that consist of one expression.
        answer: The correct contents of the outputs; `None` for every other argument.
        atol: The absolute tolerance. The relative one is 1e-5, as in `numpy.allclose`.
        verify: A function of the answers, the outputs and `atol` that says whether they are right.
        lang: `"C"`, `"OpenCL"` or `"CUDA"`, if the source does not tell.
        device: The number of the device; on OpenCL of those of `platform`.
        smem_args: CUDA: the bytes of dynamic shared memory, `{"size": ...}`.
        cmem_args: CUDA: the contents of constant memory by symbol.
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
        objective: `"time"`, or the name of a metric.
        objective_higher_is_better: True to maximise the objective.
        seed: The seed of the strategy.

    Returns:
        The results, one dictionary for each configuration, and facts about the run, with `best_config`.

    Raises:
        Refused: An argument has no equal in Tunesmith. The message names it.
    """
    _refuse(texmem_args=texmem_args, observers=observers, parallel=parallel, objectives=objectives,
            compiler=compiler)  # fmt: skip
    names = _problem.Names(tune_params)
    kernel = _problem.Kernel(kernel_name, kernel_source, lang)
    metrics = dict(metrics or {})
    goal = _Goal(objective or "time", bool(objective_higher_is_better), metrics, names)
    name, stop = _strategies.chosen(strategy, strategy_options)
    with tempfile.TemporaryDirectory(prefix="tunesmith-") as made:
        written = _problem.Arguments(kernel, arguments, answer, Path(made), judged=verify is not None)
        launch = _problem.launch(
            kernel, names, problem_size, (grid_div_x, grid_div_y, grid_div_z), block_size_names
        )  # fmt: skip
        file = _problem.write(
            Path(made), kernel, names, launch, written,
            _problem.constants(cmem_args, Path(made)) + _problem.shared_memory(smem_args, names),
            _problem.options(kernel.text, compiler_options, defines, names),
            _problem.constraints(restrictions, names),
            {"min_samples": int(iterations), "max_samples": int(iterations), "racing": False},
            goal.table, atol,
        )  # fmt: skip
        problem = Problem(file)
        if verify is not None:
            problem = _judged(problem, written, _Verification(verify, answer, atol, written))
        kept = _Kept(cache, bool(simulation_mode))
        run = tune(
            problem, strategy=name, stop=stop, seed=seed, objective=goal.text, progress=False if quiet else None,
            device=kept.replay or _device(kernel.language, device, platform), out=kept.journal, resume=kept.resumes,
        )  # fmt: skip
        results = _results.rows(run, metrics, goal.name)
        env: dict[str, Any] = {
            "device_name": run.device,
            "iterations": iterations,
            "compiler_options": compiler_options,
        }
        kept.write()
    env["best_config"] = _results.best(results, goal.name, goal.higher)
    if not quiet:
        _show(results, env["best_config"], goal.name, list(names.values), verbose)
    return results, env


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
    _refuse(texmem_args=texmem_args, compiler=compiler)
    # A space has a parameter at least.
    names = _problem.Names({"kernel_tuner_run": [1], **{name: [value] for name, value in params.items()}})
    kernel = _problem.Kernel(kernel_name, kernel_source, lang)
    found: list[Mapping[str, bytes]] = []
    with tempfile.TemporaryDirectory(prefix="tunesmith-") as made:
        written = _problem.Arguments(kernel, arguments, None, Path(made), judged=True)
        launch = _problem.launch(
            kernel, names, problem_size, (grid_div_x, grid_div_y, grid_div_z), block_size_names
        )  # fmt: skip
        file = _problem.write(
            Path(made), kernel, names, launch, written,
            _problem.constants(cmem_args, Path(made)) + _problem.shared_memory(smem_args, names),
            _problem.options(kernel.text, compiler_options, defines, names),
            [], {"min_samples": 1, "max_samples": 1, "final": False, "drift": False}, {}, 0,
        )  # fmt: skip
        run = tune(
            _judged(Problem(file), written, found.append), strategy="exhaustive", progress=False, keep_going=True,
            device=_device(kernel.language, device, platform), out=Path(made) / "run.jsonl",
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
        self.answer = answer
        self.atol = atol
        self.written = written

    def __call__(self, outputs: Mapping[str, bytes]) -> str | None:
        """Returns the fault, if there is one."""
        if self.verify(self.answer, self.written.results(outputs), atol=self.atol):
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


class _Goal:
    """The objective, in Kernel Tuner's words and in Tunesmith's."""

    def __init__(self, name: str, higher: bool, metrics: Mapping[str, Any], names: _problem.Names) -> None:
        self.name = name
        self.higher = higher
        self.table: dict[str, str] = {}
        if name == "time":
            if higher:
                raise Refused("objective_higher_is_better=True for the time: the slowest configuration is no goal here")
            self.text: str | None = None
            return
        if name not in metrics:
            known = ", ".join(["time", *metrics])
            raise Refused(f"objective={name!r} is none of the results {known}; add it to `metrics`")
        known_names = {*names.values, "time"}
        given = metrics[name]
        what = f"metrics[{name!r}]"
        text = _functions.expression(given, known_names, what) if callable(given) else str(given)
        self.table = {"objective": re.sub(r"\btime\b", "time_ms", text)}
        self.text = f"{'maximise' if higher else 'minimise'} objective"


class _Kept:
    """The cache of a call: a journal of Tunesmith, and Kernel Tuner's file beside it."""

    def __init__(self, cache: str | os.PathLike[str] | None, simulates: bool) -> None:
        self.file = None if cache is None else Path(os.fspath(cache))
        if self.file is not None and self.file.suffix != ".json":
            self.file = self.file.with_name(self.file.name + ".json")
        self.replay: str | None = None
        self.journal: Path | None = None
        self.resumes = False
        if simulates:
            if self.file is None or not self.file.is_file():
                raise Refused(f"simulation_mode needs a cache that exists, and {self.file} does not")
            self.replay = f"replay:{self.file}"
        elif self.file is not None:
            self.journal = self.file.with_suffix(".jsonl")
            self.resumes = self.journal.is_file()
            if self.file.is_file() and not self.resumes:
                raise Refused(
                    f"the cache {self.file} was not written by Tunesmith, which continues {self.journal}; name another "
                    "cache, or use simulation_mode"
                )

    def write(self) -> None:
        """Writes Kernel Tuner's file."""
        if self.journal is not None and self.file is not None:
            convert([self.journal], self.file, "kernel-tuner")


def _device(language: str, device: int, platform: int) -> str:
    return {"c": "c", "opencl": f"opencl:{platform}::{device}", "cuda": f"cuda:{device}"}[language]


def _show(
    results: list[dict[str, Any]], best: dict[str, Any] | None, objective: str, parameters: list[str], verbose: bool
) -> None:
    """Prints what Kernel Tuner prints: a line for each configuration, and the best."""
    for row in results:
        if "__error__" in row and not verbose:
            continue
        shown = ", ".join(f"{name}={row[name]}" for name in parameters)
        print(f"{shown}, {_numbers(row, parameters)}")
    if best is None:
        print("no configuration was correct")
        return
    print(f"best performing configuration for {objective}:")
    print(", ".join(f"{name}={best[name]}" for name in parameters) + ", " + _numbers(best, parameters))


def _numbers(row: Mapping[str, Any], parameters: Sequence[str]) -> str:
    """Returns the numbers of a result in print."""
    if "__error__" in row:
        return str(row["__error__"])
    left_out = {*parameters, "times", "benchmark_time"}
    return ", ".join(f"{name}={value:.3f}" for name, value in row.items() if name not in left_out)
