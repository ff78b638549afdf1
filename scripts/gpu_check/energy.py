"""Energy per launch: plausible by power and time, an objective, and its front against time."""

PROBLEM = "examples/gemm/gemm-cuda.toml"
SIZE = {"M": 2048, "N": 2048, "K": 2048}
SMALL = {"M": 256, "N": 256, "K": 64}

# The share of the part's time for each search; the front gets the rest.
SHARES = {"time": 0.08, "energy": 0.16, "edp": 0.16}


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
    outcome = check.guarded("front", searched, check, problem, "time,energy", check.stop(check.left() * 0.8, 3), size)
    if outcome:
        front(check, outcome, "front of energy against time")


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
