"""Delete what is past its retention, in bounded pages: objects before the rows that name them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uketsuke.services.ports import Expired, Ports

_PAGE: Final = 100
_PAGES_A_TICK: Final = 5


async def purge_jobs(ports: Ports) -> int:
    """Delete ended jobs with their inputs, results, attempts and idempotency keys."""
    older_than = ports.clock.now() - ports.settings.keep_results
    after, count = "", 0
    for _ in range(_PAGES_A_TICK):
        page = await ports.purging.expired_jobs(older_than=older_than, after=after, limit=_PAGE)
        if not page:
            break
        await _delete_objects(page, ports)
        count += await ports.purging.delete_jobs([expired.key for expired in page])
        after = page[-1].key.job_id
    return count


async def purge_inputs(ports: Ports) -> int:
    """Delete uploads that nothing live needs: a job that names one has moved its time on.

    What has expired cannot be named by a new job any more, so nobody wants it between the steps.
    """
    count = 0
    for _ in range(_PAGES_A_TICK):
        page = await ports.purging.expired_inputs(limit=_PAGE)
        if not page:
            break
        await _delete_objects(page, ports)
        count += await ports.purging.delete_inputs([expired.key for expired in page])
    return count


async def purge_letters(ports: Ports) -> int:
    """Delete dead letters long after they were resolved. Open ones wait for a person for good."""
    keep, count = ports.settings.keep_dead_letters, 0
    for _ in range(_PAGES_A_TICK):
        deleted = await ports.purging.delete_letters(keep=keep, limit=_PAGE)
        count += deleted
        if deleted < _PAGE:
            break
    return count


async def _delete_objects(page: Sequence[Expired], ports: Ports) -> None:
    keys = [key for expired in page for key in expired.objects]
    for expired in page:
        if expired.prefix:
            keys += await ports.blobs.names(expired.prefix)
    if keys:
        await ports.blobs.delete(sorted(set(keys)))
