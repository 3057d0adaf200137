"""The statements of bulk redrives. Everything that one has started is read from the letters."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.audit import recording
from uketsuke.adapters.sql.bulk_standing import ITS_JOB, UNDER_WAY
from uketsuke.adapters.sql.cost_statements import estimate_of
from uketsuke.adapters.sql.letter_terms import LETTER, WITH_JOB
from uketsuke.adapters.sql.terms import J_JOB, NOW
from uketsuke.domain.dead_letter import (
    CLASSES_TO_PATCH,
    CODES_NOT_TO_PATCH,
    READABLE_VERSIONS,
    REDRIVES_BEFORE_FORCE,
)

# How many open letters one look goes through to find those that fit: rare ones among very many
# must not make one call read them all.
STRETCH: Final = 500

REDRIVE: Final = (
    "id, state, filter_class, filter_kind, filter_fingerprint, filter_tenant, filter_before, "
    "reason, rate_per_minute, canary, total, created_at, created_by, request_id, all_seen, tries, "
    "paced_at, stopped_because, stopped_detail, stopped_by, finished_at, closed_at, started, "
    "succeeded, failed, canceled"
)
_GOING: Final = "state IN ('canary', 'running')"
# Ours to go on with. ?1 redrive, ?2 turn
_OURS: Final = f"id = ?1 AND turn = ?2 AND {_GOING}"


def _fits(*, error_class: str, kind: str, fingerprint: str, tenant: str, before: str) -> str:
    """Whether the letter ``d`` is open and meant; the rest are names or parameters."""
    return f"""d.status = 'open'
   AND ({before} IS NULL OR d.last_failed_at < {before})
   AND ({error_class} IS NULL OR d.class = {error_class})
   AND ({kind} IS NULL OR d.kind = {kind})
   AND ({fingerprint} IS NULL OR d.fingerprint = {fingerprint})
   AND ({tenant} IS NULL OR d.tenant_id = {tenant})"""


def _named(values: tuple[str, ...]) -> str:
    return ", ".join(f"'{value}'" for value in values)


# As domain.bulk_redrive.obstacle says; a test compares.
_REPLAYABLE: Final = f"""
       l.kind IS NOT NULL AND l.job_id IS NOT NULL AND l.tenant_id IS NOT NULL
       AND l.road <> 'undecodable' AND l.replayable_until IS NOT NULL
       AND coalesce(l.schema_version IN ({", ".join(map(str, sorted(READABLE_VERSIONS)))}), 0)
       AND NOT (l.class IN ({_named(CLASSES_TO_PATCH)})
                AND l.code NOT IN ({_named(CODES_NOT_TO_PATCH)}))
       AND l.redrives < {REDRIVES_BEFORE_FORCE}"""
_COST: Final = f"""
       CASE WHEN l.expected IS NOT NULL OR (?6 -> l.kind) = '[0,0,0]'
            THEN {estimate_of("l", rates="?6")} END"""

_MEANT: Final = _fits(error_class="?1", kind="?2", fingerprint="?3", tenant="?4", before="?5")

# What a bulk redrive would touch now: its letters are all read, and their jobs.
# ?1 class, ?2 kind, ?3 fingerprint, ?4 tenant, ?5 before, ?6 rates
ESTIMATE: Final = f"""
SELECT count(*) AS count,
       coalesce(sum(replayable), 0) AS replayable,
       coalesce(sum(replayable AND cost IS NULL), 0) AS unpriced,
       CAST(total(CASE WHEN replayable THEN cost END) AS INTEGER) AS cost_micros
  FROM (SELECT {_REPLAYABLE} AS replayable, {_COST} AS cost
          FROM (SELECT {LETTER}, j.expected
                  FROM dead_letters AS d
                  {WITH_JOB}
                 WHERE d.last_failed_at < {NOW}
                   AND {_MEANT}) AS l)
"""

# ?1 id, ?2 class, ?3 kind, ?4 fingerprint, ?5 tenant, ?6 before, ?7 reason, ?8 rate, ?9 canaries,
# ?10 actor, ?11 request id, ?12 idempotency key or null: if it is taken, nothing is written
INSERT_REDRIVE: Final = f"""
INSERT INTO redrives (id, state, filter_class, filter_kind, filter_fingerprint, filter_tenant,
                      filter_before, reason, rate_per_minute, canary, total, created_at, created_by,
                      request_id, all_seen, paced_at, looked_at, finished_at, closed_at, started,
                      succeeded, failed, canceled, idempotency_key)
SELECT ?1,
       CASE WHEN found = 0 THEN 'done' WHEN ?9 > 0 THEN 'canary' ELSE 'running' END,
       ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, found, {NOW}, ?10, ?11, found = 0, {NOW}, {NOW},
       CASE WHEN found = 0 THEN {NOW} END, CASE WHEN found = 0 THEN {NOW} END,
       nullif(found > 0, 1), nullif(found > 0, 1), nullif(found > 0, 1), nullif(found > 0, 1), ?12
  FROM (SELECT count(*) AS found
          FROM dead_letters AS d
         WHERE d.last_failed_at < {NOW}
           AND {_fits(error_class="?2", kind="?3", fingerprint="?4", tenant="?5", before="?6")})
 WHERE true
ON CONFLICT (created_by, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
"""

# After the row, if that was written. See ``audit.recording``.
AUDIT_START: Final = recording("EXISTS (SELECT 1 FROM redrives WHERE id = ?4)")

# ?1 actor, ?2 idempotency key
SELECT_BY_KEY: Final = """
SELECT id FROM redrives WHERE created_by = ?1 AND idempotency_key = ?2
"""

# Before the stop, and only if that changes something. See ``audit.recording``.
AUDIT_STOP: Final = recording(f"EXISTS (SELECT 1 FROM redrives WHERE id = ?4 AND {_GOING})")

# ?1 redrive, ?2 reason, ?3 actor
STOP_REDRIVE: Final = f"""
UPDATE redrives
   SET state = 'stopped',
       stopped_because = 'asked',
       stopped_detail = ?2,
       stopped_by = ?3,
       finished_at = {NOW}
 WHERE id = ?1 AND {_GOING}
"""

# Newest first. ?1 the id before which to look, ?2 page size
_PAGE: Final = "SELECT id, closed_at FROM redrives WHERE id < ?1 ORDER BY id DESC LIMIT ?2"
LIST_REDRIVES: Final = f"""
SELECT {REDRIVE} FROM redrives WHERE id < ?1 ORDER BY id DESC LIMIT ?2
"""

# A job that is gone has ended; if it failed, its own letter is still there.
_FAILED: Final = """CASE WHEN j.id IS NOT NULL THEN j.state = 'failed' ELSE
         EXISTS (SELECT 1 FROM dead_letters AS own WHERE own.id = 'dl_' || substr(d.redriven_to, 5))
       END"""
_FIGURES: Final = f"""count(*) AS started,
       coalesce(sum((j.id IS NULL OR j.state = 'succeeded') AND NOT {_FAILED}), 0) AS succeeded,
       coalesce(sum({_FAILED}), 0) AS failed,
       coalesce(sum(j.state = 'canceled'), 0) AS canceled"""

# Of those on the page that are not closed; the others have theirs in their rows.
LIST_FIGURES: Final = f"""
SELECT page.id, {_FIGURES}
  FROM ({_PAGE}) AS page
 CROSS JOIN dead_letters AS d ON d.redrive_id = page.id
  LEFT JOIN jobs AS j ON {ITS_JOB}
 WHERE page.closed_at IS NULL
 GROUP BY page.id
"""
LIST_SKIPS: Final = f"""
SELECT page.id, s.reason, count(*) AS letters
  FROM ({_PAGE}) AS page
 CROSS JOIN redrive_skips AS s ON s.redrive_id = page.id
 GROUP BY page.id, s.reason
 ORDER BY s.reason
"""

# ?1 how many
SELECT_OPEN_REDRIVES: Final = f"""
SELECT id
  FROM redrives
 WHERE closed_at IS NULL AND looked_at <= {NOW}
 ORDER BY looked_at
 LIMIT ?1
"""

# ?1 redrive, ?2 turn
TAKE_TURN: Final = f"""
UPDATE redrives
   SET turn = ?2, looked_at = {NOW}
 WHERE id = ?1 AND closed_at IS NULL
RETURNING {REDRIVE}, {NOW} AS now
"""

# ?1 redrive, ?2 turn, ?3 time
CLAIM_TIME: Final = f"""
UPDATE redrives SET paced_at = ?3 WHERE {_OURS} RETURNING id
"""

# ?1 redrive, ?2 turn
SELECT_OURS: Final = f"""
SELECT id FROM redrives WHERE {_OURS}
"""

# The oldest failures first, and only those from before the redrive was asked for: what fails again
# is not taken up again. ?1 redrive, ?2 turn
_LETTERS_BEHIND: Final = f"""
        SELECT d.id, d.last_failed_at,
               (r.filter_class IS NULL OR d.class = r.filter_class)
               AND (r.filter_kind IS NULL OR d.kind = r.filter_kind)
               AND (r.filter_fingerprint IS NULL OR d.fingerprint = r.filter_fingerprint)
               AND (r.filter_tenant IS NULL OR d.tenant_id = r.filter_tenant) AS meant
          FROM redrives AS r
         CROSS JOIN dead_letters AS d INDEXED BY dead_letters_open
         WHERE r.id = ?1 AND r.turn = ?2 AND r.{_GOING}
           AND d.status = 'open'
           AND d.last_failed_at >= r.seen_at
           AND d.last_failed_at < min(r.created_at, coalesce(r.filter_before, r.created_at))
           AND (d.last_failed_at > r.seen_at OR d.id > r.seen_id)
         ORDER BY d.last_failed_at, d.id"""

# ?1 redrive, ?2 turn, ?3 page size
SELECT_CANDIDATES: Final = f"""
SELECT{LETTER}
  FROM (SELECT id
          FROM ({_LETTERS_BEHIND}
                 LIMIT {STRETCH}) AS page
         WHERE meant
         ORDER BY last_failed_at, id
         LIMIT ?3) AS asked
 CROSS JOIN dead_letters AS d ON d.id = asked.id
  {WITH_JOB}
 ORDER BY d.last_failed_at, d.id
"""

# Where a full stretch ends. ?1 redrive, ?2 turn
SELECT_STRETCH_END: Final = f"""
SELECT last_failed_at, id
  FROM ({_LETTERS_BEHIND}
         LIMIT 1 OFFSET {STRETCH - 1}) AS page
"""

# ?1 wave
SELECT_JOBS_WITH_INPUT: Final = f"""
SELECT {J_JOB}, s.input AS inline_input
  FROM jobs AS j
  LEFT JOIN submissions AS s ON s.tenant_id = j.tenant_id AND s.request_key = j.request_key
 WHERE (j.tenant_id, j.id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
"""

# Of what is still open: what was started after all, and nobody heard, is not passed over.
# ?1 redrive, ?2 turn, ?3 pairs of letter and reason (JSON)
INSERT_SKIPS: Final = f"""
INSERT INTO redrive_skips (redrive_id, letter_id, reason)
SELECT ?1, d.id, named.value ->> 1
  FROM json_each(?3) AS named
 CROSS JOIN dead_letters AS d ON d.id = named.value ->> 0
 WHERE d.status = 'open' AND EXISTS (SELECT 1 FROM redrives WHERE {_OURS})
ON CONFLICT DO NOTHING
"""

# ?1 redrive, ?2 turn, ?3 and ?4 the last letter that was decided on, or null, ?5 1 if there are no
# more, ?6 1 if the next one could not be decided on
MOVE_ON: Final = f"""
UPDATE redrives
   SET seen_at = coalesce(?3, seen_at),
       seen_id = coalesce(?4, seen_id),
       all_seen = max(all_seen, ?5),
       tries = CASE WHEN ?6 = 0 THEN 0 WHEN ?3 IS NULL THEN tries + 1 ELSE 1 END
 WHERE {_OURS}
RETURNING id
"""

# ?1 redrive, ?2 turn
LEAVE_CANARIES: Final = f"""
UPDATE redrives SET state = 'running' WHERE {_OURS} RETURNING id
"""

# ?1 redrive, ?2 turn, ?3 why, ?4 our sentence
STOP_ITSELF: Final = f"""
UPDATE redrives
   SET state = 'stopped', stopped_because = ?3, stopped_detail = ?4, finished_at = {NOW}
 WHERE {_OURS}
RETURNING id
"""

_KEEP_FIGURES: Final = f"""closed_at = {NOW},
       (started, succeeded, failed, canceled) =
         (SELECT {_FIGURES}
            FROM dead_letters AS d
            LEFT JOIN jobs AS j ON {ITS_JOB}
           WHERE d.redrive_id = ?1)"""

# ?1 redrive, ?2 turn
FINISH_REDRIVE: Final = f"""
UPDATE redrives
   SET state = 'done', finished_at = {NOW}, {_KEEP_FIGURES}
 WHERE {_OURS} AND state = 'running' AND all_seen = 1 AND NOT {UNDER_WAY}
RETURNING id
"""

# The jobs go after their retention, and their figures would with them. ?1 redrive, ?2 turn
CLOSE_REDRIVE: Final = f"""
UPDATE redrives
   SET {_KEEP_FIGURES}
 WHERE id = ?1 AND turn = ?2 AND state = 'stopped' AND closed_at IS NULL AND NOT {UNDER_WAY}
RETURNING id
"""
