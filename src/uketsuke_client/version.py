"""The version of what is installed, for ``--version`` and the user agent."""

from __future__ import annotations

from importlib import metadata


def version() -> str:
    try:
        return metadata.version("uketsuke")
    except metadata.PackageNotFoundError:
        return "0+uninstalled"
