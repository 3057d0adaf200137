"""Dead letters: of messages that belong to no job, and what is done about all of them.

(A job's own is written with its end.)
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.letter_terms import LETTER, WITH_JOB
from uketsuke.adapters.sql.resolving import discarding
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter, LetterStatus
from uketsuke.domain.failure import ErrorClass, Road
from uketsuke.domain.job import JobKey
from uketsuke.domain.redact import digest_of, shape_of
from uketsuke.services.ports import Counter, Delivery

# A message that comes again is one more delivery of the same letter. What a person decided about
# it stands: the same body will be wrong in the same way.
# ?1 id, ?2 tenant, ?3 job, ?4 class, ?5 code, ?6 deliveries, ?7 queue, ?8 message id, ?9 schema
# version, ?10 ms until triage is due, ?11 the body's hash, ?12 its shape
BURY_MESSAGE: Final = f"""
INSERT INTO dead_letters (id, tenant_id, job_id, road, class, code, attempts, queue, message_id,
                          schema_version, first_failed_at, last_failed_at, triage_due_at,
                          body_sha256, body_shape)
VALUES (?1, ?2, ?3, 'undecodable', ?4, ?5, ?6, ?7, ?8, ?9, {NOW}, {NOW}, {NOW} + ?10, ?11, ?12)
ON CONFLICT (id) DO UPDATE
   SET last_failed_at = max(last_failed_at, excluded.last_failed_at),
       attempts = excluded.attempts,
       queue = excluded.queue,
       message_id = excluded.message_id,
       body_sha256 = excluded.body_sha256,
       body_shape = excluded.body_shape
"""

# ?1 id
COUNT_DISCARDED: Final = """
INSERT INTO counters (name, value)
SELECT 'discarded_again', 1 FROM dead_letters WHERE id = ?1 AND status = 'discarded'
ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
"""

# ?1 name
COUNT: Final = """
INSERT INTO counters (name, value) VALUES (?1, 1)
ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
"""

# ?1 letter
SELECT_LETTER: Final = f"""
SELECT{LETTER}
  FROM dead_letters AS d
  {WITH_JOB}
 WHERE d.id = ?1
"""


class SqlDeadLetters:
    """``services.ports.DeadLetters`` on any ``Database``."""

    def __init__(self, database: Database, *, triage_within: timedelta) -> None:
        self._database = database
        self._triage_within = triage_within

    async def bury_message(self, delivery: Delivery, *, code: str, version: int | None) -> None:
        # The body's hash is its name, so that every redelivery finds the same record.
        name = _name(delivery.body)
        await self._bury(
            name, None, delivery, error_class="invalid_input", code=code, version=version
        )

    async def bury_unknown_job(self, key: JobKey, delivery: Delivery) -> None:
        # Not the job's own name: under another tenant it may exist, and end badly itself.
        await self._bury(
            _name(key), key, delivery, error_class="not_found", code="job_unknown", version=1
        )

    async def count(self, counter: Counter) -> None:
        await self._database.batch([Statement(COUNT, (counter,))])

    async def find(self, letter_id: str) -> DeadLetter | None:
        (found,) = await self._database.batch([Statement(SELECT_LETTER, (letter_id,))])
        return to_dead_letter(found[0]) if found else None

    async def discard(self, letter_id: str, *, act: Act) -> bool:
        *_, discarded = await self._database.batch(discarding(letter_id, act))
        return bool(discarded)

    async def _bury(
        self,
        name: str,
        key: JobKey | None,
        delivery: Delivery,
        *,
        error_class: str,
        code: str,
        version: int | None,
    ) -> None:
        tenant, job = key or (None, None)
        row = (
            name, tenant, job, error_class, code, delivery.number, delivery.queue, delivery.id,
            version, rows.to_ms(self._triage_within), digest_of(delivery.body),
            shape_of(delivery.body),
        )  # fmt: skip
        await self._database.batch(
            [Statement(BURY_MESSAGE, row), Statement(COUNT_DISCARDED, (name,))]
        )


def _name(body: object) -> str:
    return "dl_" + digest_of(body)[:26]


def to_dead_letter(row: Row) -> DeadLetter:
    """Read a row of ``letter_terms.LETTER``."""
    return DeadLetter(
        id=row["id"],
        job_id=row["job_id"],
        tenant_id=row["tenant_id"],
        kind=row["kind"],
        status=LetterStatus(row["status"]),
        road=Road(row["road"]),
        error_class=rows.to_error_class(row["class"]) or ErrorClass.UNKNOWN,
        code=row["code"],
        model=row["model"],
        fingerprint=row["fingerprint"],
        attempts=row["attempts"],
        queue=row["queue"],
        message_id=row["message_id"],
        schema_version=row["schema_version"],
        first_failed_at=rows.to_time(row["first_failed_at"]),
        last_failed_at=rows.to_time(row["last_failed_at"]),
        triage_due_at=rows.to_time(row["triage_due_at"]),
        replayable_until=rows.to_time_or_none(row["replayable_until"]),
        job_there=bool(row["job_there"]),
        redrives=row["redrives"],
        redriven_to=row["redriven_to"],
        redrive_id=row["redrive_id"],
        resolved_by=row["resolved_by"],
        resolved_at=rows.to_time_or_none(row["resolved_at"]),
        reason=row["reason"],
        body_sha256=row["body_sha256"],
        body_shape=row["body_shape"],
    )
