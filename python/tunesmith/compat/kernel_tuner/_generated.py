"""Sources that a function generates, as one source with a branch for each text.

Kernel Tuner calls such a function for each configuration. Tunesmith compiles one source whose macros are
the parameters. So the function is called for every configuration of the space before the search, and the
preprocessor chooses among its texts.
"""

from __future__ import annotations

from tunesmith import Space

from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Union

    from ._parameters import Names

    Value = Union[int, float, bool, str]
    Row = tuple[Value, ...]
    # A condition: an expression, or the names that a function takes and the function.
    Rule = Union[str, tuple[list[str], Callable[..., bool]]]

# Each configuration costs a call of the function, and its text lies in the source.
MOST_CONFIGURATIONS = 20_000
MOST_CHARACTERS = 16 << 20
# The beginning of macros that tell texts apart, which the preprocessor cannot compare.
IS = "tunesmith_is_"


class Generated:
    """A generated source.

    Attributes:
        text: The source of all configurations.
        options: The compiler's options that it needs.
    """

    def __init__(self, function: Callable[..., Any], parameters: Names, rules: Sequence[Rule]) -> None:
        space = Space(parameters.values, list(rules))
        if space.size > MOST_CONFIGURATIONS:
            raise Refused(
                f"kernel_source is a function and the space has {space.size} configurations; it is called for each of "
                f"at most {MOST_CONFIGURATIONS}. Write the source with macros in place of the function"
            )
        names = list(parameters.values)
        texts = {tuple(config[name] for name in names): str(function(parameters.config(config))) for config in space}
        used = _used(names, texts)
        rows = {tuple(row[names.index(name)] for name in used): text for row, text in texts.items()}
        self.text = _branches(used, rows)
        self.options = [f"-D{IS}{name}_{{{name}}}=1" for name in used if isinstance(parameters.values[name][0], str)]
        if len(self.text) > MOST_CHARACTERS:
            raise Refused(
                f"kernel_source is a function whose texts have {len(self.text)} characters in all; write the source with "
                "macros in place of the function"
            )


def _used(names: Sequence[str], texts: Mapping[Row, str]) -> list[str]:
    """Returns parameters whose values determine the text; none of them can be left out."""
    used = list(names)
    for name in names:
        left = [at for at, one in enumerate(names) if one in used and one != name]
        found: dict[Row, str] = {}
        if all(found.setdefault(tuple(row[at] for at in left), text) == text for row, text in texts.items()):
            used.remove(name)
    return used


def _branches(names: Sequence[str], rows: Mapping[Row, str]) -> str:
    """Returns the source that has the text of each row if its values are the macros."""
    conditions: dict[str, list[str]] = {}
    for row, text in rows.items():
        tests = " && ".join(_test(name, value) for name, value in zip(names, row))
        conditions.setdefault(text, []).append(f"({tests})" if tests else "1")
    lines: list[str] = []
    for word, (text, rows_of) in zip(["#if", *["#elif"] * len(conditions)], conditions.items()):
        lines += [f"{word} {' || '.join(rows_of)}", "#line 1", text]
    return "\n".join([*lines, "#endif", ""]) if lines else ""


def _test(name: str, value: Value) -> str:
    if isinstance(value, (bool, int)):
        return f"{name} == {int(value)}"
    if isinstance(value, str) and f"{IS}{value}".isidentifier():
        return f"defined({IS}{name}_{value})"
    raise Refused(
        f"kernel_source is a function whose text depends on {name}={value!r}; the value must be a whole number or a name"
    )
