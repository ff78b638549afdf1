"""Questions about recordings, models and devices."""

from __future__ import annotations

from . import _native
from ._paths import path_text, path_texts
from ._settings import settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ._paths import Path, Paths
    from ._problem import Problem
    from ._space import Value


def compare(
    recordings: Paths,
    strategies: str | Iterable[str],
    *,
    repeats: int = 20,
    budget: int = 400,
    seed: int = 0,
    noise: bool = False,
    history: Paths = (),
    model: Path | None = None,
) -> dict[str, Any]:
    """Compares strategies on recordings, and returns the document of `tunesmith compare --json`.

    Args:
        recordings: Journals, and recordings of other tools.
        strategies: Strategies, such as `"random"` or `"annealing(temperature=0.1)"`.
        repeats: The number of searches of each strategy on each recording.
        budget: The number of evaluations of each search.
        seed: The seed.
        noise: True if searches see samples drawn from the recorded noise.
        history: Recordings whose times strategies are told.
        model: The counter model of strategies.

    Raises:
        RequestError: A recording or a strategy is wrong.

    >>> import tunesmith
    >>> run = tunesmith.tune(lambda config: config["X"] * 1e-3, {"X": range(1, 21)}, remeasure=False, progress=False)
    >>> document = tunesmith.compare(run.journal, ["random", "annealing"], repeats=3, budget=10)
    >>> [result["strategy"] for result in document["results"]]
    ['random', 'annealing']
    """
    document: dict[str, Any] = _native.compare(
        path_texts(recordings, "recordings"), [strategies] if isinstance(strategies, str) else list(strategies),
        repeats, budget, seed, noise, path_texts(history, "history"),
        None if model is None else path_text(model, "model"),
    )  # fmt: skip
    return document


def predict(
    model: Path,
    inputs: Mapping[str, Value],
    *,
    device: str | None = None,
    problem: Problem | None = None,
    search: str = "auto",
    count: int = 10,
    seed: int = 0,
) -> dict[str, Any]:
    """Predicts the best configurations for an input without running anything.

    Returns the document of `tunesmith predict --json`: `config`, `predicted_speedup`,
    `predicted_time_ms`, and the `candidates`, the best first.

    Args:
        model: The timing model, of `tunesmith train timing`.
        inputs: The sizes of the input. Others are as in the training set.
        device: A part of the name of a device that the model knows.
        problem: The problem, whose space is then searched. It takes the sizes of the input.
        search: `"auto"`, `"exhaustive"`, `"grid"` or `"hc50"`.
        count: The number of candidates.
        seed: The seed of random draws.

    Raises:
        RequestError: The model cannot be read, or does not know a size or the device.
    """
    native = None if problem is None else problem.native
    document: dict[str, Any] = _native.predict(
        path_text(model, "model"), list(inputs.items()), device, native, search, count, seed
    )  # fmt: skip
    return document


def devices() -> dict[str, Any]:
    """Returns the usable `devices`, and of those that are `missing` the reason and the remedy.

    >>> import tunesmith
    >>> sorted(tunesmith.devices())
    ['devices', 'missing']
    """
    document: dict[str, Any] = _native.devices(settings())
    return document


def convert(inputs: Paths, out: Path, to: str | None = None) -> int:
    """Writes recordings of one space to a file in another format, and returns the number of rows.

    Args:
        inputs: Journals, and recordings of other tools.
        out: The file. An existing one is replaced, unless it is one of the recordings.
        to: "csv", "t4" or "kernel-tuner". The default is the format for the suffix of the file.

    Raises:
        RequestError: A recording cannot be read, or the recordings are of different subjects: kernel,
            device, sizes, parameters or objective.
    """
    return _native.convert(path_texts(inputs, "inputs"), path_text(out, "out"), to)
