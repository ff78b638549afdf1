"""Puts what came back from a machine beside the results that are here: `gpu-check --take ARCHIVE`."""

import argparse
import json
import pathlib
import re
import sys
import tarfile

from . import pages
from .plan import NAMES
from .progress import SUMMARY
from .results import Results, replace
from .tool import repository

# Bytes of one file of an archive.
MOST = 64 << 20
MEMBER = re.compile(r"(gpu-[a-z0-9-]+)/(README\.md|[a-z-]+\.json|journals/[A-Za-z0-9_.,=-]+\.gz)")


class Refused(Exception):
    """The archive is not taken. The text says why."""


def main(arguments):
    options = parse(arguments)
    is_committed = options.into.resolve() == committed()
    try:
        folders = read(options.take)
        for name, files in folders.items():
            print(taken(options.into / name, files, is_committed))
    except (Refused, OSError, EOFError, tarfile.TarError) as refused:
        print(f"gpu-check: {options.take}: {refused}", file=sys.stderr)
        return 2
    if is_committed:
        for page in pages.renew(repository()):
            print(f"{page}: the line about GPUs is renewed")
    return 0


def committed():
    return repository() / "bench" / "results"


def parse(arguments):
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__)
    parser.add_argument("--take", type=pathlib.Path, metavar="ARCHIVE", required=True,
                        help="an archive that `run` left")
    parser.add_argument("--into", type=pathlib.Path, default=committed(), metavar="FOLDER",
                        help="the folder of the results [default: bench/results]")
    return parser.parse_args(arguments)


def read(path):
    """Returns the files of an archive by their folder and their name."""
    folders = {}
    with tarfile.open(path) as tar:
        for member in tar:
            known = MEMBER.fullmatch(member.name)
            if member.name == SUMMARY:
                continue
            if not known or not member.isfile() or member.size > MOST:
                raise Refused(f"`{member.name}` is not a file that gpu-check writes")
            folders.setdefault(known[1], {})[known[2]] = tar.extractfile(member).read()
    if not folders:
        raise Refused("it holds no finished part; its summary.txt says why")
    return folders


def taken(folder, files, is_committed):
    """Puts the parts of one folder in place, unless a later or fuller one is there. Returns what was done as a text."""
    results, added, kept, poorer = Results(folder), [], [], []
    parts = {name: parsed(f"{name}.json", files[f"{name}.json"]) for name in NAMES if f"{name}.json" in files}
    for part in parts.values():
        if is_committed and part.get("dry_run"):
            raise Refused("a dry run measures nothing; name another folder with --into")
        stranger = results.stranger(part["device"], part["version"])
        if stranger:
            raise Refused(f"{folder} has results of {stranger}, the archive of {part['version']} on {part['device']}")
    for name, part in parts.items():
        here = results.part(name)
        if here and here["date"] >= part["date"]:
            kept.append(name)
            continue
        if here and is_poorer(part, here):
            poorer.append(name)
            continue
        place(folder, name, files)
        added.append(name)
    results.summarise()
    missing = [name for name in NAMES if not results.part(name)]
    words = [f"{folder}: taken: {', '.join(added) or 'nothing new'}"]
    words += [f"as new or newer here: {', '.join(kept)}"] if kept else []
    words += [f"cut short with fewer checks than those here: {', '.join(poorer)}"] if poorer else []
    words += [f"missing: {', '.join(missing)}; the next `gpu-check --pack` carries what is finished"] if missing else []
    return "; ".join(words)


def is_poorer(part, here):
    """Returns true if a part was cut short before it made as many checks as the one that is there."""
    return bool(part.get("cuts")) and len(part["rows"]) < len(here["rows"])


def parsed(name, data):
    try:
        part = json.loads(data)
        return part | {key: part[key] for key in ("device", "version", "date", "rows", "tables", "seconds", "budget")}
    except (ValueError, KeyError, TypeError) as fault:
        raise Refused(f"`{name}` is not a result of gpu-check ({fault!r})") from fault


def place(folder, name, files):
    """Writes a part with its journals, in place of those that were there."""
    journals = folder / "journals"
    for old in journals.glob("*.gz"):
        if part_of(old.name) == name:
            old.unlink()
    for file, data in files.items():
        if file == f"{name}.json" or (file.startswith("journals/") and part_of(file[len("journals/"):]) == name):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            replace(folder / file, data)


def part_of(journal):
    """Returns the part that a journal belongs to. The name of one part may begin another's."""
    return max((name for name in NAMES if journal.startswith(f"{name}-")), key=len, default=None)
