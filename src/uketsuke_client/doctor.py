"""The doctor: whether a store is sound, and what was mended of it. For operators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from uketsuke_client import decode, request
from uketsuke_client.answer import read_as
from uketsuke_client.decode import JsonObject
from uketsuke_client.transport import Call, Transport

_PATH = "/v1/doctor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must hold, and how many rows offend; ``rows`` are some of their ids.

    ``repair`` says what ``Client.repair`` may do about them (None: nothing), ``by_hand`` what a
    person does.
    """

    name: str
    description: str | None
    ok: bool
    count: int
    rows: Sequence[str]
    looked_at: str | None
    repair: str | None
    by_hand: str | None

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        """Return the check in ``raw``. Raises ``ValueError`` if that is not one at all."""
        name, ok = decode.text(raw, "check"), raw.get("ok")
        if name is None or not isinstance(ok, bool):
            raise ValueError(
                "the answer is no diagnosis: a check lacks its name, or whether it is ok"
            )
        return cls(
            name=name,
            description=decode.text(raw, "description"),
            ok=ok,
            count=decode.whole(raw, "count") or 0,
            rows=_ids(raw),
            looked_at=decode.text(raw, "looked_at"),
            repair=decode.text(raw, "repair"),
            by_hand=decode.text(raw, "by_hand"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All checks, or the one that was asked for."""

    checks: Sequence[Check]
    raw: JsonObject = field(repr=False, compare=False)

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        items = raw.get("items")
        if not isinstance(items, list):
            raise ValueError("the answer is no diagnosis: it lacks items")
        checks = [Check.from_json(item) for item in items if isinstance(item, dict)]
        return cls(checks=checks, raw=raw)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """What one repair has mended, and how many offenders are left."""

    check: str
    rows: Sequence[str]
    left: int
    raw: JsonObject = field(repr=False, compare=False)

    @classmethod
    def from_json(cls, raw: JsonObject) -> Self:
        check, left = decode.text(raw, "check"), decode.whole(raw, "left")
        if check is None or left is None:
            raise ValueError("the answer is no repair: it lacks a check, or what is left")
        return cls(check=check, rows=_ids(raw), left=left, raw=raw)


def _ids(raw: JsonObject) -> Sequence[str]:
    rows = raw.get("rows")
    return [row for row in rows if isinstance(row, str)] if isinstance(rows, list) else []


class Doctoring:
    """The doctor's routes, which take a key of the scope ``operate`` or ``admin``."""

    _transport: Transport

    def doctor(self, *, check: str | None = None) -> Diagnosis:
        """Hold the store against all its invariants, or against one."""
        path = request.with_query(_PATH, check=check)
        return read_as(Diagnosis.from_json, self._transport.send(Call(method="GET", path=path)))

    def repair(self, check: str, *, reason: str) -> RepairReport:
        """Mend some of what a check has found; ``left`` says whether to repeat it.

        It may be repeated at any time. After an answer that was lost, the second try reports only
        what was left to it; the audit has the first. ``ApiError`` with ``not_repairable`` says what
        a person does instead.
        """
        body = request.encoded({"check": check, "reason": reason})
        call = Call(
            method="POST",
            path=f"{_PATH}/repair",
            headers={"content-type": "application/json"},
            body=lambda: body,
        )
        return read_as(RepairReport.from_json, self._transport.send(call))
