"""Reads Tunesmith's problem files as the other tools need them: values, constraints, data, a reference.

Covers what the kernels of the race use: C and OpenCL, one kernel, float arrays that are random or
outputs, constraints over parameters, sizes and limits of the device.
"""

import ast
import ctypes
import pathlib
import subprocess
import tomllib

import numpy

ALIGNMENT = 64
C_OPTIONS = ["-O3", "-march=native"]


def aligned(shape):
    """An array of floats that begins at a multiple of 64 bytes; NumPy's own begin at multiples of 16."""
    size = int(numpy.prod(shape)) * 4
    raw = numpy.zeros(size + ALIGNMENT, numpy.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(numpy.float32).reshape(shape)


class Substitution(ast.NodeTransformer):
    """Replaces sizes and `device.LIMIT` by numbers and `ceildiv(a, b)` by Python's operators."""

    def __init__(self, sizes, limits):
        self.sizes, self.limits = sizes, limits

    def visit_Name(self, node):
        return ast.Constant(self.sizes[node.id]) if node.id in self.sizes else node

    def visit_Attribute(self, node):
        return ast.Constant(int(self.limits[node.attr]))

    def visit_Call(self, node):
        self.generic_visit(node)
        if node.func.id != "ceildiv":
            return node
        negative = ast.BinOp(ast.UnaryOp(ast.USub(), node.args[0]), ast.FloorDiv(), node.args[1])
        return ast.UnaryOp(ast.USub(), negative)


def names(expression):
    return {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)}


class Kernel:
    """A problem, with its expressions in plain Python and its data in aligned buffers."""

    def __init__(self, path, limits):
        self.path = pathlib.Path(path).resolve()
        self.problem = tomllib.loads(self.path.read_text())
        self.sizes = self.problem["problem"]["sizes"]
        self.substitution = Substitution(self.sizes, limits)
        kernel = self.problem["kernel"]
        self.file, self.function = self.path.parent / kernel["file"], kernel["function"]
        self.opencl = self.file.suffix == ".cl"
        self.parameters = {name: self.values(given) for name, given in self.problem["parameters"].items()}
        self.constraints = self.conjuncts()
        folders = [self.path.parent / folder for folder in kernel.get("include", [])] + [self.path.parent]
        self.macros = [f"-I{folder.resolve()}" for folder in folders]
        self.macros += [f"-D{name}={value}" for name, value in self.sizes.items()]
        self.options = kernel.get("options", []) + self.macros
        self.arguments = self.problem["arguments"]

    def plain(self, expression):
        tree = self.substitution.visit(ast.parse(" ".join(expression.split()), mode="eval"))
        return ast.unparse(ast.fix_missing_locations(tree))

    def number(self, expression):
        return eval(self.plain(str(expression)))

    def values(self, given):
        if isinstance(given, list):
            return given
        if set(given) != {"divisors_of"}:
            raise SystemExit(f"{self.path}: the race reads lists of values and divisors_of, not {given}")
        whole = self.number(given["divisors_of"])
        return [value for value in range(1, whole + 1) if whole % value == 0]

    def conjuncts(self):
        """The constraints, split at `and`, which lets tools reject configurations early."""
        parts = []
        for text in self.problem["constraints"].values():
            body = ast.parse(self.plain(text), mode="eval").body
            conjunction = isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And)
            parts += [ast.unparse(part) for part in (body.values if conjunction else [body])]
        return [part for part in parts if names(part) & set(self.parameters)]

    def local(self):
        return [self.plain(text) for text in self.problem["kernel"]["local"]]

    def items(self):
        return [self.plain(text) for text in self.problem["kernel"]["global"]]

    def data(self):
        """Arrays and numbers in the order of the kernel's signature, the same in every process."""
        random = numpy.random.default_rng(1)
        made = []
        for argument in self.arguments:
            if "shape" not in argument:
                made.append(numpy.float32(argument["value"]))
                continue
            array = aligned([self.number(extent) for extent in argument["shape"]])
            if argument.get("access", "in") != "out":
                array[...] = random.uniform(-1, 1, array.shape)
            made.append(array)
        return made

    def expected(self, folder):
        """What the reference makes of the data: an array for each output, else None."""
        reference = self.problem["verify"]["reference"]
        library = pathlib.Path(folder) / "reference.so"
        source = self.path.parent / reference["file"]
        command = ["cc", "-O2", "-fPIC", "-shared", *self.macros, str(source)]
        subprocess.run([*command, "-o", str(library), "-lm"], check=True)
        data = self.data()
        call(ctypes.CDLL(str(library))[reference["function"]], data)
        outputs = ["shape" in argument and argument.get("access", "in") != "in" for argument in self.arguments]
        return [array if output else None for output, array in zip(outputs, data)]

    def wrong(self, expected, data):
        """By the tolerances of the problem."""
        verify = self.problem["verify"]
        return any(
            not numpy.allclose(array, wanted, rtol=verify["relative"], atol=verify["absolute"])
            for array, wanted in zip(data, expected)
            if wanted is not None
        )

    def timed_source(self):
        """C with the kernel and `timed`, which runs it and returns milliseconds."""
        types = ["float *" if "shape" in argument else "float " for argument in self.arguments]
        signature = ", ".join(f"{of}{argument['name']}" for of, argument in zip(types, self.arguments))
        passed = ", ".join(argument["name"] for argument in self.arguments)
        # Kernel Tuner adds extern "C", which is not C, unless it finds these words.
        return f"""#define _POSIX_C_SOURCE 199309L
#include <time.h>
#include "{self.file}"

float timed({signature})
{{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    {self.function}({passed});
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (float)((end.tv_sec - start.tv_sec) * 1e3 + (end.tv_nsec - start.tv_nsec) * 1e-6);
}}
"""

    def compiled(self, config, folder, name):
        """The C function `timed` of a configuration."""
        folder = pathlib.Path(folder)
        (folder / "timed.c").write_text(self.timed_source())
        library = folder / f"{name}.so"
        macros = [f"-D{parameter}={value}" for parameter, value in config.items()]
        command = ["cc", *C_OPTIONS, "-fPIC", "-shared", *self.options, *macros, str(folder / "timed.c")]
        subprocess.run([*command, "-o", str(library), "-lm"], check=True, capture_output=True)
        function = ctypes.CDLL(str(library)).timed
        function.restype = ctypes.c_float
        return function


def call(function, data):
    """Calls a C function with arrays and floats."""
    return function(*(ctypes.c_void_p(value.ctypes.data) if value.ndim else ctypes.c_float(value) for value in data))
