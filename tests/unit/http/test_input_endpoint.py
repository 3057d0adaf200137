"""PUT /v1/inputs: streamed in with a known length, or refused unread."""

from __future__ import annotations

import pytest

from tests.unit.http.factories import TENANT
from tests.unit.http.world import Answer, World
from uketsuke.settings import Settings


def put(world: World, key: str, content: bytes = b"abc", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.send("PUT", "/v1/inputs", key=key, content=content, headers=named)


def test_an_upload_gets_a_ref_for_later(world: World, tenant_key: str) -> None:
    answer = put(world, tenant_key, content_length="3", content_type="text/plain; charset=utf-8")

    assert answer.status == 201
    assert answer.document == {
        "ref": answer.document["ref"],
        "bytes": 3,
        "sha256": "5" * 64,
        "content_type": "text/plain; charset=utf-8",
        "expires_at": "2026-12-29T12:00:00.000Z",
    }
    assert world.inputs.uploads[answer.document["ref"]].tenant_id == TENANT


def test_without_a_type_it_is_bytes(world: World, tenant_key: str) -> None:
    answer = put(world, tenant_key, content_length="3")

    assert answer.document["content_type"] == "application/octet-stream"


@pytest.mark.parametrize("length", [None, "", "-1", "3.0", "abc", "³"])
def test_without_a_length_nothing_is_read(
    world: World, tenant_key: str, length: str | None
) -> None:
    headers = {} if length is None else {"content_length": length}

    answer = put(world, tenant_key, b"abc", **headers)

    assert (answer.status, answer.code) == (411, "length_required")
    assert not world.body.taken


@pytest.mark.parametrize("length", ["100000001", "9" * 5000])
def test_what_says_it_is_too_large_is_not_read(world: World, tenant_key: str, length: str) -> None:
    answer = put(world, tenant_key, content_length=length)

    assert (answer.status, answer.code) == (413, "too_large")
    assert not world.body.taken


def test_the_limit_is_the_deployments(tenant_key: str, world: World) -> None:
    world.settings = Settings(key_hash_secret=world.settings.key_hash_secret, max_upload_bytes=3)

    assert put(world, tenant_key, content_length="3").status == 201
    assert put(world, tenant_key, content_length="4").status == 413


def test_a_body_longer_than_it_said_is_too_large(world: World, tenant_key: str) -> None:
    answer = put(world, tenant_key, b"abcd", content_length="3")

    assert (answer.status, answer.code) == (413, "too_large")
    assert world.inputs.uploads == {}


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "text"},
        {"content_type": "a/b;" + "x" * 200},
        {"content_type": "テキスト/plain"},
        {"content_encoding": "gzip"},
    ],
)
def test_an_odd_type_or_a_compressed_body_is_refused(
    world: World, tenant_key: str, headers: dict[str, str]
) -> None:
    answer = put(world, tenant_key, b"abc", content_length="3", **headers)

    assert (answer.status, answer.code) == (415, "unsupported_media_type")


def test_an_operator_has_no_tenant_to_upload_for(world: World, operator_key: str) -> None:
    answer = put(world, operator_key, content_length="3")

    assert (answer.status, answer.code) == (403, "forbidden")
    assert not world.body.taken
