"""Simulations from caches: the results are what Kernel Tuner 1.5.0 gives."""

import itertools
import json
import sys
import warnings

import numpy
import pytest

import tunesmith
from tunesmith.compat.kernel_tuner import Refused, tune_cache, tune_kernel, util

COSTS = {"compile_time": 1.0, "verification_time": 0, "strategy_time": 0, "framework_time": 0}


def entry(a, time, **numbers):
    return {"A": a, "time": time, "times": [time - 0.5, time, time + 0.5], **COSTS, "benchmark_time": 3.0, **numbers}


def entries():
    """A cache as Kernel Tuner writes it: three configurations with the power that they took, and one that fails."""
    failed = {"A": 3, "time": "CompilationFailedConfig", **COSTS, "benchmark_time": 0}
    return {"1": entry(1, 1.0, power=10.0), "2": entry(2, 2.0, power=20.0), "3": failed, "4": entry(4, 4.0, power=40.0)}


def document(cache, parameters=None, **facts):
    parameters = parameters or {"A": [1, 2, 3, 4]}
    head = {"device_name": "A100", "kernel_name": "k", "problem_size": 8, "tune_params_keys": list(parameters)}
    return {**head, "tune_params": parameters, "objective": "time", **facts, "cache": cache}


@pytest.fixture
def simulate(tmp_path):
    def of(cache=None, parameters=None, size=8, kernel="k", facts=None, **options):
        file = tmp_path / "cache.json"
        file.write_text(json.dumps(document(entries() if cache is None else cache, parameters, **(facts or {}))))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return tune_kernel(
                kernel, "void k(void) {}", size, [], parameters or {"A": [1, 2, 3, 4]}, lang="C", cache=file,
                simulation_mode=True, **{"quiet": True, **options},
            )  # fmt: skip

    return of


def test_a_result_has_all_that_the_cache_recorded(simulate):
    results, env = simulate()
    search = {"strategy_time", "framework_time"}
    for row, recorded in zip(results, entries().values()):
        assert {key: row[key] for key in recorded if key not in search} == {
            key: value for key, value in recorded.items() if key not in search
        }
    failed = results[2]
    assert isinstance(failed["__error__"], util.CompilationFailedConfig) and failed["time"] == "CompilationFailedConfig"
    assert env["best_config"]["power"] == 10.0


def test_the_totals_are_those_of_the_simulated_run(simulate):
    _, env = simulate()
    assert env["device_name"] == "A100" and env["simulation"] is True and env["simulated_time"] == 13.0
    assert (env["total_compile_time"], env["total_verification_time"], env["total_benchmark_time"]) == (4.0, 0.0, 9.0)
    parts = sum(value for key, value in env.items() if key.startswith("total_"))
    assert 0 <= env["overhead_time"] <= parts
    _, bare = simulate({key: {"A": row["A"], "time": row["time"]} for key, row in entries().items()})
    assert bare["simulated_time"] == 0 and "total_compile_time" not in bare


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ({"w": lambda p: p["power"] * p["time"]}, [10.0, 40.0, 160.0]),
        ({"w": "power * time"}, [10.0, 40.0, 160.0]),
        ({"half": "power / 2", "w": lambda p: p["half"] + 1}, [6.0, 11.0, 21.0]),
        ({"w": lambda p: float(numpy.std(p["times"]))}, [pytest.approx(0.408, abs=1e-3)] * 3),
        ({"w": lambda p: None}, [None] * 3),
    ],
)
def test_a_metric_may_use_recorded_numbers(simulate, metrics, expected):
    results, _ = simulate(metrics=metrics)
    assert [row["w"] for row in results if "__error__" not in row] == expected
    assert "w" not in results[2]


@pytest.mark.parametrize(
    ("options", "best"),
    [
        ({"objective": "power", "objective_higher_is_better": False}, 1),
        ({"objective": "power", "objective_higher_is_better": True}, 4),
        ({"objective": "time", "objective_higher_is_better": True}, 4),
        ({"objective": "w", "metrics": {"w": lambda p: abs(p["power"] - 21)}, "objective_higher_is_better": False}, 2),
        ({"objective": "w", "metrics": {"w": lambda p: -sum(p["times"])}, "objective_higher_is_better": True}, 1),
        ({"objective": "time", "metrics": {"time": lambda p: 1 / p["time"]}}, 4),
    ],
)
def test_a_recorded_number_or_any_metric_may_be_the_objective(simulate, options, best):
    for strategy in ["brute_force", "genetic_algorithm", "default"]:
        _, env = simulate(strategy=strategy, seed=1, **options)
        assert env["best_config"]["A"] == best, strategy


def test_a_search_follows_the_recorded_objective(simulate):
    parameters = {name: list(range(4)) for name in "ABCDE"}
    rows = [dict(zip(parameters, row)) for row in itertools.product(*parameters.values())]
    cache = {",".join(map(str, row.values())): {**row, "time": 1.0, "power": sum(row.values())} for row in rows}

    def mean(higher):
        given = {"strategy": "genetic_algorithm", "strategy_options": {"max_fevals": 150}, "seed": 3}
        results, _ = simulate(cache, parameters, objective="power", objective_higher_is_better=higher, **given)
        return sum(row["power"] for row in results) / len(results)

    assert mean(False) < 6.5 and mean(True) > 8.5, "at random, both are 7.5"


def test_recorded_numbers_make_a_front(simulate):
    for objectives in (
        {"objectives": {"time": False, "power": True}},
        {"objective": ["time", "power"], "objective_higher_is_better": [False, True]},
    ):
        _, env = simulate(**objectives)
        assert [row["A"] for row in env["best_config"]] == [1, 2, 4]
    with pytest.raises(Refused, match="objective has 2 entries, and objective_higher_is_better 1"):
        simulate(objective=["time", "power"], objective_higher_is_better=[False])


def test_a_time_limit_counts_simulated_time(simulate):
    results, _ = simulate(strategy="random_sample", strategy_options={"time_limit": 0.006}, seed=1)
    assert len(results) == 2, "each costs 4 ms, or 1 ms if it fails"
    with pytest.raises(Refused, match="entry \"1\" of the cache .*cache.json does not have compile_time"):
        simulate({"1": {"A": 1, "time": 1.0}}, {"A": [1]}, strategy_options={"time_limit": 1})


def test_a_search_goes_on_when_the_first_ten_fail_alike(simulate):
    cache = {str(a): {"A": a, "time": 1.0 if a > 12 else "RuntimeFailedConfig"} for a in range(1, 15)}
    results, env = simulate(cache, {"A": list(range(1, 15))})
    assert len(results) == 14 and env["best_config"]["A"] == 13


def test_a_failure_is_known_by_its_name_under_any_key(simulate):
    cache = {"1": entry(1, 1.0), "2": {"A": 2, "__error__": "RuntimeFailedConfig", **COSTS, "benchmark_time": 0}}
    results, _ = simulate(cache, {"A": [1, 2]})
    assert "time" not in results[1] and isinstance(results[1]["__error__"], util.RuntimeFailedConfig)


def test_any_source_and_size_can_be_simulated(simulate):
    """Nothing of a kernel runs, so nothing of it is refused."""
    results, _ = simulate(
        size=lambda p: tuple(sorted([p["A"], 3])), observers=[1], compiler="none", defines={"N": lambda p: 1},
        restrictions="A > 3",
    )
    assert [row["A"] for row in results] == [4]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"size": 9}, "is of problem_size 8, not of 9"),
        ({"size": (8, 8)}, "is of problem_size 8, not of"),
        ({"facts": {"problem_size": "callable"}}, "is of problem_size callable, not of 8"),
        ({"kernel": "z"}, "is of the kernel k, not of z"),
        ({"facts": {"tune_params_keys": ["B"]}}, "entry \"1\" .* has no value of B"),
        ({"parameters": {"A": [1, 2, 7]}}, "has no entry of A=7; add a restriction"),
        ({"objective": "energy"}, "'energy' is none of the results time, benchmark_time, .*power, .* of the cache"),
        ({"cache": {"1": entry(2, 1.0)}}, "entry \"1\" .* has the values A=2; correct its key or its values"),
        ({"cache": {"1": entry(1, 1.0) | {"time": "2.5"}}}, "entry \"1\" .* has the time '2.5'; write a number"),
        ({"cache": {"1": entry(1, 1.0) | {"time": None}}}, "entry \"1\" .* has the time None"),
        ({"cache": {"1": entry(1, float("nan"))}}, "entry \"1\" .* has the time nan"),
        ({"cache": {"1": [1]}}, "entry \"1\" .* has no value of A"),
        ({"facts": {"kernel_name": None, "tune_params": None}, "cache": {}}, "is of the kernel None"),
        (
            {"cache": {"1": entry(1, 1.0, power=1.0), "2": entry(2, 2.0)}, "parameters": {"A": [1, 2]},
             "objective": "power", "objective_higher_is_better": True},
            "entry \"2\" .* has no `power`, which is the objective",
        ),
    ],
)  # fmt: skip
def test_a_cache_that_does_not_fit_or_contradicts_itself_is_named(simulate, changes, reason):
    with pytest.raises(Refused, match=reason) as caught:
        simulate(**changes)
    assert "cache.json" in str(caught.value) and "simulated.json" not in str(caught.value)


@pytest.mark.parametrize("size", [8, [8], (8,), numpy.int64(8), numpy.array([8]), lambda p: 5])
def test_the_size_of_the_cache_may_be_written_in_any_way(simulate, size):
    assert len(simulate(size=size)[0]) == 4
    assert len(simulate(size=size, facts={"problem_size": [8]})[0]) == 4


def test_a_time_outside_of_its_samples_is_a_warning(simulate):
    with pytest.raises(UserWarning, match="entry \"1\" .*cache.json has the time 9.0, outside of its samples"):
        simulate({"1": entry(1, 1.0) | {"time": 9.0}}, {"A": [1]})


MIXED = {"A": [1, 2], "M": ["t", 1, True, 2.5]}


def mixed():
    rows = [(1, "t", 4.0), (1, 1, 3.0), (2, True, 2.0), (2, 2.5, 1.0)]
    return {f"{a},{m}": {"A": a, "M": m, "time": time, "times": [time]} for a, m, time in rows}


def test_values_of_mixed_types_are_simulated(simulate, tmp_path):
    file = tmp_path / "mixed.json"
    file.write_text(json.dumps(document(mixed(), MIXED)))
    results, env = tune_cache(file, quiet=True)
    found = [(row["A"], row["M"], row["time"]) for row in results]
    assert found == [(1, "t", 4.0), (1, 1, 3.0), (2, True, 2.0), (2, 2.5, 1.0)]
    assert results[2]["M"] is True and env["best_config"]["M"] == 2.5
    with pytest.raises(Refused, match=r"mixed\.json has no entry of A=1, M=True"):
        tune_kernel("k", "", 8, [], MIXED, cache=file, simulation_mode=True, quiet=True)
    results, _ = simulate({"1": entry(1, 1.0), "0.5": entry(0.5, 2.0), "True": entry(True, 3.0)}, {"A": [1, 0.5, True]})
    assert [(row["A"], row["time"]) for row in results] == [(1, 1.0), (0.5, 2.0), (True, 3.0)]


def test_a_cache_without_its_size_is_searched(tmp_path):
    file = tmp_path / "cache.json"
    whole = document(entries())
    del whole["problem_size"]
    file.write_text(json.dumps(whole))
    results, _ = tune_cache(file, objective="power", objective_higher_is_better=True, quiet=True)
    assert [row["A"] for row in results] == [1, 2, 4], "what failed is not in the space"


def test_a_cache_that_is_no_json_is_named(tmp_path):
    file = tmp_path / "cache.json"
    file.write_text('{"kernel_name": oops')
    with pytest.raises(Refused, match=r"cache\.json is no whole JSON"):
        tune_cache(file)
    file.write_text(json.dumps(document(entries()))[:-2] + ",")
    assert len(tune_cache(file, quiet=True)[0]) == 3, "a run that was cut off leaves such a file"


def test_a_simulation_is_printed(simulate, capsys):
    simulate(quiet=False, verbose=True, objective="power", objective_higher_is_better=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Simulating: A100" and "A=3, time=CompilationFailedConfig" in lines
    assert lines[-1] == "A=4, power=40.000"


@pytest.mark.parametrize(
    ("lacking", "nearest"), [("firefly_algorithm", "swarm"), ("nsga2", "genetic"), ("adaptive_tabu_greywolf", "tabu")]
)
def test_a_strategy_that_is_lacking_is_replaced_by_the_nearest(simulate, lacking, nearest):
    with pytest.raises(UserWarning, match=f"strategy='{lacking}' is not here; the nearest one, '{nearest}"):
        simulate(strategy=lacking)


def test_a_verification_may_have_two_arguments():
    source = "float f(float *y) { for (int i = 0; i < 4; i++) y[i] = X; return 0; }"
    y = numpy.zeros(4, numpy.float32)
    for verify in (lambda answer, result: (result[0] == 2).all(), lambda answer, result, *, atol: atol == 1e-6):
        results, _ = tune_kernel("f", source, 4, [y], {"X": [2]}, answer=[y], verify=verify, lang="C", quiet=True)
        assert "__error__" not in results[0]


STRUCT = """
struct s { int a; float b; };
extern "C" float f(struct s *y, const struct s *x) {
    for (int i = 0; i < 4; i++) y[i] = x[i];
    y[STEP].a += STEP == 3;
    return 0;
}
"""


def test_arrays_of_structs_are_arguments():
    kind = numpy.dtype([("a", numpy.int32), ("b", numpy.float32)])
    x = numpy.array([(2, 1.5)] * 4, kind)
    results, _ = tune_kernel(
        "f", STRUCT, 4, [numpy.zeros(4, kind), x], {"STEP": [1, 3]}, answer=[x, None], lang="C", quiet=True
    )
    assert [row["STEP"] for row in results if "__error__" in row] == [3]
    with pytest.raises(tunesmith.RequestError, match="`x`: .* an object of 8 bytes.*a pointer takes a buffer"):
        tune_kernel("f", STRUCT, 4, [numpy.zeros(4, kind), x[0]], {"STEP": [1]}, lang="C", quiet=True)


def test_the_modules_of_the_package_are_imported_from_it(monkeypatch):
    for name in ("file_utils", "integration", "kernelbuilder", "observers", "utils", "utils.directives"):
        monkeypatch.delitem(sys.modules, f"tunesmith.compat.kernel_tuner.{name}", raising=False)
    package = sys.modules["tunesmith.compat.kernel_tuner"]
    for name in ("file_utils", "integration", "kernelbuilder", "observers", "utils"):
        monkeypatch.delattr(package, name, raising=False)
    names: dict = {}
    exec("from tunesmith.compat.kernel_tuner import file_utils, integration, kernelbuilder, observers, utils", names)
    assert names["integration"].__name__ == "tunesmith.compat.kernel_tuner.integration"


def test_the_package_may_stand_in_place_of_kernel_tuner(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernel_tuner"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "kernel_tuner", sys.modules["tunesmith.compat.kernel_tuner"])
    names: dict = {}
    exec("from kernel_tuner.util import ErrorConfig\nfrom kernel_tuner.utils.directives import Code", names)
    assert names["ErrorConfig"] is util.ErrorConfig
    with pytest.raises(ImportError, match=r"kernel_tuner\.observers\.nvml has no equal"):
        exec("from kernel_tuner.observers.nvml import NVMLObserver", names)


def test_a_measured_cache_has_the_values_of_the_script(tmp_path):
    cache = tmp_path / "cache.json"
    source = "float f(float *y) { y[0] = 1; return 0; }"
    parameters = {"X": [1, 2.5], "M": numpy.array([2, 4]), "K": [True, "auto", 3]}
    results, _ = tune_kernel("f", source, 1, [numpy.zeros(1, numpy.float32)], parameters, cache=cache, lang="C", quiet=True)
    assert "1,2,True" in json.loads(cache.read_text())["cache"]
    assert {(row["X"], row["K"]) for row in results} == {(x, k) for x in (1, 2.5) for k in (True, "auto", 3)}
    again, _ = tune_kernel("f", "", 1, [], parameters, cache=cache, simulation_mode=True, quiet=True)
    assert [row["time"] for row in again] == [row["time"] for row in results]
