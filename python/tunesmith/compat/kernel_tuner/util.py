"""Holds what scripts take from `kernel_tuner.util`."""

from __future__ import annotations

from ._refused import refuse_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, NoReturn


class ErrorConfig(str):
    """The reason why a configuration has no time. As a text it is its class's name."""

    __slots__ = ("message",)

    message: str
    """The full message."""

    def __new__(cls, message: str = "") -> ErrorConfig:
        made = super().__new__(cls, cls.__name__)
        made.message = message
        return made

    def __repr__(self) -> str:
        return type(self).__name__


class InvalidConfig(ErrorConfig):
    """The device cannot run the configuration."""

    __slots__ = ()


class CompilationFailedConfig(ErrorConfig):
    """The configuration does not compile."""

    __slots__ = ()


class RuntimeFailedConfig(ErrorConfig):
    """The configuration fails when it runs, or its output is wrong."""

    __slots__ = ()


# The values of objectives that need no word about their direction: true if higher is better.
OBJECTIVES = {
    "time": False, "energy": False, "cost": False, "loss": False, "fitness": True, "GFLOP/s": True, "TFLOP/s": True,
    "GB/s": True, "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True,
}  # fmt: skip


def get_config_string(
    params: Mapping[str, object], keys: Collection[str] | None = None, units: Mapping[str, str] | None = None
) -> str:
    """Returns a configuration or a result as a line of text."""
    shown = [name for name in params if not keys or name in keys]
    return ", ".join(f"{name}={_compact(params[name])}{(units or {}).get(name, '')}" for name in shown)


def _compact(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def get_instance_string(params: Mapping[str, object]) -> str:
    """Returns the values of a configuration, joined by underscores."""
    return "_".join(str(value) for value in params.values())


def get_best_config(
    results: Sequence[dict[str, Any]], objective: str, objective_higher_is_better: bool = False
) -> dict[str, Any] | None:
    """Returns the result with the best value of the objective; `None` if all failed."""
    correct = [row for row in results if "__error__" not in row]
    if not correct:
        return None
    return (max if objective_higher_is_better else min)(correct, key=lambda row: row[objective])


def get_pareto_results(
    results: Sequence[dict[str, Any]], objectives: Sequence[str], objective_higher_is_better: Sequence[bool],
    mark_optima: bool = True,
) -> list[dict[str, Any]]:  # fmt: skip
    """Returns the results that no other one dominates: that is as good in every objective, and better in one."""
    correct = [row for row in results if "__error__" not in row]
    signs = [-1 if higher else 1 for higher in objective_higher_is_better]
    costs = [tuple(sign * row[name] for sign, name in zip(signs, objectives)) for row in correct]

    def dominated(own: tuple[Any, ...]) -> bool:
        return any(other != own and all(a <= b for a, b in zip(other, own)) for other in costs)

    front = [row for row, own in zip(correct, costs) if not dominated(own)]
    if mark_optima:
        for row in front:
            row["optimal"] = True
    return front


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
