"""Resolve dead letters: the statements with their parameters, each act with its audit row."""

from __future__ import annotations

from collections.abc import Sequence

from uketsuke.adapters.sql import redrive_statements as sql
from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.audit import Act, Action
from uketsuke.domain.job import JobKey, Redriving


def resolving(new: JobKey, origin: Redriving) -> Sequence[Statement]:
    """Return what follows a redrive's row in its transaction; nothing happens without that row."""
    act = origin.act
    resolve = (*new, origin.letter_id, act.actor, act.reason, origin.redrive_id)
    return [
        _auditing(act, Action.LETTER_REDRIVEN, origin.letter_id, new_job=new.job_id),
        Statement(sql.RESOLVE_REDRIVEN, resolve),
        Statement(sql.LINK_REDRIVEN, (*new, origin.letter_id, origin.job_id)),
    ]


def discarding(letter_id: str, act: Act) -> Sequence[Statement]:
    """Return the statements that discard a letter; the last one tells whether it was open."""
    return [
        _auditing(act, Action.LETTER_DISCARDED, letter_id),
        Statement(sql.DISCARD, (letter_id, act.actor, act.reason)),
    ]


def _auditing(act: Act, action: Action, letter_id: str, *, new_job: str | None = None) -> Statement:
    detail = {**act.detail, "job": new_job} if new_job else act.detail
    row = (
        act.id, act.actor, action, letter_id, act.reason, act.request_id, rows.dump(dict(detail)),
        new_job,
    )  # fmt: skip
    return Statement(sql.AUDIT_LETTER, row)
