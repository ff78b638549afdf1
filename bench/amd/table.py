#!/usr/bin/env python3
"""Prints the table of a folder of `bench/amd/suite`. Exits with 1 if a configuration is wrong."""

import json
import pathlib
import sys

TARGETS = ["sm_75", "sm_80", "sm_90", "sm_100", "gfx90a", "gfx942", "gfx1100"]


def row(folder):
    """Returns the verified problems of one architecture."""
    documents = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    return [problem for document in documents for problem in document["problems"]]


def main():
    folder, wrong = pathlib.Path(sys.argv[1]), 0
    print("| architecture | problems | sampled | compile | refused, with a reason | wrong |")
    print("|---|---:|---:|---:|---:|---:|")
    for target in TARGETS:
        problems = row(folder / target)
        if not problems:
            continue
        numbers = [sum(one[key] for one in problems) for key in ("sampled", "correct", "refused", "wrong")]
        print(f"| {target} | {len(problems)} |", " | ".join(f"{number:,}" for number in numbers), "|")
        for one in problems:
            if one["wrong"] or one["error"]:
                wrong += 1
                print(f"{target} {one['name']}: {one['error'] or one['first_wrong']}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
