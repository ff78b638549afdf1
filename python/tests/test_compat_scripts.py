"""What scripts for Kernel Tuner import, and the files that they write."""

import importlib
import json

import numpy
import pytest

import tunesmith
import tunesmith.compat.kernel_tuner as kernel_tuner
from tunesmith.compat.kernel_tuner import Refused, create_device_targets, store_results, tune_cache, tune_kernel, util
from tunesmith.compat.kernel_tuner.file_utils import store_metadata_file, store_output_file
from tunesmith.compat.kernel_tuner.integration import TuneResults
from tunesmith.compat.kernel_tuner.kernelbuilder import PythonKernel
from tunesmith.compat.kernel_tuner.utils.directives import Code, Cxx, OpenMP, process_directives

SOURCE = """
float scale(float *out, const float *in, int n) {
    for (int i = 0; i < n; i += UNROLL) {
        for (int j = 0; j < UNROLL; j++) {
            out[i + j] = FACTOR * in[i + j];
        }
    }
    return 0;
}
"""
SIZE = 1024


def arguments():
    data = numpy.linspace(0, 1, SIZE, dtype=numpy.float32)
    return [numpy.zeros_like(data), data, numpy.int32(SIZE)]


def scale(tune_params, source=SOURCE, factor=3, **options):
    given = arguments()
    answer = [numpy.float32(factor) * given[1], None, None]
    return tune_kernel("scale", source, SIZE, given, tune_params, answer=answer, **{"lang": "C", "quiet": True, **options})


PARAMETERS = {"UNROLL": [1, 2, 4, 8], "FACTOR": [3]}


@pytest.fixture(scope="module")
def tuned():
    return scale({**PARAMETERS, "FACTOR": [3, 4]})


def test_a_result_has_the_keys_of_kernel_tuner(tuned):
    results, env = tuned
    parts = {"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time", "timestamp"}
    right = [row for row in results if row["FACTOR"] == 3]
    assert all(set(row) == {"UNROLL", "FACTOR", "time", "times", *parts} for row in right)
    wrong = [row for row in results if row["FACTOR"] == 4]
    assert all(set(row) == {"UNROLL", "FACTOR", "__error__", *parts} for row in wrong), "a failure has no time"
    assert all(isinstance(row["__error__"], util.RuntimeFailedConfig) for row in wrong)
    assert json.loads(json.dumps(results))[0].keys() == results[0].keys()
    totals = {f"total_{part}" for part in parts - {"timestamp"}}
    assert {"device_name", "iterations", "compiler_options", "best_config", "overhead_time", *totals} == set(env)


def test_a_slow_configuration_is_measured_in_full():
    source = SOURCE.replace("return 0;", "if (UNROLL == 2) for (volatile long i = 0; i < 300000000; i++); return 0;")
    results, _ = scale({"UNROLL": [1, 2], "FACTOR": [3]}, source=source, iterations=2)
    assert [len(row["times"]) for row in results] == [2, 2], "ten times the best time, and a second, are no limit"


def test_it_prints_what_kernel_tuner_prints(capsys):
    metrics = {"GB/s": lambda p: 1 / p["time"]}
    results, env = scale(PARAMETERS, quiet=False, verbose=True, metrics=metrics)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Using: ") and lines[1] == "Searchspace has 4 configurations after restrictions."
    row = results[0]
    assert f"UNROLL={row['UNROLL']}, FACTOR=3, time={row['time']:.3f}, GB/s={row['GB/s']:.3f}" in lines
    assert lines[-2] == "BEST PERFORMING CONFIGURATION FOR OBJECTIVE time:"
    assert lines[-1].startswith(f"UNROLL={env['best_config']['UNROLL']}, FACTOR=3, time=")


def test_a_function_generates_the_source_of_each_configuration():
    asked = []

    def generate(p):
        asked.append(p)
        unrolled = "".join(f"out[i + {j}] = FACTOR * in[i + {j}];\n" for j in range(p["WIDTH"]))
        spoilt = "out[0] = 7;" if p["KIND"] == "bad" else ""
        return f"""
        float scale(float *out, const float *in, int n) {{
            for (int i = 0; i < n; i += {p['WIDTH']}) {{
                {unrolled}
            }}
            {spoilt}
            return 0;
        }}"""

    params = {"WIDTH": [1, 2, 4], "KIND": ["good", "bad"], "FACTOR": [3]}
    results, _ = scale(params, source=generate, restrictions=["WIDTH < 4 or KIND == 'good'"])
    assert len(asked) == len(results) == 5
    assert [row["WIDTH"] for row in results if "__error__" in row] == [1, 2]


def test_a_buffer_that_one_generated_source_writes_is_no_input():
    def generate(p):
        write = "in[0] = 0;" if p["WRITES"] else ""
        return f"float f(float *out, float *in) {{ out[0] = in[1]; {write} return 0; }}"

    given = [numpy.zeros(4, numpy.float32), numpy.ones(4, numpy.float32)]
    results, _ = tune_kernel("f", generate, 1, given, {"WRITES": [0, 1]}, lang="C", quiet=True)
    assert not any("__error__" in row for row in results)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [({"X": [0.5, 1.5]}, "depends on X=0.5"), ({"X": list(range(200)), "Y": list(range(200))}, "40000 configurations")],
)
def test_sources_of_functions_that_cannot_be_told_apart_are_refused(parameters, reason):
    with pytest.raises(Refused, match=reason):
        scale(parameters, source=lambda p: f"void scale() {{ {p} }}")


def test_a_restriction_may_be_any_function():
    def allowed(p):
        total = 0
        for value in p.values():
            total += value
        return total in (5, 11)

    results, _ = scale(PARAMETERS, restrictions=[allowed, lambda UNROLL: sum([UNROLL]) < 9])
    assert sorted(row["UNROLL"] for row in results) == [2, 8]


def test_an_objective_has_its_direction_and_may_use_other_metrics():
    metrics = {"seconds": lambda p: p["time"] / 1e3, "GFLOP/s": lambda p: 2 / p["seconds"], "text": lambda p: str(p)}
    results, env = scale(PARAMETERS, metrics=metrics, objective="GFLOP/s")
    assert env["best_config"]["GFLOP/s"] == max(row["GFLOP/s"] for row in results), "more is better without a word"
    with pytest.raises(Refused, match="objective_higher_is_better"):
        scale(PARAMETERS, metrics=metrics, objective="seconds")


def test_macros_of_the_launch_are_defined():
    source = SOURCE.replace("return 0;", "if (grid_size_x * block_size_x < n || block_size_z != 1) out[0] = 7; return 0;")
    results, _ = scale({**PARAMETERS, "block_size_x": [16, 32]}, source=source)
    assert len(results) == 8 and not any("__error__" in row for row in results)


def test_work_groups_are_as_small_as_kernel_tuner_has_them():
    results, _ = scale({**PARAMETERS, "block_size_x": [32, 512], "block_size_y": [2, 4]})
    found = {(row["block_size_x"], row["block_size_y"]) for row in results}
    assert found == {(32, 2), (32, 4), (512, 2)}


OPENCL = """
__kernel void scale(__global float *out, __global const float *in, int n) {
    int at = get_global_id(0);
    if (at < n) { out[at] = read_only * in[at] + 0 * x; }
}
"""


@pytest.mark.skipif(
    not any(device["backend"] == "opencl" for device in tunesmith.devices()["devices"]), reason="there is no OpenCL device"
)
def test_parameters_in_opencl_may_have_the_names_of_words_and_of_arguments():
    params = {"block_size_x": [32, 64, 1 << 24], "read_only": [3], "x": [1, 2]}
    given = arguments()
    results, _ = tune_kernel("scale", OPENCL, SIZE, given, params, answer=[3 * given[1], None, None], quiet=True)
    assert sorted(row["block_size_x"] for row in results) == [32, 32, 64, 64], "larger work-groups are no configurations"
    assert not any("__error__" in row for row in results)


def test_a_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    results, _ = scale({"UNROLL": [1], "FACTOR": [3]}, compiler="c++")
    assert "__error__" not in results[0]
    with pytest.raises(Refused, match="compiler='nvc9' is not installed"):
        scale(PARAMETERS, compiler="nvc9")


def test_a_strategy_may_be_its_module():
    results, _ = scale(PARAMETERS, strategy=kernel_tuner.strategies.random_sample, strategy_options={"max_fevals": 2}, seed=1)
    assert len(results) == 2


def test_a_cache_is_searched_alone(tmp_path):
    cache = str(tmp_path / "cache.json")
    measured, _ = scale(PARAMETERS, cache=cache)
    found, env = tune_cache(cache, restrictions=["UNROLL > 1"], quiet=True)
    assert {row["UNROLL"]: row["time"] for row in found} == {
        row["UNROLL"]: pytest.approx(row["time"]) for row in measured if row["UNROLL"] > 1
    }
    assert env["best_config"]["UNROLL"] > 1


def test_results_are_written_in_the_form_t4(tmp_path, tuned):
    results, _ = tuned
    store_output_file(str(tmp_path / "new" / "out"), results, PARAMETERS)
    document = json.loads((tmp_path / "new" / "out.json").read_text())
    assert document["schema_version"] == "1.0.0"
    first = document["results"][0]
    assert set(first["configuration"]) == set(PARAMETERS) and first["objectives"] == ["time"]
    kinds = {one["configuration"]["FACTOR"]: one["invalidity"] for one in document["results"]}
    assert kinds == {3: "correct", 4: "runtime"}
    assert first["measurements"] == [{"name": "time", "value": results[0]["time"], "unit": "ms"}]
    assert len(first["times"]["runtimes"]) == 7
    store_metadata_file(str(tmp_path / "machine.json"))
    metadata = json.loads((tmp_path / "machine.json").read_text())["metadata"]
    assert metadata["operating_system"] and metadata["environment"]["device_query"]["tunesmith"]


def test_results_of_kernel_tuner_read_our_documents(tmp_path, tuned):
    theirs = pytest.importorskip("kernel_tuner.integration")
    results, env = tuned
    path = str(tmp_path / "results.json")
    store_results(path, "scale", SOURCE, {**PARAMETERS, "FACTOR": [3, 4]}, SIZE, results, env, top=200)
    ours = TuneResults(path).get_best_config(env["device_name"], SIZE)
    assert theirs.TuneResults(path).data == TuneResults(path).data
    record = theirs.TuneResults(path).get_best_config(TuneResults(path).data[0]["device_name"], SIZE)
    assert ours == record["tunable_parameters"]


def test_kernel_tuner_searches_our_cache(tmp_path):
    theirs = pytest.importorskip("kernel_tuner")
    cache = str(tmp_path / "cache.json")
    parameters = {**PARAMETERS, "FACTOR": [3, 4]}
    results, _ = scale(parameters, cache=cache, metrics={"double": lambda p: 2 * p["time"]})
    again, _ = theirs.tune_kernel(
        "scale", SOURCE, SIZE, arguments(), parameters, lang="C", quiet=True, cache=cache, simulation_mode=True
    )
    times = {(row["UNROLL"], row["FACTOR"]): row.get("time") for row in results}
    assert {(row["UNROLL"], row["FACTOR"]): row.get("time") for row in again} == times
    assert {row["UNROLL"] for row in again if "__error__" in row} == {1, 2, 4, 8}


def test_stored_results_make_a_header(tmp_path):
    path, header = tmp_path / "results.json", tmp_path / "best.h"

    def store(device, size, times):
        rows = [{"A": a, "time": time} for a, time in times.items()]
        store_results(path, "f", "void f();", {"A": [1, 2, 3]}, size, rows, {"device_name": device}, top=10)

    store("GPU one", (8, 8), {1: 1.0, 2: 1.05, 3: 2.0})
    store("GPU one", (9, 9), {1: 3.0, 2: 1.0, 3: 9.0})
    store("GPU two", (8, 8), {1: 3.0, 2: 2.0, 3: 1.0})
    store("GPU two", (8, 8), {1: 3.0, 2: 2.0, 3: 1.1})  # replaces
    found = TuneResults(path)
    assert len(found.data) == 4
    assert found.get_best_config("GPU one", (8, 8)) == {"A": 1}
    assert found.get_best_config("GPU one") == {"A": 2}, "it is good for both sizes"
    assert found.get_best_config("GPU two", 5) == {"A": 3}
    create_device_targets(header, path)
    text = header.read_text()
    assert "#if defined(TARGET_GPU_one)\n#define A 2" in text and "#elif defined(TARGET_GPU_two)\n#define A 3" in text
    assert "#else /* any other device */\n#define A 2" in text
    with pytest.raises(Refused, match="kernel_name"):
        store_results(path, "g", "", {"A": [1]}, 1, [{"A": 1, "time": 1.0}], {"device_name": "x"})


def test_a_kernel_is_a_function_of_python():
    twice = "void twice(float *out, const float *x, int n) { for (int i = 0; i < n; i += STEP) out[i] = 2 * x[i]; }"
    out, x, n = arguments()
    kernel = PythonKernel("twice", twice, 1, [out, x, n], {"STEP": 1}, [False, True, True], [True, False, False], lang="C")
    assert (kernel(out, x + 1, n)[0] == 2 * (x + 1)).all() and (out == 0).all()


def test_marked_sections_become_kernels():
    code = """
    #include <stdlib.h>
    #define N 1000
    int main(void) {
        #pragma tuner start add a(float*:N) b(double*:ROWS,2) n(int:N)
        #pragma omp parallel for num_threads(threads)
        for (int i = 0; i < n; i++) b[i] = a[i] + 1;
        #pragma tuner stop
    }
    """
    kernels, made = process_directives(Code(OpenMP(), Cxx()), code, {"ROWS": 500})
    a, b, n = made["add"]
    assert a.shape == (1000,) and a.dtype == numpy.float32 and b.shape == (1000,) and n == 1000
    results, _ = tune_kernel(
        "add", kernels["add"], 0, made["add"], {"threads": [1, 2]}, answer=[None, (a + 1).astype(float), None],
        compiler_options=["-fopenmp"], lang="C", quiet=True,
    )  # fmt: skip
    assert len(results) == 2 and not any("__error__" in row for row in results)
    with pytest.raises(Refused, match="the size 'M' is no number"):
        process_directives(Code(OpenMP(), Cxx()), "#pragma tuner start f a(float*:M)\n#pragma tuner stop")


@pytest.mark.parametrize(
    "name",
    ["observers.nvml.NVMLObserver", "observers.BenchmarkObserver", "nvml.NVMLObserver", "accuracy.TunablePrecision",
     "wrappers.cpp", "strategies.wrapper.OptAlg", "utils.directives.Fortran", "util.Timer", "nothing"],
)  # fmt: skip
def test_names_without_an_equal_are_refused_at_import(name):
    module, _, last = f"tunesmith.compat.kernel_tuner.{name}".rpartition(".")
    with pytest.raises(ImportError, match=f"kernel_tuner.{name.partition('.')[0]}.*has no equal: ") as caught:
        getattr(importlib.import_module(module), last)
    assert isinstance(caught.value, Refused)
