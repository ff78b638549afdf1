"""Writes, in the pages of the repository, one line each about the GPUs that Tunesmith ran on: `gpu-check --pages`.

The line comes from the folders `bench/results/gpu-*`, and follows a comment that names its subjects.
"""

import argparse
import pathlib
import re
import sys

from .results import Results, replace, rows_of
from .tool import repository

PAGES = ["README.md", "docs/cuda.md", "docs/hip.md", "docs/counters.md"]
MARK = re.compile(r"(<!-- gpu-check --pages: ((?:cuda|hip|counters)(?: (?:cuda|hip|counters))*) -->\n)[^\n]*\n")

# What each subject did, or has not done, on a GPU.
VERBS = {"cuda": "CUDA ran on", "hip": "HIP ran on", "counters": "Counters were read on"}
ABSENT = {
    "cuda": "CUDA has run on scripted drivers alone: no results of an NVIDIA GPU are committed.",
    "hip": "HIP has run on scripted drivers alone: no results of an AMD GPU are committed.",
    "counters": "Counters have been read from scripted drivers alone: no results of a GPU are committed.",
}


def main(arguments):
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__)
    parser.add_argument("--pages", action="store_true", required=True, help="renew the lines")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a line is not true")
    options = parser.parse_args(arguments)
    stale = renew(repository(), options.check)
    for page in stale:
        print(f"{page}: " + ("not what bench/results says: scripts/gpu-check --pages" if options.check else "renewed"),
              file=sys.stderr)
    return 1 if stale and options.check else 0


def renew(root, only_check=False):
    """Writes the lines that changed. Returns the pages."""
    changed = []
    for page in PAGES:
        path = root / page
        old = path.read_text()
        if not MARK.search(old):
            raise SystemExit(f"gpu-check: {page} has no comment `<!-- gpu-check --pages: ... -->`")
        new = MARK.sub(lambda mark: mark[1] + line(root, mark[2].split(), page), old)
        if new != old:
            changed.append(page)
            if not only_check:
                replace(path, new.encode())
    return changed


def line(root, subjects, page):
    return " ".join(sentence(root, subject, page) for subject in subjects) + "\n"


def sentence(root, subject, page):
    """Returns the sentence about a subject: each device with its driver and a link to its results, or to notes on them."""
    found = []
    for folder in sorted((root / "bench" / "results").glob("gpu-*")):
        parts = Results(folder).finished()
        if not parts or not ran(subject, parts):
            continue
        latest = max(parts.values(), key=lambda part: part["date"])
        driver = parts.get("environment", {}).get("data", {}).get("facts", {}).get("driver")
        up = "../" * (len(pathlib.PurePath(page).parts) - 1)
        page_of = "NOTES.md" if (folder / "NOTES.md").is_file() else "README.md"
        link = f"[{latest['date'][:10]}]({up}bench/results/{folder.name}/{page_of})"
        found.append(f"{latest['device']}" + (f" with driver {driver}" if driver else "") + f" ({link})")
    return f"{VERBS[subject]}: {'; '.join(found)}." if found else ABSENT[subject]


def ran(subject, parts):
    """Returns true if the results show the subject. A dry run shows nothing."""
    if any(part.get("dry_run") for part in parts.values()):
        return False
    if subject == "counters":
        return any(row.passed for row in rows_of(parts.get("counters", {"rows": []})))
    device = parts.get("environment", {}).get("data", {}).get("device") or {}
    return subject == device.get("backend", "cuda")
