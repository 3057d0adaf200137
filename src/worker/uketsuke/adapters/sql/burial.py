"""The one way in which a job's dead letter is written, whichever statement ends the job."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import NOW

# The version of the rows and messages that this code writes.
_VERSION: Final = 1


def burying(
    rows: str,
    *,
    job: str,
    triage: str,
    road: str,
    error_class: str,
    code: str,
    model: str = "NULL",
    brought_by: str = "NULL, NULL",
) -> str:
    """Return the statement that writes the dead letters of jobs: one each, however often it runs.

    All are SQL: ``rows`` is what follows FROM, guard included, ``job`` the name of the job's row in
    it, ``triage`` the parameter with the ms until triage is due, ``model`` the one that turned the
    last attempt away, else what its row says is taken, ``brought_by`` the queue and the id of the
    message. The row of the last attempt is written before this runs.
    """
    return f"""
INSERT INTO dead_letters (id, tenant_id, job_id, kind, road, class, code, model, attempts, redrives,
                          queue, message_id, first_failed_at, last_failed_at, triage_due_at,
                          schema_version)
SELECT 'dl_' || substr({job}.id, 5), {job}.tenant_id, {job}.id, {job}.kind, {road}, {error_class},
       {code}, coalesce({model}, (SELECT coalesce(a.usage ->> 'asked_model', a.usage ->> 'model')
                          FROM attempts AS a
                         WHERE a.tenant_id = {job}.tenant_id AND a.job_id = {job}.id
                           AND a.number = {job}.attempt_no)),
       {job}.attempts, {job}.redrives, {brought_by},
       coalesce((SELECT min(a.ended_at) FROM attempts AS a
                  WHERE a.tenant_id = {job}.tenant_id AND a.job_id = {job}.id
                    AND a.outcome = 'failed'), {NOW}),
       {NOW}, {NOW} + {triage}, {_VERSION}
  FROM {rows}
ON CONFLICT DO NOTHING
"""
