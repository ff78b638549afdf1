"""The tuning parameters of a call, and their values in the words of Tunesmith."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import numpy

from . import _functions
from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Union

    Value = Union[int, float, bool, str]


class Names:
    """The parameters of a search, and the expressions of functions over them.

    A parameter of Tunesmith has values of one type. Values of mixed types become texts, which are also
    their macros; results and functions get the values themselves.

    Attributes:
        values: The values of each parameter as Tunesmith has them.
        mixed: The parameters whose values are of mixed types.
    """

    def __init__(self, tune_params: Mapping[str, Sequence[Any]]) -> None:
        if not tune_params:
            raise Refused("tune_params is empty; there is nothing to tune")
        given = {name: [_value(value, name) for value in values] for name, values in tune_params.items()}
        self.values = {name: _alike(values, name) for name, values in given.items()}
        self.mixed = {name for name, values in given.items() if _are_mixed(values)}
        self._own: dict[str, dict[Any, Any]] = {
            name: dict(zip(self.values[name], values)) for name, values in given.items()
        }

    @property
    def own_values(self) -> dict[str, list[Any]]:
        """The user's values of each parameter."""
        return {name: list(known.values()) for name, known in self._own.items()}

    def own(self, name: str, value: Any) -> Any:
        """Returns the user's value for one of Tunesmith."""
        return self._own[name][value]

    def config(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a configuration with the user's values."""
        return {name: self.own(name, value) for name, value in config.items()}

    def place(self, config: Mapping[str, Any]) -> list[int]:
        """Returns the places of a configuration's values, by which the space is in order."""
        return [values.index(config[name]) for name, values in self.values.items()]

    def values_of(self, names: Iterable[str], row: Iterable[Any]) -> list[Any]:
        """Returns the user's values for those of some parameters."""
        return [self.own(name, value) for name, value in zip(names, row)]

    def expression(self, given: Any, what: str) -> str:
        """Returns a number, a text or a function as an expression."""
        if callable(given):
            return _functions.expression(given, self.values, what)
        return str(given.item() if isinstance(given, numpy.generic) else given)


def _value(value: Any, name: str) -> Value:
    value = value.item() if isinstance(value, numpy.generic) else value
    if isinstance(value, (int, float, bool, str)):
        return value
    raise Refused(f"tune_params[{name!r}] has {value!r}; a value is a number, a truth value or a text")


def _are_mixed(values: Sequence[Value]) -> bool:
    """Returns true for values that no type of Tunesmith holds without a change: all but whole numbers among others."""
    return len({kind(value) for value in values}) > 1


def kind(value: object) -> str:
    """Returns the kind of a value. Numbers of both types are of one kind."""
    return "truth value" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def _alike(values: list[Value], name: str) -> list[Any]:
    """Returns values of one type: whole numbers among others become such, and mixed values texts."""
    if _are_mixed(values):
        texts = [str(value) for value in values]
        if len(set(texts)) < len(texts):
            raise Refused(f"tune_params[{name!r}] has two values with the same text in {values!r}; leave one out")
        return texts
    return [float(value) for value in values] if any(isinstance(value, float) for value in values) else list(values)
