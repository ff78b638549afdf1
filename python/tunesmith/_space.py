"""Search spaces."""

from __future__ import annotations

from . import _native
from ._errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Union

    Value = Union[int, float, bool, str]
    Config = dict[str, Value]
    Condition = Union[str, Callable[..., Any], tuple[Sequence[str], Callable[..., Any]]]
    Constraints = Union[Mapping[str, Condition], Iterable[Condition]]


class Space(_native.Space):
    """Tuning parameters with their values, and the constraints between them.

    A space is never listed: 10^30 configurations are counted, sampled and searched in milliseconds.

    Args:
        parameters: The values of each parameter: any iterable of int, float, bool or str.
        constraints: The conditions that every configuration fulfils, as a list, or by their meanings
            in a dict. A condition is an expression of Python's syntax, or a function whose arguments
            are named like the parameters that it reads. A pair of names and a function declares the
            parameters of a function that has other names.
        sizes: Named numbers that constraints use.

    >>> import tunesmith
    >>> space = tunesmith.Space(
    ...     {"TILE": tunesmith.pow2(8, 64), "THREADS": [1, 2, 3, 4]},
    ...     {"threads share the tile": "TILE % THREADS == 0", "N is divided": lambda TILE: 96 % TILE == 0},
    ... )
    >>> space.size
    9
    >>> {"TILE": 32, "THREADS": 4} in space, {"TILE": 64, "THREADS": 4} in space
    (True, False)
    >>> space.index({"TILE": 8, "THREADS": 2}), space[1]
    (1, {'TILE': 8, 'THREADS': 2})
    >>> space.neighbours({"TILE": 16, "THREADS": 4}, kind="adjacent")
    [{'TILE': 8, 'THREADS': 4}, {'TILE': 32, 'THREADS': 4}, {'TILE': 16, 'THREADS': 2}]
    """

    __slots__ = ()

    def __new__(
        cls,
        parameters: Mapping[str, Iterable[Value]],
        constraints: Constraints = (),
        *,
        sizes: Mapping[str, Value] | None = None,
    ) -> Space:
        """Builds the space.

        Raises:
            RequestError: A value or a constraint is wrong, or the constraints leave no configuration.
        """
        listed = [(name, _values(name, values)) for name, values in parameters.items()]
        conditions = listed_constraints(constraints)
        space: Space = super().__new__(cls, listed, conditions, list((sizes or {}).items()))
        return space

    @classmethod
    def of_rows(cls, parameters: Mapping[str, Iterable[Value]], rows: Iterable[Sequence[Value]]) -> Space:
        """Returns the space that has exactly `rows`, each with a value for every parameter.

        >>> import tunesmith
        >>> space = tunesmith.Space.of_rows({"A": [1, 2, 3], "B": [1, 2]}, [(1, 1), (3, 2)])
        >>> list(space)
        [{'A': 1, 'B': 1}, {'A': 3, 'B': 2}]

        Raises:
            RequestError: There are no rows, or a row has another length or a value that is not listed.
        """
        listed = [(name, _values(name, values)) for name, values in parameters.items()]
        return cls.of(_native.Space.with_rows(listed, [list(row) for row in rows]))

    @classmethod
    def of(cls, built: _native.Space) -> Space:
        """Returns a space that exists."""
        space: Space = super().__new__(cls, [], [], [], built)
        return space


def _values(name: str, values: Iterable[Value]) -> list[Value]:
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise RequestError(f"the values of parameter `{name}` are {values!r}; give a list, such as [{values!r}]")
    return list(values)


def listed_constraints(constraints: Constraints) -> list[tuple[str, str | Callable[..., Any], list[str]]]:
    """Returns the name, the condition and the scope of each constraint."""
    return [_constraint(name, condition) for name, condition in _named(constraints)]


def _named(constraints: Any) -> list[tuple[str, Condition]]:
    if isinstance(constraints, str):
        raise RequestError(f"the constraints are one text; give a list: [{constraints!r}]")
    if hasattr(constraints, "items"):
        return list(constraints.items())
    return [(_name(number, condition), condition) for number, condition in enumerate(constraints, 1)]


def _name(number: int, condition: Condition) -> str:
    if isinstance(condition, str):
        return condition
    name = getattr(condition, "__name__", "<lambda>")
    return f"constraint {number}" if name == "<lambda>" else str(name)


def _constraint(name: str, condition: Condition) -> tuple[str, str | Callable[..., Any], list[str]]:
    if isinstance(condition, str):
        return name, condition, []
    if callable(condition):
        return name, condition, _scope(name, condition)
    try:
        scope, function = condition
        return name, function, list(scope)
    except (TypeError, ValueError):
        raise RequestError(f"constraint `{name}` is {condition!r}; write an expression or a function") from None


def _scope(name: str, function: Callable[..., Any]) -> list[str]:
    from inspect import Parameter, signature

    arguments = signature(function).parameters.values()
    if any(one.kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for one in arguments):
        raise RequestError(
            f"constraint `{name}` does not say which parameters it reads; write the pair ([\"TILE\", \"N\"], function)"
        )
    return [one.name for one in arguments]
