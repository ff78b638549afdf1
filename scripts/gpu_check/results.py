"""Keeps the results: one folder with a JSON file for each finished part, its small journals, and README.md."""

import datetime
import gzip
import json
import os
import pathlib

from .check import Row, Table
from .plan import NAMES, PARTS

# Compressed bytes of one journal, and of all of them. Results are committed, so they stay small.
MOST_OF_ONE, MOST_OF_ALL = 300_000, 3_000_000

# Failing commands, and failing entries of a journal that is too large, that are kept.
MOST_FAILURES, MOST_ENTRIES = 40, 40

MARKS = {True: "ok", False: "**failed**", None: "not made"}


class Results:
    """The folder of the results. `places` are folders of this machine, which the results do not name."""

    def __init__(self, folder, places=()):
        self.folder = pathlib.Path(folder)
        self.places = [f"{place}/" for place in places]

    def portable(self, text):
        """Returns a text with paths from the places on, instead of absolute ones."""
        for place in self.places:
            text = text.replace(place, "")
        return text

    def part(self, name):
        """Returns the result of a finished part, or None. A file that was cut short counts as none."""
        try:
            return json.loads((self.folder / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None

    def finished(self):
        """Returns the results of the finished parts by name, in the order of the plan."""
        found = {name: self.part(name) for name in NAMES}
        return {name: result for name, result in found.items() if result}

    def stranger(self, device, version):
        """Returns what the results in the folder were made with, if that is another device or version."""
        for result in self.finished().values():
            if (result["device"], result["version"]) != (device, version):
                return f"{result['version']} on {result['device']}"
        return None

    def write(self, name, result):
        """Keeps a finished part. A kill leaves the file whole or absent."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = self.portable(json.dumps(result, indent=1, default=str))
        replace(self.folder / f"{name}.json", f"{text}\n".encode())

    def keep_files(self, name, files):
        """Keeps small files of a part, compressed. Returns the names of those that are too large."""
        folder = self.folder / "journals"
        large = []
        for file in files:
            if not file.is_file():
                continue
            if not self.keep(folder / f"{name}-{file.name}.gz", file.read_bytes()):
                large.append(file.name)
                self.keep(folder / f"{name}-failing-{file.name}.gz", failing(file))
        return large

    def keep_failures(self, name, failures):
        """Keeps the commands of a part that failed, with what they said, in place of those of an earlier run."""
        path = self.folder / "journals" / f"{name}-commands.txt.gz"
        path.unlink(missing_ok=True)
        if failures:
            self.keep(path, self.portable("\n".join(failures[:MOST_FAILURES])).encode())

    def keep(self, path, data):
        """Keeps data, compressed. Returns false if they are too large."""
        data = gzip.compress(data, mtime=0)
        others = [kept for kept in path.parent.glob("*.gz") if kept != path]
        if len(data) > MOST_OF_ONE or sum(kept.stat().st_size for kept in others) + len(data) > MOST_OF_ALL:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, data)
        return True

    def summarise(self):
        """Writes README.md over all finished parts, and returns its path."""
        parts = self.finished()
        path = self.folder / "README.md"
        if parts:
            replace(path, (page(parts) + "\n").encode())
        return path


def failing(journal):
    """Returns the header of a journal and its first entries that failed, with what the compiler said."""
    header, *lines = journal.read_bytes().splitlines(keepends=True) or [b""]
    failed = [line for line in lines if b'"message":' in line and b'"status":"correct"' not in line]
    return b"".join([header, *failed[:MOST_ENTRIES]])


def replace(path, data):
    """Writes a file so that it is whole at any moment."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def default_folder(base, device, latest, anew):
    """Returns the folder of the device's latest results that lack a part (or, if `latest`, of its latest results), or
    one with today's date, which `anew` asks for."""
    plain = "".join(c if c.isalnum() else "-" for c in device.lower().replace("nvidia ", "")).strip("-")
    for folder in [] if anew else sorted(base.glob(f"gpu-{plain}-????-??-??"), reverse=True):
        if latest or len(Results(folder).finished()) < len(NAMES):
            return folder
    return base / f"gpu-{plain}-{datetime.date.today().isoformat()}"


def rows_of(result):
    return [Row(**row) for row in result["rows"]]


def counts(result):
    """Returns the numbers of checks that passed, failed and were not made."""
    verdicts = [row.passed for row in rows_of(result)]
    return [sum(verdict is wanted for verdict in verdicts) for wanted in (True, False, None)]


def page(parts):
    """Returns README.md: the overview, then each part."""
    latest = list(parts.values())[-1]
    lines = [f"# {latest['device']}", ""]
    facts = (parts.get("environment") or latest)["data"].get("facts", {})
    dates = sorted(result["date"] for result in parts.values())
    span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    facts = {"date": span, "tool": latest["version"], "command": "`scripts/gpu-check`", **facts}
    lines += ["|  |  |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items()), ""]
    lines += ["| part | shows | ok | failed | not made | seconds | of | build | |",
              "|---|---|--:|--:|--:|--:|--:|---|---|"]
    for part in PARTS:
        result = parts.get(part.name)
        if result is None:
            lines.append(f"| {part.name} | {part.purpose} | | | | | {part.seconds} | | not run |")
            continue
        numbers = " | ".join(map(str, counts(result)))
        state = "cut short" if result["cuts"] else "complete"
        link = f"[{part.name}](#{part.name})"
        spent = f"{result['seconds']:.0f} | {result['budget']:.0f}"
        lines.append(f"| {link} | {part.purpose} | {numbers} | {spent} | {result.get('build', '')} | {state} |")
    for name, result in parts.items():
        lines += ["", *section(name, result)]
    return "\n".join(lines)


def section(name, result):
    lines = [f"## {name}", ""]
    lines += [f"- Cut short: {cut}." for cut in result["cuts"]] + ([""] if result["cuts"] else [])
    if result["rows"]:
        lines += ["| check | found | expected | |", "|---|---|---|---|"]
        lines += [f"| {cell(row.name)} | {cell(row.found)} | {cell(row.expected)} | {MARKS[row.passed]} |"
                  for row in rows_of(result)]
    for table in (Table(**table) for table in result["tables"]):
        lines += ["", f"### {table.title}", "", "| " + " | ".join(map(cell, table.head)) + " |"]
        lines += ["|" + "---|" * len(table.head)]
        lines += ["| " + " | ".join(map(cell, row)) + " |" for row in table.rows]
    if result.get("large"):
        lines += ["", "Journals that are too large to keep: " + ", ".join(result["large"]) + "."]
    return lines


def cell(text):
    """Returns a text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")
