"""Calibrates the cost model, judges it on test kernels, and puts its errors beside its paper's."""

from . import published

# Minutes that are left for the test kernels.
JUDGING = 1.0


def run(check):
    out = check.folder / "device.json"
    minutes = check.count(max(check.budget / 60 - JUDGING, 0.2), 0.05)
    options = ["--device", "cuda", "-o", out, "--minutes", f"{minutes:.2f}", "--judge", "--quiet"]
    found = check.call("calibrate", *options)
    check.keep(out)
    judged = found.pop("judgement")
    check.data["calibration"] = {key: found[key] for key in ("device", "cases", "noise", "notes")}
    check.data["judgement"] = judged
    check.add("measured kernels", "100 or more", str(found["cases"]), found["cases"] >= 100 or check.dry)
    for note in found["notes"]:
        check.add("note", "none", note, None)
    best = min(judged["mean"].values(), default=1.0)
    text = ", ".join(f"{form} {error:.0%}" for form, error in judged["mean"].items())
    check.add("geometric mean of the errors", "at most the paper's worst GPU, 42 %", text, best <= 0.42)
    forms = list(judged["mean"])
    rows = [[own["kernel"], own["size"], f"{own['measured_ms']:.4f}",
             *(f"{own['predicted_ms'][form]:.4f}" for form in forms)] for own in judged["kernels"]]
    check.table("Predicted and measured times, ms (table 1 of the cost model's paper)",
                ["kernel", "size", "measured", *forms], rows)
    theirs = [[f"the paper, {name}", f"{error:.0%}"] for name, error in published.COST_MODEL.items()]
    ours = [[f"here, {form}", f"{error:.1%}"] for form, error in judged["mean"].items()]
    check.table("Geometric mean of the relative errors", ["", "error"], theirs + ours)
