"""The binary that the scripts of this folder judge, from any folder."""
import os, pathlib, shutil, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def binary():
    """Its absolute path. Builds it unless TUNESMITH names one, which starts from the present folder."""
    named = os.environ.get("TUNESMITH")
    if named:
        found = shutil.which(named)
        if not found:
            sys.exit(f"TUNESMITH names `{named}`, which is no program: name a binary of tunesmith, or unset it")
        return pathlib.Path(found).absolute()
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, env=environment, check=True)
    return target / "release/tunesmith"


def run(program, *arguments):
    """Runs it, and ends with its message if it refuses."""
    ran = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    if ran.returncode not in (0, 1):
        sys.exit(ran.stderr or f"`{program}` ended with {ran.returncode}")
    return ran
