"""What the services need of the platform: queues, objects, Workflows, HTTP, time and chance."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol


class Unavailable(Exception):
    """A service of the platform did not answer, or answered that it cannot now."""


class TooLarge(Exception):
    """A body was longer than allowed. Nothing of it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One hand-over of a message by a queue; ``number`` counts the message's from 1."""

    id: str
    queue: str
    number: int
    body: object


class JobQueue(Protocol):
    """Where messages go: hints that a job wants to be looked at."""

    async def send(self, body: Mapping[str, object], *, delay: timedelta = timedelta()) -> None: ...

    async def send_many(self, bodies: Sequence[Mapping[str, object]]) -> None: ...

    async def backlog(self) -> int | None:
        """How many messages wait, where the platform tells."""
        ...


class WatchedQueue(Protocol):
    """A queue that somebody else works: what waits there too long shows that nobody does."""

    async def oldest_age(self, *, now: datetime) -> timedelta | None:
        """How long its oldest message waits; 0 if none does, None where nobody tells."""
        ...

    async def backlog(self) -> int | None:
        """How many messages wait, where the platform tells."""
        ...


class InstanceState(StrEnum):
    """What the platform says of a Workflow instance, as far as it matters."""

    ABSENT = "absent"
    QUEUED = "queued"  # it starts, or goes on, when the platform or a person lets it
    LIVE = "live"  # running, waiting
    COMPLETE = "complete"
    BROKEN = "broken"  # errored, terminated, or of a state that we do not know


class Workflows(Protocol):
    """The Workflow that runs long jobs, by its instances' ids."""

    async def create(self, instance_id: str, order: Mapping[str, object]) -> bool:
        """Start an instance; False if there is one of that name already."""
        ...

    async def state(self, instance_id: str) -> InstanceState: ...

    async def wake(self, instance_id: str) -> None:
        """Make an instance that sleeps in a dead engine go on; does no harm to a healthy one."""
        ...

    async def terminate(self, instance_id: str) -> None:
        """Stop it at once; one that is over, or was never there, is left alone."""
        ...


class Steps(Protocol):
    """The durable steps of one Workflow instance: what one has returned is never done again."""

    async def do(
        self, name: str, work: Callable[[], Awaitable[Mapping[str, object]]]
    ) -> Mapping[str, object]:
        """Do a step that returns a small JSON object and does not raise.

        If the caller is canceled, so is the work; the engine may then keep ``{"stopped": true}``
        as what the step returned.
        """
        ...

    async def sleep(self, name: str, duration: timedelta) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStream:
    """What was stored of a streamed body."""

    bytes: int
    sha256: str


class Blobs(Protocol):
    """Objects too large for a row."""

    async def put(self, key: str, content: bytes, *, content_type: str) -> None: ...

    async def put_stream(
        self, key: str, stream: object, *, limit: int, content_type: str
    ) -> StoredStream:
        """Store a body of the HTTP layer's without holding it in memory. Raises ``TooLarge``."""
        ...

    async def get(self, key: str) -> bytes | None: ...

    async def part(self, key: str, *, offset: int, length: int) -> bytes | None:
        """At most ``length`` bytes from ``offset`` on, which lies within the object."""
        ...

    async def stream(self, key: str, *, offset: int = 0) -> object | None:
        """A body that the HTTP layer can send as it comes, from ``offset`` on."""
        ...

    async def names(self, prefix: str) -> Sequence[str]:
        """The keys under a prefix; at most a page of them."""
        ...

    async def delete(self, keys: Collection[str]) -> None: ...


# Sixty-four vectors of 4,096 numbers are 6 MB of JSON.
MOST_ANSWER_BYTES: Final = 8_388_608


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedBody:
    """A request's body whose middle is an object's stream, of ``middle_bytes`` bytes."""

    head: bytes
    middle: object
    middle_bytes: int
    tail: bytes

    @property
    def length(self) -> int:
        return len(self.head) + self.middle_bytes + len(self.tail)


class HttpClient(Protocol):
    """Outgoing HTTP."""

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        """Raises ``TimeoutError``, and ``Unavailable`` if the connection failed.

        Raises ``TooLarge`` for an answer beyond ``MOST_ANSWER_BYTES``: it would be held in memory,
        and again in pieces while it is read.
        """
        ...

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        """Send what ``Blobs.stream`` gave, without holding it in memory; else as ``post``.

        The stream is used up, or hung up on, whatever happens.
        """
        ...


class Clock(Protocol):
    """A Worker's own idea of the time; never used to judge a lease."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class Dice(Protocol):
    """Randomness."""

    def draw(self) -> float: ...

    def entropy(self, count: int) -> bytes: ...
