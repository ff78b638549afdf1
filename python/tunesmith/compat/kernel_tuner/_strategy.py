"""Kernel Tuner's strategies by the names of Tunesmith's."""

from __future__ import annotations

import difflib
import warnings

from tunesmith import strategies

from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The strategy that measures every configuration.
EXHAUSTIVE = "exhaustive"
# The same method.
EQUAL = {
    "brute_force": EXHAUSTIVE,
    "random_sample": "random",
    "basinhopping": "basin_hopping",
    "bayes_opt": "gaussian_process",
    "skopt": "gaussian_process",
    "diff_evo": "differential_evolution",
    "simulated_annealing": "annealing",
    "genetic_algorithm": "genetic",
    "pso": "swarm",
    "minimize": "nelder_mead",
    "greedy_ils": "iterated_local_search",
    "greedy_mls": "hill_climbing",
    "mls": "hill_climbing",
    "ordered_greedy_mls": "hill_climbing",
}
# Methods that are not here, and the nearest one.
NEAREST = {
    "dual_annealing": "annealing",
    "firefly_algorithm": "swarm",
    "pyatf_strategies": "round_robin",
    "hybrid_vndx": "iterated_local_search",
    "adaptive_tabu_greywolf": "tabu",
    "nsga2": "genetic",
    "nsga3": "genetic",
}
NAMES = (*EQUAL, *NEAREST)
# Evaluations of a strategy that was given no end.
DEFAULT_EVALUATIONS = 100
ENDS = ("max_fevals", "time_limit", "fraction")


def chosen(strategy: object, options: Mapping[str, Any] | None) -> tuple[str, str | None]:
    """Returns the strategy and its stop condition as Tunesmith writes them.

    Names of Tunesmith's own strategies are taken, too: `"default"` is the one that it recommends.
    """
    own = strategies()
    name = "brute_force" if strategy is None else strategy
    if not isinstance(name, str):
        raise Refused(f"strategy={strategy!r} is no name; Tunesmith's own strategies are {', '.join(own)}")
    ours = {**EQUAL, **NEAREST}.get(name, name)
    if name in NEAREST:
        warnings.warn(f"strategy={name!r} is not here; the nearest one, {ours!r}, runs in its place", stacklevel=3)
    if ours.partition("(")[0] not in own:
        near = difflib.get_close_matches(name, [*NAMES, *own], 1)
        meant = f" did you mean {near[0]!r}?" if near else ""
        raise Refused(f"strategy={name!r} has no equal here;{meant} known are {', '.join([*NAMES, *own])}")
    return ours, _stop(ours, dict(options or {}))


def _stop(strategy: str, options: dict[str, Any]) -> str | None:
    ends: list[str] = []
    if "max_fevals" in options:
        ends.append(f"evaluations {int(options['max_fevals'])}")
    if "time_limit" in options:
        ends.append(f"time {float(options['time_limit'])}s")
    if "fraction" in options:
        ends.append(f"fraction {float(options['fraction'])}")
    others = sorted(set(options) - set(ENDS))
    if others:
        warnings.warn(
            f"strategy_options has {', '.join(others)}, which belong to Kernel Tuner's own strategies and are left out",
            stacklevel=4,
        )
    if not ends and strategy != EXHAUSTIVE:
        ends.append(f"evaluations {DEFAULT_EVALUATIONS}")
    return " or ".join(ends) or None
