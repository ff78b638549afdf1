"""Tunesmith's strategies inside Kernel Tuner, which looks up the times in a cache."""

import subprocess
import sys

import pytest

import tunesmith

kernel_tuner = pytest.importorskip("kernel_tuner")
from tunesmith.compat.opt_alg import TunesmithSearch, space_of  # noqa: E402

PARAMETERS = {"block_size_x": [32, 64, 128, 256], "tile": [1, 2, 4, 8, 16], "unroll": [0, 1]}
CONSTRAINT = "block_size_x * tile <= 1024"


def time_of(config):
    if config["tile"] == 16 and config["unroll"]:
        raise RuntimeError("out of registers")
    return abs(config["block_size_x"] - 128) / 128 + abs(config["tile"] - 4) + 1.5 - 0.5 * config["unroll"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of Kernel Tuner with the whole space."""
    folder = tmp_path_factory.mktemp("cache")
    space = tunesmith.Space(PARAMETERS, [CONSTRAINT])
    journal, made = folder / "all.jsonl", folder / "all.cache.json"
    tunesmith.tune(time_of, space, strategy="exhaustive", out=journal, remeasure=False, progress=False, keep_going=True)
    subprocess.run([sys.executable, "-m", "tunesmith", "convert", journal, "--out", made], check=True)
    return made


def searched(cache, strategy, evaluations, **options):
    return kernel_tuner.tune_kernel(
        "time_of", "__global__ void time_of() {}", 1024, [], PARAMETERS, restrictions=[CONSTRAINT], lang="CUDA",
        strategy=strategy, strategy_options={"max_fevals": evaluations}, cache=str(cache), simulation_mode=True,
        quiet=True, **options,
    )  # fmt: skip


@pytest.mark.parametrize("strategy", ["default", "annealing(temperature=0.1)", "genetic"])
def test_a_strategy_searches_within_kernel_tuner(cache, strategy):
    results, env = searched(cache, TunesmithSearch(strategy, seed=3), 20)
    configs = [tuple(row[name] for name in PARAMETERS) for row in results]
    assert len(set(configs)) == len(configs) == 20, "every evaluation is new"
    assert all(row["block_size_x"] * row["tile"] <= 1024 for row in results)
    if strategy == "default":
        best = env["best_config"]
        assert (best["block_size_x"], best["tile"], best["unroll"]) == (128, 4, 1)


def test_the_seed_decides_the_search(cache):
    def order(seed):
        results, _ = searched(cache, TunesmithSearch("random", seed=seed), 12)
        return [tuple(row[name] for name in PARAMETERS) for row in results]

    assert order(1) == order(1) != order(2)


def test_a_small_space_is_searched_to_its_end(cache):
    results, _ = searched(cache, TunesmithSearch("default", seed=1), 1000)
    assert len(results) == tunesmith.Space(PARAMETERS, [CONSTRAINT]).size


@pytest.mark.parametrize("dense", [True, False])
def test_the_space_of_rows_has_exactly_the_rows(dense):
    parameters = {"a": list(range(12)), "b": ["x", "y"], "c": [0.5], "d": list(range(40))}
    rows = [
        (a, b, 0.5, d)
        for a in parameters["a"]
        for b in parameters["b"]
        for d in parameters["d"]
        if ((a + d) % 2 == 0 if dense else (a * 40 + d) % 97 == 3)
    ]
    space = space_of(parameters, rows)
    assert space.size == len(rows)
    assert {tuple(config[name] for name in parameters) for config in space} == set(rows)
