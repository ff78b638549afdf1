"""The objective of a search, in Kernel Tuner's words and in Tunesmith's."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import ast
import re

from . import _functions
from ._refused import Refused
from .util import OBJECTIVES, get_best_config, get_pareto_results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._parameters import Names


# The most objectives of a front.
MOST = 3


class Goal:
    """What is best: the least time, the best value of a metric or a recorded number, or the front of several.

    Attributes:
        directions: True for each objective that is maximised.
        keys: The number of Tunesmith that each objective is; the least time has none.
        text: The objectives as Tunesmith writes them; `None` for the time.
    """

    def __init__(
        self, name: Any, higher: Any, objectives: Any, metrics: Mapping[str, Any], names: Names
    ) -> None:
        given = _several(objectives) if objectives is not None else _listed(name or "time", higher)
        self.directions: dict[str, bool] = {one: _direction(one, given[one]) for one in given}
        self.keys: dict[str, str] = {}
        texts: list[str] = []
        for number, (one, is_higher) in enumerate(self.directions.items()):
            if one == "time" and not is_higher and "time" not in metrics:
                texts.append("time")
                continue
            key = f"objective_{number + 1}" if number else "objective"
            # Tunesmith refuses a metric that is called like a tuning parameter.
            while key in names.values:
                key += "_"
            self.keys[one] = key
            texts.append(f"{'maximise' if is_higher else 'minimise'} {key}")
        self.text: str | None = None if texts == ["time"] else ",".join(texts)

    def check(self, known: Sequence[str], where: str) -> None:
        """Refuses an objective that is none of the known numbers."""
        for one in self.keys:
            if one not in known:
                results = f"the results {', '.join(known)}{where}"
                raise Refused(f"objective={one!r} is none of {results}; add it to `metrics`")

    def table(self, metrics: Mapping[str, Any], names: Names) -> dict[str, str]:
        """Returns the objectives of a run that measures as the table [metrics] of a problem."""
        self.check(["time", *metrics], "")
        return {key: _expression(one, metrics, names) for one, key in self.keys.items()}

    def uses(self, metrics: Mapping[str, Any]) -> bool:
        """Returns true if a metric is an objective."""
        return any(one in metrics for one in self.directions)

    @property
    def name(self) -> str:
        """The name of the objective; the names of several."""
        return ", ".join(self.directions)

    def best(self, results: Sequence[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]] | None:
        """Returns the best result; of several objectives, the results that no other one dominates."""
        names, higher = list(self.directions), list(self.directions.values())
        return get_best_config(results, names[0], higher[0]) if len(names) == 1 else get_pareto_results(results, names, higher)


def _listed(objective: Any, higher: Any) -> dict[str, bool | None]:
    """Returns an objective and its direction. A list has several, whose directions are another one."""
    names: list[str] = [objective] if isinstance(objective, str) else list(objective)
    directions: list[Any] = list(higher) if isinstance(higher, (list, tuple)) else [higher] * len(names)
    if len(directions) != len(names):
        raise Refused(f"objective has {len(names)} entries, and objective_higher_is_better {len(directions)}")
    return dict(zip(names, directions))


def _several(objectives: Any) -> dict[str, bool | None]:
    if not hasattr(objectives, "items"):
        raise Refused(f"objectives={objectives!r}; give a dict that says of each whether higher is better")
    if not 1 <= len(objectives) <= MOST:
        raise Refused(f"objectives has {len(objectives)} entries; name one to {MOST}")
    return dict(objectives)


def _direction(name: str, higher: bool | None) -> bool:
    if higher is None and name not in OBJECTIVES:
        raise Refused(f"objective={name!r}: say by objective_higher_is_better which values are good")
    return OBJECTIVES[name] if higher is None else bool(higher)


def _expression(wanted: str, metrics: Mapping[str, Any], names: Names) -> str:
    """Returns a metric as an expression of parameters and of the time. It may use the metrics before it."""
    results: dict[str, str] = {**{name: name for name in names.values}, "time": "time_ms"}
    for name, metric in metrics.items():
        if callable(metric):
            try:
                results[name] = ast.unparse(_functions.returned(metric, results, f"metrics[{name!r}]"))
            except Refused:
                # Only the objective must be an expression, and what it uses.
                if name == wanted:
                    raise
                continue
        else:
            words = re.split(r"(\w+)", str(metric))
            results[name] = "".join(f"({results[word]})" if word in results else word for word in words)
        if name == wanted:
            break
    return results[wanted]
