"""The front of energy against time of one configuration over the clocks of the device, where they may be set."""

import re

from . import scripted
from .energy import PROBLEM, SIZE, SMALL, front, searched
from .tool import Failed

# The share of the part's time for the search of the configuration.
SEARCH = 0.3

# The number of clocks at which the configuration is measured, spread over those of the device.
CLOCKS = 10
CLOCKS_CHECK = "front of energy against time over clocks"

# What Tunesmith says where this user may not set the clock, or the device lets nobody set it.
NOT_ALLOWED = ["you may not set `clock_mhz`", "has no `clock_mhz` that can be set"]


def run(check):
    problem, size = check.copy(PROBLEM), check.count(SIZE, SMALL)
    stop = check.stop(check.budget * SEARCH, 2)
    outcome = check.guarded("configuration", searched, check, problem, "time", stop, size)
    if not outcome or not outcome["best"]:
        return
    clocked = fixed(problem, outcome["best"]["config"])
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
