"""What the calls of this package share: temporary folders, the words of their errors, devices, simulations."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import re
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tunesmith import RequestError, RunError, tune

from . import _problem, _simulation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from typing import Any

    from tunesmith import Problem

    from ._goal import Goal


@contextmanager
def temporary_folder() -> Generator[Path, None, None]:
    """Makes a folder for a problem. Errors tell of the call, not of the folder's files, which nobody wrote."""
    with tempfile.TemporaryDirectory(prefix="tunesmith-") as made, _words_of_the_call(_problem.words(made)):
        yield Path(made)


@contextmanager
def _words_of_the_call(words: Mapping[str, str]) -> Generator[None, None, None]:
    """Replaces patterns in the errors of Tunesmith by words."""
    try:
        yield
    except (RequestError, RunError) as error:
        if isinstance(error, RunError) and error.run is not None:
            raise
        text = str(error)
        for pattern, word in words.items():
            text = re.sub(pattern, word.replace("\\", r"\\"), text)
        raise (RequestError if isinstance(error, RequestError) else RunError)(text) from None


def device_name(language: str, device: int, platform: int) -> str:
    """Returns the name of a device for a language."""
    names = {"c": "c", "opencl": f"opencl:{platform}::{device}", "cuda": f"cuda:{device}", "hip": f"hip:{device}"}
    return names[language]


class Simulated:
    """A search over a cache.

    Attributes:
        results: The results, in the order of the search.
        size: The size of the space.
    """

    def __init__(
        self, simulation: _simulation.Simulation, problem: Callable[[Path], Problem], goal: Goal, has_time_limit: bool,
        given: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """Searches.

        Args:
            simulation: The cache.
            problem: Makes the problem, whose space is searched, in a folder.
            goal: The objective.
            has_time_limit: True if the search ends by the recorded times.
            given: Further arguments of `tunesmith.tune`.
        """
        start = time.perf_counter()
        self._device = simulation.device
        goal.check([*simulation.numbers, *simulation.metrics], f" of the cache {simulation.file}")
        with temporary_folder() as made:
            file = simulation.write(made, goal, has_time_limit)
            with _words_of_the_call({re.escape(str(file)): str(simulation.file)}):
                run = tune(problem(made), device=f"replay:{file}", keep_going=True, out=made / "run.jsonl", **given)
            self.results: list[dict[str, Any]] = simulation.results(run, goal, (time.perf_counter() - start) * 1e3)
            self.size = run.space_size

    def env(self, iterations: int, compiler_options: Sequence[str] | None, best: Any, wall_ms: float) -> dict[str, Any]:
        """Returns the facts about the search that a call returns."""
        return {"device_name": self._device, "iterations": iterations, "compiler_options": compiler_options,
                "best_config": best, **_simulation.totals(self.results, wall_ms)}  # fmt: skip
