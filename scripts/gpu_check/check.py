"""Holds what the parts share: the rows and tables of a part, the time that is left, and copies of problems."""

import collections
import pathlib
import re
import shutil
import tempfile
import time

from . import scripted
from .tool import INTERRUPTED, Failed, Overrun, repository, sizes

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

# Searches that are compared need no final and no watch for drift.
SEARCH_ONLY = "final = false\ndrift = false\n"
# On the scripted device, one sample says as much as many.
SCRIPTED = "min_samples = 1\nmax_samples = 1\nfirst_limit = 2.0\nlaunch_limit = 1.0\n" + SEARCH_ONLY

# Seconds beyond a part's budget after which its last command is interrupted. A run that ends by its own stop
# condition needs some for its final.
GRACE = 20

# What is expected of work that fails altogether.
TO_RUN = "to run"

Row = collections.namedtuple("Row", "name expected found passed")
Table = collections.namedtuple("Table", "title head rows")


class Check:
    """One part under way: its rows, its tables, its data, and how much time is left."""

    def __init__(self, tool, folder, seconds, dry=False, options=None):
        self.tool, self.folder, self.dry, self.options = tool, pathlib.Path(folder), dry, options
        self.rows, self.tables, self.data, self.cuts, self.files = [], [], {}, [], []
        self.budget, self.deadline, self.grace = seconds, time.monotonic() + seconds, GRACE

    def left(self):
        return self.deadline - time.monotonic()

    def add(self, name, expected, found, passed):
        """Adds a check. `passed` is None where it could not be made."""
        self.rows.append(Row(name, expected, found, passed))

    def failing(self, command, message):
        """Keeps a command whose configuration fails, with what the compiler or the device said."""
        self.tool.keep_failure([self.tool.binary, *command], "a configuration fails", message)

    def near(self, name, expected, found, low, high):
        """Adds a number that should lie between `low` and `high` times what is expected."""
        if found is None:
            self.add(name, f"{expected:.4g}", "not read", None)
        else:
            text = f"{found:.6g} ({found / expected:.3f} of it)"
            self.add(name, f"{expected:.6g}, {low} to {high} of it", text, low <= found / expected <= high)

    def table(self, title, head, rows):
        """Adds a table of results. Its cells are texts."""
        self.tables.append(Table(title, [str(cell) for cell in head], [[str(cell) for cell in row] for row in rows]))

    def each(self, what, items, least=1.0):
        """Yields the items while at least `least` seconds are left, and notes where the time cut them short."""
        items = list(items)
        for done, item in enumerate(items):
            if self.left() < least:
                self.cuts.append(f"{what}: {done} of {len(items)}, then the {self.budget:.0f} s of the part were over")
                return
            yield item

    def share(self, parts):
        """Returns the seconds for one of `parts` equal parts of the time that is left."""
        return max(self.left() / max(parts, 1), 1.0)

    def stop(self, seconds, evaluations=4):
        """Returns a stop condition: a time, or on the scripted device a number of evaluations."""
        return f"evaluations {evaluations}" if self.dry else f"time {max(min(seconds, self.left()), 1):.0f}s"

    def count(self, real, dry):
        """Returns a number of repetitions, sizes or the like: a real device's, or the scripted one's."""
        return dry if self.dry else real

    def call(self, *arguments, codes=(0,), environment=None):
        """Returns the JSON of a command, which ends with the time of the part."""
        if self.left() < 0:
            raise Overrun(f"the {self.budget:.0f} s of the part were over before `tunesmith {arguments[0]}`")
        timeout = self.left() + self.grace
        return self.tool.json(*arguments, codes=codes, timeout=timeout, environment=environment)

    def tune(self, problem, name, *options, size=None, codes=(0, 1)):
        """Tunes a problem, keeps the journal, and returns the outcome with the journal's path."""
        journal = self.folder / f"{name}.jsonl"
        sized = ["--size", sizes(size)] if size else []
        outcome = self.call("tune", problem, *sized, "--device", "cuda", *options, "--out", journal, "--quiet",
                            codes=(*codes, INTERRUPTED))
        self.files.append(journal)
        if outcome["stop_reason"] == "interrupted":
            self.cuts.append(f"{name}: interrupted after {outcome['evaluations']} evaluations")
        return outcome, journal

    def keep(self, path):
        """Keeps a file beside the results, if it is small."""
        self.files.append(pathlib.Path(path))

    def guarded(self, name, work, *arguments):
        """Calls `work`. A failure becomes a row and an overrun a cut, so that the part keeps what it has."""
        try:
            return work(*arguments)
        except Overrun as overrun:
            self.cuts.append(f"{name}: {overrun}")
            return None
        except Failed as failed:
            self.add(name, TO_RUN, str(failed), False)
            return None

    def problem(self, name, text, sources, verify=True):
        """Writes a problem with its sources, and returns its path."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for file, source in sources.items():
            (folder / file).write_text(source)
        path = folder / "problem.toml"
        path.write_text(self.adapted(text, verify, ""))
        return path

    def copy(self, file, verify=False, measure=SEARCH_ONLY):
        """Returns the path of a copy of a problem of `suite` or `examples`, with other keys in [measure].

        Without `verify` nothing is compared with a reference: large references take minutes in C. The part `suite`
        has compared the same kernels at small sizes.
        """
        copies = self.folder / "problems"
        for folder in ("suite", "examples"):
            if not (copies / folder).exists():
                ignored = shutil.ignore_patterns("*.jsonl", "target", "*.png")
                shutil.copytree(repository() / folder, copies / folder, ignore=ignored)
        path = copies / file
        changed = path.with_name(f"{path.stem}-{'verified' if verify else 'unverified'}.toml")
        changed.write_text(self.adapted(path.read_text(), verify, measure))
        return changed

    def adapted(self, text, verify, measure):
        """Returns the text of a problem for this run. On the scripted device, kernels compute nothing to verify."""
        if not verify or (self.dry and verify != "always"):
            text = without(text, "verify")
        return with_keys(text, SCRIPTED if self.dry else measure)


def without(text, section):
    """Returns the text of a problem without a section."""
    return re.sub(rf"(?ms)^\[{section}\]\n.*?(?=^\[|\Z)", "", text)


def with_keys(text, keys):
    """Returns the text of a problem with these keys in [measure], in place of those of the same names."""
    if not keys:
        return text
    names = [line.split(" =")[0] for line in keys.splitlines()]
    header = "[measure]\n"
    if header not in text:
        return f"{text}\n{header}{keys}"
    before, after = text.split(header, 1)
    section, rest = re.match(r"(?ms)(.*?)(^\[.*|\Z)", after).groups()
    kept = [line for line in section.splitlines(keepends=True) if line.split(" =")[0] not in names]
    return before + header + keys + "".join(kept) + rest


def working_folder(dry):
    """Returns a folder for temporary files, which ends with the process."""
    folder = tempfile.TemporaryDirectory(prefix="gpu-check-")
    if dry:
        scripted.install(pathlib.Path(folder.name))
    return folder
