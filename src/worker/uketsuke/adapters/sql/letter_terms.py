"""A dead letter's columns, with what its job's rows say of its input."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import KEPT_RESULT, NOW

# When the first of what an input names goes; j is the job. An input that names nothing goes with
# it.
INPUT_UNTIL: Final = f"""min(j.expires_at, coalesce(
         (SELECT min(coalesce(
                   (SELECT i.expires_at FROM inputs AS i
                     WHERE i.tenant_id = j.tenant_id AND i.id = named.value),
                   (SELECT source.expires_at FROM jobs AS source
                     WHERE source.tenant_id = j.tenant_id AND source.id = named.value
                       AND {KEPT_RESULT}),
                   0))
            FROM json_each(j.input, '$.refs') AS named),
         j.expires_at))"""

# As rows.to_dead_letter reads them; d is the letter, j its job, which may be gone.
LETTER: Final = f"""
       d.id, d.job_id, d.tenant_id, d.kind, d.status, d.road, d.class, d.code, d.model,
       d.fingerprint, d.attempts, d.queue, d.message_id, d.schema_version, d.first_failed_at,
       d.last_failed_at, d.triage_due_at, d.redrives, d.redriven_to, d.redrive_id, d.resolved_by,
       d.resolved_at, d.reason, d.body_sha256, d.body_shape,
       j.id IS NOT NULL AND j.erased_at IS NULL AS job_there,
       CASE WHEN j.erased_at IS NULL AND {INPUT_UNTIL} > {NOW} THEN {INPUT_UNTIL} END
         AS replayable_until"""
WITH_JOB: Final = "LEFT JOIN jobs AS j ON j.tenant_id = d.tenant_id AND j.id = d.job_id"
