"""Tunesmith's strategies as a search method of Kernel Tuner.

Kernel Tuner compiles, runs and keeps the results, on any of its backends; Tunesmith decides what comes
next:

    from kernel_tuner import tune_kernel
    from tunesmith.compat.opt_alg import TunesmithSearch

    tune_kernel(..., strategy=TunesmithSearch("default", seed=1), strategy_options={"max_fevals": 50})

Where a search method is named by its file, as in T1 files and in autotuning_methodology, give this file
(`tunesmith.compat.opt_alg.__file__`) and the class `TunesmithSearch`.

The module needs Kernel Tuner 1.3 or later.
"""

# Kernel Tuner has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import math
import random
import sys
from typing import TYPE_CHECKING

from kernel_tuner.strategies.wrapper import OptAlg, OptAlgWrapper

from tunesmith import Failure, Search, Space

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# What Kernel Tuner returns for a configuration without a result.
WITHOUT_RESULT = sys.float_info.max


class TunesmithSearch(OptAlg):  # type: ignore[misc]
    """A search of Kernel Tuner by one of Tunesmith's strategies.

    Args:
        strategy: The strategy with its options, such as `"default"` or `"annealing(temperature=0.1)"`.
        seed: The seed of the strategy. The default draws one from Python's generator, which Kernel
            Tuner seeds.
    """

    def __init__(self, strategy: str = "default", seed: int | None = None) -> None:
        super().__init__()
        self.strategy = strategy
        self.seed = seed
        # Configurations come as Kernel Tuner lists them: there is nothing to scale and nothing to round.
        self.costfunc_kwargs = {"scaling": False, "snap": False}

    def __call__(self, func: Any, searchspace: Any) -> tuple[tuple[Any, ...], float]:
        """Searches until Kernel Tuner's budget is used up, which it tells by an exception."""
        names = list(searchspace.tune_params)
        space = space_of(searchspace.tune_params, searchspace.list)
        seed = random.getrandbits(32) if self.seed is None else self.seed
        search = Search(space, self.strategy, seed)
        best: tuple[tuple[Any, ...], float] = ((), WITHOUT_RESULT)
        while asked := search.ask(1):
            config = tuple(asked[0][name] for name in names)
            cost = func(config)
            best = min(best, (config, cost), key=lambda found: found[1])
            search.tell(asked[0], _told(cost))
        return best

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """Searches for `tune_kernel`, which calls this method of its argument `strategy`."""
        return OptAlgWrapper(self).tune(searchspace, runner, tuning_options)


def _told(cost: float) -> float | Failure:
    """Returns the cost as Tunesmith takes it: positive, and smaller for a better configuration.

    Kernel Tuner negates a value that is maximised.
    """
    if not math.isfinite(cost) or cost >= WITHOUT_RESULT:
        return Failure("runtime", "Kernel Tuner has no result for it")
    return cost if cost > 0 else 1 / max(-cost, sys.float_info.min)


_SPACES: dict[int, Space] = {}


def space_of(parameters: dict[str, Sequence[Any]], rows: Iterable[tuple[Any, ...]]) -> Space:
    """Returns the space that has exactly `rows`, each with one value for every parameter.

    A space that was built before is used again: benchmarks search the same one a hundred times.
    """
    rows = list(rows)
    key = hash((tuple(parameters), tuple(map(tuple, parameters.values())), tuple(rows)))
    if key not in _SPACES:
        _SPACES[key] = Space.of_rows(parameters, rows)
    return _SPACES[key]
