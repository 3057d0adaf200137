"""Stop a job that somebody no longer wants."""

from __future__ import annotations

from uketsuke.domain.job import Job
from uketsuke.domain.lifecycle import JobState
from uketsuke.services.ports import Ports
from uketsuke.services.tell import tell_cancel


class AlreadyFinished(Exception):
    """The job ended before the wish came."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.id)
        self.job = job


async def cancel(job: Job, *, ports: Ports) -> Job:
    """Cancel what waits at once; note the wish on what runs. Safe to repeat.

    A running job's holder notices the wish at its next renewal; work that completes first has
    succeeded. Raises ``AlreadyFinished`` for a job that succeeded or failed.
    """
    after = await ports.jobs.request_cancel(job.key)
    if after is None:
        after = await ports.jobs.find(job.id, tenant_id=job.tenant_id) or job
    else:
        tell_cancel(after, wished_before=job.cancel_requested_at is not None)
    if after.terminal and after.state is not JobState.CANCELED:
        raise AlreadyFinished(after)
    return after
