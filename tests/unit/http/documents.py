"""Documents for POST /v1/jobs, what they are held against, and following a fault's pointer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.unit.http.factories import KINDS, an_id, an_upload
from uketsuke.domain.job import Upload
from uketsuke.http.asked_work import Surroundings
from uketsuke.http.problem import Fault
from uketsuke.http.submission import Sender, submission_faults
from uketsuke.settings import Settings

SOUND = {"kind": "summarize", "input": {"text": "Some words."}}
SENDER = Sender(tenant_id="t_alpha", idempotency_key=None, traceparent="00-1-2-00")
SMALL, EMPTY, LARGE = an_upload(1), an_upload(2, bytes=0), an_upload(3, bytes=600_001)
UPLOADS = {upload.ref: upload for upload in (SMALL, EMPTY, LARGE)}
UNKNOWN_REF = an_id("in", 99)


def around(uploads: Mapping[str, Upload] = UPLOADS, **settings: Any) -> Surroundings:
    return Surroundings(kinds=KINDS, uploads=uploads, settings=Settings(**settings))


def faults_of(document: object) -> list[tuple[str, str]]:
    return [(fault.pointer, fault.code) for fault in submission_faults(document, around())]


def summarize(**members: object) -> dict[str, object]:
    return {**SOUND, **members}


def embed(given_input: object) -> dict[str, object]:
    return {"kind": "embed", "input": given_input}


def report(*refs: object) -> dict[str, object]:
    return {"kind": "report", "input": {"refs": list(refs)}}


def assert_resolves(fault: Fault, value: object) -> None:
    """Follow the pointer; only a missing member may be missing, and only at its end."""
    tokens = [token.replace("~1", "/").replace("~0", "~") for token in fault.pointer.split("/")[1:]]
    for place, token in enumerate(tokens, 1):
        if isinstance(value, dict) and token not in value:
            assert (fault.code, place) == ("missing", len(tokens))
            return
        value = value[int(token)] if isinstance(value, list) else value[token]  # type: ignore[index]  # a fault points into a container
