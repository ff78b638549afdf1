"""Holds what the comparisons share: configurations, their header, and Tunesmith's side."""

import json
import os
import pathlib
import subprocess
import threading
import time


def sample(tunesmith, example, count):
    """Configurations of the example, the same in every run."""
    command = [tunesmith, "space", str(example), "--sample", str(count), "--seed", "1", "--json"]
    return [entry["config"] for entry in json.loads(subprocess.check_output(command))["configs"]]


def header(configs):
    """The macros of every configuration, chosen by the number in CONFIG."""
    lines = []
    for number, config in enumerate(configs):
        lines.append(f"#{'if' if number == 0 else 'elif'} CONFIG == {number}")
        lines += [f"#define {name} {value}" for name, value in config.items()]
    return "\n".join(lines) + "\n#endif\n"


def peak_memory(pid, peaks):
    """Keeps the highest VmHWM of the process and of its worker, in MiB, until it ends."""
    def high_water(process):
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0.0

    while True:
        try:
            peaks["tuner"] = max(peaks.get("tuner", 0.0), high_water(pid))
            for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                if "tunesmith" in os.readlink(f"/proc/{child}/exe"):
                    peaks["worker"] = max(peaks.get("worker", 0.0), high_water(child))
        except OSError:
            if not pathlib.Path(f"/proc/{pid}").exists():
                return
        time.sleep(0.02)


def run_tunesmith(tunesmith, problem, **environment):
    """Every configuration of the problem, and where the wall time went. Times of winners are the tool's own."""
    command = [tunesmith, "tune", str(problem), "--strategy", "exhaustive", "--json", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    peaks = {}
    watcher = threading.Thread(target=peak_memory, args=(process.pid, peaks))
    watcher.start()
    outcome = json.loads(process.communicate()[0])
    watcher.join()
    seconds = outcome["seconds"]
    own = sum(seconds[part] for part in ("space", "search", "store", "other"))
    best = outcome["best"]
    return {
        "wall": outcome["wall_seconds"],
        "own": own / outcome["evaluations"],
        "best": best["config"]["CONFIG"],
        "best_ms": best["time_ms"],
        "evaluations": outcome["evaluations"],
        "peaks": peaks,
        "seconds": seconds,
    }
