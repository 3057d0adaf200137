"""The client: one method a route, and ``wait``, which follows one job to its end.

What only operators may ask is in ``operating``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from uketsuke_client import request
from uketsuke_client.answer import (
    accepted_in,
    job_in,
    next_in,
    object_in,
    read_as,
)
from uketsuke_client.clock import Clock
from uketsuke_client.doctor import Doctoring
from uketsuke_client.error import UnexpectedAnswer
from uketsuke_client.event import Event
from uketsuke_client.input_ref import (
    Input,
    InputRef,
    Source,
    content_type_of,
    length_from_here,
    member_of,
    opened,
)
from uketsuke_client.job import Accepted, Job
from uketsuke_client.operating import Operating
from uketsuke_client.page import pages
from uketsuke_client.schedule import Schedule
from uketsuke_client.transport import Call, Retry, Transport
from uketsuke_client.usage import UsageReport
from uketsuke_client.vectors import FLOATS, Vectors, vectors_in
from uketsuke_client.version import version
from uketsuke_client.wait import Watch

_USUAL_TIMEOUT = httpx.Timeout(20.0, connect=5.0)


class Client(Operating, Doctoring):
    """Speaks to one Uketsuke server with one key. Use it as a context manager.

    Reads and submissions are tried again after lost connections, 429 and 502 to 504,
    until ``patience`` seconds are over or the server asks for a longer wait than that
    (``ApiError.retry_after`` then says how long). Every submission carries an
    idempotency key, so a repeated one starts nothing twice.

    ``on_retry`` and ``on_response`` are told of each retry and each answer.
    Raises ``Unsendable``, a ``ValueError``, for what no request can carry.
    """

    def __init__(
        self,
        base_url: str,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = _USUAL_TIMEOUT,
        patience: float = 30.0,
        clock: Clock | None = None,
        on_retry: Callable[[Retry], None] = lambda _: None,
        on_response: Callable[[httpx.Response], None] = lambda _: None,
    ) -> None:
        url = request.checked_url(base_url)
        headers = {"user-agent": f"uketsuke-client/{version()}", "accept": "application/json"}
        if key:
            headers["authorization"] = request.bearer(key)
        self._clock = clock or Clock()
        self._http = httpx.Client(
            base_url=url,
            headers=headers,
            timeout=timeout,
            # Plain HTTP shows no certificate, and redirects are not followed: without a use,
            # the authorities need not be loaded, which is half of a command's start.
            verify=url.scheme == "https",
            # A proxy of the environment cannot know this machine's own loopback.
            trust_env=not request.is_loopback(url.host),
        )
        self._transport = Transport(
            http=self._http,
            clock=self._clock,
            patience=patience,
            on_retry=on_retry,
            on_response=on_response,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def submit(
        self,
        kind: str,
        *,
        input: Input,  # noqa: A002 -- the contract's own word
        params: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        run_key: str | None = None,
        on_conflict: str | None = None,
        max_attempts: int | None = None,
        deadline_seconds: int | None = None,
        max_cost_usd: str | None = None,
        metadata: Mapping[str, str] | None = None,
    ) -> Accepted:
        """Ask for a job and return it as accepted: durable, not done.

        ``input`` is the contract's member, an upload, or a list of uploads and of jobs whose
        results are meant.

        What is not given is not sent, and the server's default holds. After an
        ``Unreachable``, submit again with the key that it carries.
        """
        members = {
            "kind": kind,
            "input": member_of(input),
            "params": params,
            "run_key": run_key,
            "on_conflict": on_conflict,
            "max_attempts": max_attempts,
            "deadline_seconds": deadline_seconds,
            "max_cost_usd": max_cost_usd,
            "metadata": metadata,
        }
        body = request.encoded(
            {name: value for name, value in members.items() if value is not None}
        )
        key = idempotency_key or request.new_idempotency_key()
        headers = {"idempotency-key": request.quoted(key), "content-type": "application/json"}
        response = self._transport.send(
            Call(
                method="POST",
                path="/v1/jobs",
                headers=headers,
                body=lambda: body,
                idempotency_key=key,
            )
        )
        return accepted_in(response, key=key)

    def job(self, job_id: str) -> Job:
        return job_in(self._transport.send(Call(method="GET", path=request.job_path(job_id))))

    def result(self, job_id: str) -> dict[str, Any]:
        """Return a succeeded job's result; ``ApiError`` says why there is none."""
        return object_in(
            self._transport.send(Call(method="GET", path=f"{request.job_path(job_id)}/result"))
        )

    def vectors(self, job_id: str) -> Vectors:
        """Return an embed's result in binary, a third of its size as JSON.

        Of a job of another kind, ``ApiError`` says ``not_acceptable``.
        """
        path = f"{request.job_path(job_id)}/result"
        return vectors_in(
            self._transport.send(Call(method="GET", path=path, headers={"accept": FLOATS}))
        )

    def events(self, job_id: str) -> list[Event]:
        """Return what happened to a job, oldest first."""
        path = f"{request.job_path(job_id)}/events"
        items = object_in(self._transport.send(Call(method="GET", path=path))).get("items")
        if not isinstance(items, list):
            raise UnexpectedAnswer(f"{path} answered without items")
        return [Event.from_json(item) for item in items if isinstance(item, dict)]

    def cancel(self, job_id: str) -> Job:
        """Cancel a job, or wish it canceled if it runs; work that ends first has succeeded."""
        return job_in(
            self._transport.send(Call(method="POST", path=f"{request.job_path(job_id)}/cancel"))
        )

    def upload(self, source: Source, *, content_type: str | None = None) -> InputRef:
        """Stream a path, bytes or an open binary stream to the server's storage."""
        with opened(source) as stream:
            start = stream.tell()

            def from_the_start() -> Any:  # httpx reads a stream by its own chunks
                stream.seek(start)
                return stream

            headers = {
                "content-length": str(length_from_here(stream)),
                "content-type": content_type or content_type_of(source),
            }
            response = self._transport.send(
                Call(method="PUT", path="/v1/inputs", headers=headers, body=from_the_start)
            )
        return read_as(InputRef.from_json, response)

    def schedules(self, *, tenant: str | None = None) -> Iterator[Schedule]:
        """Yield all schedules by name, page after page; ``tenant`` is for operators."""
        path = request.with_query("/v1/schedules", tenant=tenant)
        return pages(path, reader=Schedule.from_json, transport=self._transport)

    def schedule(self, name: str, *, tenant: str | None = None) -> Schedule:
        """Return a schedule; an operator says whose it is."""
        path = request.with_query(request.schedule_path(name), tenant=tenant)
        return read_as(Schedule.from_json, self._transport.send(Call(method="GET", path=path)))

    def put_schedule(
        self,
        name: str,
        *,
        cron: str,
        kind: str,
        input: Input,  # noqa: A002 -- the contract's own word
        timezone: str | None = None,
        params: Mapping[str, Any] | None = None,
        run_key: str | None = None,
        overlap: str | None = None,
        enabled: bool | None = None,
    ) -> Schedule:
        """Make a schedule, or replace the whole one of that name, and return it.

        What is not given is not sent, and the server's default holds. May be repeated.
        """
        members = {
            "cron": cron,
            "timezone": timezone,
            "kind": kind,
            "input": member_of(input),
            "params": params,
            "run_key": run_key,
            "overlap": overlap,
            "enabled": enabled,
        }
        body = request.encoded(
            {name: value for name, value in members.items() if value is not None}
        )
        response = self._transport.send(
            Call(
                method="PUT",
                path=request.schedule_path(name),
                headers={"content-type": "application/json"},
                body=lambda: body,
            )
        )
        return read_as(Schedule.from_json, response)

    def delete_schedule(self, name: str) -> None:
        """Delete a schedule; the jobs that it started live on.

        A 404 after an answer that was lost says that the first try has deleted it.
        """
        self._transport.send(Call(method="DELETE", path=request.schedule_path(name)))

    def trigger_schedule(self, name: str, *, idempotency_key: str | None = None) -> Accepted:
        """Start a schedule's job now, as ``submit`` would.

        ``ApiError`` with ``run_in_progress`` names the live job that holds its run key.
        """
        key = idempotency_key or request.new_idempotency_key()
        response = self._transport.send(
            Call(
                method="POST",
                path=f"{request.schedule_path(name)}/trigger",
                headers={"idempotency-key": request.quoted(key)},
                idempotency_key=key,
            )
        )
        return accepted_in(response, key=key)

    def usage(
        self,
        *,
        start: str | None = None,
        end: str | None = None,
        kind: str | None = None,
        tenant: str | None = None,
    ) -> UsageReport:
        """Return what was used from the day ``start`` to ``end`` (2026-11-29), and what it cost.

        Else of the last 30 days. A tenant's key sees its own; ``tenant`` is for operators.
        """
        query = {"from": start, "to": end, "kind": kind, "tenant": tenant, "limit": "200"}
        path: str | None = request.with_query("/v1/usage", **query)
        whole: dict[str, Any] | None = None
        items: list[Any] = []
        while path:
            response = self._transport.send(Call(method="GET", path=path))
            page = object_in(response)
            read_as(UsageReport.from_json, response)
            whole, path = whole or page, next_in(page, path=path)
            items += page["items"]
        return UsageReport.from_json({**(whole or {}), "items": items, "next": None})

    def wait(
        self,
        job_id: str,
        *,
        timeout: float | None = None,
        on_change: Callable[[Job], None] = lambda _: None,
        every: float | None = None,
    ) -> Job:
        """Follow the job with this very id until it is terminal, and return it.

        Succeeded or not is the caller's to look at. Polls when the server says
        (``Retry-After``), or ``every`` so many seconds; ``on_change`` sees the job first
        as it is and then each time that it has changed. Raises ``NotFinished`` after
        ``timeout`` seconds; the job goes on.
        """
        watch = Watch(
            transport=self._transport, clock=self._clock, path=request.job_path(job_id), every=every
        )
        for job in watch.changes(timeout=timeout):
            if job.id != job_id:
                raise UnexpectedAnswer(f"asked for {job_id}, answered {job.id}")
            on_change(job)
        return job
