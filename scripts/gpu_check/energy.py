"""Energy per launch: plausible by power and time, an objective, and fronts against time."""

import re

from . import scripted
from .tool import Failed

PROBLEM = "examples/gemm/gemm-cuda.toml"
SIZE = {"M": 2048, "N": 2048, "K": 2048}
SMALL = {"M": 256, "N": 256, "K": 64}

# The share of the part's time for each search; the fronts get the rest.
SHARES = {"time": 0.08, "energy": 0.16, "edp": 0.16}

# The clocks at which the fastest configuration is measured, spread over those of the device.
CLOCKS = 10
CLOCKS_CHECK = "front of energy against time over clocks"

# What Tunesmith says where this user may not set the clock, or the device lets nobody set it.
NOT_ALLOWED = ["you may not set `clock_mhz`", "has no `clock_mhz` that can be set"]


def run(check):
    problem, size = check.copy(PROBLEM), check.count(SIZE, SMALL)
    best = {}
    for objective, share in SHARES.items():
        stop = check.stop(check.budget * share, 2)
        outcome = check.guarded(f"objective {objective}", searched, check, problem, objective, stop, size)
        if outcome and outcome["best"]:
            best[objective] = outcome["best"]
    for objective in ("energy", "edp"):
        if objective in best:
            values = best[objective]["values"]
            found = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
            check.add(f"objective {objective}", "energy_mj of the winner", found or "none", "energy_mj" in values)
    winner = best.get("energy")
    if winner and {"energy_mj", "power_w"} <= set(winner["values"]):
        # Power is averaged over some time before it is read, so the two agree only roughly.
        expected = winner["values"]["power_w"] * winner["time_ms"]
        check.near("energy against power x time", expected, winner["values"]["energy_mj"], 0.5, 3.0)
    outcome = check.guarded("front", searched, check, problem, "time,energy", check.stop(check.left() * 0.4, 3), size)
    if outcome:
        front(check, outcome, "front of energy against time")
    if "time" in best:
        clocked = fixed(problem, best["time"]["config"])
        over_clocks(check, clocked, size, "")
        if check.dry:
            with scripted.without_rights(check.folder):
                over_clocks(check, clocked, size, ", without the right")


def fixed(problem, config):
    """Writes a problem with one configuration at several clocks, and returns its path."""
    head, rest = problem.read_text().split("[parameters]\n", 1)
    behind = rest[rest.index("\n[") + 1:]
    names = "".join(f"{name} = [{value}]\n" for name, value in config.items())
    # The default configuration is another one.
    behind = re.sub(r"(?m)^default = .*\n", "", behind)
    path = problem.with_name(f"{problem.stem}-clocks.toml")
    path.write_text(f"{head}[parameters]\n{names}\n[device_settings]\nclock_mhz = {{ all = {CLOCKS} }}\n\n{behind}")
    return path


def over_clocks(check, problem, size, suffix):
    """Adds the front of one configuration over the device's clocks, or the reason why they cannot be set."""
    name = CLOCKS_CHECK + suffix
    stop = check.stop(check.left() * 0.9, CLOCKS)
    try:
        outcome = check.guarded(name, at_clocks, check, problem, stop, size, bool(suffix))
    except NotAllowed as refused:
        check.add(name, "the right to set clocks", str(refused), None)
        return
    if outcome:
        front(check, outcome, name)


class NotAllowed(Exception):
    """This user may not set the clock of the device. The text is what Tunesmith says, with the remedy."""


def at_clocks(check, problem, stop, size, again):
    """Returns the outcome of measuring a problem at each of its clocks."""
    try:
        name = "energy-clocks-again" if again else "energy-clocks"
        outcome, _ = check.tune(problem, name, "--objective", "time,energy", "--strategy", "exhaustive", "--stop", stop,
                                size=size)
    except Failed as failed:
        if any(words in str(failed) for words in NOT_ALLOWED):
            raise NotAllowed(str(failed).split("error: ", 1)[-1]) from failed
        raise
    check.data[name] = outcome
    return outcome


def searched(check, problem, objective, stop, size):
    """Returns the outcome of a search for an objective."""
    name = f"energy-{objective.replace(',', '-')}"
    outcome, _ = check.tune(problem, name, "--objective", objective, "--stop", stop, "--seed", 3, size=size)
    check.data[name] = outcome
    return outcome


def front(check, outcome, title):
    """Adds the configurations that no other beats in both time and energy."""
    members = sorted(outcome.get("front") or [], key=lambda member: list(member["objectives"].values())[0])
    names = list(members[0]["objectives"]) if members else []
    rows = [[*(f"{member['objectives'][name]:.5g}" for name in names),
             ", ".join(f"{name}={value}" for name, value in member["config"].items())] for member in members]
    check.table(title.capitalize(), [*names, "configuration"], rows)
    text = f"{len(members)} configurations of {outcome['evaluations']} evaluations"
    check.add(title, "one configuration or more", text, bool(members))
