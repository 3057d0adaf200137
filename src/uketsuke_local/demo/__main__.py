"""``python -m uketsuke_local.demo``."""

from __future__ import annotations

import sys

from uketsuke_local.demo.flow import main

if __name__ == "__main__":
    sys.exit(main())
