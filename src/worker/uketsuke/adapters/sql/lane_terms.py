"""What statements on jobs say of parked lanes. With no lane parked, none of it reads a row."""

from __future__ import annotations

from typing import Final

from uketsuke.adapters.sql.terms import NOW

# Of a row of jobs that would be leased under the token ?2: none of the lanes that its kind asks
# is parked, but those that this very attempt is to probe. {asks} is to be filled in with the
# parameter: a JSON array of [kind, lane].
LANES_OPEN: Final = f"""NOT EXISTS
       (SELECT 1
          FROM lanes AS parked
         WHERE parked.forget_at > {NOW}
           AND (parked.parked_until > {NOW} OR parked.probe_token <> ?2 || '.' || jobs.id)
           AND EXISTS (SELECT 1
                         FROM json_each({{asks}}) AS asks
                        WHERE asks.value ->> 0 = jobs.kind AND asks.value ->> 1 = parked.lane))"""

# Of a row of lanes, under its name in the statement: the attempt that probes it lives, and has not
# failed there.
_PROBED: Final = f"""{{lane}}.probe_token <> {{lane}}.failed_token AND
       EXISTS (SELECT 1
                FROM jobs AS holder
               WHERE holder.tenant_id = {{lane}}.probe_tenant AND holder.id = {{lane}}.probe_job
                 AND holder.lease_token = {{lane}}.probe_token AND holder.leased_until > {NOW})"""
PROBED: Final = f"({_PROBED.format(lane='lanes')})"
OTHER_PROBED: Final = f"({_PROBED.format(lane='other')})"
