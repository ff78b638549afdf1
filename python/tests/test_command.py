"""The command `tunesmith` of the package, and the documentation in the code."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import tunesmith
import tunesmith._native


def command(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "tunesmith", *arguments], capture_output=True, text=True, **options)


def test_the_module_is_the_command():
    assert "Commands:" in command("--help").stdout
    assert command("--version").stdout.split() == ["tunesmith", tunesmith.__version__]
    assert command("strategy").returncode == 2


def test_the_entry_point_is_the_command():
    script = Path(sys.executable).with_name("tunesmith")
    if not script.exists():
        pytest.skip("the package is not installed")
    assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout.startswith("tunesmith ")


def test_the_command_tunes_a_kernel_whose_workers_are_interpreters(tmp_path):
    assert command("init", "--out", str(tmp_path / "kernel")).returncode == 0
    tuned = command("tune", str(tmp_path / "kernel" / "problem.toml"), "--stop", "evaluations 8", "--json")
    assert tuned.returncode == 0, tuned.stderr
    run = tunesmith.Run.load(tmp_path / "kernel" / "problem.jsonl")
    assert run.count >= 8 and run.verified is True and run.best is not None
    statuses = {one.status for one in run.evaluations}
    assert "correct" in statuses and "runtime" not in statuses


def modules():
    """The modules of the package, but for what only runs inside Kernel Tuner or as a program."""
    found = pkgutil.walk_packages(tunesmith.__path__, "tunesmith.")
    return ["tunesmith", *(one.name for one in found if one.name not in ("tunesmith.__main__", "tunesmith.compat.opt_alg"))]


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_the_documentation_are_true(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
    with_examples = ["_native", "_problem", "_run", "_selector", "_space", "_study", "compat.kernel_tuner"]
    assert result.attempted > 0 or name.removeprefix("tunesmith.") not in with_examples


def test_everything_public_is_documented():
    for name in tunesmith.__all__:
        assert getattr(tunesmith, name).__doc__, name


def test_the_import_is_light():
    program = "import sys, tunesmith; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "polars", "pandas", "inspect", "dataclasses", "typing", "tqdm"} & set(loaded)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_first_example_of_the_documentation_tunes_a_verified_kernel(page):
    numpy = pytest.importorskip("numpy")
    text = (Path(__file__).parents[2] / page).read_text()
    example = text.split("```python\n")[1].split("```")[0]
    names = {}
    exec(example.replace("1 << 20", "1 << 12").replace("print(", "run = (").replace(".best)", ")"), names)
    assert names["run"].verified is True and names["run"].best is not None and numpy is names["numpy"]
