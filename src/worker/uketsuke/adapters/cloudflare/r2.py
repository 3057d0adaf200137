"""R2 as the store of what is too large for a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import js

from uketsuke.adapters.cloudflare import ffi
from uketsuke.services.ports import StoredStream, TooLarge, Unavailable

# R2 takes parts of at least 5 MiB, all of one size but the last
# (developers.cloudflare.com/r2/objects/multipart-objects).
_PART_BYTES = 5 * 1024 * 1024
# Both listing and deleting take at most this many keys a call.
_NAMES_A_PAGE = 1000


class R2Blobs:
    """``services.ports.Blobs`` on a raw R2 binding."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def put(self, key: str, content: bytes, *, content_type: str) -> None:
        try:
            await ffi.patiently(
                self._binding.put(key, ffi.from_bytes(content), _options(content_type))
            )
        except ffi.JsError as error:
            raise ffi.translate(error) from None

    async def put_stream(
        self, key: str, stream: object, *, limit: int, content_type: str
    ) -> StoredStream:
        try:
            return await _Upload(self._binding, key, limit, content_type).run(stream)
        except ffi.JsError as error:
            raise ffi.translate(error) from None

    async def get(self, key: str) -> bytes | None:
        return await self._read(key, {})

    async def part(self, key: str, *, offset: int, length: int) -> bytes | None:
        return await self._read(key, {"range": {"offset": offset, "length": length}})

    async def _read(self, key: str, options: Mapping[str, object]) -> bytes | None:
        try:
            found = await ffi.patiently(self._binding.get(key, ffi.to_object(options)))
            return (
                None
                if ffi.is_nothing(found)
                else ffi.to_bytes(await ffi.patiently(found.arrayBuffer()))
            )
        except ffi.JsError as error:
            raise ffi.translate(error) from None

    async def stream(self, key: str, *, offset: int = 0) -> object | None:
        options = ffi.to_object({"range": {"offset": offset}} if offset else {})
        try:
            found = await ffi.patiently(self._binding.get(key, options))
        except ffi.JsError as error:
            raise ffi.translate(error) from None
        body: object | None = None if ffi.is_nothing(found) else found.body
        return body

    async def names(self, prefix: str) -> Sequence[str]:
        options = ffi.to_object({"prefix": prefix, "limit": _NAMES_A_PAGE})
        try:
            found = await ffi.patiently(self._binding.list(options))
        except ffi.JsError as error:
            raise ffi.translate(error) from None
        return [str(entry.key) for entry in found.objects]

    async def delete(self, keys: Collection[str]) -> None:
        every = list(keys)
        try:
            for start in range(0, len(every), _NAMES_A_PAGE):
                await ffi.patiently(
                    self._binding.delete(ffi.to_object(every[start : start + _NAMES_A_PAGE]))
                )
        except ffi.JsError as error:
            raise ffi.translate(error) from None


class _Upload:
    """One streamed upload. The chunks stay in the runtime's memory and never become Python's."""

    def __init__(self, binding: Any, key: str, limit: int, content_type: str) -> None:
        self._binding = binding
        self._key = key
        self._limit = limit
        self._content_type = content_type
        self._bytes = 0
        self._parts: list[Any] = []
        self._multipart: Any = None

    async def run(self, stream: Any) -> StoredStream:
        digest = js.crypto.DigestStream.new("SHA-256")
        writer = digest.getWriter()
        try:
            await self._copy(stream, writer)
            await self._finish()
        except BaseException:
            # Also when the client left: parts that were sent would lie there unseen.
            await self._abandon()
            raise
        await writer.close()
        sha256 = ffi.to_bytes(await digest.digest).hex()
        return StoredStream(bytes=self._bytes, sha256=sha256)

    async def _copy(self, stream: Any, digest_writer: Any) -> None:
        if ffi.is_nothing(stream):
            return
        reader = stream.getReader(ffi.to_object({"mode": "byob"}))
        while True:
            read = await reader.readAtLeast(_PART_BYTES, js.Uint8Array.new(_PART_BYTES))
            chunk = None if ffi.is_nothing(read.value) else read.value
            length = chunk.byteLength if chunk is not None else 0
            if length:
                await self._check(length, reader)
                await digest_writer.write(chunk)
                await self._store(chunk, length)
            if read.done or length < _PART_BYTES:
                return

    async def _check(self, length: int, reader: Any) -> None:
        self._bytes += length
        if self._bytes > self._limit:
            await reader.cancel("too large")
            raise TooLarge

    async def _store(self, chunk: Any, length: int) -> None:
        if self._multipart is None and length < _PART_BYTES:
            await self._binding.put(self._key, chunk, _options(self._content_type))
            return
        if self._multipart is None:
            self._multipart = await self._binding.createMultipartUpload(
                self._key, _options(self._content_type)
            )
        number = len(self._parts) + 1
        self._parts.append(await self._multipart.uploadPart(number, chunk))

    async def _finish(self) -> None:
        if self._multipart is not None:
            await self._multipart.complete(ffi.to_object(self._parts))
        elif self._bytes == 0:
            await self._binding.put(self._key, "", _options(self._content_type))

    async def _abandon(self) -> None:
        if self._multipart is None:
            return
        try:
            await self._multipart.abort()
        except ffi.JsError:
            # R2 drops unfinished uploads by itself after some days.
            raise Unavailable("an unfinished upload could not be dropped") from None


def _options(content_type: str) -> Any:
    return ffi.to_object({"httpMetadata": {"contentType": content_type}})
