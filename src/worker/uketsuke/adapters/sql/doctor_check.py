"""What the doctor's checks are made of: a check is data, and reads a bounded stretch of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.database import Statement
from uketsuke.adapters.sql.repository import Retention
from uketsuke.domain.diagnosis import ALL, MOST_COUNTED, MOST_NAMED, MOST_REPAIRED, Question
from uketsuke.services.sweep import DUTY_LEASE
from uketsuke.settings import Settings

# What is released outlives every job that was given it.
_LONGEST_DEADLINE: Final = timedelta(days=7)
# How many rows of a table that grows a check looks at.
STRETCH: Final = 10_000
NEWEST_TOLD: Final = f"the newest {STRETCH} jobs"
LIVE_TOLD: Final = f"the {STRETCH} live jobs that are to be looked at first"
BOTH_TOLD: Final = f"{NEWEST_TOLD}, and {LIVE_TOLD}"
LETTERS_TOLD: Final = f"the newest {STRETCH} dead letters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long the deployment gives to what the checks look at.

    ``released`` is how long an input is kept that nothing holds fast any more, ``letters`` how long
    a dead letter is after it was resolved.
    """

    retention: Retention
    sweep_every: timedelta
    released: timedelta
    letters: timedelta

    @property
    def told(self) -> str:
        """The parameter of every check: JSON of milliseconds, under the names of ``told``."""
        kept = self.retention
        slack = kept.lease + 2 * self.sweep_every + kept.grace
        named = {
            "lease": kept.lease,
            "slack": slack,
            "duty": DUTY_LEASE,
            "keep": kept.keep_results,
            "released": self.released,
            "letters": self.letters,
        }
        return rows.dump({name: rows.to_ms(value) for name, value in named.items()})


def patience_of(settings: Settings, retention: Retention) -> Patience:
    return Patience(
        retention=retention,
        sweep_every=settings.sweep_every,
        released=settings.keep_inputs + _LONGEST_DEADLINE,
        letters=settings.keep_dead_letters,
    )


def told(name: str, *, parameter: int = 1) -> str:
    """A duration of ``Patience.told``, in ms."""
    return f"(?{parameter} ->> '{name}')"


# A lease, two sweeps and the sweep's grace: what is not seen to by then, nobody sees to.
SLACK: Final = told("slack")

# Given the keys of the offenders: what mends them.
Fix = Callable[[Sequence[Sequence[str]], Patience], Sequence[Statement]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """What a machine may do. ``fix`` has the check's predicate in its own statements.

    ``targets`` selects the offenders that it may be done to, if not to all. What was mended is no
    target any more.
    """

    does: str
    fix: Fix
    targets: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One invariant. ``offenders`` selects ``id``, which people see, and ``key``, a JSON array.

    It reads a bounded number of rows, and finds out by the database's clock what is late.
    ?1 durations: see ``told``
    """

    name: str
    holds: str
    offenders: str
    looked_at: str = ALL
    repair: Repair | None = None
    by_hand: str | None = None

    @property
    def question(self) -> Question:
        return Question(
            name=self.name,
            holds=self.holds,
            looked_at=self.looked_at,
            repair=self.repair.does if self.repair else None,
            by_hand=self.by_hand,
        )

    @property
    def targets(self) -> str:
        return (self.repair and self.repair.targets) or self.offenders


# Every check takes ?1, also one that is of no duration: D1 refuses a parameter too many.
def find(check: Check) -> str:
    """Return the statement that counts the offenders and names some."""
    return f"""
SELECT id, count(*) OVER () AS found
  FROM (SELECT id FROM ({check.offenders}) WHERE ?1 IS NOT NULL LIMIT {MOST_COUNTED})
 LIMIT {MOST_NAMED}
"""


def find_targets(check: Check) -> str:
    """Return the statement that selects what a repair may mend."""
    return f"SELECT id, key FROM ({check.targets}) WHERE ?1 IS NOT NULL LIMIT {MOST_REPAIRED}"


def still(check: Check) -> str:
    """Return the statement that selects which of the ids ?2 a repair may mend still."""
    return f"""
SELECT DISTINCT id
  FROM ({check.targets})
 WHERE ?1 IS NOT NULL AND id IN (SELECT value FROM json_each(?2))
"""


def by(*texts: str) -> Fix:
    """Return what mends by these statements.

    ?1 wave (JSON array of keys), ?2 durations where the statement wants them
    """

    def fix(keys: Sequence[Sequence[str]], patience: Patience) -> Sequence[Statement]:
        wave = rows.dump(keys)
        return [
            Statement(text, (wave, patience.told) if "?2" in text else (wave,)) for text in texts
        ]

    return fix


def newest(*columns: str) -> str:
    """The newest jobs, as a table."""
    wanted = ", ".join(("tenant_id", "id", *columns))
    return f"""(SELECT {wanted}
          FROM jobs INDEXED BY jobs_by_id
         ORDER BY id DESC
         LIMIT {STRETCH})"""


def live(*columns: str) -> str:
    """The live jobs that the sweep is to look at first, as a table."""
    wanted = ", ".join(("tenant_id", "id", *columns))
    return f"""(SELECT {wanted}
          FROM jobs INDEXED BY jobs_wake_at
         WHERE wake_at IS NOT NULL
         ORDER BY wake_at
         LIMIT {STRETCH})"""


def newest_and_live(*columns: str) -> str:
    """Both, each job once, as a table."""
    return f"(SELECT * FROM {newest(*columns)} UNION SELECT * FROM {live(*columns)})"


# Of a job's row that the statement calls j.
OF_JOB: Final = "j.id AS id, json_array(j.tenant_id, j.id) AS key"
ENDED: Final = "('succeeded', 'failed', 'canceled')"
# Keys that are of two parts, under the names of the statement's table.
IN_KEYS: Final = "IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))"
