"""Paths in all the forms that Python's `open` takes."""

from __future__ import annotations

import os

from ._errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Union

    Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
    Paths = Union[Path, Iterable[Path]]


class NoPath(RequestError, TypeError):
    """An argument that should be a path is of another type."""


def path_text(given: Path, argument: str) -> str:
    """Returns a path as a text.

    Args:
        given: The path.
        argument: The name of the argument, for messages.

    Raises:
        NoPath: `open` takes nothing of this type as a path.

    >>> path_text(b"runs/a.jsonl", "out")
    'runs/a.jsonl'
    """
    try:
        return os.fsdecode(given)
    except TypeError:
        raise NoPath(f"{_no_path(given, argument)}; give a path as str, bytes or os.PathLike") from None


def path_texts(given: Paths, argument: str) -> list[str]:
    """Returns paths as texts. A single path is a list of one.

    Raises:
        NoPath: `given` is neither a path nor a list of paths.
    """
    if isinstance(given, (str, bytes, os.PathLike)):
        return [path_text(given, argument)]
    if not hasattr(given, "__iter__"):
        raise NoPath(f"{_no_path(given, argument)}; give a list of paths")
    return [path_text(one, argument) for one in given]


def _no_path(given: object, argument: str) -> str:
    return f"the argument `{argument}` has the type {type(given).__name__}, which no path has"
