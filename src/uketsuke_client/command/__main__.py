"""``python -m uketsuke_client.command``: the same as ``uketsuke``."""

from __future__ import annotations

import sys

from uketsuke_client.command import main

if __name__ == "__main__":
    sys.exit(main())
