"""Keeps what comes back from a machine: an archive of the finished parts and a summary, both whole at any moment."""

import gzip
import io
import tarfile
import textwrap

from .plan import PARTS
from .preflight import line
from .results import counts, replace, rows_of

MOST_LINES, WIDTH = 60, 140
ARCHIVE, SUMMARY = "results.tar.gz", "summary.txt"


class Progress:
    """The state of every part. With a folder, each change of a state writes the archive and the summary there."""

    def __init__(self, out=None):
        self.out, self.results, self.findings, self.heading, self.notes = out, None, [], [], []
        self.states = {part.name: "not run" for part in PARTS}
        if out:
            out.mkdir(parents=True, exist_ok=True)

    def set(self, part, state):
        self.states[part] = state
        self.keep()

    def keep(self):
        """Writes the archive and the summary."""
        if not self.out:
            return
        text = self.summary()
        replace(self.out / ARCHIVE, archive(self.results, text))
        replace(self.out / SUMMARY, text.encode())

    def summary(self):
        """Returns the summary: what was found, the state of every part, and the checks that failed."""
        finished = self.results.finished() if self.results else {}
        lines = [*self.heading, *map(line, self.findings), *self.notes, ""]
        lines += [self.line_of(part, finished.get(part.name)) for part in PARTS]
        failed = [f"{name}, {row.name}: {row.found} (expected: {row.expected})"
                  for name, result in finished.items() for row in rows_of(result) if row.passed is False]
        told = [f"{name}, {row.name}: {row.found}" for name, result in finished.items() if name in ("tuning", "peers")
                for row in rows_of(result) if row.passed is not False]
        for title, rows in (("Failed:", failed), ("Found:", told)):
            lines += ["", title, *rows] if rows else []
        if len(lines) > MOST_LINES:
            more = len(lines) - MOST_LINES + 1
            lines = [*lines[:MOST_LINES - 1], f"and {more} lines more, in the archive's README.md"]
        return "\n".join(textwrap.shorten(text, WIDTH, placeholder=" ...") for text in lines) + "\n"

    def line_of(self, part, result):
        state = self.states[part.name]
        if result is None:
            return f"{part.name}: {state}"
        passed, failed, skipped = counts(result)
        cut = "cut short" if result["cuts"] else "complete"
        again = "" if state in ("finished", "not run", "not asked for") else f"; {state}"
        return f"{part.name}: {cut}, {passed} ok, {failed} failed, {skipped} not made, {result['seconds']:.0f} s{again}"


def archive(results, summary):
    """Returns the bytes of the archive: the folder of the results under its name, and the summary."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        if results and results.folder.is_dir():
            for file in sorted(results.folder.rglob("*")):
                if file.is_file() and file.suffix != ".part":
                    add(tar, f"{results.folder.name}/{file.relative_to(results.folder)}", file.read_bytes())
        add(tar, SUMMARY, summary.encode())
    return gzip.compress(held.getvalue(), mtime=0)


def add(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))
