"""Structs as arguments of kernels: one by value, and arrays of them."""

import numpy
import pytest

import tunesmith
from tunesmith.compat.kernel_tuner import Refused, run_kernel, tune_kernel

SIZE = 64
# Three bytes of padding behind `kind`, as C has them.
PARAMS = numpy.dtype([("kind", "i1"), ("count", "i4"), ("factor", "f4")], align=True)
STRUCT = "typedef struct { signed char kind; int count; float factor; } params;\n"
C = STRUCT + """
void scale(float *out, const float *in, params p, int n) {
    for (int i = 0; i < n; i += STEP)
        for (int j = i; j < i + STEP; j++) out[j] = j < p.count ? p.factor * in[j] + p.kind : 0.0f;
}
"""
OPENCL = STRUCT + """
__kernel void scale(__global float *out, __global const float *in, params p, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = i < p.count ? p.factor * in[i] + p.kind : 0.0f;
}
"""
has_opencl = any(device["backend"] == "opencl" for device in tunesmith.devices()["devices"])
needs_opencl = pytest.mark.skipif(not has_opencl, reason="there is no OpenCL device")
LANGUAGES = [("C", C, {"STEP": [1, 4]}), pytest.param("OpenCL", OPENCL, {"block_size_x": [16, 32]}, marks=needs_opencl)]


def data(dtype=PARAMS):
    x = numpy.linspace(0, 1, SIZE, dtype=numpy.float32)
    params = numpy.array((2, 60, 2.5), dtype=dtype)[()]
    assert isinstance(params, numpy.void)
    right = numpy.where(numpy.arange(SIZE) < 60, numpy.float32(2.5) * x + 2, 0).astype(numpy.float32)
    return [numpy.zeros_like(x), x, params, numpy.int32(SIZE)], right


@pytest.mark.parametrize(("lang", "source", "tune_params"), LANGUAGES)
def test_a_struct_is_passed_by_value(lang, source, tune_params):
    given, right = data()
    answer = [right, None, None, None]
    results, _ = tune_kernel("scale", source, SIZE, given, tune_params, answer=answer, lang=lang, quiet=True)
    assert [row.get("__error__") for row in results] == [None, None]
    ran = run_kernel("scale", source, SIZE, given, {name: values[0] for name, values in tune_params.items()}, lang=lang)
    assert numpy.allclose(ran[0], right) and ran[2] == given[2]


PACKED = numpy.dtype([("kind", "i1"), ("count", "i4"), ("factor", "f4")])


def test_a_struct_without_the_padding_of_the_type_is_an_error_in_c():
    given, _ = data(PACKED)
    with pytest.raises(tunesmith.RequestError, match="`p`: the problem says an object of 9 bytes.* with padding"):
        tune_kernel("scale", C, SIZE, given, {"STEP": [1]}, lang="C", quiet=True)


@needs_opencl
def test_a_struct_without_the_padding_of_the_type_is_a_failure_in_opencl():
    given, _ = data(PACKED)
    results, _ = tune_kernel("scale", OPENCL, SIZE, given, {"block_size_x": [16]}, lang="OpenCL", quiet=True)
    # PoCL itself takes any number of bytes.
    assert "argument_3_has_9_bytes_and_its_type_has_not" in results[0]["__error__"].message


def test_a_large_struct_is_passed_whole():
    table = numpy.zeros((), numpy.dtype([("values", "f8", 200)]))
    table["values"] = numpy.arange(200)
    source = """
    struct table { double values[200]; };
    void copy(double *out, struct table t) { for (int i = 0; i < 200; i += STEP) out[i] = t.values[i]; }
    """
    given = [numpy.zeros(200), table[()]]
    results, _ = tune_kernel(
        "copy", source, 1, given, {"STEP": [1]}, answer=[numpy.arange(200.0), None], lang="C", quiet=True
    )
    assert "__error__" not in results[0]


@pytest.mark.parametrize(("lang", "source", "tune_params"), LANGUAGES)
def test_an_array_of_structs_is_a_buffer(lang, source, tune_params):
    given, right = data()
    given[2] = numpy.array([given[2]])
    pointer = source.replace("params p", "__global const params *p" if lang == "OpenCL" else "const params *p")
    pointer = pointer.replace("p.", "p->")
    answer = [right, None, None, None]
    results, _ = tune_kernel("scale", pointer, SIZE, given, tune_params, answer=answer, lang=lang, quiet=True)
    assert [row.get("__error__") for row in results] == [None, None]


@pytest.mark.parametrize("shape", [(), (3,)])
def test_objects_of_python_are_no_data(shape):
    given, _ = data()
    given[2] = numpy.zeros(shape, numpy.dtype([("name", "O")]))[()]
    with pytest.raises(Refused, match="the argument `p` has objects of Python"):
        tune_kernel("scale", C, SIZE, given, {"STEP": [1]}, lang="C", quiet=True)


def test_a_problem_in_code_passes_a_struct_by_value():
    (out, x, params, _), right = data()
    kernel = tunesmith.Kernel(C, "scale", language="c++")
    arguments = {"out": tunesmith.InOut(out), "in": x, "p": params, "n": tunesmith.Scalar("i32", SIZE)}
    problem = tunesmith.Problem.build(kernel, arguments, {"STEP": [1, 4]}, reference=right)
    run = tunesmith.tune(problem, progress=False)
    assert run.verified and all(evaluation.is_correct for evaluation in run.evaluations)


def test_a_struct_by_value_in_c_names_the_remedy():
    (out, x, params, _), _ = data()
    kernel = tunesmith.Kernel(C, "scale", language="c")
    arguments = {"out": tunesmith.Out(out), "in": x, "p": params, "n": tunesmith.Scalar("i32", SIZE)}
    problem = tunesmith.Problem.build(kernel, arguments, {"STEP": [1, 4]})
    with pytest.raises(tunesmith.Error, match="argument `p`: C cannot pass an object .* write language = \"cpp\""):
        tunesmith.tune(problem, progress=False)
