"""Turns Python functions of a configuration into expressions of Tunesmith's language.

Kernel Tuner calls such functions for each configuration. Tunesmith builds the space from expressions,
which reach spaces of any size, and evaluates metrics in its own process.
"""

from __future__ import annotations

import ast
import inspect
import textwrap

from ._refused import Inexpressible, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

# What functions of `math` and `numpy` do, in Tunesmith's language.
ROUNDINGS = {"ceil": "int(-(-({}) // 1))", "floor": "int(({}) // 1)"}
KNOWN = {"min", "max", "abs", "round", "len", "int", "float"}


def expression(function: Callable[..., Any], names: Collection[str], what: str) -> str:
    """Returns the expression that a function returns.

    The function takes one argument, a dictionary, or arguments called as parameters. It must consist
    of one expression. Numbers and texts from around it become constants.

    Args:
        function: The function.
        names: The names that an expression may use.
        what: The role of the function, for messages.

    Raises:
        Refused: The function does more than an expression can say.
    """
    return ast.unparse(returned(function, {name: name for name in names}, what))


def expressions(function: Callable[..., Any], names: Collection[str], what: str) -> list[str]:
    """Returns the expressions of a function that returns a tuple, or the only one of another function."""
    body = returned(function, {name: name for name in names}, what)
    parts = body.elts if isinstance(body, (ast.Tuple, ast.List)) else [body]
    return [ast.unparse(part) for part in parts]


def returned(function: Callable[..., Any], names: Mapping[str, str], what: str) -> ast.expr:
    """Returns what a function returns, with the expressions of `names` in place of looks into its dictionary."""
    arguments, body = _definition(function, what)
    translated: ast.expr = _Translator(function, arguments, names, what).visit(body)
    return ast.fix_missing_locations(translated)


def _definition(function: Callable[..., Any], what: str) -> tuple[list[str], ast.expr]:
    """Returns the names of a function's arguments and the expression that it returns."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        code = function.__code__
    except (OSError, TypeError, AttributeError):
        raise Inexpressible(f"{what} is a function whose source cannot be read; write it as a string") from None
    named = [node for node in _candidates(source, code.co_name) if _has_arguments(node, code)]
    if code.co_name != "<lambda>" and named:
        return _arguments(named[0]), _only_return(named[0], what)
    alike = {ast.dump(node): node for node in named if _inner(node, code)}
    if len(alike) > 1:
        alike = {text: node for text, node in alike.items() if _inner(node, code).co_code == code.co_code}
    if len(alike) == 1:
        (node,) = alike.values()
        return _arguments(node), node.body
    raise Inexpressible(f"{what} is a function whose source cannot be found; write it as a string")


def _candidates(source: str, name: str) -> list[Any]:
    """Returns the functions in a source that may not be complete: it begins where the function does."""
    if name != "<lambda>":
        try:
            parsed = ast.parse(source)
        except SyntaxError:
            return []
        return [node for node in ast.walk(parsed) if isinstance(node, ast.FunctionDef) and node.name == name]
    found: list[Any] = []
    at = source.find("lambda")
    while at >= 0:
        for end in range(len(source), at, -1):
            try:
                # In parentheses, an expression may go over several lines.
                node = ast.parse(f"({source[at:end]})", mode="eval").body
            except (SyntaxError, ValueError):
                continue
            # The text may go on behind the function: `lambda p: p["x"], 3` is a tuple.
            found += [part for part in ast.walk(node) if isinstance(part, ast.Lambda)][:1]
            break
        at = source.find("lambda", at + 1)
    return found


def _arguments(node: ast.Lambda | ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args]


def _has_arguments(node: ast.Lambda | ast.FunctionDef, code: Any) -> bool:
    return _arguments(node) == list(code.co_varnames[: code.co_argcount])


def _inner(node: ast.Lambda, code: Any) -> Any:
    """Returns the code of a function, if it has the names and the constants of `code`; else `None`."""
    compiled = compile(ast.Expression(node), "<function>", "eval")
    names = set(code.co_names) | set(code.co_freevars)
    for constant in compiled.co_consts:
        if inspect.iscode(constant) and constant.co_consts == code.co_consts and set(constant.co_names) == names:
            return constant
    return None


def _only_return(node: Any, what: str) -> ast.expr:
    body = node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return body[0].value
    raise Inexpressible(
        f"{what} is the function `{node.name}`, which does more than return one expression; write it as one, or as a "
        "string"
    )


class _Translator(ast.NodeTransformer):
    """Replaces looks into the dictionary by names, and names from around the function by their values."""

    def __init__(self, function: Callable[..., Any], arguments: list[str], names: Mapping[str, str], what: str) -> None:
        around = inspect.getclosurevars(function)
        self.values = {**around.globals, **around.nonlocals}
        self.names = names
        self.what = what
        self.dictionary = None if set(arguments) <= set(names) else arguments[0]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self.dictionary:
            return self._named(ast.literal_eval(node.slice) if isinstance(node.slice, ast.Constant) else None, node)
        raise self._too_much(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names and self.dictionary is None:
            return self._named(node.id, node)
        if node.id in self.values:
            return ast.Constant(_plain(self.values[node.id], node.id, self.what))
        raise self._too_much(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self.dictionary:
            return self._named(node.attr, node)
        raise self._too_much(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        rounding = ROUNDINGS.get(self._called(node.func) or "")
        if rounding and len(node.args) == 1 and not node.keywords:
            return ast.parse(rounding.format(ast.unparse(self.visit(node.args[0]))), mode="eval").body
        if isinstance(node.func, ast.Name) and node.func.id in KNOWN and not node.keywords:
            arguments = [self.visit(argument) for argument in node.args]
            return ast.Call(ast.Name(node.func.id), arguments, [])
        raise self._too_much(node)

    def _called(self, function: ast.expr) -> str | None:
        """Returns the name of a function of `math` or `numpy`."""
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            module = getattr(self.values.get(function.value.id), "__name__", None)
            return function.attr if module in ("math", "numpy") else None
        found = self.values.get(function.id) if isinstance(function, ast.Name) else None
        return getattr(found, "__name__", None) if getattr(found, "__module__", None) == "math" else None

    def _named(self, name: object, node: ast.expr) -> ast.expr:
        if isinstance(name, str) and name in self.names:
            return ast.parse(self.names[name], mode="eval").body
        raise Refused(f"{self.what} reads {ast.unparse(node)}, and there is no such parameter or result")

    def _too_much(self, node: ast.expr) -> Inexpressible:
        return Inexpressible(
            f"{self.what} is a function with `{ast.unparse(node)}`, which no expression of Tunesmith can say; known "
            f"functions are {', '.join(sorted(KNOWN))}"
        )


def _plain(value: Any, name: str, what: str) -> int | float | bool | str:
    """Returns a number or a text as Python has it."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, (int, float, bool, str)):
        return value
    raise Inexpressible(f"{what} is a function that uses `{name}`, which is no number and no text")
