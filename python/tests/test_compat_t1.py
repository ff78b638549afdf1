"""Kernel Tuner's `tune_kernel_T1`: files in the form T1."""

import json
from inspect import signature

import kernel_tuner
import pytest

from tunesmith.compat.kernel_tuner import Refused, tune_kernel_T1

PARAMETERS = [
    {"Name": "STEP", "Type": "int", "Values": "[1, 2, 4, 8]", "Default": 1},
    {"Name": "KIND", "Type": "string", "Values": "['plain', 'other']", "Default": "plain"},
]
SOURCE = """
#define plain 1
#define other 2
void scale(float *out, const float *in, int n) {
    for (int i = 0; i < n; i += STEP)
        for (int j = i; j < i + STEP; j++) out[j] = 3.0f * in[j] * (KIND / KIND);
}
"""
SPACE = {(step, kind) for step in (1, 2, 4, 8) for kind in ("plain", "other") if step < 8 or kind == "plain"}


@pytest.fixture
def write(tmp_path):
    """Writes the file with changes, beside its kernel."""

    def write(kernel=(), **changes):
        (tmp_path / "scale.cpp").write_text(SOURCE)
        float_vector = {"Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]"}
        specification = {
            "Language": "C++", "KernelName": "scale", "KernelFile": "scale.cpp", "ProblemSize": [64],
            "GlobalSize": {"X": "1"}, "LocalSize": {"X": "1"}, "Device": {"Name": "a device"},
            "Arguments": [
                {**float_vector, "Name": "out", "AccessType": "WriteOnly", "FillType": "Constant", "FillValue": 0.0},
                {**float_vector, "Name": "in", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 1.0},
                {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 64},
            ],
        }  # fmt: skip
        document = {
            "ConfigurationSpace": {
                "TuningParameters": PARAMETERS,
                "Conditions": [{"Parameters": ["STEP", "KIND"], "Expression": "STEP < 8 or KIND == 'plain'"}],
            },
            "Search": {"Name": "brute_force"},
            "KernelSpecification": {**specification, **dict(kernel)},
            **changes,
        }
        path = tmp_path / "scale.json"
        path.write_text(json.dumps(document))
        return path

    return write


def cache_of(folder, power=True):
    """Writes a cache of all configurations, of which the last one failed."""
    rows = {}
    for number, (step, kind) in enumerate(sorted(SPACE)):
        time = 1.0 + number if number + 1 < len(SPACE) else "RuntimeFailedConfig"
        parts = {"compile_time": 10.0, "verification_time": 0.0, "benchmark_time": 50.0}
        row = {"STEP": step, "KIND": kind, "time": time, "times": [time], **parts, "timestamp": "2026-01-01 00:00:00"}
        rows[f"{step},{kind}"] = {**row, "power": 100.0 - number} if power else row
    path = folder / "recorded.json"
    path.write_text(json.dumps({
        "device_name": "a device", "kernel_name": "scale", "problem_size": [64], "tune_params_keys": ["STEP", "KIND"],
        "tune_params": {"STEP": [1, 2, 4, 8], "KIND": ["plain", "other"]}, "objective": "time", "cache": rows,
    }))  # fmt: skip
    return path


def configurations(results):
    return sorted((row["STEP"], row["KIND"]) for row in results)


def test_its_arguments_are_those_of_kernel_tuner():
    theirs = signature(kernel_tuner.tune_kernel_T1)
    assert list(signature(tune_kernel_T1).parameters) == list(theirs.parameters)


def test_a_file_is_tuned(write):
    path = write()
    results, env = tune_kernel_T1(path, output_T4=False, iterations=3)
    assert configurations(results) == sorted(SPACE)
    assert all(len(row["times"]) == 3 and row["time"] == pytest.approx(sum(row["times"]) / 3) for row in results)
    assert env["best_config"]["time"] == min(row["time"] for row in results) and env["iterations"] == 3
    assert sorted(one.name for one in path.parent.iterdir()) == ["scale.cpp", "scale.json"], "nothing is left behind"


def test_results_are_in_the_form_t4(write):
    metadata, results = tune_kernel_T1(write())
    assert metadata["metadata"]["operating_system"] and results["schema_version"] == "1.0.0"
    assert configurations(one["configuration"] for one in results["results"]) == sorted(SPACE)
    assert all(one["invalidity"] == "correct" and one["objectives"] == ["time"] for one in results["results"])
    assert all(len(one["times"]["runtimes"]) == 7 for one in results["results"])


def test_a_cache_is_continued(write, tmp_path):
    cache = tmp_path / "kept"
    once, _ = tune_kernel_T1(write(), cache, output_T4=False)
    again, _ = tune_kernel_T1(write(), cache, output_T4=False)
    assert [row["times"] for row in again] == [row["times"] for row in once], "nothing is measured twice"
    simulated, _ = tune_kernel_T1(write(), cache, simulation_mode=True, output_T4=False)
    assert configurations(simulated) == sorted(SPACE)


@pytest.mark.parametrize("is_named_by_the_file", [True, False])
def test_a_cache_is_simulated_as_kernel_tuner_does(write, tmp_path, is_named_by_the_file):
    cache = cache_of(tmp_path)
    path = write({"SimulationInput": "recorded.json"} if is_named_by_the_file else {})
    named = None if is_named_by_the_file else cache
    results, env = tune_kernel_T1(path, named, simulation_mode=True, output_T4=False)
    assert configurations(results) == sorted(SPACE) and env["simulation"] and env["device_name"] == "a device"
    assert env["best_config"]["time"] == 1.0 and sum("__error__" in row for row in results) == 1
    theirs = kernel_tuner.tune_kernel_T1
    # Kernel Tuner refuses C, and an exhaustive search with a budget; and it keeps the options of the call before.
    (tmp_path / "scale.cl").write_text("")
    kernel = {"Language": "OpenCL", "KernelFile": "scale.cl"}
    path = write(kernel, Budget=[{"Type": "ConfigurationCount", "BudgetValue": 100}], Search={"Name": "random_sample"})
    given, _ = theirs(path, cache, simulation_mode=True, output_T4=False, strategy_options={})
    times = {(row["STEP"], row["KIND"]): row["time"] for row in results if "__error__" not in row}
    assert {(row["STEP"], row["KIND"]): row["time"] for row in given if "__error__" not in row} == times


def test_a_recorded_number_is_the_objective_of_a_simulation(write, tmp_path):
    cache = cache_of(tmp_path)
    results, env = tune_kernel_T1(write(), cache, "power", True, simulation_mode=True, output_T4=False)
    assert env["best_config"]["power"] == 100.0 and len(results) == len(SPACE)
    _, document = tune_kernel_T1(write(), cache, "power", simulation_mode=True)
    assert all(one["objectives"] == ["power"] for one in document["results"])
    with pytest.raises(Refused, match="objective='power'.*simulation_mode"):
        tune_kernel_T1(write(), objective="power", objective_higher_is_better=True)


@pytest.mark.parametrize(
    ("budget", "options", "count"),
    [
        ([{"Type": "ConfigurationCount", "BudgetValue": 3}], {}, 3),
        ([{"Type": "ConfigurationCount", "BudgetValue": 3}], {"max_fevals": 2}, 2),
        ([], {"max_fevals": 4}, 4),
        # Three results of 60 ms each.
        ([{"Type": "TuningDuration", "BudgetValue": 0.15}], {}, 3),
    ],
)
def test_the_budget_is_that_of_the_file_unless_one_is_given(write, tmp_path, budget, options, count):
    path = write(Budget=budget, Search={"Name": "random_sample"})
    given = (path, cache_of(tmp_path))
    results, _ = tune_kernel_T1(*given, simulation_mode=True, output_T4=False, strategy_options=options)
    assert len(results) == count


def test_a_strategy_goes_before_that_of_the_file(write, tmp_path):
    path = write(Search={"Name": "brute_force"})
    results, _ = tune_kernel_T1(
        path, cache_of(tmp_path), simulation_mode=True, output_T4=False, strategy="random_sample",
        strategy_options={"max_fevals": 2},
    )  # fmt: skip
    assert len(results) == 2
    with pytest.raises(Refused, match="custom_search_method_path names a class"):
        tune_kernel_T1(path, strategy="Mine", strategy_options={"custom_search_method_path": "mine.py"})


def test_what_is_wrong_is_named(write, tmp_path):
    (tmp_path / "text.json").write_text("{")
    with pytest.raises(Refused, match="text.json is no file in the form T1"):
        tune_kernel_T1(tmp_path / "text.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(Refused, match="other.json .* no KernelSpecification"):
        tune_kernel_T1(tmp_path / "other.json")
    with pytest.raises(Refused, match="the cache .* is of the kernel scale, not of twice"):
        tune_kernel_T1(write({"KernelName": "twice"}), cache_of(tmp_path), simulation_mode=True)
