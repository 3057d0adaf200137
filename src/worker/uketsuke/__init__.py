"""Uketsuke: takes AI work in at once, gives each job exactly one end, and loses none."""

from __future__ import annotations

VERSION = "0.1.0"
