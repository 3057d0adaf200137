"""A recording out of the object store, as a stream that no Python holds."""

from __future__ import annotations

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.providers.port import Audio
from uketsuke.services.ports import Blobs, Unavailable


async def open_audio(audio: Audio, blobs: Blobs) -> object:
    """Return the recording's stream, for whoever sends it. Raises ``AttemptFailed``."""
    try:
        stream = await blobs.stream(audio.object_key)
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
    if stream is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    return stream
