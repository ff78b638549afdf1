"""The bar of tqdm that shows the progress of a run."""

import io
import sys
from types import ModuleType

import pytest

import tunesmith
from tunesmith._progress import Bar, display

tqdm = pytest.importorskip("tqdm")


def test_a_bar_shows_evaluations_their_limit_failures_and_the_best_time():
    out = io.StringIO()
    bar = Bar(tqdm.tqdm(file=out, unit=" evaluations", leave=False, ncols=100))
    bar.show(1, None, 1, None)
    assert "1 evaluations" in out.getvalue() and "1 failed" in out.getvalue() and "best" not in out.getvalue()
    bar.show(3, 8, 1, 0.25)
    assert "3/8" in out.getvalue() and "best 0.25 ms, 1 failed" in out.getvalue()
    bar.close()
    assert out.getvalue().endswith("\r"), "the bar leaves an empty line"


def test_a_run_shows_the_bar_if_it_is_wanted(capsys, monkeypatch):
    # A program that only imports Jupyter's package is no notebook.
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    tunesmith.tune(lambda config: 1e-3 * config["X"], {"X": [3, 2, 1]}, progress=True, remeasure=False)
    shown = capsys.readouterr().err
    assert "3/3" in shown and "best 1 ms" in shown
    tunesmith.tune(lambda config: 1e-3 * config["X"], {"X": [3, 2, 1]}, remeasure=False)
    assert capsys.readouterr().err == "", "nobody looks at a pipe"


def test_without_tqdm_nothing_is_shown(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with display(True) as shown:
        assert shown is None


def test_a_display_of_the_users_own_is_called():
    seen = []
    tunesmith.tune(lambda config: 1e-3, {"X": [1]}, progress=lambda *state: seen.append(state), remeasure=False)
    assert seen[-1] == (1, 1, 0, 1.0)
