"""Exceptions and warnings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._run import Run

KINDS = ("compile", "runtime", "timeout", "correctness", "constraints", "infeasible")


class Error(Exception):
    """The base of all errors of Tunesmith."""


class RequestError(Error, ValueError):
    """The request is wrong: a problem, a name or a value. The text says what to do."""


class RunError(Error, RuntimeError):
    """A device or the disk failed, or a run gave up because all configurations will fail.

    `run` is the run so far, or `None` if there is none.
    """

    run: Run | None = None


class Failure(Exception):
    """The failure of one configuration: raised by a tuned function, or told to a `Search`.

    >>> import tunesmith
    >>> raise tunesmith.Failure("compile", "too many registers")
    Traceback (most recent call last):
        ...
    tunesmith._errors.Failure: too many registers
    """

    kind: str

    def __init__(self, kind: str, message: str = "") -> None:
        if kind not in KINDS:
            raise RequestError(f"there is no failure {kind!r}; kinds are {', '.join(KINDS)}")
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[type[Failure], tuple[str, str]]:
        return Failure, (self.kind, str(self))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. `run` holds everything that was measured before.

    It is a `KeyboardInterrupt`, so that a program that does not expect it ends.
    """

    run: Run

    def __init__(self, run: Run) -> None:
        super().__init__(f"after {run.count} evaluations; `run` of this exception has them, and `out=` keeps them")
        self.run = run


class Remark(UserWarning):
    """A remark of a run that goes on, such as a constraint that the device cannot answer."""
