"""Writes a call of `tune_kernel` as a problem of Tunesmith: a TOML file, its kernel and its data."""

# Kernel Tuner's arguments have no types.
# pyright: basic
from __future__ import annotations

import json
import re
from pathlib import Path

import numpy

from tunesmith import Problem, RequestError
from tunesmith._paths import path_text
from tunesmith._problem import element
from tunesmith._space import listed_constraints

from . import _functions
from ._generated import Generated
from ._parameters import Names as Names
from ._refused import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from ._generated import Rule

    Array = NDArray[Any]

# The work-items of a dimension that no parameter names.
DEFAULT_BLOCK = (256, 1, 1)
BLOCK_NAMES = ("block_size_x", "block_size_y", "block_size_z")
# Kernel Tuner limits the product of such parameters in C, too.
MOST_IN_C = 1024
SUFFIX = {"c": ".cpp", "opencl": ".cl", "cuda": ".cu", "hip": ".hip"}
# Kernel Tuner measures every configuration alike and once, however slow it is. The limits, in seconds, only end
# kernels that hang.
PLAIN: dict[str, object] = {
    "racing": False, "final": False, "drift": False,
    "time_cap": 3600, "first_limit": 300, "launch_limit": 300, "compile_limit": 900,
}  # fmt: skip
# The relative tolerance of numpy.allclose, which Kernel Tuner compares with.
RELATIVE = 1e-5


def _listed(given: Any) -> list[Any]:
    """Returns a list of what may be a single one."""
    return list(given) if isinstance(given, (list, tuple)) else [given]


class Kernel:
    """A kernel's text, its language, and the folders and files that it needs."""

    def __init__(self, name: str, source: Any, lang: str | None, names: Names, rules: Sequence[Rule]) -> None:
        files = _listed(source)
        if not files or any(callable(file) for file in files[1:]):
            raise Refused("kernel_source has no source, or a function behind the first; only the first may be a function")
        self.name = name
        self.text: str
        self.options: list[str] = []
        self.files = [Path(path_text(file, "kernel_source")) for file in files[1:]]
        self.include: list[Path] = [file.parent for file in self.files]
        main = "" if callable(files[0]) else path_text(files[0], "kernel_source")
        if callable(files[0]):
            generated = Generated(files[0], names, rules)
            self.text, self.options = generated.text, generated.options
            self.include.append(Path.cwd())
        elif hasattr(files[0], "__fspath__") or _is_path(main):
            self.text = Path(main).read_text()
            self.include.append(Path(main).parent)
        else:
            self.text = main
            # Kernel Tuner compiles a text in the present folder.
            self.include.append(Path.cwd())
        self.language = language(lang or _told(self.text))

    def parameters(self, count: int) -> list[Parameter]:
        """Returns the parameters of the function as its source has them, if there are `count`."""
        bare = re.sub(r"//[^\n]*|/\*.*?\*/", " ", self.text, flags=re.S)
        function = re.escape(self.name.partition("<")[0])
        declared: list[str] = []
        bodies: list[str] = []
        # Branches of the preprocessor, and generated sources, may have several.
        for match in re.finditer(rf"\b{function}\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*{{", bare):
            parameters = [part.strip() for part in match.group(1).split(",")]
            if len(parameters) == count:
                declared = declared or parameters
                bodies.append(_body(bare[match.end() :]))
        return [Parameter(text, "\n".join(bodies), number) for number, text in enumerate(declared or [""] * count)]


def _body(text: str) -> str:
    """Returns the text up to the brace that ends it."""
    depth = 1
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[:at]
    return text


class Parameter:
    """A parameter of a function, as its source declares and uses it."""

    def __init__(self, declared: str, body: str, number: int) -> None:
        words = re.findall(r"\w+", declared.partition("=")[0].partition("[")[0])
        self.name = words[-1] if len(words) > 1 else f"argument_{number}"
        self.is_constant = re.search(r"\b(__constant|constant)\b", declared) is not None
        is_const = re.search(r"\bconst\b", declared) is not None
        self.is_input = self.is_constant or is_const or (len(words) > 1 and not self._may_be_written(body))

    def _may_be_written(self, body: str) -> bool:
        """Returns true unless every use of the parameter is an element that is read."""
        for use in re.finditer(rf"(\+\+|--|&)?\s*\b{self.name}\b\s*", body):
            rest = body[use.end() :]
            if use.group(1) or not rest.startswith("["):
                return True
            behind = rest[_bracket(rest) :]
            if re.match(r"\s*(\.\s*\w+|\[[^\]]*\]\s*)*\s*(=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)", behind):
                return True
        return False


def _bracket(text: str) -> int:
    """Returns the place behind the bracket that closes the first one."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return at + 1
    return len(text)


def _is_path(text: str) -> bool:
    return "\n" not in text and "{" not in text and Path(text).suffix != ""


def _told(text: str) -> str:
    """Returns the language that the words of a source tell."""
    lowered = text.lower()
    return "CUDA" if "__global__" in lowered else "OpenCL" if "__kernel" in lowered else "C"


def language(lang: str) -> str:
    """Returns Tunesmith's name of a language."""
    known = {"c": "c", "c++": "c", "opencl": "opencl", "cuda": "cuda", "cupy": "cuda", "nvcuda": "cuda", "hip": "hip"}
    if lang.lower() not in known:
        raise Refused(f"lang={lang!r}: Tunesmith knows C, OpenCL, CUDA and HIP")
    return known[lang.lower()]


def block_limit(kernel: Kernel, names: Names) -> list[Rule]:
    """Returns the condition that Kernel Tuner adds: a work-group has at most the items that the device takes."""
    sides = [name for name in BLOCK_NAMES if name in names.values]
    most = MOST_IN_C if kernel.language == "c" else "device.max_work_group_size"
    return [f"{' * '.join(sides)} <= {most}"] if sides else []


class Launch:
    """The grid and the work-groups of a kernel, as expressions."""

    def __init__(
        self, names: Names, problem_size: Any, divisors: Sequence[Any], block_size_names: Sequence[str] | None
    ) -> None:
        blocks = list(block_size_names or BLOCK_NAMES)
        self.blocks = blocks + list(BLOCK_NAMES[len(blocks) :])
        self.local = [name if name in names.values else str(least) for name, least in zip(self.blocks, DEFAULT_BLOCK)]
        self.grid: list[str] = []
        for extent, divisor, block, axis in zip(_extents(names, problem_size), divisors, self.blocks, "xyz"):
            over = _divisor(names, divisor, block if block in names.values else "1", f"grid_div_{axis}")
            self.grid.append(f"int(-(-({extent}) // ({over})))")

    def macros(self, text: str, names: Names) -> list[str]:
        """Returns options that define the extents that a source names and that are no parameters."""
        blocks = [(name, extent) for name, extent in zip(self.blocks, self.local) if name not in names.values]
        grid = [(f"grid_size_{axis}", _in_c(extent)) for axis, extent in zip("xyz", self.grid) if f"grid_size_{axis}" in text]
        return [f"-D{name}={extent}" for name, extent in blocks + grid if re.search(rf"\b{name}\b", text)]


def _in_c(extent: str) -> str:
    """Returns an extent of the grid as C computes it: the numbers are positive."""
    found = re.fullmatch(r"int\(-\(-\((.*)\) // \((.*)\)\)\)", extent)
    if found is None or not re.fullmatch(r"[\w\s()+*-]*", found.group(1) + found.group(2)):
        raise Refused(f"the source reads a macro such as grid_size_x, and its value {extent} is more than C's + - and *")
    over, by = found.groups()
    return f"(((({over})+({by})-1)/({by})))".replace(" ", "")


def _extents(names: Names, problem_size: Any) -> list[str]:
    if callable(problem_size):
        extents = _functions.expressions(problem_size, names.values, "problem_size")
    else:
        extents = [names.expression(extent, "problem_size") for extent in _listed(problem_size)]
    if not 1 <= len(extents) <= 3:
        raise Refused(f"problem_size has {len(extents)} dimensions; a grid has one to three")
    return extents + ["1"] * (3 - len(extents))


def _divisor(names: Names, divisor: Any, default: str, what: str) -> str:
    if divisor is None:
        return default
    return " * ".join(f"({names.expression(part, what)})" for part in _listed(divisor)) or "1"


class Arguments:
    """The arguments of a kernel, whose data are written to files."""

    def __init__(
        self, kernel: Kernel, arguments: Sequence[Any], answer: Sequence[Any] | None, folder: Path, judged: bool
    ) -> None:
        wanted = [*(answer or []), *[None] * len(arguments)][: len(arguments)]
        if answer is not None and len(answer) > len(arguments):
            raise Refused(f"answer has {len(answer)} entries, and there are {len(arguments)} arguments")
        self.tables: list[dict[str, object]] = []
        self.expected: dict[str, str] = {}
        self.arrays: dict[str, Array] = {}
        self.outputs: list[str] = []
        self.names: list[str] = []
        for parameter, argument, right in zip(kernel.parameters(len(arguments)), arguments, wanted):
            name = parameter.name
            self.names.append(name)
            if isinstance(argument, numpy.generic):
                self.tables.append({"name": name, **_value(argument, name)})
                continue
            self.arrays[name] = _array(argument, name)
            is_input = right is None and parameter.is_input
            self.tables.append(_buffer(kernel, parameter, self.arrays[name], is_input, folder))
            if right is not None or (answer is None and not is_input):
                self.outputs.append(name)
            if right is not None and not judged:
                self.expected[name] = f"{name}.expected.npy"
                _save(folder / self.expected[name], _like(right, self.arrays[name], name), name)

    def results(self, outputs: Mapping[str, bytes]) -> list[Array | None]:
        """Returns the outputs of a launch as arrays, in the places of their arguments."""
        found: list[Array | None] = []
        for name in self.names:
            like = self.arrays.get(name)
            found.append(
                None
                if like is None or name not in outputs
                else numpy.frombuffer(outputs[name], like.dtype).reshape(like.shape).copy()
            )
        return found


def _value(scalar: Any, name: str) -> dict[str, object]:
    """Returns an argument by value. A struct is its bytes, padding included."""
    if isinstance(scalar, numpy.void):
        return {"type": _type(scalar, name), "value": list(scalar.tobytes())}
    return {"type": _type(numpy.asarray(scalar), name), "value": repr(scalar.item())}


def _like(answer: Any, array: Array, name: str) -> Array:
    """Returns an answer in the type and the shape of its argument."""
    right = numpy.asarray(answer)
    if right.size != array.size:
        raise Refused(f"the answer for `{name}` has {right.size} elements, and the argument has {array.size}")
    if right.dtype.kind == "f" and numpy.isnan(right).any():
        raise Refused(f"the answer for `{name}` has NaN, which nothing is equal to; mend the answer, or compare by `verify`")
    return right.astype(array.dtype).reshape(array.shape)


def _buffer(kernel: Kernel, parameter: Parameter, array: Array, is_input: bool, folder: Path) -> dict[str, object]:
    name = parameter.name
    _save(folder / f"{name}.npy", array, name)
    table: dict[str, object] = {
        "name": name,
        "type": _type(array, name),
        "shape": _shape(array),
        "fill": "file",
        "path": f"{name}.npy",
        "access": "in" if is_input else "inout",
    }
    if parameter.is_constant and kernel.language == "opencl":
        table["memory"] = "constant"
    return table


def _array(argument: Any, name: str) -> Array:
    # Arrays of other libraries, on the device too, can be had as NumPy's.
    array = argument.get() if hasattr(argument, "get") and not isinstance(argument, numpy.ndarray) else argument
    if not hasattr(array, "dtype"):
        kind = type(argument).__name__
        raise Refused(f"the argument `{name}` is a {kind}; use an array or a scalar of NumPy, such as numpy.int32(3)")
    return numpy.ascontiguousarray(array)


def _shape(array: Array) -> list[str]:
    return [str(extent) for extent in _stored(array).shape] or ["1"]


def _type(array: Any, name: str) -> str:
    if array.dtype.hasobject:
        raise Refused(f"the argument `{name}` has objects of Python, which kernels cannot read; use numbers")
    if array.dtype.kind == "V":
        return "bytes"
    try:
        return element(_stored(array).dtype)
    except RequestError as error:
        raise Refused(f"the argument `{name}`: {error}") from None


def _stored(array: Array) -> Array:
    """Returns the array as kernels see it: they have no type of truth values, and structs are bytes."""
    if array.dtype.names:
        return numpy.frombuffer(array.tobytes(), numpy.uint8)
    return array.view(numpy.uint8) if array.dtype == bool else array


def _save(path: Path, array: Any, name: str) -> None:
    numpy.save(path, _stored(_array(array, name)), allow_pickle=False)


def constants(cmem_args: Mapping[str, Any] | None, folder: Path) -> list[dict[str, object]]:
    """Returns constant memory of CUDA and HIP as arguments."""
    tables: list[dict[str, object]] = []
    for symbol, argument in (cmem_args or {}).items():
        array = _array(argument, symbol)
        _save(folder / f"{symbol}.npy", array, symbol)
        tables.append(
            {"name": symbol, "type": _type(array, symbol), "shape": _shape(array), "fill": "file", "path": f"{symbol}.npy",
             "memory": "constant", "symbol": symbol}
        )  # fmt: skip
    return tables


def shared_memory(smem_args: Mapping[str, Any] | None, names: Names) -> list[dict[str, object]]:
    """Returns dynamic shared memory of CUDA and HIP as an argument."""
    if not smem_args:
        return []
    unknown = sorted(set(smem_args) - {"size"})
    if unknown or "size" not in smem_args:
        raise Refused(f"smem_args has {', '.join(unknown) or 'no size'}; only 'size' has an equal here")
    size = names.expression(smem_args["size"], "smem_args['size']")
    return [{"name": "shared_memory", "type": "bytes", "shape": [size], "memory": "local"}]


def options(
    kernel: Kernel, launch: Launch, compiler_options: Sequence[Any] | None, defines: Mapping[str, Any] | None, names: Names
) -> list[str]:
    """Returns the compiler's options for a source."""
    listed = [] if compiler_options is None else _listed(compiler_options)
    words = [str(option) for option in listed]
    if any(callable(option) for option in listed):
        raise Refused("compiler_options has a function; write `{NAME}` in an option for the value of a parameter")
    if "omp.h" in kernel.text:
        words.append("-fopenmp")
    if defines is not None and not defines:
        raise Refused("defines={}: Tunesmith always defines the parameters as macros; leave out `defines`")
    for name, value in (defines or {}).items():
        if callable(value):
            raise Refused(f"defines[{name!r}] is a function; write `{{NAME}}` in a text for the value of a parameter")
        if name not in names.values:
            words.append(f"-D{name}={value}")
    return [*words, *launch.macros(kernel.text, names), *kernel.options, "-Dkernel_tuner=1"]


class _Text:
    """A problem of Tunesmith as text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []

    def table(self, header: str, keys: Mapping[str, object]) -> None:
        """Adds a table. Keys without a value are left out."""
        self.lines.append(header)
        self.lines += [f"{_text(key)} = {_toml(value)}" for key, value in keys.items() if value not in (None, [], {})]
        self.lines.append("")

    def space(self, names: Names, rules: Sequence[Rule]) -> None:
        """Adds the parameters, and the constraints that are texts."""
        self.table("[parameters]", names.values)
        texts = {f"restriction {number}: {rule}": rule for number, rule in enumerate(rules) if isinstance(rule, str)}
        self.table("[constraints]", texts)

    def read(self, rules: Sequence[Rule]) -> Problem:
        """Writes the problem, and reads it with the constraints that are functions."""
        path = self.folder / "problem.toml"
        path.write_text("\n".join(self.lines))
        problem = Problem(path)
        functions = {f"restriction {number}": rule for number, rule in enumerate(rules) if not isinstance(rule, str)}
        if functions:
            problem.native = problem.native.constrained(listed_constraints(functions))
        return problem


def _text(text: str) -> str:
    return json.dumps(text)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_text(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(inner) for inner in value) + "]"
    return json.dumps(value)


def write(
    folder: Path,
    kernel: Kernel,
    names: Names,
    launch: Launch,
    arguments: Arguments,
    further: list[dict[str, object]],
    words: list[str],
    rules: Sequence[Rule],
    sampling: Mapping[str, object],
    metrics: Mapping[str, str],
    atol: float,
) -> Problem:
    """Writes the whole problem to a folder, and returns it."""
    source = folder / f"kernel{SUFFIX[kernel.language]}"
    source.write_text(kernel.text)
    problem = _Text(folder)
    problem.table("[problem]", {"name": re.sub(r"\W+", "_", kernel.name).strip("_") or "kernel"})
    include = [str(path.resolve()) for path in dict.fromkeys(kernel.include)]
    problem.table("[kernel]", {
        "file": source.name, "function": kernel.name, "options": words, "include": include,
        **({} if kernel.language == "c" else {"grid": launch.grid, "local": launch.local}),
    })  # fmt: skip
    problem.space(names, rules)
    for table in arguments.tables + further:
        problem.table("[[arguments]]", table)
    if arguments.expected:
        problem.table("[verify]", {"expected": arguments.expected, "relative": RELATIVE, "absolute": atol})
    problem.table("[measure]", sampling)
    problem.table("[metrics]", metrics)
    return problem.read(rules)


def of_space(
    folder: Path, names: Names, rules: Sequence[Rule], sampling: Mapping[str, object] | None = None
) -> Problem:
    """Writes a problem that has a space alone, and the way to measure: nothing of it runs."""
    (folder / "kernel.cpp").write_text("")
    problem = _Text(folder)
    problem.table("[problem]", {"name": "simulated"})
    problem.table("[kernel]", {"file": "kernel.cpp", "function": "simulated"})
    problem.space(names, rules)
    problem.table("[measure]", {**PLAIN, **(sampling or {})})
    return problem.read(rules)


def words(folder: str) -> dict[str, str]:
    """Returns what the call says for the files of a folder: a word for each pattern."""
    place = re.escape(folder)
    return {rf"{place}/problem\.toml(:\d+:\d+)?: (error: )?": "", rf"{place}/kernel\.\w+": "kernel_source"}
