"""Calling Tunesmith, and what the parts share."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

# The arguments of a kernel that makes one array of another.
FROM_A_TO_B = """\
[[arguments]]
name = "a"
type = "f32"
shape = ["N"]
fill = "random"
access = "in"

[[arguments]]
name = "b"
type = "f32"
shape = ["N"]
access = "out"
"""

Row = collections.namedtuple("Row", "name expected found passed")


class Failed(Exception):
    """Something could not be done; the text is for the user."""


def repository():
    return pathlib.Path(__file__).resolve().parents[2]


class Tool:
    """The program under test."""

    def __init__(self, binary=None):
        beside = [repository() / name for name in ("tunesmith", "target/release/tunesmith")]
        found = [str(path) for path in beside if path.is_file()] + [shutil.which("tunesmith")]
        self.binary = binary or next((path for path in found if path), None)
        if not self.binary or not (shutil.which(self.binary) or os.path.isfile(self.binary)):
            raise SystemExit("gpu-check: there is no program; build it (cargo build --release) or name it with --binary")

    def version(self):
        return subprocess.run([self.binary, "--version"], capture_output=True, text=True).stdout.strip()

    def json(self, *arguments, codes=(0,), timeout=300):
        """The JSON that a command prints."""
        command = [self.binary, *map(str, arguments), "--json"]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failed(f"`{' '.join(command)}` took longer than {timeout} s")
        if ran.returncode not in codes:
            last = ran.stderr.strip().splitlines()[-1:] or ["nothing was said"]
            raise Failed(f"`{' '.join(command)}` ended with {ran.returncode}: {last[0]}")
        return json.loads(ran.stdout)


class Check:
    """One run of this program: the tool, the rows so far, and how much time is left."""

    def __init__(self, tool, runs, seconds):
        self.tool, self.runs, self.seconds = tool, runs, seconds
        self.rows, self.data, self.deadline = [], {}, 0
        self.temporary = tempfile.TemporaryDirectory(prefix="gpu-check-")
        self.folder = pathlib.Path(self.temporary.name)

    def begin(self, seconds):
        """A part begins."""
        self.rows, self.data, self.deadline = [], {}, time.monotonic() + seconds

    def left(self):
        return self.deadline - time.monotonic()

    def add(self, name, expected, found, passed):
        """A check; `passed` is None where it could not be made."""
        self.rows.append(Row(name, expected, found, passed))

    def near(self, name, expected, found, low, high):
        """A number that should lie between `low` and `high` times what is expected."""
        if found is None:
            self.add(name, f"{expected:.4g}", "not read", None)
        else:
            text = f"{found:.6g} ({found / expected:.3f} of it)"
            self.add(name, f"{expected:.6g}, {low} to {high} of it", text, low <= found / expected <= high)

    def problem(self, name, text, sources):
        """Writes a problem with its sources; its path."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for file, source in sources.items():
            (folder / file).write_text(source)
        path = folder / "problem.toml"
        path.write_text(text)
        return path

    def searching(self, example):
        """A copy of an example without its final and its watch for drift, which searches that are compared do not need."""
        source = repository() / "examples" / example
        folder = self.folder / source.parent.name
        if not folder.exists():
            shutil.copytree(source.parent, folder, ignore=shutil.ignore_patterns("*.jsonl"))
        path = folder / f"search-{source.name}"
        keys = "final = false\ndrift = false\n"
        text = source.read_text()
        section = "[measure]\n"
        text = text.replace(section, section + keys, 1) if section in text else f"{text}\n{section}{keys}"
        path.write_text(text)
        return path


def sizes(values):
    return ",".join(f"{name}={value}" for name, value in values.items())


def times(journal):
    """The median time of every evaluation of a journal, in the order made; None where it failed."""
    found = []
    for line in pathlib.Path(journal).read_text().splitlines()[1:]:
        entry = json.loads(line)
        if "status" not in entry or "again" in entry:
            continue
        samples = sorted(entry.get("times_ms") or [])
        correct = entry["status"] == "correct" and samples
        found.append(samples[len(samples) // 2] if correct else None)
    return found
