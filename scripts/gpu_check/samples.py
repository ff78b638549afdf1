"""Compares sampled configurations of every problem of the suite with its reference."""

from . import scripted
from .tool import repository


def run(check):
    suite = scripted.suite(check.folder / "suite") if check.dry else repository() / "suite"
    listed = check.call("suite", "list", "--suite", suite)["problems"]
    names = [problem["name"] for problem in listed if "cuda" in problem["backends"]]
    rows = []
    for name in check.each("problems of the suite", names, least=5 if not check.dry else 0):
        check.guarded(name, verified, check, suite, name, rows)
    head = ["problem", "sampled", "correct", "refused", "wrong", "commonest reason of a refusal"]
    check.table("Sampled configurations", head, rows)


def verified(check, suite, name, rows):
    samples = check.count(check.options.samples, 3)
    options = ["--suite", suite, "--device", "cuda", "--samples", samples, "--seed", 1]
    found = check.call("suite", "verify", name, *options, codes=(0, 1))["problems"][0]
    check.data[name] = found
    reason = found["reasons"][0]["reason"] if found["reasons"] else ""
    rows.append([name, found["sampled"], found["correct"], found["refused"], found["wrong"], reason])
    wrong = found["first_wrong"]
    text = f"{found['correct']} of {found['sampled']} correct, {found['refused']} refused, {found['wrong']} wrong"
    if wrong:
        shown = ["run", found["file"], "--device", "cuda", "--config", wrong["config"]]
        check.failing(shown, f"{wrong['status']}: {wrong['message']}")
        text += f": {wrong['config']}: {wrong['status']}: {wrong['message'][:120]}"
    if found["error"]:
        text = found["error"]
    check.add(name, "all correct or refused", text, not found["wrong"] and not found["error"])
