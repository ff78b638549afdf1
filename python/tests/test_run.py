"""Recorded runs and their tables."""

import pytest

import tunesmith
from tunesmith import Run, Space, tune


@pytest.fixture(scope="module")
def run():
    def seconds(config):
        if config["MODE"] == "broken":
            raise ValueError("broken")
        return 1e-3 * (1 + abs(config["TILE"] - 16) + config["SCALE"]) / (1 + config["FAST"])

    space = Space({"TILE": [4, 8, 16, 32], "SCALE": [0.5, 1.5], "FAST": [False, True], "MODE": ["plain", "broken"]})
    return tune(seconds, space, strategy="exhaustive", seed=9)


def test_a_loaded_run_is_the_run(run, tmp_path):
    run.save(tmp_path / "copy.jsonl")
    loaded = Run.load(tmp_path / "copy.jsonl")
    assert loaded.best == run.best and loaded.ties == run.ties and loaded.top(5) == run.top(5)
    assert (loaded.count, loaded.seed, loaded.strategy) == (32, 9, "exhaustive")
    assert loaded.stop_reason is None and loaded.wall_seconds is None and run.wall_seconds > 0
    assert [repr(one) for one in loaded.evaluations] == [repr(one) for one in run.evaluations]
    with pytest.raises(FileExistsError, match="name a new file"):
        run.save(tmp_path / "copy.jsonl")


def test_the_verdict_is_that_of_the_command_line(run, tmp_path):
    import json
    import subprocess
    import sys

    run.save(tmp_path / "copy.jsonl")
    command = [sys.executable, "-m", "tunesmith", "top", str(tmp_path / "copy.jsonl"), "-n", "4", "--json"]
    top = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert [config["config"] for config in top["configs"]] == [best.config for best in run.top(4)]
    assert top["better_than_default"] == run.better_than_default and top["ties"] == len(run.ties)
    assert top["configs"][0]["ratio"] == run.best.ratio and top["default_ms"] == run.default_ms


def test_the_best_knows_its_time_and_its_values(run):
    best = run.best
    assert best.config == {"TILE": 16, "SCALE": 0.5, "FAST": True, "MODE": "plain"} and best["TILE"] == 16
    assert best.time_ms == pytest.approx(0.75) and best.ci95_ms[0] <= best.time_ms <= best.ci95_ms[1]
    assert best.ratio == pytest.approx(run.default_ms / best.time_ms)
    assert run.default == {"TILE": 4, "SCALE": 0.5, "FAST": False, "MODE": "plain"} and run.better_than_default
    assert "0.75 ms" in repr(run) and "TILE" in repr(run.evaluations[0])


def test_a_table_of_polars_has_the_types_of_the_parameters(run):
    polars = pytest.importorskip("polars")
    table = run.to_polars()
    assert table.schema["TILE"] == polars.Int64 and table.schema["SCALE"] == polars.Float64
    assert table.schema["FAST"] == polars.Boolean and table.schema["MODE"] == polars.String
    assert table.columns[4:] == ["index", "status", "time_ms", "times_ms", "clock", "message"]
    assert table.height == 32 and table["status"].value_counts().height == 2
    assert table["time_ms"].to_list() == [one.time_ms for one in run.evaluations]
    assert table["times_ms"].to_list() == [one.times_ms for one in run.evaluations]


def test_a_table_of_pandas_is_the_same(run):
    pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    table = run.to_pandas()
    assert list(table.columns) == run.to_polars().columns and len(table) == 32
    assert list(table["TILE"]) == run.to_polars()["TILE"].to_list()
    assert table["time_ms"].isna().sum() == 16
    assert isinstance(run.to_polars(), polars.DataFrame)


def test_every_reader_of_arrow_reads_a_run(run):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(run)
    assert table.num_rows == 32 and table.column("MODE").to_pylist()[0] == "plain"


def test_a_parameter_keeps_its_name_in_tables():
    pytest.importorskip("polars")
    table = tune(lambda config: config["status"] * 1.0, {"status": [1, 2]}, remeasure=False).to_polars()
    assert table["status"].to_list() == [1, 2] and table["status_"].to_list() == ["correct", "correct"]


def test_the_report_is_a_page(run, tmp_path):
    run.report(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    assert "<html" in page and "TILE" in page and "data-picture" in page
    notebook = run._repr_html_()
    assert notebook.startswith("<iframe srcdoc=") and "TILE" in notebook and "&lt;svg" in notebook
    assert "&lt;script" not in notebook and len(notebook) < 100_000
    with pytest.raises(tunesmith.RequestError, match="name it FILE.html"):
        run.report(tmp_path / "run.txt")


def test_what_is_no_journal_is_refused(tmp_path):
    (tmp_path / "no.jsonl").write_text("{}\n")
    with pytest.raises(tunesmith.Error, match="no.jsonl"):
        Run.load(tmp_path / "no.jsonl")
    with pytest.raises(tunesmith.Error, match="none.jsonl"):
        Run.load(tmp_path / "none.jsonl")


# The problem, and the best's value and gain in each objective, are those of `cli/tests/it/one_truth.rs`.
NUMBERS = """
[kernel]
command = ["sh", "-c", "echo cost $((39 / X)) score $((1 - 2 * X)) misses $((3 - X)) rate $((10 * X))"]
cost = 'cost (\\d+)'
values = { score = 'score (-?\\d+)', misses = 'misses (\\d+)', rate = 'rate (\\d+)' }
[parameters]
X = [1, 2, 3]
"""


@pytest.mark.parametrize(
    ("objective", "value", "ratio", "difference", "source"),
    [
        ("time", 13, 3, None, "time"),
        ("minimise score", -5, 5, None, "printed"),
        ("minimise misses", 0, None, 2, "printed"),
        ("maximise rate", 30, 3, None, "printed"),
        (["time", "maximise rate"], (13 / 30) ** 0.5, 3, None, "metric"),
    ],
)
def test_a_run_tells_the_value_and_the_gain_of_any_objective_as_the_commands_do(
    objective, value, ratio, difference, source, tmp_path
):
    run = tunesmith.tune(
        tunesmith.Problem(NUMBERS), strategy="exhaustive", objective=objective, out=tmp_path / "run.jsonl"
    )
    assert run.best.config == {"X": 3} and run.best.value == pytest.approx(value)
    assert (run.best.ratio, run.best.difference) == (pytest.approx(ratio), pytest.approx(difference))
    assert run.objective["source"] == source
    assert run.objective["direction"] == ("maximise" if objective == "maximise rate" else "minimise")
