"""The notebook of the examples, executed by a kernel of Jupyter as its users execute it."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "python" / "tuning.ipynb"


def test_a_kernel_of_jupyter_executes_every_cell_of_the_notebook(tmp_path):
    pytest.importorskip("numpy")
    pytest.importorskip("pandas")
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")
    check = "assert run.verified is True and run.count == 20"
    notebook.cells.append(nbformat.v4.new_code_cell(check))
    # An exception in a cell is an error here.
    nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [_shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert shown[1]["text/plain"].startswith("<tunesmith.Space: ")
    assert shown[2]["text/plain"].startswith("<{'KB': "), "the best configuration"
    assert "<table" in shown[3]["text/html"], "the table of the evaluations"
    assert "<iframe" in shown[4]["text/html"], "the report"
    assert "'block': 48" in shown[5]["text/plain"] and shown[6]["text/plain"] == "({'block': 48}, 1.0)"


def _shown(cell):
    """Returns the value of the last line of a cell in the forms that a notebook may show."""
    results = [output.data for output in cell.outputs if output.output_type == "execute_result"]
    return results[-1] if results else {}
