"""Vectors in binary, by the client and by the command."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.client.command_run import Command
from tests.client.scripted import JOB_ID, KEY, Answer, ScriptedServer, problem
from uketsuke_client import ApiError, Client, UnexpectedAnswer, Vectors

RESULT = f"/v1/jobs/{JOB_ID}/result"
PACKED = struct.pack("<6f", 0.5, -0.25, 1e-30, 3.0, 0.1, 1e30)
HEADERS = {
    "content-type": "application/octet-stream",
    "x-model": "ruri %E6%97%A5",
    "x-dimensions": "3",
}


def vectors(server: ScriptedServer) -> Vectors:
    with Client(server.url, KEY) as client:
        return client.vectors(JOB_ID)


def test_vectors_are_asked_for_and_read_in_binary(server: ScriptedServer) -> None:
    server.answers("GET", RESULT, Answer(body=PACKED, headers=HEADERS))

    found = vectors(server)

    assert server.received[0].headers["accept"] == "application/octet-stream"
    assert (found.model, found.dimensions, found.packed) == ("ruri 日", 3, PACKED)
    assert len(found) == 2
    assert [row.tolist() for row in found] == [found[0].tolist(), found[-1].tolist()]
    assert found[0].tolist()[:2] == [0.5, -0.25]
    assert b"".join(row.tobytes() for row in found) == PACKED
    with pytest.raises(IndexError):
        found[2]


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        (b'{"vectors": []}', {"content-type": "application/json"}),
        (PACKED[:-1], {}),
        (PACKED, {"x-dimensions": "5"}),
        (PACKED, {"x-dimensions": "0"}),
        (PACKED, {"x-dimensions": "three"}),
        (PACKED, {"x-dimensions": ""}),
    ],
    ids=["json", "cut short", "another size", "no size", "words", "nothing"],
)
def test_what_is_not_vectors_is_said(
    server: ScriptedServer, body: bytes, changes: dict[str, str]
) -> None:
    server.answers("GET", RESULT, Answer(body=body, headers={**HEADERS, **changes}))

    with pytest.raises(UnexpectedAnswer, match="not with vectors"):
        vectors(server)


def test_a_result_of_another_kind_is_refused(server: ScriptedServer) -> None:
    server.answers("GET", RESULT, problem(406, "not_acceptable"))

    with pytest.raises(ApiError) as refused:
        vectors(server)

    assert refused.value.code == "not_acceptable"


def test_a_file_for_floats_gets_them_as_they_came(
    server: ScriptedServer, command: Command, tmp_path: Path
) -> None:
    server.answers("GET", RESULT, Answer(body=PACKED, headers=HEADERS))
    file = tmp_path / "vectors.f32"

    ran = command("result", JOB_ID, "--output", str(file), "--json")

    assert (ran.code, file.read_bytes()) == (0, PACKED)
    assert ran.document == {"written": str(file), "bytes": len(PACKED)}


def test_a_file_for_floats_is_not_made_of_other_results(
    server: ScriptedServer, command: Command, tmp_path: Path
) -> None:
    server.answers("GET", RESULT, problem(406, "not_acceptable", detail="Only as JSON."))
    file = tmp_path / "vectors.f32"

    ran = command("result", JOB_ID, "-o", str(file))

    assert (ran.code, file.exists()) == (2, False)
    assert "Only as JSON." in ran.err
    assert "without .f32" in ran.err
