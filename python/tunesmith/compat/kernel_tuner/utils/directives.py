"""Makes kernels from loops that `#pragma tuner start` and `#pragma tuner stop` mark in C++.

It covers what `kernel_tuner.utils.directives` does for C++ with OpenMP. A marked section becomes a
function that returns its time in milliseconds; the words behind its name are its arguments:

    #pragma tuner start scale x(float*:N) n(int:N)
"""

from __future__ import annotations

import re

import numpy

from .._refused import Refused, refuse_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    # The type and the size of each argument, by its name.
    Data = dict[str, list[Any]]

START = "#pragma tuner start"
STOP = "#pragma tuner stop"
TYPES = {"float": numpy.float32, "double": numpy.float64, "int": numpy.int32}
# Numbers in a new array of whole numbers are smaller.
WHOLE = 1024

FUNCTION = """{head}
#include <chrono>

extern "C" {signature} {{
{initialise}
{enter}
auto kt_timing_start = std::chrono::steady_clock::now();
{body}
auto kt_timing_end = std::chrono::steady_clock::now();
std::chrono::duration<float, std::milli> elapsed_time = kt_timing_end - kt_timing_start;
{leave}
{deinitialise}
return elapsed_time.count();
}}
"""


class OpenMP:
    """Directives of OpenMP."""


class Cxx:
    """Sources in C++."""


class Code:
    """The directives and the language of a source.

    Raises:
        Refused: They are not OpenMP's and C++.
    """

    def __init__(self, directive: object, lang: object) -> None:
        if not isinstance(directive, OpenMP) or not isinstance(lang, Cxx):
            raise Refused("only OpenMP() in Cxx() has an equal; import the others from kernel_tuner itself")
        self.directive = directive
        self.language = lang


def process_directives(
    langs: Code, source: str, user_dimensions: Mapping[str, Any] | None = None
) -> tuple[dict[str, str], dict[str, list[Any]]]:
    """Returns the kernels of a source, and new arguments for each, by their names.

    Args:
        langs: The directives and the language.
        source: The source.
        user_dimensions: Sizes that no `#define` of the source names.
    """
    head = extract_preprocessor(source)
    bodies, signatures = extract_directive_code(source, langs), extract_directive_signature(source, langs)
    kernels: dict[str, str] = {}
    arguments: dict[str, list[Any]] = {}
    for name, data in extract_directive_data(source, langs).items():
        kernels[name] = generate_directive_function(
            head, signatures[name], bodies[name], langs, data, _section(source, "initialize"),
            _section(source, "deinitialize"), user_dimensions,
        )  # fmt: skip
        arguments[name] = allocate_signature_memory(data, head, user_dimensions)
    return kernels, arguments


def extract_preprocessor(code: str) -> list[str]:
    """Returns the lines with macros and included files."""
    return [line for line in _lines(code) if "#define" in line or "#include" in line]


def extract_directive_code(code: str, langs: Code, kernel_name: str | None = None) -> dict[str, str]:
    """Returns the marked sections by their names."""
    found: dict[str, str] = {}
    for section in re.finditer(rf"{START}\s+(\w+)[^\n]*\n(.*?){STOP}", "\n".join(_lines(code)), re.S):
        found[section.group(1)] = section.group(2).rpartition("\n")[0]
    return {name: body for name, body in found.items() if kernel_name in (None, name)}


def extract_directive_data(code: str, langs: Code, kernel_name: str | None = None) -> dict[str, Data]:
    """Returns the type and the size of the arguments of each section."""
    found: dict[str, Data] = {}
    for line in _lines(code):
        name, _, words = line.partition(START)[2].strip().partition(" ")
        if name and kernel_name in (None, name):
            declared = re.findall(r"(\w+)\(([^:)]*):?([^)]*)\)", words)
            found[name] = {argument: [kind, size or 0] for argument, kind, size in declared}
    return found


def extract_directive_signature(code: str, langs: Code, kernel_name: str | None = None) -> dict[str, str]:
    """Returns the head of the function of each section."""
    found: dict[str, str] = {}
    for name, data in extract_directive_data(code, langs, kernel_name).items():
        arguments = ", ".join(f"{kind.replace('*', ' *')} {argument}" for argument, (kind, _) in data.items())
        found[name] = f"float {name}({arguments})"
    return found


def generate_directive_function(
    preprocessor: Sequence[str],
    signature: str,
    body: str,
    langs: Code,
    data: Data | None = None,
    initialization: str = "",
    deinitialization: str = "",
    user_dimensions: Mapping[str, Any] | None = None,
) -> str:
    """Returns the source of the function of a section. Buffers are on the device before it is timed."""
    sizes = {name: _size(size, preprocessor, user_dimensions) for name, (kind, size) in (data or {}).items() if "*" in kind}
    return FUNCTION.format(
        head="\n".join([*preprocessor, *(f"#define {name} {size}" for name, size in (user_dimensions or {}).items())]),
        signature=signature, body=body, initialise=initialization, deinitialise=deinitialization,
        enter="\n".join(f"#pragma omp target enter data map(to: {name}[:{size}])" for name, size in sizes.items()),
        leave="\n".join(f"#pragma omp target exit data map(from: {name}[:{size}])" for name, size in sizes.items()),
    )  # fmt: skip


def allocate_signature_memory(
    data: Data, preprocessor: Sequence[str] = (), user_dimensions: Mapping[str, Any] | None = None
) -> list[Any]:
    """Returns new arguments: random arrays, and scalars with the sizes as values."""
    arguments: list[Any] = []
    for name, (kind, given) in data.items():
        size = _size(given, preprocessor, user_dimensions)
        element = TYPES.get(kind.rstrip("* "))
        if element is None:
            raise Refused(f"the argument `{name}` has the type {kind}; known types are {', '.join(TYPES)}, and * behind them")
        if "*" not in kind:
            arguments.append(element(size))
        elif element is numpy.int32:
            arguments.append(numpy.random.randint(WHOLE, size=size).astype(element))
        else:
            arguments.append(numpy.random.rand(size).astype(element))
    return arguments


def _size(given: Any, preprocessor: Sequence[str], dimensions: Mapping[str, Any] | None) -> int:
    """Returns the product of numbers and names of sizes, between which there are commas."""
    product = 1
    for word in str(given).split(","):
        lines = (re.match(rf"\s*#define\s+{re.escape(word)}\s+(\d+)", line) for line in preprocessor)
        macro = next((line.group(1) for line in lines if line), None)
        size = word if word.isdigit() else (dimensions or {}).get(word, macro)
        if size is None:
            raise Refused(f"the size {word!r} is no number; write `#define {word}`, or give it in user_dimensions")
        product *= int(size)
    return product


def _section(code: str, word: str) -> str:
    marked = re.findall(rf"#pragma tuner {word}[^\n]*\n(.*?){STOP}", "\n".join(_lines(code)), re.S)
    return "\n".join(marked)


def _lines(code: str) -> list[str]:
    return code.replace("\\\n", "").split("\n")


def __getattr__(name: str) -> NoReturn:
    refuse_name(__name__, name)
