"""One request until it has an answer: what is sent again, when, and for how long.

Only what may safely arrive twice comes through here: reads, cancels (the contract
makes a second one harmless), uploads (a second copy is an unused one), schedules (the
second time puts or deletes the same), what is done to one dead letter or bulk redrive (the
second time finds it done) and submissions, because those always carry an idempotency
key. A call that is not ``repeatable`` is sent again only if it has not arrived, or was
turned away at the door.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import httpx

from uketsuke_client.clock import Clock
from uketsuke_client.error import ApiError, UnexpectedAnswer, Unreachable
from uketsuke_client.problem import problem_in
from uketsuke_client.retry_after import retry_after

# Not yet, or not from here: rate, gateway, not available, gateway's patience.
_WORTH_ANOTHER_TRY = frozenset({429, 502, 503, 504})
_AT_DOOR = frozenset({429})
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
_FIRST_WAIT_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that can be built again. ``body`` is called once for each try."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Callable[[], bytes | Iterable[bytes]] | None = None
    idempotency_key: str | None = None
    repeatable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A try that failed and will be followed by another, ``wait`` seconds from now."""

    reason: str
    wait: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    error: ApiError | Unreachable
    reason: str
    worth_another: bool
    asked: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    http: httpx.Client
    clock: Clock
    patience: float
    """Seconds after which a failure is told instead of tried again."""
    on_retry: Callable[[Retry], None] = lambda _: None
    on_response: Callable[[httpx.Response], None] = lambda _: None

    def send(self, call: Call, *, deadline: float | None = None) -> httpx.Response:
        """Return the answer to ``call``: below 400, or ``ApiError`` is raised.

        Raises ``Unreachable`` if none came. ``deadline`` (monotonic) cuts patience short.
        """
        give_up_at = self.clock.monotonic() + self.patience
        if deadline is not None:
            give_up_at = min(give_up_at, deadline)

        for tries in itertools.count(1):
            tried = self._try(call, deadline=deadline)
            if isinstance(tried, httpx.Response):
                return tried
            wait = max(self._backoff(tries), tried.asked or 0.0)
            if not tried.worth_another or self.clock.monotonic() + wait > give_up_at:
                raise tried.error
            self.on_retry(Retry(reason=tried.reason, wait=wait))
            self.clock.pause(wait)
        raise AssertionError("counting has no end")

    def _try(self, call: Call, *, deadline: float | None) -> httpx.Response | _Failed:
        try:
            response = self._once(call, deadline=deadline)
        except httpx.TransportError as error:
            reason = str(error) or type(error).__name__
            return _Failed(
                error=Unreachable(
                    str(self.http.base_url), reason=reason, idempotency_key=call.idempotency_key
                ),
                reason=reason,
                worth_another=call.repeatable or isinstance(error, _NOT_SENT),
            )
        if response.status_code < 400:
            return response
        asked = retry_after(response.headers, now=self.clock.now())
        problem = problem_in(response, wait=asked)
        return _Failed(
            error=ApiError(problem, idempotency_key=call.idempotency_key),
            reason=f"{problem.status} {problem.code}",
            worth_another=problem.status in (_WORTH_ANOTHER_TRY if call.repeatable else _AT_DOOR),
            asked=asked,
        )

    def _once(self, call: Call, *, deadline: float | None) -> httpx.Response:
        request = self.http.build_request(
            call.method,
            call.path,
            headers=call.headers,
            content=call.body() if call.body else None,
            timeout=self._timeout(deadline),
        )
        try:
            response = self.http.send(request)
        except httpx.DecodingError as error:
            raise UnexpectedAnswer(f"{request.url}: {error}") from None
        self.on_response(response)
        if 300 <= response.status_code < 400 and response.status_code != 304:
            raise UnexpectedAnswer(
                f"{request.url} redirects to {response.headers.get('location', 'nowhere')}; "
                "use that URL if you trust it"
            )
        return response

    def _timeout(self, deadline: float | None) -> httpx.Timeout:
        usual = self.http.timeout
        if deadline is None:
            return usual
        # The last look may come when no time is left: it still gets a second.
        left = max(1.0, deadline - self.clock.monotonic())
        return httpx.Timeout(
            _smaller(usual.read, left),
            connect=_smaller(usual.connect, left),
        )

    def _backoff(self, tries: int) -> float:
        """Exponential with full jitter, so that clients of one outage do not return as one."""
        ceiling = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0 ** min(tries - 1, 10))
        return ceiling * self.clock.draw()


def _smaller(usual: float | None, left: float) -> float:
    return left if usual is None else min(usual, left)
