"""Runs and searches leave nothing behind."""

import subprocess
import sys
from pathlib import Path


def test_three_hundred_runs_and_searches_leave_nothing():
    script = Path(__file__).parents[2] / "bench" / "python" / "leaks.py"
    ended = subprocess.run([sys.executable, script, "300"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
