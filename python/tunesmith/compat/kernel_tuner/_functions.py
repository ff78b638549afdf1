"""Turns Python functions of a configuration into expressions of Tunesmith's language.

Kernel Tuner calls such functions for each configuration. Tunesmith builds the space from expressions,
which reach spaces of any size, and evaluates metrics in its own process.
"""

from __future__ import annotations

import ast
import builtins
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
# The functions of Python that texts may call in Tunesmith's language.
LANGUAGE = {
    *KNOWN, "bool", "ceildiv", "range", "list", "tuple", "set", "sum", "any", "all", "pow", "floor", "ceil", "sqrt",
    "log2", "gcd",
}  # fmt: skip
# Parts of Python's expressions that Tunesmith's language lacks.
PYTHONS = (
    ast.Is, ast.IsNot, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Subscript,
    ast.JoinedStr, ast.NamedExpr, ast.Starred, ast.Dict,
)  # fmt: skip


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


def expression_of_arguments(function: Callable[..., Any], arguments: Mapping[str, str], what: str) -> str:
    """Returns the expression that a function returns, with a parameter in place of each of its `arguments`.

    Raises:
        Inexpressible: The function does more than an expression can say.
    """
    _, body = _definition(function, what)
    translated: ast.expr = _Translator(function, None, arguments, what).visit(body)
    return ast.unparse(ast.fix_missing_locations(translated))


def returned(function: Callable[..., Any], names: Mapping[str, str], what: str) -> ast.expr:
    """Returns what a function returns, with the expressions of `names` in place of looks into its dictionary."""
    arguments, body = _definition(function, what)
    dictionary = None if set(arguments) <= set(names) else arguments[0]
    translated: ast.expr = _Translator(function, dictionary, names, what).visit(body)
    return ast.fix_missing_locations(translated)


def is_only_pythons(node: ast.AST) -> bool:
    """Returns true for a part of an expression that Python knows and Tunesmith does not."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id not in LANGUAGE and hasattr(builtins, node.func.id)
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, (int, float, bool, str))
    return isinstance(node, PYTHONS)


def has_source(function: Callable[..., Any]) -> bool:
    """Returns true if the source of a function can be read."""
    try:
        return bool(inspect.getsource(function))
    except (OSError, TypeError):
        return False


def is_dictionary(function: Any, argument: str, names: Collection[str]) -> bool:
    """Returns true if the source of a function uses an argument as the dictionary of all parameters."""
    if not has_source(function):
        return False
    source = textwrap.dedent(inspect.getsource(function))
    nodes = [node for node in _candidates(source, function.__name__) if argument in _arguments(node)]
    return any(_is_look(use, argument, names) for node in nodes for use in ast.walk(node))


def _is_look(use: ast.AST, argument: str, names: Collection[str]) -> bool:
    if isinstance(use, ast.Subscript) and isinstance(use.value, ast.Name) and use.value.id == argument:
        return not (isinstance(use.slice, ast.Constant) and isinstance(use.slice.value, int))
    if isinstance(use, ast.Attribute) and isinstance(use.value, ast.Name) and use.value.id == argument:
        return use.attr in names or use.attr in ("get", "items", "keys", "values")
    return False


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


def _defaults(function: Any) -> dict[str, Any]:
    """Returns the values of arguments that nobody passes."""
    code, values = function.__code__, function.__defaults__ or ()
    named = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return {**dict(zip(named, values)), **(function.__kwdefaults__ or {})}


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

    def __init__(
        self, function: Callable[..., Any], dictionary: str | None, names: Mapping[str, str], what: str
    ) -> None:
        around = inspect.getclosurevars(function)
        self.values = {**around.globals, **around.nonlocals, **_defaults(function)}
        self.names = names
        self.what = what
        self.dictionary = dictionary

    def visit(self, node: ast.AST) -> Any:
        if is_only_pythons(node) and not isinstance(node, (ast.Subscript, ast.Call)):
            raise self._too_much(node)
        return super().visit(node)

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

    def _too_much(self, node: ast.AST) -> Inexpressible:
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
