"""Tuning runs."""

from __future__ import annotations

import sys

from . import _native
from ._errors import Interrupted, Remark, RequestError, RunError
from ._run import Run
from ._space import Space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from os import PathLike
    from typing import Any, Union

    from ._space import Config, Value

    Path = Union[str, PathLike[str]]
    Objective = Callable[[Config], Any]
    Display = Callable[[int, Union[int, None], int, Union[float, None]], None]


def tune(
    problem: Objective,
    space: Space | Mapping[str, Iterable[Value]],
    *,
    strategy: str | None = None,
    stop: str | int | None = None,
    seed: int | None = None,
    start: Config | None = None,
    history: Iterable[Path] = (),
    model: Path | None = None,
    room: int | None = None,
    out: Path | None = None,
    resume: bool = False,
    keep_going: bool = False,
    remeasure: bool = True,
    name: str | None = None,
    progress: bool | Display | None = None,
) -> Run:
    """Finds the best configuration, and returns the run.

    Args:
        problem: A function that takes a configuration, a dict, and returns its time in seconds, or a
            list of times. An exception is a failure of this configuration: a `TimeoutError` a timeout,
            an `AssertionError` a wrong result, a `Failure` what it says, and any other a run-time
            failure with the name of its class.
        space: The space, or the values of each parameter.
        strategy: The strategy, such as `"random"` or `"annealing(temperature=0.1)"`.
        stop: The condition that ends the run, such as `"time 60s or cost 2ms"`, or a number of
            evaluations. The default is 200.
        seed: The seed of the strategy.
        start: A configuration to evaluate first.
        history: Recordings of the same function elsewhere.
        model: A model that guides the strategy.
        room: Maximum number of configurations that the strategy asks ahead.
        out: The journal. Without it, the journal lives as long as the run.
        resume: True to continue the journal `out`.
        keep_going: True to go on if the first ten configurations fail in the same way.
        remeasure: False for a function that always gives the same answer. The run then measures
            nothing twice.
        name: The name in reports. The default is the function's.
        progress: False shows no progress. The default shows a bar of `tqdm`, if that is installed and
            someone is looking. A function is called with the number of evaluations, its limit or
            `None`, the number of failures, and the best time in milliseconds or `None`.

    Raises:
        RequestError: The request is wrong. Nothing was measured.
        RunError: The disk failed, or all configurations fail alike.
        Interrupted: Ctrl-C ended the run. The exception has the run so far.
    """
    if not callable(problem):
        raise RequestError(f"{problem!r} cannot be tuned; give a function of a configuration")
    space = space if isinstance(space, Space) else Space(space)
    options = _options(strategy, stop, seed, start, history, model, room, out, resume, keep_going)
    name = name or _name(problem)
    with _display(progress) as display:
        recorded, error = _native.tune_function(problem, name, space, options, remeasure, display)
    return _concluded(Run(recorded), error)


def _options(
    strategy: str | None,
    stop: str | int | None,
    seed: int | None,
    start: Config | None,
    history: Iterable[Path],
    model: Path | None,
    room: int | None,
    out: Path | None,
    resume: bool,
    keep_going: bool,
) -> dict[str, Any]:
    if isinstance(stop, int):
        stop = f"evaluations {stop}"
    return {
        "strategy": strategy,
        "stop": stop,
        "objective": None,
        "seed": seed,
        "room": room,
        "start": [(name, str(value)) for name, value in (start or {}).items()],
        "history": list(history),
        "model": None if model is None else str(model),
        "keep_going": keep_going,
        "profile": False,
        "device": None,
        "jobs": None,
        "sandbox": True,
        "out": out,
        "resume": resume,
        "python": sys.executable or "",
        "folder": folder(),
    }


def folder() -> str:
    """Returns the folder of the native module."""
    from os.path import dirname

    return dirname(_native.__file__)


def _name(function: object) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return str(name).rsplit(".", 1)[-1].strip("<>")


def _display(progress: bool | Display | None) -> Any:
    from ._progress import display

    return display(progress)


def _concluded(run: Run, error: BaseException | None) -> Run:
    """Returns the run, or raises what ended it."""
    if run.notes:
        from warnings import warn

        for note in run.notes:
            warn(note, Remark, stacklevel=3)
    if isinstance(error, KeyboardInterrupt):
        raise Interrupted(run) from None
    if error is not None:
        raise error
    if run.gave_up:
        failed = RunError(f"{run.stop_reason}\nThe argument keep_going=True searches all the same.")
        failed.run = run
        raise failed
    return run
