"""The command `tunesmith`."""

from __future__ import annotations

import signal
import sys

from . import _native
from ._settings import folder


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    # The command handles Ctrl-C itself; Python's own handling would add a traceback to it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(sys.argv[1:], sys.executable or "", folder())


if __name__ == "__main__":
    sys.exit(main())
