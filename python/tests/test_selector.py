"""Choosing at run time, predicting, comparing, and listing devices."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import tunesmith
from tunesmith import Problem, Selector, compare, devices, predict, tune

WISDOM = """{"format": "tunesmith wisdom", "version": 1}
{"kernel": "gemm", "device": "GPU A", "input": {"M": 512}, "config": {"TILE": 32, "FAST": true}, "time_ms": 1.5}
{"kernel": "gemm", "device": "GPU A", "input": {"M": 64}, "config": {"TILE": 8, "FAST": false}, "time_ms": 0.1}
"""


@pytest.fixture
def wisdom(tmp_path):
    path = tmp_path / "gemm.wisdom"
    path.write_text(WISDOM)
    return path


def test_a_selector_answers_from_wisdom(wisdom):
    selector = Selector(wisdom)
    exact = selector.choose("gemm", {"M": 512}, device="GPU A")
    assert (exact.config, exact.time_ms, exact.is_doubtful) == ({"TILE": 32, "FAST": True}, 1.5, False)
    assert exact["TILE"] == 32 and exact.source == "measured for this input on this device"
    near = selector.choose("gemm", {"M": 100}, device="GPU A")
    assert near["TILE"] == 8 and "0.6 doublings away" in near.source
    assert selector.choose("gemm", {"M": 512}).is_doubtful
    with pytest.raises(KeyError, match="the files know no kernel 'conv'"):
        selector.choose("conv", {"M": 512})


def test_a_choice_tells_the_judgement_of_its_portfolio(wisdom):
    judged = {
        "device": "GPU A", "sizes": 20, "defaults": 0, "failed": 0, "speed": 0.9, "ci95": [0.8, 1.0], "slowest": 0.5,
        "slowest_at": {"M": 90}, "slower": 2, "seed": 0,
    }
    portfolio = {
        "kernel": "gemm", "device": "GPU A", "features": ["M"], "hull": [[64, 512]], "configs": [{"TILE": 32}],
        "regret": {"inputs": 2, "portfolio": 0, "tree": 0, "worst": 0, "held_out": None, "default": None},
        "tree": {"choose": 0}, "judgement": judged,
    }
    with wisdom.open("a") as file:
        file.write('{"kernel": "gemm", "default": {"TILE": 4}}\n')
        file.write(json.dumps({"portfolio": portfolio}) + "\n")
    selector = Selector(wisdom)
    choice = selector.choose("gemm", {"M": 100}, device="GPU A")
    assert choice["TILE"] == 4 and choice.judgement.startswith("not faster: the default answers; at 20 fresh sizes")
    assert selector.choose("gemm", {"M": 512}, device="GPU A").judgement is None


def test_a_selector_warns_of_what_it_cannot_read(wisdom, tmp_path):
    with pytest.warns(tunesmith.Remark, match="nothing.wisdom"):
        selector = Selector(wisdom, tmp_path / "nothing.wisdom")
    assert len(selector.warnings) == 1 and selector.choose("gemm", {"M": 64}, device="GPU A")["TILE"] == 8
    with pytest.raises(tunesmith.RequestError, match="name files"):
        Selector()


def problem(n):
    return Problem(f"[problem]\nname = 'tiles'\nsizes = {{ N = {n} }}\n[parameters]\nT = {{ pow2 = '1..=64' }}\n")


def test_strategies_are_compared_on_a_run(tmp_path):
    journal = tmp_path / "run.jsonl"
    tune(problem(8), device="synthetic:1 + abs(T - N)", strategy="exhaustive", out=journal)
    document = compare(journal, ["random", "exhaustive"], repeats=5, budget=7)
    assert [result["strategy"] for result in document["results"]] == ["random", "exhaustive"]
    assert compare([journal], "random", repeats=5, budget=7)["overall"][0]["strategy"] == "random"


def test_ctrl_c_ends_a_comparison_and_its_thread(tmp_path):
    journal = tmp_path / "run.jsonl"
    tune(problem(8), device="synthetic:1 + abs(T - N)", strategy="exhaustive", out=journal)

    def threads():
        return len(os.listdir("/proc/self/task"))

    compare(journal, "annealing", repeats=2, budget=5)  # starts the threads that searches share
    before = threads()
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        compare(journal, "annealing", repeats=10**8, budget=5)
    timer.join()
    while threads() > before:  # a thread that goes on would go on for days
        time.sleep(0.01)


def test_a_model_predicts_for_an_input_that_was_never_tuned(tmp_path):
    runs = []
    for n in (1, 2, 4, 8, 16, 32, 64):
        runs.append(str(tmp_path / f"{n}.jsonl"))
        tune(problem(n), device="synthetic:1 + abs(T - N)", strategy="exhaustive", out=runs[-1])
    model = tmp_path / "model.json"
    command = [sys.executable, "-m", "tunesmith", "train", "timing", *runs, "-o", str(model)]
    trained = subprocess.run(command, capture_output=True, text=True)
    assert trained.returncode == 0, trained.stderr
    predicted = predict(model, {"N": 12})
    assert predicted["config"]["T"] in (4, 8, 16) and len(predicted["candidates"]) > 1
    assert predict(model, {"N": 12}, problem=problem(1), count=2)["candidates"][0]["config"] == predicted["config"]
    elsewhere = predict(model, {"N": 12}, device="gpu")
    assert any("the model knows no device `gpu`" in note for note in elsewhere["notes"])
    with pytest.raises(tunesmith.RequestError, match="no size `M`"):
        predict(model, {"M": 12})


def test_devices_are_listed():
    listed = devices()
    assert {"devices", "missing"} == set(listed)
    assert all({"id", "name", "backend", "driver", "limits"} <= set(device) for device in listed["devices"])
    assert all({"backend", "reason", "remedy"} == set(missing) for missing in listed["missing"])


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        (lambda folder: compare(folder / "none.csv", "random"), "none.csv"),
        (lambda folder: compare([], "random"), "name recordings"),
        (lambda folder: compare(folder / "gemm.wisdom", "anealing"), "did you mean `annealing`"),
        (lambda folder: predict(folder / "none.json", {}), "none.json"),
        (lambda folder: predict(folder / "gemm.wisdom", {}, search="best"), "auto, exhaustive, grid"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(wrong, remedy, wisdom, tmp_path):
    with pytest.raises(tunesmith.Error, match=remedy):
        wrong(tmp_path)
