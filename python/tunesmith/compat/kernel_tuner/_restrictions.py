"""Restrictions in all forms that Kernel Tuner takes: texts, functions, pairs, objects of python-constraint.

Kernel Tuner 1.5 passes the values of all parameters to a function, in their order. A lone function of one
argument gets a dictionary. A lambda becomes a text, so that its arguments count by their names.
"""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import ast
import builtins
from functools import partial
from inspect import Parameter, signature

from . import _functions
from ._refused import Inexpressible, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ._generated import Rule
    from ._parameters import Names

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def constraints(restrictions: Any, names: Names) -> list[Rule]:
    """Returns the restrictions as expressions; functions that do more than an expression, as they are."""
    if restrictions is None:
        return []
    several = isinstance(restrictions, (list, tuple, set, frozenset)) and not _is_pair(restrictions)
    listed = list(restrictions) if several else [restrictions]
    found: list[Rule] = []
    for number, restriction in enumerate(listed):
        what = f"restrictions[{number}]" if len(listed) > 1 else "restrictions"
        found += _rules(restriction, names, what)
    return found


def _rules(restriction: Any, names: Names, what: str) -> list[Rule]:
    if isinstance(restriction, str):
        return [_text(restriction, names, what)]
    scope = list(names.values)
    if _is_pair(restriction):
        restriction, scope = restriction[0], list(restriction[1])
        unknown = [name for name in scope if name not in names.values]
        if unknown or not scope:
            raise Refused(f"{what} names the parameters {scope!r}; there are {', '.join(names.values)}")
        if isinstance(restriction, str):
            return [_text(restriction, names, what)]
        if not _is_constraint(restriction):
            return [_function(restriction, _Call.by_position(scope, _Signature(restriction).positional), names, what)]
    if _is_constraint(restriction):
        return _of_constraint(restriction, scope, names)
    if not callable(restriction):
        raise Refused(f"{what} is a {type(restriction).__name__}; write it as a string or a function")
    return [_function(restriction, _call(restriction, scope, what), names, what)]


def _is_pair(given: Any) -> bool:
    """Returns true for a condition with the names of the parameters that it takes."""
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        return False
    is_condition = callable(given[0]) or isinstance(given[0], str)
    return is_condition and isinstance(given[1], (list, tuple)) and all(isinstance(name, str) for name in given[1])


def _is_constraint(given: object) -> bool:
    """Returns true for an object of python-constraint, which need not be installed."""
    return all(hasattr(given, name) for name in ("preProcess", "forwardCheck", "__call__"))


def _text(text: str, names: Names, what: str) -> Rule:
    """Returns a text: an expression of Tunesmith, or a function if only Python can evaluate it."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return text
    used = list(dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)))
    scope = [name for name in names.values if name in used]
    if not names.mixed.intersection(scope) and not any(_functions.is_only_pythons(node) for node in ast.walk(tree)):
        return text
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    unknown = [name for name in used if name not in names.values and name not in bound and not hasattr(builtins, name)]
    if unknown or not scope:
        missing = f"uses `{unknown[0]}`, which is" if unknown else "uses"
        raise Refused(f"{what} {missing} no parameter: {text!r}; there are {', '.join(names.values)}")
    code = compile(tree, what, "eval")
    return scope, _own_values(names, scope, lambda *row: eval(code, dict(zip(scope, row))))


class _Call:
    """How a function takes the parameters.

    Attributes:
        scope: The parameters that it takes.
        arguments: The parameter of each argument, or `None` if the arguments do not show it.
        is_dictionary: True if it takes one dictionary.
    """

    def __init__(
        self, scope: Sequence[str], arguments: dict[str, str] | None = None, named: int = 0, is_dictionary: bool = False
    ) -> None:
        self.scope = list(scope)
        self.arguments = arguments
        self.is_dictionary = is_dictionary
        # The last parameters of the scope, which are passed by name.
        self._named = named

    @classmethod
    def by_position(cls, scope: Sequence[str], taken: Sequence[str]) -> _Call:
        """Returns the call with the values of a scope in their order."""
        return cls(scope, dict(zip(taken, scope)) if len(taken) >= len(scope) else None)

    @classmethod
    def by_name(cls, scope: Sequence[str], only_positional: Sequence[str]) -> _Call:
        """Returns the call with arguments called as their parameters."""
        named = [name for name in scope if name not in only_positional]
        return cls([*only_positional, *named], {name: name for name in scope}, named=len(named))

    def invoke(self, function: Callable[..., Any], row: Sequence[Any]) -> Any:
        """Calls a function with the values of the scope."""
        if self.is_dictionary:
            return function(dict(zip(self.scope, row)))
        first = len(self.scope) - self._named
        return function(*row[:first], **dict(zip(self.scope[first:], row[first:])))


class _Signature:
    """The arguments of a function, by their kinds."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            arguments = list(signature(function).parameters.values())
        except (TypeError, ValueError):
            # Functions in C have no signature; they take what they get.
            arguments = [Parameter("args", Parameter.VAR_POSITIONAL)]
        kinds = {one.kind for one in arguments}
        needed = [one for one in arguments if one.default is Parameter.empty]
        self.takes_any = Parameter.VAR_POSITIONAL in kinds
        self.takes_any_name = Parameter.VAR_KEYWORD in kinds
        self.positional = [one.name for one in arguments if one.kind in POSITIONAL]
        self.only_positional = [one.name for one in arguments if one.kind is Parameter.POSITIONAL_ONLY]
        self.required = [one.name for one in needed if one.kind in POSITIONAL]
        self.keywords = [one.name for one in needed if one.kind is Parameter.KEYWORD_ONLY]


def _call(function: Callable[..., Any], names: list[str], what: str) -> _Call:
    taken, plain = _Signature(function), _plain(function)
    if taken.takes_any and not taken.keywords:
        return _Call.by_position(names, [])
    if taken.positional and len(taken.required) <= 1 and _takes_dictionary(plain, taken.positional, names):
        return _Call(names, is_dictionary=True)
    are_named = set(taken.required + taken.keywords) <= set(names)
    if are_named and taken.takes_any_name and not taken.only_positional:
        return _Call(names, named=len(names))
    named = [name for name in [*taken.positional, *taken.keywords] if name in names]
    by_name = _Call.by_name(named, [name for name in taken.only_positional if name in names])
    if are_named and named and (taken.keywords or _is_read_lambda(plain)):
        return by_name
    if len(taken.required) <= len(names) <= len(taken.positional) and not taken.keywords:
        return _Call.by_position(names, taken.positional)
    if are_named and named:
        return by_name
    raise Refused(
        f"{what} is a function of {', '.join(taken.required + taken.keywords) or 'no argument'}, and it gets the "
        f"values of {', '.join(names)} by position; give it one argument for each, `*args`, or arguments called as "
        "parameters"
    )


def _takes_dictionary(plain: Any, positional: list[str], names: list[str]) -> bool:
    """Returns true if the first argument is the dictionary of all parameters; others must have defaults."""
    if plain is not None and _functions.is_dictionary(plain, positional[0], names):
        return True
    return len(positional) == 1 and positional[0] not in names and len(names) > 1


def _plain(function: Any) -> Any:
    """Returns the function of Python behind a callable, or `None`."""
    while isinstance(function, partial):
        function = function.func
    if not hasattr(function, "__code__") and not hasattr(function, "__func__"):
        function = getattr(type(function), "__call__", None)
    function = getattr(function, "__func__", function)
    return function if hasattr(function, "__code__") else None


def _is_read_lambda(plain: Any) -> bool:
    """Returns true for a lambda that Kernel Tuner turns into a text: one whose source can be read."""
    return plain is not None and plain.__name__ == "<lambda>" and _functions.has_source(plain)


def _function(function: Callable[..., Any], call: _Call, names: Names, what: str) -> Rule:
    """Returns a function as an expression, or as it is if no expression says it."""
    if not names.mixed.intersection(call.scope) and hasattr(function, "__code__"):
        try:
            if call.is_dictionary:
                return _functions.expression(function, names.values, what)
            if call.arguments is not None:
                return _functions.expression_of_arguments(function, call.arguments, what)
        except Inexpressible:
            pass
    return call.scope, _own_values(names, call.scope, lambda *row: call.invoke(function, row))


def _own_values(names: Names, scope: Sequence[str], function: Callable[..., Any]) -> Callable[..., bool]:
    if not names.mixed.intersection(scope):
        return lambda *row: bool(function(*row))
    return lambda *row: bool(function(*names.values_of(scope, row)))


def _of_constraint(constraint: Any, scope: list[str], names: Names) -> list[Rule]:
    """Returns an object of python-constraint as functions.

    Its `preProcess` shrinks domains, and removes the object if nothing is left to check.
    """
    domains = {name: names.values_of([name] * len(names.values[name]), names.values[name]) for name in scope}
    whole = {name: list(values) for name, values in domains.items()}
    pending = [(constraint, scope)]
    constraint.preProcess(scope, domains, pending, {name: [(constraint, scope)] for name in scope})
    found: list[Rule] = [
        ([name], _own_values(names, [name], partial(_is_among, domains[name])))
        for name in scope
        if len(domains[name]) < len(whole[name])
    ]
    if pending:
        found.append((scope, _own_values(names, scope, lambda *row: constraint(scope, whole, dict(zip(scope, row))))))
    return found


def _is_among(values: Sequence[Any], value: Any) -> bool:
    return value in values
