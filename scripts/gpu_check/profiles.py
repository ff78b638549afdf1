"""Counters of every kernel of the suite, and the passes in which they are read."""

import re

from .tool import repository


def run(check):
    rows, read = [], 0
    problems = sorted(cuda_problems())
    for name in check.each("kernels", problems, least=2 if not check.dry else 0):
        found = check.guarded(name, profiled, check, name)
        if found is None:
            continue
        check.data[name] = found
        values, counters = found["values"], found.get("counters") or {}
        read += bool(counters)
        launches = values.get("profiling_launches")
        rows.append([name, found["status"], f"{found['time_ms']:.4f}" if found["time_ms"] else "", len(counters),
                     f"{launches:.0f}" if launches else "", f"{values.get('profiling_ms', 0):.1f}",
                     found.get("no_profile") or ""])
    check.table("Counters of the suite's kernels at their default configurations",
                ["problem", "status", "time, ms", "counters", "launches for them", "ms for them", "note"], rows)
    check.add("kernels whose counters are read", f"all {len(problems)}", str(read), read == len(problems))


def cuda_problems():
    """Returns the names of the problems that run in CUDA, with their files."""
    found = {}
    for about in (repository() / "suite").glob("*/about.toml"):
        file = re.search(r'cuda = "([^"]+)"', about.read_text())
        if file:
            found[about.parent.name] = f"suite/{about.parent.name}/{file.group(1)}"
    return found


def profiled(check, name):
    problem = check.copy(cuda_problems()[name])
    return check.call("run", problem, "--device", "cuda", "--profile", codes=(0, 1))
