"""The GPU and its counters."""

from .tool import Failed


def gpu(tool):
    """The first CUDA device; why there is none otherwise."""
    answer = tool.json("devices")
    found = [device for device in answer["devices"] if device["backend"] == "cuda"]
    if found:
        return found[0]
    for missing in answer["missing"]:
        if missing["backend"] == "cuda":
            raise Failed(f"there is no CUDA device: {missing['reason']}; {missing['remedy']}")
    raise Failed("this build of tunesmith knows no CUDA devices")


def run(check):
    device = gpu(check.tool)
    check.data["device"] = device
    capability = device["limits"].get("compute_capability", 0)
    check.add("GPU", "compute capability 7.0 or later", f"{device['name']}, {capability}", capability >= 7.0)
    try:
        chips = check.tool.json("devices", "--counters")["counters"]
    except Failed as failed:
        check.add("counters", "CUPTI tells of them", str(failed), False)
        return
    check.data["counters"] = chips
    for chip in chips:
        lacking = ", ".join(chip["unavailable"]) or "none"
        found = f"{chip['chip']}: {len(chip['counters'])} in {chip['passes']} passes, unavailable: {lacking}"
        check.add("counters", "all of the table", found, not chip["unavailable"])
