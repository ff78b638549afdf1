"""The notebook of the examples."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "python" / "tuning.ipynb"


def executed(source, names):
    """Executes a cell, and returns the value of its last line as a notebook shows it."""
    cell = ast.parse(source)
    last = cell.body.pop() if isinstance(cell.body[-1], ast.Expr) else None
    exec(compile(cell, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def test_every_cell_of_the_notebook_runs_in_turn():
    pytest.importorskip("numpy")
    pytest.importorskip("pandas")
    names, shown = {}, []
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            shown.append(executed("".join(cell["source"]), names))
            assert cell["outputs"] == [] and cell["execution_count"] is None
    assert names["run"].verified is True and names["run"].count == 20
    assert [type(one).__name__ for one in shown] == ["NoneType", "Space", "Best", "DataFrame", "Run", "Best", "tuple"]
    assert shown[5].config == {"block": 48} and shown[6] == ({"block": 48}, 1.0)
    assert "<iframe" in shown[4]._repr_html_()
