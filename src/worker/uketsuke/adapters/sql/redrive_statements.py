"""The statements that resolve dead letters, each with its audit row in the same transaction."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import NOW

# First, while the letter is still open: whoever comes second does nothing, and leaves no row.
# ?1 audit id, ?2 actor, ?3 action, ?4 letter, ?5 reason, ?6 request id, ?7 detail, ?8 the new job,
# which must have its row, or null
AUDIT_LETTER: Final = f"""
INSERT INTO audit (id, at, actor, action, target, tenant_id, reason, request_id, detail)
SELECT ?1, {NOW}, ?2, ?3, id, tenant_id, ?5, ?6, ?7
  FROM dead_letters AS d
 WHERE d.id = ?4 AND d.status = 'open'
   AND (?8 IS NULL
        OR EXISTS (SELECT 1 FROM jobs AS j WHERE j.tenant_id = d.tenant_id AND j.id = ?8))
"""

# After the new job's row, in its transaction, and only if that was written: the letter is open no
# more. ?1 tenant, ?2 new job, ?3 letter, ?4 actor, ?5 reason, ?6 bulk redrive or null
RESOLVE_REDRIVEN: Final = f"""
UPDATE dead_letters
   SET status = 'redriven', redriven_to = ?2, resolved_by = ?4, resolved_at = {NOW}, reason = ?5,
       redrive_id = ?6
 WHERE id = ?3 AND tenant_id = ?1 AND status = 'open'
   AND EXISTS (SELECT 1 FROM jobs WHERE jobs.tenant_id = ?1 AND jobs.id = ?2)
"""

# ?1 tenant, ?2 new job, ?3 letter, ?4 old job
LINK_REDRIVEN: Final = """
UPDATE jobs
   SET redriven_to = ?2
 WHERE tenant_id = ?1 AND id = ?4 AND redriven_to IS NULL
   AND EXISTS (SELECT 1
                 FROM dead_letters AS d
                WHERE d.id = ?3 AND d.tenant_id = ?1 AND d.redriven_to = ?2)
"""

# ?1 letter, ?2 actor, ?3 reason
DISCARD: Final = f"""
UPDATE dead_letters
   SET status = 'discarded', resolved_by = ?2, resolved_at = {NOW}, reason = ?3
 WHERE id = ?1 AND status = 'open'
RETURNING id
"""
