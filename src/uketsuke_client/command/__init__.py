"""The ``uketsuke`` command. Its parts are loaded inside ``main``, whose edges then hold them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_SOFTWARE = 70  # sysexits' EX_SOFTWARE: a fault of ours, none of the documented ends
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Whatever happens, no traceback is shown."""
    try:
        from uketsuke_client.command.app import run

        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # the edge of the program: what is left here is our fault
        if os.environ.get("UKETSUKE_DEBUG"):
            raise
        sys.stderr.write(
            f"uketsuke: a fault of this command itself: {type(error).__name__}: {error}\n"
            "Run it again with UKETSUKE_DEBUG=1 to see where, and please report that.\n"
        )
        return _SOFTWARE
