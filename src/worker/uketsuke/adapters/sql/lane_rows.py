"""Between rows of parked lanes and the domain's values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Row
from uketsuke.domain.job import JobKey
from uketsuke.domain.lane import Park


def from_asks(lanes: Mapping[str, Collection[str]]) -> str:
    """Write which lanes each kind asks, as the JSON array of [kind, lane] that statements take."""
    return rows.dump([[kind, lane] for kind, asked in lanes.items() for lane in sorted(asked)])


def probes_of(token: str, standing: Sequence[Row]) -> frozenset[str]:
    """Return the lanes that the attempt with this token is to try out."""
    return frozenset(row["lane"] for row in standing if row["probe_token"] == token)


def park_before(key: JobKey, asked: Collection[str], standing: Sequence[Row]) -> Park | None:
    """Return what turns a job away that was not leased: the lane of its that is parked longest."""
    closed = [
        row for row in standing if row["lane"] in asked and (row["opens_in"] > 0 or row["probed"])
    ]
    if not closed:
        return None
    last = max(closed, key=lambda row: row["opens_in"])
    return Park(
        opens_in=rows.to_duration(last["opens_in"]),
        leads=(last["probe_tenant"], last["probe_job"]) == tuple(key),
    )
