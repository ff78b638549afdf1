"""Runs of Tunesmith in the form of Kernel Tuner's results."""

from __future__ import annotations

from datetime import datetime, timedelta

from ._strategy import EXHAUSTIVE
from .util import CompilationFailedConfig, InvalidConfig, RuntimeFailedConfig, get_config_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from tunesmith import Evaluation, Run

    from ._parameters import Names

# Kernel Tuner's classes of failures, by the statuses of Tunesmith.
FAILURES = {"compile": CompilationFailedConfig, "constraints": InvalidConfig, "infeasible": InvalidConfig}
# The parts of the time of a result, in milliseconds.
PARTS = ("framework_time", "strategy_time", "compile_time", "verification_time", "benchmark_time")


def rows(
    run: Run, names: Names, metrics: Mapping[str, Any], began: datetime, strategy: str | None
) -> list[dict[str, Any]]:
    """Returns one dictionary for each evaluation, in the order made, or of an exhaustive search in that of the space.

    Configurations that compile beside each other are measured as they are compiled.

    Args:
        run: The run.
        names: The parameters.
        metrics: Expressions and functions of a result, in order: each may use those before.
        began: The start of the run.
        strategy: The strategy as Tunesmith writes it.
    """
    found: list[tuple[list[int], dict[str, Any]]] = []
    before = 0.0
    for evaluation in run.evaluations:
        row = names.config(evaluation.config)
        if evaluation.is_correct and evaluation.times_ms:
            row["time"] = sum(evaluation.times_ms) / len(evaluation.times_ms)
            row["times"] = list(evaluation.times_ms)
        else:
            failure = FAILURES.get(evaluation.status, RuntimeFailedConfig)
            row["__error__"] = failure(evaluation.message or evaluation.status)
        row.update(_spent(evaluation, max(evaluation.clock - before, 0) * 1e3))
        before = evaluation.clock
        if "__error__" not in row:
            add_metrics(row, metrics)
        row["timestamp"] = str(began + timedelta(seconds=evaluation.clock))
        found.append((names.place(evaluation.config), row))
    if strategy == EXHAUSTIVE:
        found.sort(key=lambda placed: placed[0])
    return [row for _, row in found]


def _spent(evaluation: Evaluation, wall_ms: float) -> dict[str, float]:
    """Returns the parts of the time since the evaluation before. The first launch is the verified one."""
    compile_ms, first_ms = evaluation.compile_ms or 0.0, evaluation.warmup_ms or 0.0
    measured = sum(evaluation.times_ms)
    return {
        "compile_time": compile_ms,
        "verification_time": first_ms,
        "benchmark_time": measured,
        "strategy_time": 0.0,
        "framework_time": max(wall_ms - compile_ms - first_ms - measured, 0.0),
    }


def add_metrics(row: dict[str, Any], metrics: Mapping[str, Any]) -> None:
    """Adds the metrics to a correct result, in order: each may use those before."""
    for name, metric in metrics.items():
        row[name] = _metric(metric, row)


def _metric(metric: Any, row: dict[str, Any]) -> Any:
    if callable(metric):
        return metric(row)
    return eval(metric, {"__builtins__": {"min": min, "max": max, "abs": abs, "round": round}}, row)


def totals(results: Sequence[Mapping[str, Any]], wall_ms: float) -> dict[str, float]:
    """Returns the sums of the parts of the time, and what is left of the whole."""
    sums = {f"total_{part}": float(sum(row.get(part, 0.0) for row in results)) for part in PARTS}
    return {**sums, "overhead_time": wall_ms - sum(sums.values())}


def show(
    head: str, size: int, results: Sequence[Mapping[str, Any]], best: Any, objectives: Sequence[str],
    names: Sequence[str], metrics: Sequence[str], units: Mapping[str, str], verbose: bool,
) -> None:  # fmt: skip
    """Prints what Kernel Tuner prints: the head with the device, a line for each configuration, and the best."""
    print(head)
    if verbose:
        print(f"Searchspace has {size} configurations after restrictions.")
    for row in results:
        print(get_config_string(row, [*names, "time", *metrics], units))
        if verbose and "__error__" in row:
            print(f"skipping config: {row['__error__'].message}")
    if not best:
        print("no results to report")
        return
    if len(objectives) == 1:
        print(f"\nBEST PERFORMING CONFIGURATION FOR OBJECTIVE {objectives[0]}:")
    else:
        print(f"\nBEST PERFORMING CONFIGURATIONS FOR OBJECTIVES: {list(objectives)}:")
    front: list[Any] = best if len(objectives) > 1 else [best]
    for row in front:
        print(get_config_string(row, [*names, *objectives, *metrics], units))
