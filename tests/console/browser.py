"""A headless Chromium that npm brought, with fonts of its own: nothing of the system is used.

The package holds it compressed, with the libraries that a bare machine lacks; it is unpacked once
into ``.cache/browser``.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, sync_playwright

from uketsuke_local.runtime import node

ROOT: Final = Path(__file__).resolve().parents[2]
_PACKAGE: Final = ROOT / "node_modules" / "@sparticuz" / "chromium"
_JAPANESE: Final = ROOT / "node_modules" / "@expo-google-fonts" / "biz-udpgothic"
# From 3.11.4 on; later ones warn without.
_CAREFUL: Final[dict[str, Any]] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
_UNPACK: Final = """
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress } from "node:zlib";
const [from, to] = process.argv.slice(1);
await pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
"""
_FONTS: Final = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>{home}/fonts</dir>
  <dir>{japanese}</dir>
  <cachedir>{home}/font-cache</cachedir>
  <alias><family>system-ui</family>
    <prefer><family>Open Sans</family><family>BIZ UDPGothic</family></prefer></alias>
  <alias><family>sans-serif</family>
    <prefer><family>Open Sans</family><family>BIZ UDPGothic</family></prefer></alias>
</fontconfig>
"""


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """Start the browser, and end it."""
    home = _unpacked()
    environment: dict[str, str | float | bool] = {
        **os.environ,
        "LD_LIBRARY_PATH": str(home / "lib"),
        "FONTCONFIG_FILE": str(home / "fonts.conf"),
    }
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=home / "chromium",
            # CI runs as root, where Chromium's sandbox refuses; the pages are our own.
            args=["--no-sandbox", "--font-render-hinting=none"],
            env=environment,
        )
        try:
            yield browser
        finally:
            browser.close()


def _unpacked() -> Path:
    """Return the folder with the browser; a folder that is there is whole."""
    source = _PACKAGE / "bin" / "chromium.br"
    home = ROOT / ".cache" / f"browser-{source.stat().st_size}"
    if not home.exists():
        home.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="browser-", dir=home.parent) as scratch:
            fresh = Path(scratch) / "fresh"
            fresh.mkdir()
            _unpack(fresh)
            with contextlib.suppress(FileExistsError, OSError):  # another run was quicker
                fresh.rename(home)
    (home / "fonts.conf").write_text(_FONTS.format(home=home, japanese=_JAPANESE))
    return home


def _unpack(home: Path) -> None:
    _decompress("chromium", home / "chromium")
    (home / "chromium").chmod(0o755)
    for name in ("al2023.tar", "fonts.tar"):
        packed = home / name
        _decompress(name, packed)
        with tarfile.open(packed) as archive:
            archive.extractall(home, **_CAREFUL)
        packed.unlink()


def _decompress(name: str, target: Path) -> None:
    source = _PACKAGE / "bin" / f"{name}.br"
    command = [node(), "--input-type=module", "--eval", _UNPACK, str(source), str(target)]
    subprocess.run(command, check=True)
