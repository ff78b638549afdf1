"""Scripts that users of Kernel Tuner reported: each gives what its folder's README calls right.

The folders are in `bugs` of the shared test data: `$TUNESMITH_SHARED`, else `shared` beside the repository.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

OURS = "tunesmith.compat.kernel_tuner"
BESIDE = pathlib.Path(__file__).resolve().parents[2].parent / "shared"
SHARED = pathlib.Path(os.environ.get("TUNESMITH_SHARED", BESIDE)) / "bugs"


@pytest.fixture
def reported(tmp_path_factory):
    """A new copy of a folder, since the scripts write beside themselves."""

    def of(name):
        source = SHARED / name
        if not source.is_dir():
            pytest.skip(f"no folder {source}; set TUNESMITH_SHARED to test data that has it")
        folder = tmp_path_factory.mktemp("reported")
        for file in source.iterdir():
            shutil.copyfile(file, folder / file.name)
        return folder

    return of


def printed(folder, script, *arguments):
    """The lines that the script prints."""
    command = [sys.executable, script, *arguments]
    lines = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines
    return lines


def by_name(lines):
    """The texts behind the names of a script's cases."""
    return dict(line.split(" | ", 1) for line in lines)


def agrees(theirs, ours):
    """A case agrees if both print the same. Where either raises an error, ours is a refusal that says why."""
    is_error = "Error " in theirs.split("  ")[0]
    is_crash = ours.startswith(("TypeError", "IndexError"))
    return ours == theirs or ours.startswith("Refused ") or (is_error and not is_crash)


@pytest.mark.parametrize(
    ("name", "script"), [("12-restrictions", "more.py"), ("35-sim-metrics", "m.py"), ("36-caches", "sim.py")]
)
def test_a_reported_script_prints_what_kernel_tuner_prints_or_a_refusal(reported, name, script):
    theirs, ours = (by_name(printed(reported(name), script, module)) for module in ("kernel_tuner", OURS))
    theirs.pop("strategy", None)  # a search by chance
    wrong = {case: (line, ours[case]) for case, line in theirs.items() if not agrees(line, ours[case])}
    assert not wrong


def test_a_failing_row_of_a_reported_cache_has_the_keys_that_kernel_tuner_gives_it(reported):
    theirs, ours = (printed(reported("35-sim-metrics"), "fail.py", module) for module in ("kernel_tuner", OURS))
    assert ours == theirs


def test_reported_caches_of_mixed_types_are_simulated(reported):
    lines = [line for line in printed(reported("01-mixed-types"), "sim.py") if ".json " in line]
    assert lines[0] == "mixed.json ok [('t', 4.0), (1, 3.0), (True, 2.0), (2.5, 1.0)]"
    # The values of `tune_params` make eight configurations, and the cache has four of them.
    assert lines[1].startswith("mixed.json Refused the cache mixed.json has no entry of A=1, M=True; add a restriction")
    assert lines[2:] == ["intfloat.json ok [(1, 4.0), (0.5, 3.0), (True, 2.0)]"] * 2


def test_each_reported_size_has_its_winner_and_others_that_of_the_nearest(reported):
    folder = reported("10-winners-only")
    export = ["-m", "tunesmith", "export", "k.wisdom", "--as", "wisdom", "-o", "w"]
    subprocess.run([sys.executable, *export], cwd=folder, check=True)
    winners = [line.split("}")[0] + "}" for line in printed(folder, "ask.py", "w")]
    sizes = {64: 32, 256: 64, 1024: 128, 4096: 256, 128: 32, 500: 64, 3000: 256, 100000: 256}
    assert winners == [f"{size} {{'B': {winner}}}" for size, winner in sizes.items()]
