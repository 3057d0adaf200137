"""A dead letter's columns, with what its job's rows say of its input."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.terms import KEPT_RESULT, NOW


class Ages(NamedTuple):
    """Between which ages a letter is asked whether its input is about to go; in milliseconds.

    An input goes no earlier after its job's end than the shorter of the times that inputs and
    results are kept, and no later than the job's own row.
    """

    youngest: int
    oldest: int
    ahead: int

    @classmethod
    def of(
        cls, *, keep_inputs: timedelta, keep_results: timedelta, expiring_within: timedelta
    ) -> Ages:
        return cls(
            youngest=rows.to_ms(min(keep_inputs, keep_results) - expiring_within),
            oldest=rows.to_ms(keep_results),
            ahead=rows.to_ms(expiring_within),
        )


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

# Of a letter's job j, which is there. {ahead} is to be filled in, in ms.
GOES_SOON: Final = f"""j.erased_at IS NULL
   AND {INPUT_UNTIL} > {NOW}
   AND {INPUT_UNTIL} <= {NOW} + {{ahead}}"""
PAST_TRIAGE: Final = f"triage_due_at <= {NOW}"

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
