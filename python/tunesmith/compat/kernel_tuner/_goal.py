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

    from ._problem import Names


# The most objectives of a front.
MOST = 3


class Goal:
    """What is best: the least time, the best value of a metric, or the front of several of them."""

    def __init__(
        self, name: str | None, higher: bool | None, objectives: Any, metrics: Mapping[str, Any], names: Names
    ) -> None:
        given = {name or "time": higher} if objectives is None else _several(objectives)
        # True for each objective that is maximised.
        self.directions: dict[str, bool] = {one: _direction(one, given[one]) for one in given}
        # The table [metrics] of the problem, and the objectives over it; `None` is the time.
        self.table: dict[str, str] = {}
        texts: list[str] = []
        for number, (one, is_higher) in enumerate(self.directions.items()):
            if one == "time":
                texts.append("time")
                continue
            if one not in metrics:
                known = ", ".join(["time", *metrics])
                raise Refused(f"objective={one!r} is none of the results {known}; add it to `metrics`")
            key = f"objective_{number + 1}" if number else "objective"
            # Tunesmith refuses a metric that is called like a tuning parameter.
            while key in names.values:
                key += "_"
            self.table[key] = _expression(one, metrics, names)
            texts.append(f"{'maximise' if is_higher else 'minimise'} {key}")
        self.text: str | None = None if texts == ["time"] else ",".join(texts)

    @property
    def name(self) -> str:
        """The name of the objective; the names of several."""
        return ", ".join(self.directions)

    def best(self, results: Sequence[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]] | None:
        """Returns the best result; of several objectives, the results that no other one dominates."""
        names, higher = list(self.directions), list(self.directions.values())
        return get_best_config(results, names[0], higher[0]) if len(names) == 1 else get_pareto_results(results, names, higher)


def _several(objectives: Any) -> dict[str, bool | None]:
    if not hasattr(objectives, "items"):
        raise Refused(f"objectives={objectives!r}; give a dict that says of each whether higher is better")
    if not 1 <= len(objectives) <= MOST:
        raise Refused(f"objectives has {len(objectives)} entries; name one to {MOST}")
    return dict(objectives)


def _direction(name: str, higher: bool | None) -> bool:
    if higher is None and name not in OBJECTIVES:
        raise Refused(f"objective={name!r}: say by objective_higher_is_better which values are good")
    is_higher = OBJECTIVES[name] if higher is None else bool(higher)
    if name == "time" and is_higher:
        raise Refused("objective_higher_is_better=True for the time: the slowest configuration is no goal here")
    return is_higher


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
