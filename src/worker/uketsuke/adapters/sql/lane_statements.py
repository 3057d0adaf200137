"""The statements of parked lanes: park, probe, open, and put off the jobs that wait for them.

A lane that is open has no row, so that as long as all is well nothing here writes or reads one.
"""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.cost_statements import unaffordable
from uketsuke.adapters.sql.lane_terms import OTHER_PROBED, PROBED
from uketsuke.adapters.sql.terms import IN_WAVE, NOW

# A job of the wave that could be leased now, and may try the lane out: nothing else that it asks is
# closed to it, and its budgets allow it. (What was taken over, or is in quarantine beside others,
# comes later by itself.)
_CANDIDATE: Final = f"""(
SELECT tenant_id, id, ?2 || '.' || id
  FROM jobs
 WHERE {IN_WAVE}
   AND state IN ('accepted', 'retrying')
   AND due_at <= {NOW}
   AND attempts < max_attempts
   AND deadline_at > {NOW}
   AND cancel_requested_at IS NULL
   AND (?3 OR engine = 'workflow' OR crashes = 0)
   AND (tenant_id, id) NOT IN ({unaffordable(alone="?3", rates="?5", default="?6")})
   AND EXISTS (SELECT 1
                 FROM json_each(?4) AS asks
                WHERE asks.value ->> 0 = jobs.kind AND asks.value ->> 1 = lanes.lane)
   AND NOT EXISTS (SELECT 1
                     FROM lanes AS other
                    WHERE other.lane <> lanes.lane
                      AND other.forget_at > {NOW}
                      AND (other.parked_until > {NOW} OR {OTHER_PROBED})
                      AND EXISTS (SELECT 1
                                    FROM json_each(?4) AS asks
                                   WHERE asks.value ->> 0 = jobs.kind
                                     AND asks.value ->> 1 = other.lane))
 LIMIT 1)"""
_OVER: Final = f"forget_at > {NOW} AND parked_until <= {NOW} AND NOT {PROBED}"

# Before a wave is leased: each lane whose time is over gets one of the wave's jobs as its probe.
# The others of the wave are turned away. ?1 wave, ?2 token, ?3 1 if the wave is alone in its
# worker, ?4 JSON array of [kind, lane], ?5 rates of the kinds, ?6 daily budget
TAKE_PROBES: Final = f"""
UPDATE lanes
   SET (probe_tenant, probe_job, probe_token) = {_CANDIDATE}
 WHERE {_OVER} AND EXISTS {_CANDIDATE}
"""

# A run on a Workflow asks for itself. ?1 lane, ?2 tenant, ?3 job, ?4 lease token
TAKE_PROBE: Final = f"""
UPDATE lanes
   SET probe_tenant = ?2, probe_job = ?3, probe_token = ?4
 WHERE lane = ?1 AND {_OVER}
"""

# ?1 lane
SELECT_LANE: Final = f"""
SELECT parked_until - {NOW} AS opens_in, probe_token, {PROBED} AS probed
  FROM lanes
 WHERE lane = ?1 AND forget_at > {NOW}
"""

# All that stand: there are as many as models that trouble us.
SELECT_LANES: Final = f"""
SELECT lane, parked_until - {NOW} AS opens_in, probe_tenant, probe_job, probe_token,
       {PROBED} AS probed
  FROM lanes
 WHERE forget_at > {NOW}
 LIMIT 1000
"""

# A failure parks its lane, in five steps of one transaction, safe to repeat. First go the parks
# that were over long ago: they count for nothing.
FORGET_LANES: Final = f"DELETE FROM lanes WHERE forget_at <= {NOW}"

# ?1 lane, ?2 class, ?3 code, ?4 wait ms, ?5 memory ms, ?6 tenant, ?7 job, ?8 lease token, ?9 the
# first wait of our own in ms
PARK_LANE: Final = f"""
INSERT INTO lanes (lane, parked_at, parked_until, forget_at, class, code, failures, backoff_ms,
                   failed_token, probe_tenant, probe_job, probe_token)
VALUES (?1, {NOW}, {NOW} + ?4, {NOW} + ?4 + ?5, ?2, ?3, 1, ?9, ?8, ?6, ?7, ?8)
ON CONFLICT DO NOTHING
"""

# A probe that failed makes it longer: the wait doubles, or begins anew if the reason is another.
# Once an attempt.
# ?1 lane, ?2 class, ?3 code, ?4 asked for ms, ?5 memory ms, ?6 first wait ms, ?7 longest wait ms,
# ?8 lease token
_BACKOFF: Final = "CASE class WHEN ?2 THEN min(max(backoff_ms * 2, ?6), ?7) ELSE ?6 END"
_NEXT_WAIT: Final = f"max(?4, {_BACKOFF})"
PARK_LONGER: Final = f"""
UPDATE lanes
   SET parked_until = max(parked_until, {NOW} + {_NEXT_WAIT}),
       forget_at = max(parked_until, {NOW} + {_NEXT_WAIT}) + ?5,
       class = ?2,
       code = ?3,
       failures = failures + 1,
       backoff_ms = {_BACKOFF},
       failed_token = ?8
 WHERE lane = ?1 AND probe_token = ?8 AND failed_token <> ?8
"""

# What another one was told while the lane is parked: only a later time counts, and no mere moment.
# ?1 lane, ?2 asked for ms, ?3 memory ms, ?4 lease token
HEED_LATER: Final = f"""
UPDATE lanes
   SET parked_until = {NOW} + ?2, forget_at = {NOW} + ?2 + ?3
 WHERE lane = ?1 AND failed_token <> ?4 AND parked_until + 1000 < {NOW} + ?2
"""

# ?1 lane, ?2 tenant, ?3 job, ?4 lease token
SELECT_PARK: Final = f"""
SELECT parked_until - {NOW} AS opens_in,
       failures = 1 AND failed_token = ?4 AS opened,
       probe_tenant = ?2 AND probe_job = ?3 AS leads
  FROM lanes
 WHERE lane = ?1
"""

# The provider answered its probe. Not if another one was told to wait meanwhile.
# ?1 lane, ?2 lease token
OPEN_LANE: Final = f"""
DELETE FROM lanes
 WHERE lane = ?1 AND probe_token = ?2 AND failed_token <> ?2 AND parked_until <= {NOW}
RETURNING lane
"""

# Jobs that wait for a lane: only their due time moves, and when the sweep looks.
# ?1 JSON array of [tenant, id, wait ms, grace ms]
POSTPONE: Final = f"""
UPDATE jobs
   SET due_at = min({NOW} + (put.value ->> 2), deadline_at),
       wake_at = min({NOW} + (put.value ->> 2) + (put.value ->> 3), deadline_at),
       wakes = 0
  FROM json_each(?1) AS put
 WHERE jobs.tenant_id = put.value ->> 0 AND jobs.id = put.value ->> 1
   AND jobs.state IN ('accepted', 'retrying')
   AND jobs.due_at <= {NOW}
   AND jobs.deadline_at > {NOW}
RETURNING tenant_id, id
"""
