"""Take an input in ahead of its job: streamed to storage, then recorded."""

from __future__ import annotations

from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.job import Upload
from uketsuke.services.ports import Ports


async def upload(
    stream: object, *, tenant_id: str, content_type: str, length: int, ports: Ports
) -> Upload:
    """Store a body of at most ``length`` bytes and return its record.

    The body never lies in memory whole. Raises ``TooLarge`` if it is longer than it said (nothing
    is kept then) and ``Unavailable`` if storage or database did not answer; an object without a
    row may then be left behind under the tenant's prefix, which nothing can name.
    """
    settings = ports.settings
    now = ports.clock.now()
    entropy = ports.dice.entropy(RANDOM_BYTES)
    ref = time_sorted_id("in", now_ms=int(now.timestamp() * 1000), entropy=entropy)
    object_key = f"{tenant_id}/{ref}/{ports.dice.entropy(16).hex()}"
    limit = min(length, settings.max_upload_bytes)
    stored = await ports.blobs.put_stream(
        object_key, stream, limit=limit, content_type=content_type
    )
    row = Upload(
        ref=ref,
        tenant_id=tenant_id,
        object_key=object_key,
        bytes=stored.bytes,
        sha256=stored.sha256,
        content_type=content_type,
        expires_at=now + settings.keep_inputs,
    )
    return await ports.inputs.record(row, keep=settings.keep_inputs)
