"""Searches with Tunesmith: `tunesmith tune` on a replay of the recording ($TUNESMITH, $RECORDINGS_AS_THEY_ARE).

A run begins with the default configuration of its problem. Here it begins with a random one, as the
peers do. The constraints and the launch are the recording's.
"""

import json
import os
import pathlib
import random
import subprocess
import tempfile


def problem(recording):
    """A problem with the space of the recording; replaying needs no kernel."""
    lines = ["[problem]", 'name = "replay"', "[kernel]", 'file = "none.c"', 'function = "none"', "[parameters]"]
    lines += [f"{name} = {json.dumps(choices)}" for name, choices in recording.parameters.items()]
    lines += ["[constraints]"]
    lines += [f'"{number}" = {json.dumps(text)}' for number, text in enumerate(recording.constraints)]
    return "\n".join(lines + ["[verify]", ""])


def search(recording, strategy, seed, budget):
    """Keys of distinct evaluations in order, and the number of all that were asked."""
    source = json.loads(os.environ["RECORDINGS_AS_THEY_ARE"])[recording.name]
    start = recording.cache[random.Random(seed).choice(list(recording.cache))]
    start = ",".join(f"{name}={start[name]}" for name in recording.parameters)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "none.c").write_text("void none(void) {}\n")
        (folder / "problem.toml").write_text(problem(recording))
        command = [os.environ["TUNESMITH"], "tune", folder / "problem.toml", "--device", f"replay:{source}"]
        command += ["--strategy", strategy, "--seed", str(seed), "--stop", f"evaluations {budget}", "--start", start]
        command += ["--keep-going", "--room", "1", "--out", folder / "run.jsonl", "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        entries = [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]
    evaluated = [recording.key(entry["config"]) for entry in entries if "depth" in entry]
    return list(dict.fromkeys(evaluated)), len(evaluated)
