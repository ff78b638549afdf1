"""Scripts for Kernel Tuner run with another import line."""

import json
import math
from inspect import signature
from math import ceil

import kernel_tuner
import numpy
import pytest

from tunesmith.compat import kernel_tuner as compat
from tunesmith.compat.kernel_tuner import Refused, _functions, _problem, run_kernel, tune_kernel
from tunesmith.compat.kernel_tuner.util import get_config_string

SOURCE = """
extern "C" float scale(float *out, const float *in, float by, int n) {
    for (int i = 0; i < n; i += UNROLL) {
        for (int j = 0; j < UNROLL; j++) {
            out[i + j] = by * in[i + j];
        }
    }
#if UNROLL == 8 && SPOILT
    out[3] = 1e6f;
#endif
    return 1.0f;
}
"""
SIZE = 4096


def scale(tune_params, answer=True, **options):
    data = numpy.linspace(0, 1, SIZE, dtype=numpy.float32)
    arguments = [numpy.zeros_like(data), data, numpy.float32(3), numpy.int32(SIZE)]
    expected = [numpy.float32(3) * data, None, None, None] if answer else None
    options.setdefault("quiet", True)
    return tune_kernel("scale", SOURCE, SIZE, arguments, tune_params, answer=expected, lang="C", **options)


def test_a_c_kernel_is_tuned_over_its_whole_space():
    results, env = scale({"UNROLL": [1, 2, 4, 8], "SPOILT": [0, 1]})
    assert len(results) == 8
    failed = [row for row in results if "__error__" in row]
    assert [(row["UNROLL"], row["SPOILT"]) for row in failed] == [(8, 1)], "its output is not the answer"
    assert failed[0]["__error__"] == "RuntimeFailedConfig" and "`out`[3] is wrong" in failed[0]["__error__"].message
    correct = [row for row in results if row not in failed]
    assert all(len(row["times"]) == 7 and row["time"] == pytest.approx(numpy.mean(row["times"])) for row in correct)
    assert env["best_config"]["time"] == min(row["time"] for row in correct)


def test_restrictions_are_strings_and_functions():
    most = numpy.int64(4)
    results, _ = scale(
        {"UNROLL": [1, 2, 4, 8], "SPOILT": [0, 1]}, restrictions=["SPOILT == 0", lambda p: p["UNROLL"] <= most]
    )
    assert sorted(row["UNROLL"] for row in results) == [1, 2, 4]


def test_metrics_are_strings_and_functions_and_may_be_the_objective():
    metrics = {"GB/s": lambda p: 8 * SIZE / p["time"] / 1e6, "per_unroll": "time / UNROLL"}
    results, env = scale(
        {"UNROLL": [1, 2], "SPOILT": [0]}, metrics=metrics, objective="GB/s", objective_higher_is_better=True
    )
    for row in results:
        assert row["per_unroll"] == row["time"] / row["UNROLL"]
        assert row["GB/s"] == pytest.approx(8 * SIZE / row["time"] / 1e6)
    assert env["best_config"]["GB/s"] == max(row["GB/s"] for row in results)


def test_a_cache_is_continued_and_can_be_simulated(tmp_path):
    cache = str(tmp_path / "cache")
    parameters = {"UNROLL": [1, 2, 4], "SPOILT": [0]}
    once, _ = scale(parameters, cache=cache)
    again, _ = scale(parameters, cache=cache)
    assert [row["times"] for row in again] == [row["times"] for row in once], "nothing is measured twice"
    assert json.loads((tmp_path / "cache.json").read_text())["kernel_name"] == "scale"
    simulated, _ = scale(parameters, cache=cache, simulation_mode=True)
    assert {row["UNROLL"] for row in simulated} == {1, 2, 4}


PARTIAL_SUMS = """
float sums(float *partial, float *x, int n) {
    for (int block = 0; block < BLOCKS; block++) {
        partial[block] = 0;
        for (int i = block; i < n; i += BLOCKS) {
            partial[block] += x[i];
        }
    }
#if BLOCKS == 4
    partial[0] += 1000;
#endif
    return 0;
}
"""


def sums(blocks, **options):
    x = numpy.arange(1024, dtype=numpy.float32)
    arguments = [numpy.zeros(8, numpy.float32), x, numpy.int32(x.size)]
    answer = [numpy.sum(x), None, None]
    return tune_kernel(
        "sums", PARTIAL_SUMS, 1, arguments, {"BLOCKS": blocks}, lang="C", answer=answer, quiet=True, **options
    )


def test_a_function_verifies_outputs_that_no_comparison_can():
    seen = []

    def verify(answer, result, atol=None):
        seen.append([None if one is None else one.shape for one in result])
        return numpy.isclose(answer[0], numpy.sum(result[0]), atol=atol)

    results, _ = sums([1, 2, 4, 8], verify=verify)
    assert [row["BLOCKS"] for row in results if "__error__" in row] == [4]
    assert "`verify` finds the outputs wrong" in next(row["__error__"].message for row in results if "__error__" in row)
    assert set(map(tuple, seen)) == {((8,), None, None)}
    assert "BLOCKS=8" in get_config_string(results[-1])


def test_an_exception_of_verify_is_told():
    def verify(answer, result, atol=None):
        raise ZeroDivisionError("oh")

    results, env = sums([1, 2], verify=verify)
    assert env["best_config"] is None
    assert all("ZeroDivisionError: oh" in row["__error__"].message for row in results)


def test_a_kernel_runs_once_and_returns_its_outputs():
    x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    out = numpy.zeros_like(x)
    source = "void twice(float *out, const float *x) { for (int i = 0; i < N; i++) out[i] = 2 * x[i]; }"
    results = run_kernel("twice", source, 1, [out, x], {"N": 12}, lang="C")
    assert (results[0] == 2 * x).all() and results[1] is x and (out == 0).all()
    with pytest.raises(RuntimeError, match="oops"):
        run_kernel("twice", "void twice(float *out, const float *x, oops y) {}", 1, [out, x, numpy.int32(3)], {}, lang="C")


def test_parameters_that_are_only_read_are_inputs():
    kernel = _problem.Kernel(
        "f",
        """
        // f(int no) { }
        __kernel void f(__global float *a, __global float4 *b, __global float *c, __global float *d, __constant float *e,
                        __global float *g, int n) {
            if (n == 1) { a[n * (n + 1)] = b[n].x + (c[n] == d[0] ? e[1] : 0.0f); }
            d[n]++;
            store(g, n);
        }
        void after(float *b) { b[0] = 1; }
        """,
        None,
        _problem.Names({"X": [1]}),
        [],
    )
    found = {parameter.name: parameter.is_input for parameter in kernel.parameters(7)}
    assert found == {"a": False, "b": True, "c": True, "d": False, "e": True, "g": False, "n": False}


def test_strategies_have_their_names_and_ends():
    parameters = {"UNROLL": [1, 2, 4, 8, 16, 32], "SPOILT": [0, 1]}
    for strategy in ["random_sample", "simulated_annealing", "genetic_algorithm", "default"]:
        results, _ = scale(parameters, strategy=strategy, strategy_options={"max_fevals": 4}, seed=1)
        assert len(results) == 4, strategy
    with pytest.warns(UserWarning, match="popsize"):
        scale(parameters, strategy="pso", strategy_options={"max_fevals": 2, "popsize": 3})
    with pytest.raises(Refused, match="did you mean 'random_sample'"):
        scale(parameters, strategy="random_sampel")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parallel": True}, "parallel=True .*--fleet local:N"),
        ({"observers": [1]}, "observers=.*energy"),
        ({"texmem_args": {"t": 1}}, "texture references, which CUDA 12 removed.*memory = \"image\""),
        ({"objectives": ["time"]}, "give a dict"),
        ({"objectives": {"time": False, "a": 1, "b": 1, "c": 1}}, "4 entries; name one to 3"),
        ({"objectives": {"time": False, "energy": False}}, "'energy' is none of the results time"),
        ({"lang": "Julia"}, "Julia"),
        ({"restrictions": [3]}, "restrictions is a int"),
        ({"restrictions": lambda p: p["WIDTH"] > 1}, "restrictions reads p\\['WIDTH'\\]"),
        ({"objective": "energy"}, "none of the results time"),
        ({"defines": {"A": lambda p: 1}}, "defines\\['A'\\] is a function"),
        ({"answer": [None] * 5}, "answer has 5 entries"),
        ({"answer": [numpy.zeros(3)]}, "the answer for `out` has 3 elements"),
        ({"answer": [numpy.full(4, numpy.nan)]}, "the answer for `out` has NaN, .* by `verify`"),
        ({"simulation_mode": True}, "simulation_mode needs a cache"),
    ],
)
def test_what_has_no_equal_is_refused_by_name(options, message):
    given = {"lang": "C", "quiet": True, **options}
    arguments = [numpy.zeros(4, numpy.float32), numpy.zeros(4, numpy.float32), numpy.float32(1), numpy.int32(4)]
    with pytest.raises(Refused, match=message):
        tune_kernel("scale", SOURCE, 4, arguments, {"UNROLL": [1], "SPOILT": [0]}, **given)


def test_several_objectives_have_a_front_as_best():
    metrics = {"unroll": lambda p: p["UNROLL"], "twice": "2 * time"}
    objectives = {"time": False, "unroll": True}
    results, env = scale({"UNROLL": [1, 2, 4, 8], "SPOILT": [0, 1]}, metrics=metrics, objectives=objectives)
    correct = [row for row in results if "__error__" not in row]
    assert len(correct) == 7
    front = [
        row for row in correct
        if not any(one["time"] < row["time"] and one["unroll"] >= row["unroll"] for one in correct)
        and not any(one["time"] <= row["time"] and one["unroll"] > row["unroll"] for one in correct)
    ]  # fmt: skip
    assert env["best_config"] == front and all(row["optimal"] for row in front)
    assert [row.get("optimal", False) for row in correct] == [row in front for row in correct]


def test_a_front_is_printed_as_kernel_tuner_prints_it(capsys):
    scale({"UNROLL": [1, 2], "SPOILT": [0]}, metrics={"unroll": "UNROLL"}, objectives={"time": False, "unroll": True}, quiet=False)
    printed = capsys.readouterr().out
    assert "BEST PERFORMING CONFIGURATIONS FOR OBJECTIVES: ['time', 'unroll']:\nUNROLL=2" in printed.replace("UNROLL=1", "UNROLL=2")


def test_a_hip_kernel_is_a_problem_of_the_gpu_that_is_named(monkeypatch):
    given = {}

    class Given(Exception):
        pass

    def tune(problem, **options):
        given.update(options, problem=problem)
        raise Given

    monkeypatch.setattr("tunesmith.compat.kernel_tuner.tune", tune)
    source = "__global__ void twice(float *y) { y[blockIdx.x * block_size_x + threadIdx.x] *= 2; }"
    with pytest.raises(Given):
        tune_kernel("twice", source, 1024, [numpy.zeros(1024, numpy.float32)], {"block_size_x": [64, 128]}, lang="HIP", device=1)
    assert given["device"] == "hip:1"
    assert given["problem"].space(device="synthetic:1").size == 2


@pytest.mark.parametrize("name", ["tune_kernel", "run_kernel"])
def test_the_arguments_and_their_defaults_are_kernel_tuners(name):
    theirs, ours = (signature(getattr(module, name)).parameters for module in (kernel_tuner, compat))
    assert [(one.name, one.default) for one in ours.values()] == [(one.name, one.default) for one in theirs.values()]


@pytest.mark.parametrize("argument", [[1, 2], "text", 3, numpy.zeros(2, complex), object()])
def test_arguments_of_unknown_types_are_refused(argument):
    with pytest.raises(Refused, match="argument `in`"):
        tune_kernel("scale", SOURCE, 4, [numpy.zeros(4), argument, 1.0, 4], {"UNROLL": [1], "SPOILT": [0]}, lang="C")


def test_functions_become_expressions():
    names, size, half = {"a", "b"}, 100, numpy.float32(0.5)

    def documented(p):
        """Says what it is."""
        return min(p["a"], p["b"]) in (1, 2)

    pair = [lambda p: p["a"] < p["b"], lambda p: p["a"] > p["b"]]  # alike but for one operator
    over_lines = (lambda conf: conf["a"] % 2 == 0 and
                  conf["b"] > 1)  # fmt: skip
    expected = {
        "a < b": pair[0],
        "a > b": pair[1],
        "min(a, b) in (1, 2)": documented,
        "a % 2 == 0 and b > 1": over_lines,
        "a * 100 < 0.5": lambda p: p["a"] * size < half,
        "a <= b": lambda a, b: a <= b,
        "int(-(-(a / 3) // 1))": lambda p: math.ceil(p["a"] / 3),
        "int(-(-b // 1))": lambda p: ceil(p["b"]),
    }
    for text, function in expected.items():
        assert _functions.expression(function, names, "it") == text
    assert _functions.expressions(lambda p: (size // p["a"], p["b"]), names, "it") == ["100 // a", "b"]


def test_functions_that_do_more_than_an_expression_are_refused():
    def loops(p):
        total = 0
        for value in p.values():
            total += value
        return total < 3

    for function, reason in [
        (loops, "does more than return one expression"),
        (lambda p: sorted(p), "sorted"),
        (max, "cannot be read"),
        (lambda p: p[SIZE], "no such parameter"),
    ]:
        with pytest.raises(Refused, match=reason):
            _functions.expression(function, {"a"}, "restrictions")
