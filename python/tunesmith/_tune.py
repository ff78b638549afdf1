"""Tuning runs."""

from __future__ import annotations

from . import _native
from ._errors import Interrupted, Remark, RequestError, RunError
from ._paths import path_text, path_texts
from ._problem import Problem
from ._run import Run
from ._settings import settings
from ._space import Space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Union

    from ._paths import Path, Paths
    from ._space import Config, Value

    Objective = Callable[[Config], Any]
    Display = Callable[[int, Union[int, None], int, Union[float, None]], None]


def tune(
    problem: Problem | Objective,
    space: Space | Mapping[str, Iterable[Value]] | None = None,
    *,
    strategy: str | None = None,
    stop: str | int | None = None,
    objective: str | Iterable[str] | None = None,
    seed: int | None = None,
    start: Mapping[str, Value] | None = None,
    history: Paths = (),
    model: Path | None = None,
    device: str | None = None,
    jobs: int | None = None,
    room: int | None = None,
    sandbox: bool = True,
    profile: bool = False,
    out: Path | None = None,
    resume: bool = False,
    keep_going: bool = False,
    remeasure: bool = True,
    name: str | None = None,
    progress: bool | Display | None = None,
) -> Run:
    """Finds the best configuration, and returns the run.

    Args:
        problem: A `Problem`, whose kernels run in worker processes. Or a function that takes a
            configuration, a dict, and returns its time in seconds, or a list of times. An exception is
            then a failure of this configuration: a `TimeoutError` a timeout, an `AssertionError` a wrong
            result, a `Failure` what it says, and any other a run-time failure with the name of its
            class.
        space: For a function, the space, or the values of each parameter. A problem has its own.
        strategy: The strategy, such as `"random"` or `"annealing(temperature=0.1)"`.
        stop: The condition that ends the run, such as `"time 60s or cost 2ms"`, or a number of
            evaluations. The default is 200.
        objective: For a problem, what is optimised, such as `"maximise gflops"`; several make a front. For a
            function, the name of what it returns, such as `"minimise cost"`: a number of any sign. Without
            it, a function returns its time in seconds.
        seed: The seed of the strategy.
        start: A configuration to evaluate first. Parameters without a value are as in the default.
        history: Recordings of the same kernel or function elsewhere.
        model: A model that guides the strategy.
        device: For a problem, the device: `"c"`, `"opencl"`, `"cuda:1"`, `"replay:FILE"`, ... The default
            is the one that its kernels are written for.
        jobs: Maximum number of compilations at a time.
        room: Maximum number of configurations that the strategy asks ahead.
        sandbox: False runs kernels without the sandbox.
        profile: True reads the hardware counters of every configuration.
        out: The journal. Without it, the journal of a problem file lies beside the file, and any other
            lives as long as the run.
        resume: True to continue the journal.
        keep_going: True to go on if the first ten configurations fail in the same way.
        remeasure: False for a function that always gives the same answer. The run then measures
            nothing twice.
        name: For a function, the name in reports. The default is the function's.
        progress: False shows no progress. The default shows a bar of `tqdm`, if that is installed and
            someone is looking. A function is called with the number of evaluations, its limit or
            `None`, the number of failures, and the best time in milliseconds or `None`.

    Raises:
        RequestError: The request is wrong. Nothing was measured.
        RunError: A device or the disk failed, or all configurations fail alike.
        Interrupted: Ctrl-C ended the run. The exception has the run so far.
    """
    given = settings(
        strategy=strategy,
        stop=f"evaluations {stop}" if isinstance(stop, int) else stop,
        objective=objective if objective is None or isinstance(objective, str) else ",".join(objective),
        seed=seed,
        room=room,
        start=[(parameter, str(value)) for parameter, value in (start or {}).items()],
        history=path_texts(history, "history"),
        model=None if model is None else path_text(model, "model"),
        device=device,
        jobs=jobs,
        sandbox=sandbox,
        profile=profile,
        out=None if out is None else path_text(out, "out"),
        resume=resume,
        keep_going=keep_going,
    )
    if isinstance(problem, Problem):
        return _problem(problem, space, given, progress)
    return _function(problem, space, given, remeasure, name, progress)


def _problem(
    problem: Problem, space: object, given: dict[str, Any], progress: bool | Display | None
) -> Run:
    if space is not None:
        raise RequestError("a problem has its own space; leave out the argument `space`")
    with _display(progress) as display:
        recorded, error = _native.tune_problem(problem.native, given, display)
    return _concluded(Run(recorded), error)


def _function(
    function: Objective,
    space: Space | Mapping[str, Iterable[Value]] | None,
    given: dict[str, Any],
    remeasure: bool,
    name: str | None,
    progress: bool | Display | None,
) -> Run:
    if not callable(function):
        raise RequestError(f"{function!r} cannot be tuned; give a tunesmith.Problem, or a function of a configuration")
    if space is None:
        raise RequestError("a function is tuned over a space; give the values of its parameters, such as {\"X\": [1, 2]}")
    if given["device"] is not None:
        raise RequestError("the argument `device` is for problems; a function is its own device")
    space = space if isinstance(space, Space) else Space(space)
    with _display(progress) as display:
        recorded, error = _native.tune_function(function, name or _name(function), space, given, remeasure, display)
    return _concluded(Run(recorded), error)


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
