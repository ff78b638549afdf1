"""Energy per launch: plausible by power and time, and an objective."""

from .tool import Failed, repository, sizes

SMALL = {"M": 2048, "N": 2048, "K": 2048}


def run(check):
    example = repository() / "examples" / "gemm" / "gemm-cuda.toml"
    outcomes = {}
    for objective in ("time", "energy", "edp"):
        out = check.folder / f"energy-{objective}.jsonl"
        options = ["--size", sizes(SMALL), "--stop", "evaluations 15", "--seed", 3, "--out", out]
        try:
            outcomes[objective] = check.tool.json("tune", example, "--objective", objective, *options)
        except Failed as failed:
            check.add(f"objective {objective}", "to run", str(failed), False)
    check.data.update(outcomes)
    best = {objective: outcome["best"] for objective, outcome in outcomes.items() if outcome["best"]}
    for objective in ("energy", "edp"):
        values = best.get(objective, {}).get("values", {})
        if objective in best:
            found = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
            check.add(f"objective {objective}", "energy_mj of the winner", found or "none", "energy_mj" in values)
    winner = best.get("energy")
    if winner and "energy_mj" in winner["values"] and "power_w" in winner["values"]:
        # Power is averaged over some time before it is read, so the two agree only roughly.
        expected = winner["values"]["power_w"] * winner["time_ms"]
        check.near("energy against power x time", expected, winner["values"]["energy_mj"], 0.5, 3.0)
