"""Runs of Tunesmith in the form of Kernel Tuner's results."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tunesmith import Run


class ErrorConfig(str):
    """The reason why a configuration has no time; it stands in the place of the time."""

    __slots__ = ("message",)

    message: str
    """The full message."""

    def __new__(cls, name: str, message: str) -> ErrorConfig:
        made = super().__new__(cls, name)
        made.message = message
        return made


# Kernel Tuner's names of failures, by the statuses of Tunesmith.
FAILURES = {
    "compile": "CompilationFailedConfig",
    "constraints": "InvalidConfig",
    "infeasible": "InvalidConfig",
}


def rows(run: Run, metrics: Mapping[str, Any], objective: str) -> list[dict[str, Any]]:
    """Returns one dictionary for each evaluation, in the order made."""
    found: list[dict[str, Any]] = []
    for evaluation in run.evaluations:
        row: dict[str, Any] = dict(evaluation.config)
        if evaluation.is_correct and evaluation.times_ms:
            row["time"] = sum(evaluation.times_ms) / len(evaluation.times_ms)
            row["times"] = list(evaluation.times_ms)
            row["benchmark_time"] = sum(evaluation.times_ms)
            for name, metric in metrics.items():
                row[name] = _metric(metric, row)
        else:
            name = FAILURES.get(evaluation.status, "RuntimeFailedConfig")
            row["time"] = ErrorConfig(name, evaluation.message or evaluation.status)
            row["__error__"] = row["time"]
            row[objective] = row["time"]
        found.append(row)
    return found


def _metric(metric: Any, row: dict[str, Any]) -> Any:
    if callable(metric):
        return metric(row)
    return eval(metric, {"__builtins__": {"min": min, "max": max, "abs": abs, "round": round}}, row)


def best(results: list[dict[str, Any]], objective: str, higher: bool) -> dict[str, Any] | None:
    """Returns the row with the best value of the objective."""
    correct = [row for row in results if "__error__" not in row]
    if not correct:
        return None
    return (max if higher else min)(correct, key=lambda row: row[objective])
