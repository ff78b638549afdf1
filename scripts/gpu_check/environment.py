"""Describes the GPU, its driver and tools, other processes on it, and its counters."""

import os
import shutil
import subprocess

from .tool import Failed

# What `nvidia-smi` is asked for, with the name in the overview.
QUERIES = {
    "driver_version": "driver", "vbios_version": "VBIOS", "pci.bus_id": "bus", "persistence_mode": "persistence mode",
    "clocks.max.sm": "highest clock", "clocks.max.mem": "highest memory clock", "power.limit": "power limit",
    "ecc.mode.current": "ECC", "ecc.errors.uncorrected.volatile.total": "uncorrectable ECC errors",
    "temperature.gpu": "temperature, C",
}
TOOLS = {"nvcc": "the toolkit's compiler", "ncu": "Nsight Compute", "nvidia-smi": "the driver's tool"}


def smi(*arguments):
    """Returns the lines of nvidia-smi's answer as lists of cells; none if there is no such program."""
    try:
        command = ["nvidia-smi", *arguments, "--format=csv,noheader"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = ran.stdout.splitlines() if ran.returncode == 0 else []
    return [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]


def run(check):
    device = check.device
    check.data["device"] = device
    capability = device["limits"].get("compute_capability", 0)
    check.add("GPU", "compute capability 7.0 or later", f"{device['name']}, {capability}", capability >= 7.0)
    asked = smi(f"--query-gpu={','.join(QUERIES)}")
    known = dict(zip(QUERIES.values(), asked[0])) if asked else {}
    check.data["facts"] = {"device": device["name"], "compiler": device["driver"], **known, "processor": processor(),
                           "processors": os.cpu_count()}
    for name, use in TOOLS.items():
        path = shutil.which(name)
        check.add(name, use, path or "not there", True if path else None)
    for finding in check.findings:
        text = finding.found or f"not in {', '.join(finding.searched)}"
        check.add(finding.name, f"for {finding.use}", text, True if finding.found else None)
    others(check)
    counters(check)


def processor():
    """Returns the name of the host's processor."""
    try:
        with open("/proc/cpuinfo") as file:
            return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    except OSError:
        return "unknown"


def others(check):
    """Checks that no other process computes on the device."""
    if not shutil.which("nvidia-smi"):
        check.add("alone on the device", "no other process", "nvidia-smi is not there", None)
        return
    found = smi("--query-compute-apps=pid,process_name,used_memory")
    check.data["others"] = found
    text = "; ".join(" ".join(cells) for cells in found) or "none"
    check.add("alone on the device", "no other process", text, not found)


def counters(check):
    """Lists the counters of the chip and the passes in which they are read."""
    try:
        chips = check.call("devices", "--counters")["counters"]
    except Failed as failed:
        check.add("counters", "CUPTI tells of them", str(failed), None if check.dry else False)
        return
    check.data["counters"] = chips
    for chip in chips:
        lacking = ", ".join(chip["unavailable"]) or "none"
        found = f"{chip['chip']}: {len(chip['counters'])} in {chip['passes']} passes, unavailable: {lacking}"
        check.add("counters", "all of the table", found, not chip["unavailable"])
        rows = [[counter["name"], counter["metric"], counter["passes"]] for counter in chip["counters"]]
        check.table(f"Counters of {chip['chip']}", ["counter", "metric of the chip", "passes alone"], rows)
