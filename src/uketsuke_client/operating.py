"""What operators ask: dead letters and what is done about them, the audit, the metrics.

A part of ``Client``, apart because tenants never need it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx

from uketsuke_client import request
from uketsuke_client.alert import Alerts
from uketsuke_client.answer import items_in, job_in, object_in, read_as
from uketsuke_client.audit import AuditEntry
from uketsuke_client.clock import Clock
from uketsuke_client.dead_letter import DeadLetter, DeadLetterGroup
from uketsuke_client.error import ApiError, UnexpectedAnswer, Unreachable
from uketsuke_client.job import Job
from uketsuke_client.metrics import Metrics
from uketsuke_client.page import pages
from uketsuke_client.redrive_run import RedriveFilter, RedrivePlan, RedriveRun
from uketsuke_client.redrive_watch import RedriveWatch
from uketsuke_client.transport import Call, Transport

_LETTERS = "/v1/dead-letters"
_RUNS = "/v1/redrives"
_AUDIT = "/v1/audit"
_STARTED = "redrive.started"
_MOST_ITEMS = "200"  # that one page has
_ASK_BACK_SECONDS = 5.0  # for what became of a call whose answer was lost


class Operating:
    """The routes that take a key of the scope ``operate`` or ``admin``."""

    _transport: Transport
    _clock: Clock

    def dead_letters(
        self,
        *,
        status: str | None = None,
        failure_class: str | None = None,
        kind: str | None = None,
        tenant: str | None = None,
        fingerprint: str | None = None,
    ) -> Iterator[DeadLetter]:
        """Yield dead letters, the last failed first, page after page as they are taken.

        ``status`` is open, redriven or discarded; what is not given does not narrow.
        """
        query = {
            "status": status,
            "class": failure_class,
            "kind": kind,
            "tenant": tenant,
            "fingerprint": fingerprint,
        }
        path = request.with_query(_LETTERS, **query)
        return pages(path, reader=DeadLetter.from_json, transport=self._transport)

    def dead_letter_groups(self, *, tenant: str | None = None) -> Iterator[DeadLetterGroup]:
        """Yield what the open dead letters have in common, the largest groups first."""
        path = request.with_query(f"{_LETTERS}/groups", tenant=tenant, limit=_MOST_ITEMS)
        return pages(path, reader=DeadLetterGroup.from_json, transport=self._transport)

    def dead_letter(self, letter_id: str) -> DeadLetter:
        """Return a dead letter with the history of its job's attempts."""
        return read_as(DeadLetter.from_json, self._get(request.letter_path(letter_id)))

    def redrive(
        self,
        letter_id: str,
        *,
        reason: str,
        patch: Mapping[str, Any] | None = None,
        force: bool = False,
    ) -> Job:
        """Submit a dead letter's job again and return the new job: durable, not done.

        ``patch`` is a merge patch (RFC 7396) over input, params, max_attempts, deadline_seconds and
        max_cost_usd. However often this arrives, there is one job: ``ApiError`` with
        ``already_redriven`` and its ``job_id`` says that somebody else was quicker. That a try of
        this very call was, whose answer was lost, is found out and no error.
        """
        body = {"reason": reason, "patch": patch, "force": force or None}
        name = request.new_request_id()
        try:
            return job_in(self._post(f"{request.letter_path(letter_id)}/redrive", body, name=name))
        except ApiError as refusal:
            ours = refusal.code == "already_redriven" and self._done_as(name, target=letter_id)
            if not ours or not refusal.job_id:
                raise
            return job_in(self._get(request.job_path(refusal.job_id)))

    def discard(self, letter_id: str, *, reason: str) -> DeadLetter:
        """Say that nothing more is to be done about a dead letter, and return it.

        ``ApiError`` with ``already_resolved`` says that somebody else was quicker.
        """
        name = request.new_request_id()
        path = f"{request.letter_path(letter_id)}/discard"
        try:
            return read_as(DeadLetter.from_json, self._post(path, {"reason": reason}, name=name))
        except ApiError as refusal:
            if refusal.code != "already_resolved" or not self._done_as(name, target=letter_id):
                raise
            return self.dead_letter(letter_id)

    def plan_redrives(self, chosen: RedriveFilter, *, reason: str | None = None) -> RedrivePlan:
        """Return what ``start_redrives`` with this filter would do. Does nothing."""
        body = {"filter": chosen.to_json(), "reason": reason, "dry_run": True}
        return read_as(RedrivePlan.from_json, self._post(_RUNS, body))

    def start_redrives(
        self,
        chosen: RedriveFilter,
        *,
        reason: str,
        rate_per_minute: int | None = None,
        canary: int | None = None,
    ) -> RedriveRun:
        """Redrive all open dead letters that match and need no patch, the canaries first.

        A second start is a second bulk redrive, so this is sent again only if it has not
        arrived. ``Unreachable`` leaves open whether it was started: look at ``redrives``.
        """
        body = {
            "filter": chosen.to_json(),
            "reason": reason,
            "rate_per_minute": rate_per_minute,
            "canary": canary,
        }
        name = request.new_request_id()
        try:
            return read_as(
                RedriveRun.from_json, self._post(_RUNS, body, name=name, repeatable=False)
            )
        except (ApiError, Unreachable) as lost:
            if isinstance(lost, ApiError) and lost.status < 500:
                raise
            entry = self._entry_of(name, action=_STARTED)
            if entry is None:
                raise
            return self.redrive_progress(entry.target)

    def redrives(self) -> Iterator[RedriveRun]:
        """Yield the bulk redrives, newest first."""
        return pages(_RUNS, reader=RedriveRun.from_json, transport=self._transport)

    def redrive_progress(self, run_id: str) -> RedriveRun:
        """Return how far a bulk redrive has come."""
        return read_as(RedriveRun.from_json, self._get(request.redrive_path(run_id)))

    def stop_redrives(self, run_id: str, *, reason: str | None = None) -> RedriveRun:
        """Let a bulk redrive start nothing more; the jobs that it has started go on.

        May be repeated. ``ApiError`` with ``already_finished`` says that it was done before.
        """
        return read_as(
            RedriveRun.from_json,
            self._post(f"{request.redrive_path(run_id)}/stop", {"reason": reason}),
        )

    def wait_for_redrives(
        self,
        run_id: str,
        *,
        timeout: float | None = None,
        on_change: Callable[[RedriveRun], None] = lambda _: None,
        every: float | None = None,
    ) -> RedriveRun:
        """Follow a bulk redrive until it is done or stopped, and return it.

        ``on_change`` sees it first as it is and then each time that it has changed. Raises
        ``StillRedriving`` after ``timeout`` seconds; it goes on.
        """
        watch = RedriveWatch(
            transport=self._transport,
            clock=self._clock,
            path=request.redrive_path(run_id),
            every=every,
        )
        for run in watch.changes(timeout=timeout):
            on_change(run)
        return run

    def audit(
        self,
        *,
        action: str | None = None,
        target: str | None = None,
        actor: str | None = None,
        tenant: str | None = None,
    ) -> Iterator[AuditEntry]:
        """Yield what operators did, newest first. A tenant's key sees its own part.

        ``target`` is the id of what was acted on, ``actor`` that of the key.
        """
        path = request.with_query(_AUDIT, action=action, target=target, actor=actor, tenant=tenant)
        return pages(path, reader=AuditEntry.from_json, transport=self._transport)

    def alerts(self) -> Alerts:
        """Return how the objectives stand, and whether somebody was told."""
        return read_as(Alerts.from_json, self._get("/v1/alerts"))

    def metrics(self) -> Metrics:
        """Return how the whole of it fares just now."""
        return read_as(Metrics.from_json, self._get("/v1/metrics"))

    def _get(self, path: str, *, deadline: float | None = None) -> httpx.Response:
        return self._transport.send(Call(method="GET", path=path), deadline=deadline)

    def _post(
        self,
        path: str,
        members: Mapping[str, Any],
        *,
        name: str | None = None,
        repeatable: bool = True,
    ) -> httpx.Response:
        """Send what is not None of ``members``, under ``name`` as the request's id."""
        body = request.encoded({n: value for n, value in members.items() if value is not None})
        headers = {"content-type": "application/json"}
        if name:
            headers["x-request-id"] = name
        return self._transport.send(
            Call(
                method="POST", path=path, headers=headers, body=lambda: body, repeatable=repeatable
            )
        )

    def _done_as(self, name: str, *, target: str) -> bool:
        """Whether the audit knows that the request of this name has acted on ``target``."""
        return self._entry_of(name, target=target) is not None

    def _entry_of(self, name: str, **narrowed: str) -> AuditEntry | None:
        """Return what the audit says of the request of this name, which was only just sent.

        None, too, if the audit cannot be asked: the first refusal is what the caller should see.
        """
        path = request.with_query(_AUDIT, **narrowed, limit=_MOST_ITEMS)
        give_up_at = self._clock.monotonic() + _ASK_BACK_SECONDS
        try:
            page = object_in(self._get(path, deadline=give_up_at))
            entries = items_in(page, path=path, reader=AuditEntry.from_json)
        except (ApiError, Unreachable, UnexpectedAnswer):
            return None
        return next((entry for entry in entries if entry.request_id == name), None)
