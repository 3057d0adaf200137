"""Object storage: strongly consistent, and as unreliable on the way as everything else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from tests.simulation.isolate import Isolate
from tests.simulation.wire import Wire
from uketsuke.services.ports import StoredStream


@dataclass(slots=True)
class Store:
    """The objects. ``on_put`` hears of each key once it is stored."""

    objects: dict[str, bytes] = field(default_factory=dict)
    on_put: Callable[[str], None] | None = None

    def put(self, key: str, content: bytes) -> None:
        self.objects[key] = content
        if self.on_put is not None:
            self.on_put(key)

    def delete(self, keys: Collection[str]) -> None:
        for key in keys:
            self.objects.pop(key, None)


@dataclass(slots=True)
class BlobPort:
    """``services.ports.Blobs`` in one isolate."""

    store: Store
    wire: Wire
    isolate: Isolate

    async def put(self, key: str, content: bytes, *, content_type: str) -> None:
        await self.wire.call("put", lambda: self.store.put(key, content), isolate=self.isolate)

    async def put_stream(
        self, key: str, stream: object, *, limit: int, content_type: str
    ) -> StoredStream:
        assert isinstance(stream, bytes)
        await self.put(key, stream, content_type=content_type)
        return StoredStream(bytes=len(stream), sha256=hashlib.sha256(stream).hexdigest())

    async def get(self, key: str) -> bytes | None:
        return await self.wire.call(
            "get", lambda: self.store.objects.get(key), isolate=self.isolate
        )

    async def part(self, key: str, *, offset: int, length: int) -> bytes | None:
        content = await self.get(key)
        return None if content is None else content[offset : offset + length]

    async def stream(self, key: str, *, offset: int = 0) -> object | None:
        content = await self.get(key)
        return None if content is None else content[offset:]

    async def names(self, prefix: str) -> Sequence[str]:
        return await self.wire.call(
            "names",
            lambda: sorted(key for key in self.store.objects if key.startswith(prefix)),
            isolate=self.isolate,
        )

    async def delete(self, keys: Collection[str]) -> None:
        await self.wire.call("delete", lambda: self.store.delete(keys), isolate=self.isolate)
