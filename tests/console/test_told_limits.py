"""The limits that the console tells before anything is sent are those that hold."""

from __future__ import annotations

import re

from tests.console.browser import ROOT
from uketsuke.http.input_member import MOST_REFS, MOST_TEXTS
from uketsuke.kinds.registry import KINDS
from uketsuke.settings import Settings


def test_the_limits_that_are_told_are_those_that_hold() -> None:
    said = (ROOT / "assets" / "console" / "words" / "params.js").read_text()
    hints = said[said.index("fileHints") :]
    form = (ROOT / "assets" / "console" / "submit" / "draft.js").read_text()
    settings = Settings()

    for kind in KINDS.values():
        of_the_kind = re.findall(rf"^    {kind.name}: (.*)", hints, re.MULTILINE)
        heard = f"{settings.transcribe_max_bytes // 10**6} MB"
        limit = heard if kind.hears else f"{kind.max_input_bytes // 2**20} MiB"
        assert [limit in hint for hint in of_the_kind] == [True, True], kind.name
    assert f"up to {MOST_TEXTS:,} of them" in hints
    assert f"up to {MOST_REFS} of them" in hints
    assert f"INLINE_BYTES = {settings.max_text_bytes // 1024} * 1024;" in form
    assert f"UPLOAD_BYTES = {settings.max_upload_bytes:_};" in form
