"""Functions of Python as devices."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import tunesmith
from tunesmith import Failure, Run, Space, tune


def space():
    return Space({"X": range(20), "Y": range(20)}, ["(X + Y) % 3 != 0"])


def seconds(config):
    return 1e-3 * (1.0 + (config["X"] - 7) ** 2 + (config["Y"] - 11) ** 2)


def test_a_function_is_tuned_to_its_best_configuration():
    run = tune(seconds, space(), stop=100, seed=1)
    assert seconds(run.best.config) < 4e-3
    assert run.best.seconds == pytest.approx(seconds(run.best.config))
    assert (run.count, len(run), len(run.evaluations)) == (100, 100, 100)
    assert run.stop_reason == "evaluations 100" and run.problem == "seconds" and run.device == "function seconds"
    assert run.verified is None and run.strategy == "default" and run.objective["name"] == "time" and run.default_value == run.default_ms
    assert all(one.time_ms == pytest.approx(1e3 * seconds(one.config)) for one in run.evaluations)


def test_parameters_alone_are_a_space():
    run = tune(lambda config: config["A"], {"A": [3, 1, 2]}, name="plain")
    assert run.best.config == {"A": 1} and run.space_size == 3 and run.problem == "plain"


def test_equal_seeds_give_equal_runs():
    runs = [tune(seconds, space(), strategy="random", stop=40, seed=seed) for seed in (5, 5, 6)]
    configs = [[one.config for one in run.evaluations] for run in runs]
    assert configs[0] == configs[1] != configs[2]


def test_exceptions_are_failures_by_their_class():
    def fails(config):
        match config["X"]:
            case 1:
                raise TimeoutError("too slow")
            case 2:
                assert config["X"] != 2, "wrong answer"
            case 3:
                raise Failure("compile", "too many registers")
            case 4:
                return float("nan")
            case 6:
                return {}["key"]
        return 1.0

    run = tune(fails, {"X": range(8)}, strategy="exhaustive")
    failed = {one.config["X"]: (one.status, one.message.splitlines()[0]) for one in run.evaluations if one.message}
    assert failed == {
        1: ("timeout", "TimeoutError: too slow"),
        2: ("correctness", "AssertionError: wrong answer"),
        3: ("compile", "too many registers"),
        4: ("runtime", "the function returned nan; its time in seconds is a finite number"),
        6: ("runtime", "KeyError: 'key'"),
    }
    sixth = next(one for one in run.evaluations if one.config["X"] == 6)
    assert 'return {}["key"]' in sixth.message or "in fails" in sixth.message
    assert run.best.config["X"] in (0, 5, 7)


def test_a_named_number_may_have_any_sign():
    space = {"X": [4, 3, 2, 1]}
    for objective, best in [("minimise score", (1, -1.5)), ("maximise score", (4, 1.5)), ("score", (1, -1.5))]:
        run = tune(lambda config: config["X"] - 2.5, space, objective=objective, strategy="exhaustive")
        assert (run.best.config["X"], run.best.value) == best and run.best.time_ms > 0
        assert [one.status for one in run.evaluations] == ["correct"] * 4
    run = tune(lambda config: (config["X"] - 1) * 1.0, space, objective="minimise misses", strategy="exhaustive")
    assert (run.best.config["X"], run.best.value, run.best.ratio, run.best.difference) == (1, 0.0, None, 3.0)
    reached = {"objective": "maximise score", "strategy": "exhaustive", "stop": "cost -2"}
    run = tune(lambda config: config["X"] - 5.5, {"X": [1, 2, 3, 4, 5]}, remeasure=False, **reached)
    assert (run.best.value, len(run.evaluations), run.stop_reason) == (-1.5, 4, "cost -2")
    with pytest.raises(tunesmith.RequestError, match='objective="minimise cost"'):
        tune(lambda config: config["X"] - 2.5, space, strategy="exhaustive")
    with pytest.raises(tunesmith.RequestError, match="returns one number"):
        tune(lambda config: 1.0, space, objective="a,b")


def test_several_times_are_samples():
    run = tune(lambda config: [config["X"] * 1e-3, config["X"] * 3e-3], {"X": [1, 2]}, remeasure=False)
    assert run.evaluations[0].times_ms == [1.0, 3.0] and run.best.time_ms == 2.0


def test_numpy_numbers_are_times():
    numpy = pytest.importorskip("numpy")
    run = tune(lambda config: numpy.float32(config["X"]), {"X": [1, 2]}, remeasure=False)
    assert run.best.config == {"X": 1}
    run = tune(lambda config: numpy.array([1.0, 2.0]) * config["X"], {"X": [1, 2]}, remeasure=False)
    assert run.evaluations[0].times_ms == [1000.0, 2000.0]


def test_leaders_are_measured_again_unless_the_function_gives_the_same_answer_each_time():
    def count(remeasure):
        calls = []
        tune(lambda config: calls.append(1) or 1e-6 * config["X"], {"X": [1, 2, 3]}, remeasure=remeasure)
        return len(calls)

    assert count(remeasure=False) == 3 < count(remeasure=True)


def test_a_function_that_returns_no_time_is_a_type_error():
    for wrong in (None, "fast", True, [], {"time": 1}):
        with pytest.raises(TypeError, match="return its time in seconds, a float"):
            tune(lambda config: wrong, {"X": [1]})


def test_a_run_whose_configurations_all_fail_alike_gives_up_with_the_reason():
    def broken(config):
        raise OSError(f"no device for {config['X']}")

    with pytest.raises(tunesmith.RunError, match="OSError: no device for") as raised:
        tune(broken, {"X": range(50)})
    assert raised.value.run.count == 10 and raised.value.run.best is None
    assert tune(broken, {"X": range(50)}, keep_going=True).count == 50


def test_a_run_is_resumed_and_measures_nothing_twice(tmp_path):
    journal, calls = tmp_path / "run.jsonl", []

    def counted(config):
        calls.append(repr(config))
        return seconds(config)

    settings = {"strategy": "random", "seed": 3, "remeasure": False, "out": journal}
    first = tune(counted, space(), stop=10, **settings)
    assert first.journal == str(journal)
    second = tune(counted, space(), stop=25, resume=True, **settings)
    assert (first.count, second.count, len(calls), len(set(calls))) == (10, 25, 25, 25)
    whole = tune(seconds, space(), strategy="random", seed=3, stop=25)
    assert [one.config for one in second.evaluations] == [one.config for one in whole.evaluations]
    with pytest.raises(tunesmith.RequestError, match="parameter|space|differ"):
        tune(counted, {"X": [1, 2]}, resume=True, out=journal)


def test_an_existing_journal_is_not_overwritten(tmp_path):
    runs = [tune(seconds, space(), stop=3, out=tmp_path / "run.jsonl") for _ in range(2)]
    assert [run.journal for run in runs] == [str(tmp_path / "run.jsonl"), str(tmp_path / "run.2.jsonl")]


def test_progress_is_told():
    told = []
    tune(seconds, space(), stop=30, progress=lambda *state: told.append(state))
    assert told[-1][:3] == (30, 30, 0) and told[-1][3] == pytest.approx(min(one[3] for one in told if one[3] is not None))


def test_a_start_is_evaluated_first():
    run = tune(seconds, space(), stop=5, start={"X": 7, "Y": 10})
    assert {"X": 7, "Y": 10} in [one.config for one in run.evaluations[:2]]


@pytest.mark.parametrize("exception", [KeyboardInterrupt, SystemExit])
def test_an_exception_that_ends_programs_ends_the_run(exception):
    calls = []

    def ends(config):
        calls.append(config)
        if len(calls) == 5:
            raise exception
        return 1.0

    with pytest.raises(exception) as raised:
        tune(ends, space())
    assert len(calls) == 5
    if exception is KeyboardInterrupt:
        assert isinstance(raised.value, tunesmith.Interrupted) and raised.value.run.count == 4


def test_control_c_ends_a_run_and_keeps_its_journal(tmp_path):
    program = textwrap.dedent(
        """
        import sys, time, tunesmith
        def slow(config):
            print(".", flush=True)
            time.sleep(0.05)
            return 1.0
        try:
            tunesmith.tune(slow, {"X": range(10000)}, stop=10000, out=sys.argv[1])
        except tunesmith.Interrupted as interrupted:
            print("evaluations", interrupted.run.count, interrupted.run.stop_reason)
        """
    )
    journal = tmp_path / "run.jsonl"
    process = subprocess.Popen([sys.executable, "-c", program, journal], stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    count = int(output.split("evaluations ")[1].split()[0])
    assert process.returncode == 0 and count >= 2 and output.strip().endswith("interrupted")
    assert Run.load(journal).count == count


def test_other_threads_run_while_a_run_searches():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    run = tune(lambda config: 1.0 + config["A"], {"A": range(400)}, stop=150)
    stop.set()
    thread.join()
    assert ticks and run.count == 150


def test_a_function_may_tune_another_function():
    def outer(config):
        return tune(lambda inner: inner["B"] * config["A"] * 1e-3, {"B": [1, 2, 3]}, remeasure=False).best.seconds

    assert tune(outer, {"A": [1, 2, 3]}, remeasure=False).best.config == {"A": 1}


def test_a_function_may_live_in_another_thread():
    runs = []
    thread = threading.Thread(target=lambda: runs.append(tune(seconds, space(), stop=5)))
    thread.start()
    thread.join()
    assert runs[0].count == 5


@pytest.mark.parametrize(
    ("settings", "remedy"),
    [
        ({"strategy": "anealing"}, "did you mean `annealing`"),
        ({"stop": "evals 5"}, "evaluations"),
        ({"start": {"Z": 1}}, "Z"),
        ({"resume": True, "out": "there/is/none.jsonl"}, "there is no journal"),
        ({"history": ["nothing.jsonl"]}, "nothing.jsonl"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(settings, remedy):
    with pytest.raises(tunesmith.Error, match=remedy):
        tune(seconds, space(), **settings)


def test_what_cannot_be_called_cannot_be_tuned():
    with pytest.raises(tunesmith.RequestError, match="cannot be tuned"):
        tune(3, space())


def test_nothing_of_a_run_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    program = (
        "import tunesmith, os; run = tunesmith.tune(lambda config: 1.0, {'X': [1, 2]});"
        "assert os.path.exists(run.journal); del run"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []
