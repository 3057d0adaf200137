"""Checks of dead letters: each failed job has one, and what was done about it adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.doctor_check import (
    IN_KEYS,
    LETTERS_TOLD,
    NEWEST_TOLD,
    OF_JOB,
    STRETCH,
    Check,
    Patience,
    Repair,
    by,
    newest,
    told,
)
from uketsuke.adapters.sql.repository import burying_failed
from uketsuke.adapters.sql.terms import NOW

_LETTERS: Final = f"""(SELECT *
          FROM dead_letters INDEXED BY dead_letters_by_time
         ORDER BY last_failed_at DESC
         LIMIT {STRETCH})"""
_OF_LETTER: Final = "d.id AS id, json_array(d.id, d.job_id) AS key"
_LETTER_OF: Final = "'dl_' || substr({job}, 5)"
# Of messages that no job could be found for.
_OF_A_JOB: Final = "d.job_id IS NOT NULL AND d.road <> 'undecodable'"
_JOB_OF: Final = "jobs AS j WHERE j.tenant_id = d.tenant_id AND j.id"


# What the audit has lately of letters: which, what was done, and which job came of it.
_ACTS: Final = f"""(SELECT target, action, detail ->> 'job' AS job
          FROM (SELECT target, action, detail FROM audit ORDER BY id DESC LIMIT {STRETCH})
         WHERE action LIKE 'dead_letter.%')"""


def _burying(keys: Sequence[Sequence[str]], patience: Patience) -> Sequence[Statement]:
    return [burying_failed(rows.dump(keys), patience.retention)]


_LINKS_DIFFER: Final = f"""
SELECT {_OF_LETTER}
  FROM {_LETTERS} AS d
 WHERE d.status = 'redriven' AND d.redriven_to IS NOT NULL
   AND (EXISTS (SELECT 1 FROM {_JOB_OF} = d.job_id AND j.redriven_to IS NOT d.redriven_to)
        OR EXISTS (SELECT 1 FROM {_JOB_OF} = d.redriven_to AND j.redriven_from IS NOT d.job_id))"""
_NAMED: Final = f"(d.id, d.job_id) {IN_KEYS} AND d.status = 'redriven'"
_LINK_ON: Final = f"""
UPDATE jobs
   SET redriven_to = d.redriven_to
  FROM dead_letters AS d
 WHERE {_NAMED} AND jobs.tenant_id = d.tenant_id AND jobs.id = d.job_id
   AND d.redriven_to IS NOT NULL AND jobs.redriven_to IS NOT d.redriven_to
"""
_LINK_BACK: Final = f"""
UPDATE jobs
   SET redriven_from = d.job_id
  FROM dead_letters AS d
 WHERE {_NAMED} AND jobs.tenant_id = d.tenant_id AND jobs.id = d.redriven_to
   AND jobs.redriven_from IS NOT d.job_id
"""

# One whose letter was resolved, by the audit, had one: it went, perhaps while letters were kept for
# less long.
_UNBURIED: Final = f"""
SELECT {OF_JOB}
  FROM {newest("state", "finished_at", "redriven_to")} AS j
 WHERE j.state = 'failed' AND coalesce(j.finished_at, {NOW}) + {told("letters")} > {NOW}
   AND NOT EXISTS (SELECT 1 FROM dead_letters AS d WHERE d.id = {_LETTER_OF.format(job="j.id")})
   AND {_LETTER_OF.format(job="j.id")} NOT IN (SELECT target FROM {_ACTS})"""
# An open letter of a job that was redriven would be redriven again.
_NOT_REDRIVEN: Final = f"""
   AND j.redriven_to IS NULL
   AND j.id NOT IN (SELECT redriven_from
                      FROM {newest("redriven_from")}
                     WHERE redriven_from IS NOT NULL)"""

# The audit has no index on what an act was about: its newest rows are looked at as a whole, and of
# letters only those that were resolved since.
_UNEXPLAINED: Final = f"""
  WITH recent AS MATERIALIZED
         (SELECT target, action, at FROM audit ORDER BY id DESC LIMIT {STRETCH}),
       since AS MATERIALIZED
         (SELECT CASE WHEN count(*) < {STRETCH} THEN 0 ELSE min(at) END AS at FROM recent)
SELECT {_OF_LETTER}
  FROM {_LETTERS} AS d
 WHERE (d.status = 'open'
        AND (d.resolved_by IS NOT NULL OR d.resolved_at IS NOT NULL OR d.reason IS NOT NULL))
    OR (d.status <> 'open'
        AND (d.resolved_by IS NULL OR d.resolved_at IS NULL OR d.reason IS NULL
             OR (d.resolved_at > (SELECT at FROM since)
                 AND (d.id, 'dead_letter.' || d.status) NOT IN
                     (SELECT target, action FROM recent))))"""

# What a restore has undone, the letters do not know any more; the audit is asked the other way.
_UNDONE: Final = f"""
SELECT acted.target AS id, json_array(acted.target) AS key
  FROM (SELECT target, action FROM audit ORDER BY id DESC LIMIT {STRETCH}) AS acted
  LEFT JOIN dead_letters AS d ON d.id = acted.target
  LEFT JOIN redrives AS r ON r.id = acted.target
 WHERE CASE substr(acted.action, 1, 8)
            WHEN 'dead_let' THEN acted.action <> 'dead_letter.' || d.status
            ELSE (acted.action = 'redrive.started' AND r.id IS NULL)
                 OR (acted.action = 'redrive.stopped' AND r.state IS NOT 'stopped') END"""

LETTER_CHECKS: Final = (
    Check(
        name="failed_without_letter",
        holds="A failed job has a dead letter, as long as one is kept.",
        looked_at=NEWEST_TOLD,
        offenders=_UNBURIED,
        repair=Repair(
            does="Writes the dead letter from the job's row, as of now, unless the job was "
            "redriven.",
            fix=_burying,
            targets=f"{_UNBURIED}{_NOT_REDRIVEN}",
        ),
        by_hand="Where the job was redriven, its letter is not needed any more: a new one would be "
        "redriven again. Find out who deleted it.",
    ),
    Check(
        name="letter_of_unfailed_job",
        holds="A job's dead letter is of a job that failed.",
        looked_at=LETTERS_TOLD,
        offenders=f"""
SELECT {_OF_LETTER}
  FROM {_LETTERS} AS d
 WHERE {_OF_A_JOB}
   AND EXISTS (SELECT 1 FROM {_JOB_OF} = d.job_id AND j.state <> 'failed')""",
        by_hand="Look at the job. If it has succeeded, or goes on, discard the letter with that "
        "for a reason; never redrive it.",
    ),
    Check(
        name="letter_misnamed",
        holds="A job has one dead letter, which bears the job's name.",
        looked_at=LETTERS_TOLD,
        offenders=f"""
SELECT {_OF_LETTER}
  FROM {_LETTERS} AS d
 WHERE {_OF_A_JOB} AND d.id <> {_LETTER_OF.format(job="d.job_id")}""",
        by_hand="Discard the one that is misnamed, once the job's own letter is there (see "
        "failed_without_letter).",
    ),
    Check(
        name="redriven_without_job",
        holds="A redriven letter names the new job, which is kept as long as any.",
        looked_at=LETTERS_TOLD,
        offenders=f"""
SELECT {_OF_LETTER}
  FROM {_LETTERS} AS d
 WHERE d.status = 'redriven'
   AND (d.redriven_to IS NULL
        OR (d.resolved_at + {told("keep")} > {NOW}
            AND NOT EXISTS (SELECT 1 FROM {_JOB_OF} = d.redriven_to)))""",
        by_hand="Look in GET /v1/audit for the new job's id. If it is nowhere, submit the work "
        "again by hand: the letter cannot be redriven twice.",
    ),
    Check(
        name="redrive_links",
        holds="A redriven letter, its job and the new job name each other.",
        looked_at=LETTERS_TOLD,
        offenders=_LINKS_DIFFER,
        repair=Repair(
            does="Writes both jobs' links anew from what the letter says.",
            fix=by(_LINK_ON, _LINK_BACK),
        ),
    ),
    Check(
        name="open_letter_with_redrive",
        holds="An open or discarded letter's job was not redriven.",
        looked_at=LETTERS_TOLD,
        offenders=f"""
SELECT {_OF_LETTER}
  FROM {_LETTERS} AS d
 WHERE d.status <> 'redriven'
   AND (d.redriven_to IS NOT NULL
        OR EXISTS (SELECT 1 FROM {_JOB_OF} = d.job_id AND j.redriven_to IS NOT NULL))""",
        by_hand="Look at the job that is named. If it works the same, discard the letter with that "
        "for a reason, so that nobody redrives it again.",
    ),
    Check(
        name="redrive_without_letter",
        holds="A job that is a redrive is the one that its letter names: a letter has one redrive.",
        looked_at=NEWEST_TOLD,
        offenders=f"""
SELECT {OF_JOB}
  FROM {newest("redriven_from", "origin", "created_at")} AS j
 WHERE (j.redriven_from IS NOT NULL OR j.origin = 'redrive')
   AND j.created_at + {told("letters")} > {NOW}
   AND NOT EXISTS (SELECT 1
                     FROM dead_letters AS d
                    WHERE d.id = {_LETTER_OF.format(job="j.redriven_from")}
                      AND d.redriven_to = j.id)
   AND (coalesce({_LETTER_OF.format(job="j.redriven_from")}, ''), j.id) NOT IN
       (SELECT coalesce(target, ''), coalesce(job, '') FROM {_ACTS})""",
        by_hand="Two jobs may do the same work. See whom the letter names, and cancel the other if "
        "it is live.",
    ),
    Check(
        name="letter_unexplained",
        holds="A resolved letter says who resolved it, when and why, and the audit has that act; "
        "an open one says nothing of the sort.",
        looked_at=f"{LETTERS_TOLD}, against the newest {STRETCH} rows of the audit",
        offenders=_UNEXPLAINED,
        by_hand="Nobody may write the audit afterwards. Find out who wrote the letter past the "
        "service, and treat it as an incident.",
    ),
    Check(
        name="act_undone",
        holds="What the audit says was done about a dead letter or a bulk redrive, was done.",
        looked_at=f"the newest {STRETCH} rows of the audit",
        offenders=_UNDONE,
        by_hand="A restore may have gone back behind the act. Do not redrive such a letter before "
        "you know that the new job which the audit names is nowhere; see GET /v1/audit?target=.",
    ),
)
