"""multipart/form-data around a file that is streamed: all of it but the file itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from uketsuke.providers.port import Audio


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The bytes before and after the file, and the body's content type."""

    content_type: str
    head: bytes
    tail: bytes


def form_around(audio: Audio, *, fields: Sequence[tuple[str, str]], seed: str) -> Form:
    """Return the form of ``fields`` with ``audio`` as its last part, ``file``.

    The boundary must not occur in the file. It is drawn from ``seed``, which holds the job's id:
    nobody knows that one while they still can choose what they upload.
    """
    boundary = f"uketsuke-{hashlib.sha256(seed.encode()).hexdigest()[:40]}"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields
    ]
    file = (
        f"--{boundary}\r\n"
        f'Content-Disposition: form-data; name="file"; filename="{_quoted(audio.filename)}"\r\n'
        f"Content-Type: {audio.content_type}\r\n\r\n"
    )
    return Form(
        content_type=f"multipart/form-data; boundary={boundary}",
        head="".join([*parts, file]).encode(),
        tail=f"\r\n--{boundary}--\r\n".encode(),
    )


def _quoted(name: str) -> str:
    # As browsers do (html.spec.whatwg.org, "multipart/form-data encoding algorithm").
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
