"""The objective of a search, in Kernel Tuner's words and in Tunesmith's."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import ast
import re

from . import _functions
from ._refused import Refused
from .util import OBJECTIVES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._problem import Names


class Goal:
    """What is best: the least time, or the best value of a metric."""

    def __init__(self, name: str | None, higher: bool | None, metrics: Mapping[str, Any], names: Names) -> None:
        self.name = name or "time"
        if higher is None and self.name not in OBJECTIVES:
            raise Refused(f"objective={self.name!r}: say by objective_higher_is_better which values are good")
        self.higher: bool = OBJECTIVES[self.name] if higher is None else bool(higher)
        # The table [metrics] of the problem, and the objective over it; `None` is the time.
        self.table: dict[str, str] = {}
        self.text: str | None = None
        if self.name == "time":
            if self.higher:
                raise Refused("objective_higher_is_better=True for the time: the slowest configuration is no goal here")
            return
        if self.name not in metrics:
            known = ", ".join(["time", *metrics])
            raise Refused(f"objective={self.name!r} is none of the results {known}; add it to `metrics`")
        self.table = {"objective": _expression(self.name, metrics, names)}
        self.text = f"{'maximise' if self.higher else 'minimise'} objective"


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
