"""Problems: kernels with their arguments and the space of their parameters."""

from __future__ import annotations

from . import _native
from ._errors import Remark, RequestError
from ._paths import path_text, path_texts
from ._settings import settings
from ._space import Space, listed_constraints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Union

    from numpy.typing import NDArray

    from ._paths import Path, Paths
    from ._space import Constraints, Value

    Extent = Union[int, str]
    Extents = Union[Extent, Sequence[Extent]]
    Reference = Union["Kernel", Callable[..., Any], Mapping[str, Any], NDArray[Any]]

# The element types of kernels by the names of NumPy's types.
ELEMENTS = {
    "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "int32": "i32", "uint32": "u32",
    "int64": "i64", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64",
}  # fmt: skip


class Kernel:
    """A function in its source, to be tuned or as the reference of a problem.

    Sizes and tuning parameters reach the source as macros. Extents, options and repeats are
    expressions over them, as in problem files.

    Args:
        source: The source itself if it has more than one line or a `{`, or else its file.
        function: The name of the function.
        language: `"c"`, `"c++"`, `"opencl"`, `"cuda"` or `"hip"`. The default is that of the file's suffix,
            and C for a text.
        global_size: The numbers of work-items.
        grid: The numbers of work-groups, in place of `global_size`.
        local_size: The numbers of work-items in a work-group.
        options: Options of the compiler. `{NAME}` stands for a value.
        compiler: The compiler of CUDA C++: `"nvrtc"`, the default, or `"nvcc"`.
        include: Folders of included files.
        sources: Further source files.
        arguments: The names of the arguments that this kernel takes. The default is all.
        repeat: The number of launches in a row.
        name: The name of the kernel's times in reports.
    """

    __slots__ = ("parts",)

    def __init__(
        self,
        source: Path,
        function: str,
        *,
        language: str | None = None,
        global_size: Extents = (),
        grid: Extents = (),
        local_size: Extents = (),
        options: Iterable[str] = (),
        compiler: str | None = None,
        include: Paths = (),
        sources: Paths = (),
        arguments: Iterable[str] | None = None,
        repeat: Extent | None = None,
        name: str | None = None,
    ) -> None:
        is_text = isinstance(source, str) and ("\n" in source or "{" in source)
        self.parts: dict[str, Any] = {
            "function": function,
            "text": source if is_text else None,
            "file": None if is_text else path_text(source, "source"),
            "language": language,
            "name": name,
            "sources": path_texts(sources, "sources"),
            "include": path_texts(include, "include"),
            "options": list(options),
            "compiler": compiler,
            "global": _extents(global_size),
            "grid": _extents(grid),
            "local": _extents(local_size),
            "arguments": None if arguments is None else list(arguments),
            "repeat": repeat,
        }

    def __repr__(self) -> str:
        return f"<tunesmith.Kernel {self.parts['function']}>"


def _extents(extents: Extents) -> list[Extent]:
    return [extents] if isinstance(extents, (int, str)) else list(extents)


class Argument:
    """An argument of kernels. `In`, `Out`, `InOut`, `Scratch`, `Local` and `Scalar` make one."""

    __slots__ = ("array", "parts")

    def __init__(self, kind: str, data: Any, dtype: Any, **parts: Any) -> None:
        self.array = data if _is_array(data) else None
        if self.array is None and dtype is None:
            raise RequestError(f"an argument with the shape {data!r} needs a type; give dtype, such as \"f32\"")
        self.parts: dict[str, Any] = {
            "kind": kind,
            "element": element(self.array.dtype if dtype is None and self.array is not None else dtype),
            "value": None,
            "shape": list(self.array.shape) if self.array is not None else _extents(data),
            "contents": None,
            "fill": None,
            "relative": None,
            "absolute": None,
            **parts,
        }

    def __repr__(self) -> str:
        return f"<tunesmith.Argument {self.parts['kind']} {self.parts['element']}{self.parts['shape']}>"


def In(data: Any, dtype: Any = None, *, fill: Any = None) -> Argument:
    """Returns a buffer that kernels read: an array of NumPy, or a shape and a type.

    Without an array, `fill` is `"random"`, `"zeros"`, `"ones"`, `"iota"`, a number, or the bounds of
    random numbers.
    """
    return Argument("in", data, dtype, fill=fill)


def InOut(data: Any, dtype: Any = None, *, fill: Any = None, relative: float | None = None,
          absolute: float | None = None) -> Argument:  # fmt: skip
    """Returns a buffer that kernels read and write, filled anew before each run.

    `relative` and `absolute` are the tolerances of its comparison with the correct result.
    """
    return Argument("inout", data, dtype, fill=fill, relative=relative, absolute=absolute)


def Out(data: Any, dtype: Any = None, *, relative: float | None = None, absolute: float | None = None) -> Argument:
    """Returns a buffer that kernels write: the shape and the type of an array, or these themselves."""
    return Argument("out", data, dtype, relative=relative, absolute=absolute)


def Scratch(data: Any, dtype: Any = None) -> Argument:
    """Returns a workspace of kernels, which is not compared."""
    return Argument("scratch", data, dtype)


def Local(shape: Extents, dtype: Any) -> Argument:
    """Returns memory of a work-group."""
    return Argument("local", shape, dtype)


def Scalar(dtype: Any, value: Value) -> Argument:
    """Returns a number: a value, or an expression over sizes and parameters."""
    return Argument("scalar", (), dtype, value=value)


def element(dtype: Any) -> str:
    """Returns the element type of a type of NumPy, or of its own name such as `"f32"` or `"f32x4"`."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    if isinstance(dtype, str) and dtype not in ELEMENTS:
        return dtype
    if str(getattr(dtype, "byteorder", "=")) == ">":
        raise RequestError(f"the type {name} has the byte order of another machine; convert with array.astype(\"{name}\")")
    if str(name) not in ELEMENTS:
        known = ", ".join(ELEMENTS)
        raise RequestError(f"kernels have no type {name}; convert the array with astype to one of {known}")
    return ELEMENTS[str(name)]


def _is_array(data: Any) -> bool:
    return hasattr(data, "dtype") and hasattr(data, "tobytes") and hasattr(data, "flags")


def _contents(name: str, array: Any) -> bytes:
    """Returns the elements in the order of memory."""
    if not array.flags.c_contiguous:
        raise RequestError(
            f"the array `{name}` is not contiguous: its rows are not stored one after the other; "
            f"pass numpy.ascontiguousarray({name})"
        )
    contents: bytes = array.tobytes()
    return contents


class Problem:
    """A problem to tune: kernels, their arguments, the space of their parameters, and what is right.

    Args:
        source: The path of a problem file: TOML, Kernel Tuner's T1, or a source with ATF's directives.
            A text with several lines is the problem itself.
        sizes: Sizes that replace those of the problem.
        folder: The folder that relative paths of a text start from.

    >>> import tunesmith
    >>> problem = tunesmith.Problem('''
    ...     [parameters]
    ...     TILE = { pow2 = "1..=16" }
    ... ''')
    >>> tunesmith.tune(problem, device="synthetic:1 + abs(TILE - 4)", progress=False).best.config
    {'TILE': 4}
    """

    __slots__ = ("native",)

    native: _native.Problem

    def __init__(
        self, source: Path, *, sizes: Mapping[str, Value] | None = None, folder: Path = "."
    ) -> None:
        listed = list((sizes or {}).items())
        if isinstance(source, str) and "\n" in source:
            self.native = _native.Problem.parse(source, path_text(folder, "folder"), listed)
        else:
            self.native = _native.Problem.load(path_text(source, "source"), listed)
        if self.native.warnings:
            from warnings import warn

            for warning in self.native.warnings:
                warn(warning, Remark, stacklevel=2)

    @classmethod
    def build(
        cls,
        kernels: Kernel | Sequence[Kernel],
        arguments: Mapping[str, Any],
        parameters: Mapping[str, Iterable[Value]],
        *,
        constraints: Constraints = (),
        reference: Reference | None = None,
        sizes: Mapping[str, Value] | None = None,
        default: Mapping[str, Value] | None = None,
        flops: Value | None = None,
        bytes: Value | None = None,
        relative: float | None = None,
        absolute: float | None = None,
        allow_nan: bool = False,
        name: str | None = None,
        folder: Path = ".",
    ) -> Problem:
        """Builds a problem in code.

        Args:
            kernels: The kernels, in the order in which they run.
            arguments: The arguments by name, in the order of the kernels' signatures. An array of
                NumPy is a buffer that kernels read, a scalar of NumPy a number. `Out`, `InOut`,
                `Scratch`, `Local` and `Scalar` make the others.
            parameters: The values of each tuning parameter.
            constraints: Conditions as of a `Space`: expressions and functions, as a list or by their meanings.
            reference: What is right: a kernel that computes it, a function, or arrays by the names of
                outputs. A function gets the arrays that its parameters name. It returns the
                output, a tuple of all outputs or a dict of them by name, or writes into its arrays and
                returns nothing.
            sizes: Named numbers for expressions, and macros of the sources.
            default: The configuration that speed-ups refer to.
            flops: The floating-point operations of one launch: an expression. Reports show GFLOP/s.
            bytes: The bytes that one launch moves: an expression. Reports show GB/s.
            relative: The relative tolerance of outputs.
            absolute: The absolute tolerance of outputs.
            allow_nan: True if an array of the reference may have NaN. NaN is equal to NaN: a kernel that
                writes it there is right.
            name: The name. The default is that of the first kernel.
            folder: The folder that relative paths start from.

        Raises:
            RequestError: A part is wrong. The text names it.
        """
        listed = [kernels] if isinstance(kernels, Kernel) else list(kernels)
        if not listed or not all(isinstance(kernel, Kernel) for kernel in listed):
            raise RequestError(f"the kernels are {kernels!r}; give a tunesmith.Kernel, or several")
        taken = {name: _argument(name, given) for name, given in arguments.items()}
        problem = cls.__new__(cls)
        problem.native = _native.Problem.build({
            "name": name or listed[0].parts["function"],
            "folder": path_text(folder, "folder"),
            "sizes": list((sizes or {}).items()),
            "flops": flops,
            "bytes": bytes,
            "kernels": [kernel.parts for kernel in listed],
            "parameters": [(name, list(values)) for name, values in parameters.items()],
            "constraints": listed_constraints(constraints),
            "arguments": [{"name": name, **_filled(name, one)} for name, one in taken.items()],
            "reference": reference.parts if isinstance(reference, Kernel) else None,
            "expected": _expected(reference, taken, allow_nan),
            "relative": relative,
            "absolute": absolute,
            "default": list((default or {}).items()),
        })  # fmt: skip
        return problem

    @property
    def name(self) -> str:
        """The name."""
        return self.native.name

    def space(self, device: str | None = None) -> Space:
        """Returns the space that the limits of a device leave."""
        return Space.of(self.native.space(settings(device=device)))

    def __repr__(self) -> str:
        return f"<tunesmith.Problem {self.name}>"


def _argument(name: str, given: Any) -> Argument:
    """Returns what an argument means that is given as itself."""
    if isinstance(given, Argument):
        return given
    if _is_array(given) and given.ndim == 0 and given.dtype.kind == "V":
        return _object(name, given)
    if _is_array(given) and given.ndim == 0:
        return Scalar(given.dtype, given.item())
    if _is_array(given):
        return In(given)
    if isinstance(given, (int, float)):
        like = 'tunesmith.Scalar("i32", ...)' if isinstance(given, int) else 'tunesmith.Scalar("f32", ...)'
        raise RequestError(f"argument `{name}` is {given!r}, whose type in the kernel is unknown; write {like}")
    raise RequestError(f"argument `{name}` is {given!r}; give an array of NumPy, or tunesmith.Out, InOut, Scalar, ...")


def _object(name: str, struct: Any) -> Argument:
    """Returns a struct of NumPy as an argument by value."""
    if struct.dtype.hasobject:
        raise RequestError(f"argument `{name}` has objects of Python, which kernels cannot read; use numbers")
    return Argument("object", struct, "bytes", contents=struct.tobytes())


def _filled(name: str, argument: Argument) -> dict[str, Any]:
    """Returns the parts of an argument, with the contents of its array."""
    reads = argument.parts["kind"] in ("in", "inout")
    if not reads or argument.array is None:
        return argument.parts
    return {**argument.parts, "contents": _contents(name, argument.array)}


def _outputs(arguments: Mapping[str, Argument]) -> list[str]:
    return [name for name, one in arguments.items() if one.parts["kind"] in ("out", "inout")]


def _expected(reference: Any, arguments: Mapping[str, Argument], allow_nan: bool) -> list[tuple[str, bytes]]:
    """Returns the right contents of outputs, in the types of the arguments."""
    if reference is None or isinstance(reference, Kernel):
        return []
    if callable(reference):
        right: dict[str, Any] = _computed(reference, arguments)
    elif hasattr(reference, "items"):
        right = dict(reference.items())
    else:
        outputs = _outputs(arguments)
        if len(outputs) != 1:
            raise RequestError(f"the reference is one array, but the outputs are {', '.join(outputs)}; give a dict")
        right = {outputs[0]: reference}
    return [(name, _right(name, array, arguments, allow_nan)) for name, array in right.items()]


def _right(name: str, array: Any, arguments: Mapping[str, Argument], allow_nan: bool) -> bytes:
    import numpy

    if name not in _outputs(arguments):
        raise RequestError(f"the reference gives `{name}`, but the outputs are {', '.join(_outputs(arguments))}")
    argument, found = arguments[name], numpy.asarray(array)
    extents = argument.parts["shape"]
    if all(isinstance(extent, int) for extent in extents) and tuple(extents) != found.shape:
        raise RequestError(
            f"the reference gives `{name}` with the shape {found.shape}, but the argument has {tuple(extents)}"
        )
    types = {ours: theirs for theirs, ours in ELEMENTS.items()}
    wanted = numpy.dtype(types.get(argument.parts["element"], found.dtype))
    if not numpy.can_cast(found.dtype, wanted, casting="same_kind"):
        raise RequestError(f"the reference gives `{name}` as {found.dtype}, but the argument has {wanted}")
    if not allow_nan:
        _refuse_nan(name, found)
    contents: bytes = numpy.ascontiguousarray(found, dtype=wanted).tobytes()
    return contents


def _refuse_nan(name: str, array: Any) -> None:
    import numpy

    if array.dtype.kind != "f":
        return
    places: list[list[int]] = numpy.argwhere(numpy.isnan(array)).tolist()
    if places:
        first = ", ".join(map(str, places[0]))
        raise RequestError(
            f"the reference gives NaN in {len(places)} of {array.size} elements, the first of which is `{name}`[{first}]; "
            "every kernel that writes NaN there would be right. Mend the reference, or pass allow_nan=True"
        )


def _computed(function: Callable[..., Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """Returns the outputs that a function computes from copies of the arrays."""
    from inspect import signature

    taken: dict[str, Any] = {}
    for name in signature(function).parameters:
        if name not in arguments:
            raise RequestError(f"the reference takes `{name}`, but the arguments are {', '.join(arguments)}")
        taken[name] = _for_reference(name, arguments[name])
    returned: Any = function(**taken)
    outputs = _outputs(arguments)
    if returned is None:
        written = {name: taken[name] for name in outputs if name in taken}
        if not written:
            raise RequestError(f"the reference returns nothing and takes no output; return {', '.join(outputs)}")
        return written
    if hasattr(returned, "items"):
        return dict(returned.items())
    several: list[Any] = list(returned) if returned.__class__ is tuple else [returned]
    if len(several) != len(outputs):
        raise RequestError(f"the reference returns {len(several)} arrays, but the outputs are {', '.join(outputs)}")
    return dict(zip(outputs, several))


def _for_reference(name: str, argument: Argument) -> Any:
    kind = argument.parts["kind"]
    if kind == "scalar":
        return argument.parts["value"]
    if argument.array is not None:
        return argument.array.copy()
    if kind == "out" and all(isinstance(extent, int) for extent in argument.parts["shape"]):
        import numpy

        types = {ours: theirs for theirs, ours in ELEMENTS.items()}
        return numpy.zeros(argument.parts["shape"], types.get(argument.parts["element"], "uint8"))
    raise RequestError(f"a function as reference needs the array of `{name}`; give one in place of a shape")
